"""`suture.transcript.listing`: a list of which every state stays as it was."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suture.transcript import Message
from suture.transcript.listing import Listing

CHANGES = st.lists(st.tuples(st.booleans(), st.integers(0, 2000)), max_size=30)


def message(number: int) -> Message:
    """A message that is like no other."""
    return Message(role="user", parts=(), id=str(number))


@settings(max_examples=min(settings().max_examples, 500))  # each compares thousands of messages
@given(st.sampled_from([0, 1, 511, 512, 513, 1500]), CHANGES)
def test_it_is_a_list_that_never_changes(count: int, changes: list[tuple[bool, int]]) -> None:
    """Whatever is added or replaced, the new one is what a list would be, and the old ones are what they were."""
    plain = [message(number) for number in range(count)]
    states = [(Listing(plain), list(plain))]
    for number, (adds, place) in enumerate(changes, 10_000):
        listing = states[-1][0]
        if adds or not plain:
            plain = [*plain, message(number)]
            states.append((listing.added(plain[-1]), plain))
        else:
            at = place % len(plain)
            plain = [*plain[:at], message(number), *plain[at + 1 :]]
            states.append((listing.replaced(at, plain[at]), plain))
    for listing, expected in states:
        assert listing == expected
        assert (len(expected), expected, expected[-3:]) == (len(listing), list(listing), listing[-3:])
        assert [expected[at] for at in range(-len(expected), len(expected))] == [
            listing[at] for at in range(-len(expected), len(expected))
        ]


def test_what_is_not_there() -> None:
    """A place behind the end is an error, as in a list; another list is another one."""
    for place in (1, -2):
        with pytest.raises(IndexError):
            Listing([message(1)])[place]
    assert Listing([message(1)]) != [message(2)]
    assert Listing([message(1)]) != [message(1), message(2)]
    assert Listing() != "text"

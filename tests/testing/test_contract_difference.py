"""Two readings of the same contracts: what the server refuses is what `check` finds, and what `repair` leaves it takes.

Neither knows the other. Where they differ on purpose or for now, the table says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import assume, given, settings

import suture
from tests.faults import FAULTS, render
from tests.strategies import anything, broken, histories
from tests.testing.contracts import FORMATS, HEADERS, body_of, refusal

every_format = pytest.mark.parametrize("format", FORMATS)

EXCUSED: Final = {
    r"Invalid value: '(?!input_|output_text|refusal)": "kinds that nobody knows are passed on: they may be new",
    r"Input tag '": "the same of blocks",
    r"Supported values are: 'text'": "parts that belong to another role are passed on",
    r"with role '(system|developer|assistant)' contains an image URL": "the same of images",
    r"input\[\d+\]\.summary'": "reasoning without a summary is passed on",
    r"\.refusal'": "a refusal without words is passed on",
    r"(server|mcp)_tool_use\.name: Field required": "a call of the provider without a name is passed on",
}
"""What `check` does not look for, and the server refuses."""

PENDING: Final = {
    r"When `thinking` is enabled": ("thinking", True, "neighbours of the assistant are not read as one message"),
    r"When thinking is disabled": ("thinking", True, "the same, once thinking was turned off"),
}
"""What is refused although it was repaired for a request with this setting: defects that are known."""


FEWER: Final = settings(max_examples=min(settings().max_examples, 1_000))
"""Each example is judged three times, under several requests."""


def excused(words: str, request: dict[str, Any]) -> bool:
    """Whether a refusal is one of those that are known."""
    return any(re.search(pattern, words) for pattern in EXCUSED) or any(
        re.search(pattern, words) and request.get(setting) is value for pattern, (setting, value, _) in PENDING.items()
    )


def requests(format: str) -> Iterator[dict[str, Any]]:
    """What a request may say about itself."""
    yield {}
    if format == "openai_responses":
        yield {"store": False}
    if format == "anthropic":
        yield {"prefill": False}
        yield {"thinking": True}


@every_format
def test_what_is_valid_is_taken(format: str) -> None:
    """The server takes every healthy history."""

    @FEWER
    @given(histories(format))
    def holds(messages: list[Any]) -> None:
        assume(messages)
        refused = refusal(format, messages)
        assert refused is None or excused(refused[1], {})

    holds()


@every_format
def test_what_is_repaired_is_taken(format: str) -> None:
    """Whatever was broken: after a repair for a request, the server takes the request."""

    @FEWER
    @given(broken(format))
    def holds(messages: list[Any]) -> None:
        for request in requests(format):
            done = suture.repair(messages, format, request=request)
            refused = refusal(format, done.messages, {**request, **done.request}) if done.messages else None
            assert refused is None or excused(refused[1], request), (request, refused, done.messages)

    holds()


@every_format
def test_what_is_refused_is_found(format: str) -> None:
    """`check` finds something in every history that the server refuses."""

    @FEWER
    @given(broken(format))
    def holds(messages: list[Any]) -> None:
        for request in requests(format):
            refused = refusal(format, messages, request) if messages else None
            if refused is not None and not excused(refused[1], request):
                assert suture.check(messages, format, request=request), (request, refused)

    holds()


@every_format
@pytest.mark.parametrize("name", FAULTS)
def test_the_compared_faults_are_taken_once_repaired(format: str, name: str) -> None:
    """Each of the sixteen faults, repaired, is taken."""
    messages = render(name, format)

    assert messages is not None
    assert refusal(format, suture.repair(messages, format).messages) is None


@every_format
def test_anything_is_judged(format: str) -> None:
    """The server refuses or takes any list of objects; it never fails."""

    @FEWER
    @given(anything())
    def holds(messages: list[Any]) -> None:
        refused = FORMATS[format].refusal(body_of(format, messages, {}), HEADERS)
        assert refused is None or 400 <= refused[0] < 500

    holds()

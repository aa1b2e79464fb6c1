"""What must hold for every format and every history: the properties that the design promises."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, given

import suture
from suture.pipeline import Policies, adapter_of, run
from suture.repair.foreign import is_synthetic
from suture.repair.report import Repaired
from suture.transcript import CAUSES, PLACEHOLDERS
from tests.oracles.strict import violations
from tests.strategies import anything, broken, histories

FORMATS = ("openai_chat", "openai_responses", "anthropic", "ai_sdk_ui")
every_format = pytest.mark.parametrize("format", FORMATS)

LENIENT = ("OCC-10", "ANT-07")
"""Names of 65 to 128 (200) characters: accepted where they stand, never written."""

SAID = frozenset({"text", "content", "output", "errorText", "refusal"})
"""The keys under which a history says something."""


HONEST = (*CAUSES.values(), "This tool call failed; no error text was recorded.")
"""How an outcome begins that nobody recorded."""

BOTH = "[another result of the same call]"
"""What stands between two results of one call, each of which may have been no text."""

_GIVEN_ANEW = frozenset(
    {
        "unknown-role",
        "reused-call-id",
        "duplicate-call-id",
        "system-position",
        "misplaced-block",
        "misplaced-result",
        "result-before-call",
        "result-content",
    }
)
"""Rules by which a message may become equal to one that is gone."""


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every string in a JSON value, with its key."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, key)


def real(text: str) -> bool:
    """Whether a text says something that nobody made up."""
    return bool(text.strip()) and text.strip() not in PLACEHOLDERS and not is_synthetic(text)


def assert_settled(messages: list[Any], format: str) -> Repaired:
    """One repair mutates nothing, is enough, reports each change, and copies no message that it leaves as it is."""
    before = copy.deepcopy(messages)
    done = suture.repair(messages, format)

    assert before == messages, "the input was mutated"
    again = suture.repair(done.messages, format, request=done.request)
    assert [] == [repair.finding for repair in again.repairs], "not settled after one repair"
    assert again.messages is done.messages
    assert bool(done.repairs) == (done.changed or bool(done.request)), "a change without a finding, or the reverse"
    if not _GIVEN_ANEW.isdisjoint(repair.finding.rule for repair in done.repairs):
        return done
    named = {int(found[1]) for r in done.repairs if (found := re.search(r"\[(\d+)\]", r.finding.path))}
    kept = [message for message in messages if any(message is other for other in done.messages)]
    quiet = [message for index, message in enumerate(messages) if index not in named and message not in kept]
    assert not [message for message in quiet if message in done.messages], "a message was copied"
    return done


def _thinks(message: Any) -> bool:
    """Whether this is an item of reasoning, which may go where it led to nothing, with whatever stands in it."""
    return isinstance(message, dict) and message.get("type") == "reasoning"


def assert_sound(messages: list[Any], format: str) -> Repaired:
    """Besides, every real text is still there, or in the report."""
    done = assert_settled(messages, format)
    said = "\0".join(text for _, text in leaves(done.messages))
    said += "\0".join(repair.lost or "" for repair in done.repairs)
    for key, text in leaves([message for message in messages if not _thinks(message)]):
        if key in SAID and real(text):
            assert text in said or json.dumps(text, ensure_ascii=False)[1:-1] in said, f"lost: {text!r}"
    return done


@every_format
def test_valid_histories_are_given_back(format: str) -> None:
    """A healthy history comes back as the same object, with no finding."""

    @given(histories(format))
    def holds(messages: list[Any]) -> None:
        # An abort that was stored as a success is no healthy part, where success and failure are told apart.
        assume(format != "ai_sdk_ui" or not any(key == "output" and not real(t) for key, t in leaves(messages) if t))
        done = suture.repair(messages, format)
        assert [] == done.repairs
        assert messages is done.messages

    holds()


@every_format
def test_broken_histories_are_repaired_for_good(format: str) -> None:
    """Whatever was broken: settled after one repair, nothing mutated or lost, accepted by the strict judge."""

    @given(broken(format))
    def holds(messages: list[Any]) -> None:
        done = assert_sound(messages, format)
        left = [line for line in violations(done.messages, format, done.request) if not line.startswith(LENIENT)]
        assert [] == left

    holds()


def turn(format: str, text: str) -> list[dict[str, Any]]:
    """A turn that no other is equal to."""
    if format == "ai_sdk_ui":
        return [
            {"id": f"{text} {role}", "role": role, "parts": [{"type": "text", "text": f"{text} {role}"}]}
            for role in ("user", "assistant")
        ]
    return [{"role": role, "content": f"{text} {role}"} for role in ("user", "assistant")]


@every_format
def test_turns_beside_what_is_broken_are_passed_on(format: str) -> None:
    """The turn before it is the same objects, and so is what comes after it, but for the message that results join."""

    @given(broken(format))
    def holds(messages: list[Any]) -> None:
        before, after = turn(format, "before"), turn(format, "after")
        done = suture.repair([*before, *messages, *after], format).messages
        for message in (*before, after[-1]):
            assert any(message is other for other in done)

    holds()


@every_format
def test_anything_is_taken(format: str) -> None:
    """Any list of JSON objects is taken and settled by one repair, or refused as another format; nothing crashes."""

    @given(anything())
    def holds(messages: list[Any]) -> None:
        try:
            assert_settled(messages, format)
        except suture.InputError as error:
            if error.got.removeprefix("one of ") not in FORMATS:
                raise

    holds()


@every_format
def test_the_fast_look_misses_nothing(format: str) -> None:
    """Reading the whole history in full finds the same and gives the same as reading what the fast look suspects."""

    @given(broken(format))
    def holds(messages: list[Any]) -> None:
        adapter = adapter_of(messages, format)
        quick = run(messages, adapter, {}, Policies())
        full = run(messages, adapter, {}, Policies(), suspects=set(range(len(messages))))
        assert sorted(map(str, full.repairs)) == sorted(map(str, quick.repairs))
        assert full.messages == quick.messages

    holds()


@every_format
def test_synthetic_outcomes_say_what_is_known(format: str) -> None:
    """A result that was not there before is one of the honest texts, or holds what was there."""

    @given(broken(format))
    def holds(messages: list[Any]) -> None:
        said = {text for _, text in leaves(messages)}
        written = json.dumps(messages, ensure_ascii=False)
        written += json.dumps(messages, ensure_ascii=False, separators=(",", ":"))
        for key, text in leaves(suture.repair(messages, format).messages):
            if key in ("output", "errorText") and text not in written:
                assert text.startswith(HONEST) or BOTH in text or any(old and old in text for old in said)

    holds()


def test_the_cost_grows_with_the_length() -> None:
    """Twice the messages are twice the steps, counted, not timed: no pass looks at every pair."""
    turn = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [_call("a"), _call("b")]},
        {"role": "tool", "tool_call_id": "a", "content": "done"},
    ]
    short, long = _steps(turn * 40), _steps(turn * 80)

    assert long < 2.2 * short


def _call(name: str) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": "run", "arguments": "{}"}}


def _steps(messages: list[Any]) -> int:
    """How many function calls a repair makes."""
    import sys

    count = 0

    def tick(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    suture.repair(messages[:30], "openai_chat")
    sys.setprofile(tick)
    try:
        suture.repair(messages, "openai_chat")
    finally:
        sys.setprofile(None)
    return count

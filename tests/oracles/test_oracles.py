"""The judges themselves are judged: by the case files, by each other, and by deleting what must not be missing."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.generate.dice import Dice
from tests.generate.garbage import garbage
from tests.generate.sites import calls, results
from tests.oracles import node
from tests.oracles.sdk import SEEN_BY_THE_TYPES, TYPES, sdk_errors
from tests.oracles.strict import CHECKERS, DISPUTED, FORMATS, PROFILES, violations
from tests.strategies import SEEDS, TURNS, anything, broken, histories, history, mutated

CASES = Path(__file__).parents[1] / "cases"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in (CASES / "contracts.jsonl").read_text("utf-8").splitlines()]
VALID = [row for row in ROWS if row["valid"]]
INVALID = [row for row in ROWS if not row["valid"]]

# Deletions that leave a valid history: (case, what was deleted).
LEGAL_DELETIONS = {
    # Call and result are one part here; without it nothing is missing.
    ("AIU-01-v1", "call"): "the whole part is gone",
    ("AIU-05-v1", "call"): "the whole part is gone",
    ("AIU-01-v2", "call"): "the whole part is gone",
}
# An approved call, and what may stand behind it: what is sent to the model makes it an earlier step's.
DECIDED: list[Any] = [
    {
        "id": "y",
        "role": "assistant",
        "parts": [
            {
                "type": "tool-deploy",
                "toolCallId": "c",
                "input": {},
                "state": "approval-responded",
                "approval": {"id": "p", "approved": True},
            }
        ],
    }
]
REST: list[Any] = [
    {"type": "step-start"},
    {"type": "data-progress", "data": 1},
    {"type": "source-url", "sourceId": "s", "url": "u"},
    {"type": "text", "text": "Done."},
    {"type": "reasoning", "text": "Done?"},
    {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AA=="},
]
# The one thing that the AI SDK refuses and the contracts do not name: a history in which nobody says anything.
NOTHING_TO_SEND = "AI_InvalidPromptError: Invalid prompt: messages must not be empty"

TYPED = [row for row in ROWS if row["format"] in TYPES]
valid_case = pytest.mark.parametrize("row", VALID, ids=[row["id"] for row in VALID])
invalid_case = pytest.mark.parametrize("row", INVALID, ids=[row["id"] for row in INVALID])
# The long runs are for the library; its judges change seldom and are known after fewer examples.
enough = settings(max_examples=min(settings().max_examples, 2000))
every_format = pytest.mark.parametrize("format", FORMATS)


def repair_request(row: dict[str, Any]) -> dict[str, Any]:
    """Give the request that an expected repair is meant for."""
    request: dict[str, Any] = row.get("repair_context", row.get("context")) or {}
    return request


def sdk_format(row: dict[str, Any]) -> str:
    """Give the format whose types judge a row: DeepSeek speaks both of OpenAI's."""
    surface = (row.get("context") or {}).get("surface")
    return "openai_responses" if surface == "responses" else str(row["format"])


def test_the_case_file_covers_every_checker() -> None:
    """Each format and profile has cases, and every disputed rule names its dispute."""
    assert {row["format"] for row in ROWS} == set(CHECKERS) == {*FORMATS, *PROFILES}
    assert all(DISPUTED.values())


@valid_case
def test_valid_cases_pass(row: dict[str, Any]) -> None:
    """The strict checker accepts what is known to be accepted."""
    assert violations(row["input"], row["format"], row.get("context")) == []


@invalid_case
def test_invalid_cases_break_their_own_rule(row: dict[str, Any]) -> None:
    """The strict checker names the rule that the case was made for."""
    found = violations(row["input"], row["format"], row.get("context"))
    assert row["rule"] in {each.split()[0] for each in found}


@invalid_case
def test_expected_repairs_pass(row: dict[str, Any]) -> None:
    """The strict checker accepts the repairs of the case file."""
    assert violations(row["expected_repair"], row["format"], repair_request(row)) == []


@pytest.mark.parametrize("row", TYPED, ids=[row["id"] for row in TYPED])
def test_the_types_see_what_they_can(row: dict[str, Any]) -> None:
    """The official types accept all valid cases and repairs, and refuse just the rules they are known to see."""
    surface = sdk_format(row)
    refused = bool(sdk_errors(row["input"], surface))
    assert refused == (not row["valid"] and row["rule"] in SEEN_BY_THE_TYPES)
    if not row["valid"]:
        assert sdk_errors(row["expected_repair"], surface) == []


def test_lazy_parts_are_judged() -> None:
    """An iterable of parts is looked into, which pydantic by itself puts off."""
    assert sdk_errors([{"role": "user", "content": [{"type": "text"}]}], "openai_chat")
    assert sdk_errors([{"role": "user", "content": [{"type": "text", "text": 5}]}], "anthropic")


def test_what_the_types_cannot_judge_passes() -> None:
    """Unknown kinds, lone surrogates and assistant messages without an id are left to the strict checker."""
    spoken = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}
    assert sdk_errors([spoken, {"type": "future_item"}], "openai_responses") == []
    assert sdk_errors([{"role": "user", "content": "\ud800"}], "openai_chat") == []


def test_the_ai_sdk_agrees_with_its_cases() -> None:
    """The AI SDK accepts the valid cases and the repairs, and refuses each invalid one."""
    node.require()
    rows = [row for row in ROWS if row["format"] == "ai_sdk_ui"]
    refused = [
        row["id"] for row, error in zip(rows, node.ai_errors([row["input"] for row in rows]), strict=True) if error
    ]
    assert refused == [row["id"] for row in rows if not row["valid"]]
    repairs = [row["expected_repair"] for row in rows if not row["valid"]]
    assert node.ai_errors(repairs) == [None] * len(repairs)


def test_the_ai_sdk_agrees_with_the_strict_checker() -> None:
    """On a thousand histories, whole, broken and absurd, both judges come to the same verdict."""
    node.require()
    lists: list[Any] = [history("ai_sdk_ui", 1 + seed % 5, seed) for seed in range(250)]
    lists += [mutated("ai_sdk_ui", 1 + seed % 4, seed, [seed * 7, seed * 11]) for seed in range(600)]
    lists += [garbage(Dice(seed), 1 + seed % 4) for seed in range(150)]
    whole = history("ai_sdk_ui", 1, 0)
    lists += [[*whole, *DECIDED, {"id": "z", "role": "assistant", "parts": [part]}] for part in REST]
    lists += [[*whole, {**DECIDED[0], "parts": [*DECIDED[0]["parts"], {"type": "step-start"}, part]}] for part in REST]
    # An empty list is never judged, and AIU-02 is about what the model sees, not about what can be sent.
    judged = [messages for messages in lists if messages]
    for messages, error in zip(judged, node.ai_errors(judged), strict=True):
        found = [each for each in violations(messages, "ai_sdk_ui") if not each.startswith("AIU-02")]
        assert error in {None, NOTHING_TO_SEND} or found, (messages, error)
        # The SDK compares ids only: an open call passes when another call of its id was answered (AIM-02).
        assert error or not found or _repeats_an_id(messages), (messages, found)


def _repeats_an_id(messages: list[Any]) -> bool:
    """Whether two UI parts have one call id."""
    ids = [site.value.get("toolCallId") for site in calls(messages, "ai_sdk_ui")]
    return any(ids.count(each) > 1 for each in ids)


@every_format
@enough
@given(data=st.data())
def test_generated_histories_are_valid(format: str, data: st.DataObject) -> None:
    """What the strategy calls valid passes the strict checker and the official types."""
    messages = data.draw(histories(format))
    assert violations(messages, format) == []
    assert format not in TYPES or sdk_errors(messages, format) == []


@every_format
@enough
@given(data=st.data())
def test_checkers_never_fail(format: str, data: st.DataObject) -> None:
    """Whatever JSON can express gets a verdict, under any request."""
    messages = data.draw(st.one_of(broken(format), anything()))
    requests: tuple[dict[str, Any], ...] = ({}, {"thinking": True, "prefill": False, "tools": []}, {"store": False})
    request = data.draw(st.sampled_from(requests))
    for checker in (format, *(PROFILES if format == "openai_chat" else ())):
        assert all(" " in each for each in violations(messages, checker, request))


@valid_case
def test_deletions_from_valid_cases_are_flagged(row: dict[str, Any]) -> None:
    """Each call and each result of a valid case is needed, but for the listed deletions."""
    shape = row["format"] if row["format"] in FORMATS else "openai_chat"
    for what, find in (("call", calls), ("result", results)):
        for number in range(len(find(row["input"], shape))):
            messages = copy.deepcopy(row["input"])
            _delete(find(messages, shape)[number].value, messages, shape, number, what)
            flagged = bool(violations(messages, row["format"], row.get("context")))
            assert flagged == ((row["id"], what) not in LEGAL_DELETIONS), messages


@every_format
@enough
@given(turns=TURNS, seed=SEEDS, which=SEEDS, what=st.sampled_from(("call", "result")))
def test_deletions_from_generated_histories_are_flagged(
    format: str, turns: int, seed: int, which: int, what: str
) -> None:
    """Each call and each result of a generated history is needed; a UI part is only a whole."""
    messages = history(format, turns, seed)
    found = (calls if what == "call" else results)(messages, format)
    if not found or (format == "ai_sdk_ui" and what == "call"):
        return
    _delete(found[which % len(found)].value, messages, format, which % len(found), what)
    assert violations(messages, format)


def _delete(value: dict[str, Any], messages: list[Any], format: str, number: int, what: str) -> None:
    """Delete one call or result; a UI part loses only its outcome when the result is meant."""
    if format == "ai_sdk_ui" and what == "result":
        value["state"] = "input-available"
        for key in ("output", "errorText", "approval"):
            value.pop(key, None)
        return
    site = (calls if what == "call" else results)(messages, format)[number]
    site.remove()

"""UIMessages for tests: parts in every state, with fields that go with it and others."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import suture
from suture.repair.report import Repaired
from suture.transcript import SETTLED
from tests.wire.cases import CONTRACTS, PENDING, WILD, Case

FORMAT = "ai_sdk_ui"
CASES = [case for case in (*CONTRACTS, *WILD) if case.format == FORMAT]
SOUND = [case for case in CASES if case.valid or case.id in PENDING]
BROKEN = [case for case in CASES if case not in SOUND]

USER = {"id": "u", "role": "user", "parts": [{"type": "text", "text": "Weather?"}]}
LATER = {"id": "u2", "role": "user", "parts": [{"type": "text", "text": "and?"}]}
STEP = {"type": "step-start"}
SAID = {"type": "text", "text": "Done."}
GRANTED = {"id": "ap1", "approved": True}
REFUSED = {"id": "ap1", "approved": False, "reason": "no"}


USUAL: dict[str, dict[str, Any]] = {
    "output-available": {"output": "4 C"},
    "output-error": {"errorText": "timeout"},
    "output-denied": {"approval": REFUSED},
    "approval-requested": {"approval": {"id": "ap1"}},
    "approval-responded": {"approval": GRANTED},
}


def named(cases: list[Case]) -> list[object]:
    """The cases under their ids."""
    return [pytest.param(case, id=case.id) for case in cases]


def tool(state: object = "output-available", call_id: str = "c1", **fields: Any) -> dict[str, Any]:
    """A tool part in a state, with the fields of that state and others; what is `...` is left out."""
    usual = USUAL.get(str(state), {})
    part = {"type": "tool-weather", "toolCallId": call_id, "state": state, "input": {"city": "Oslo"}, **usual, **fields}
    return {key: value for key, value in part.items() if value is not ...}


def answer(*parts: Any, **keys: Any) -> dict[str, Any]:
    """An assistant's message."""
    return {"id": "a", "role": "assistant", "parts": [STEP, *parts], **keys}


def repaired(messages: list[Any], **policies: Any) -> Repaired:
    """The repair, after making sure that it mutates nothing and stays."""
    before = copy.deepcopy(messages)
    done = suture.repair(messages, FORMAT, **policies)
    again = suture.repair(done.messages, FORMAT, **policies)
    assert before == messages
    assert [] == again.repairs
    assert done.messages is again.messages
    return done


def parts_of(messages: list[Any], **policies: Any) -> Any:
    """The parts of the answer after its repair, without the `step-start` that it begins with."""
    return repaired(messages, **policies).messages[1]["parts"][1:]


def found(messages: list[Any]) -> list[str]:
    """The names of the rules that `check` finds broken."""
    return [finding.rule for finding in suture.check(messages, FORMAT)]


FIELDS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "no input": {"input": ...},
    "null input": {"input": None},
    "text input": {"input": '{"city": "Os'},
    "raw input": {"input": ..., "rawInput": '{"city": "Oslo"}'},
    "output": {"output": "4 C"},
    "null output": {"output": None},
    "no output": {"output": ...},
    "error": {"errorText": "timeout"},
    "null error": {"errorText": None},
    "no error": {"errorText": ...},
    "error that is no text": {"errorText": {"code": 4}},
    "granted": {"approval": GRANTED},
    "refused": {"approval": REFUSED},
    "asked": {"approval": {"id": "ap1"}},
    "null approval": {"approval": None},
    "no approval": {"approval": ...},
    "approval without id": {"approval": {"approved": True}},
    "reason is null": {"approval": {**GRANTED, "reason": None}},
    "preliminary": {"preliminary": True},
    "preliminary is null": {"preliminary": None},
    "provider": {"providerExecuted": True},
    "provider is null": {"providerExecuted": None},
    "metadata is null": {"callProviderMetadata": None},
    "no id": {"toolCallId": ...},
    "id is a number": {"toolCallId": 4},
    "no name": {"type": "tool-"},
    "dynamic": {"type": "dynamic-tool", "toolName": "weather"},
    "dynamic without name": {"type": "dynamic-tool"},
    "marked dynamic": {"type": "dynamic-tool", "toolName": "weather", "dynamic": True},
    "unknown key": {"title": "Weather", "note": 3},
}
STATES = (*SETTLED, "result", "done", None)
TABLE = {
    f"{state}, {what}, {place}": [USER, answer(tool(state, **fields)), *rest]
    for state in STATES
    for what, fields in FIELDS.items()
    for place, rest in (("last", []), ("in the middle", [LATER]))
}
"""Every state with every field, at the end of a history and in the middle."""

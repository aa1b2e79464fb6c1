"""The compared faults are what they say they are, and the verdict on a repair sees what it has to see."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.faults import FAULTS, FORMATS, judge, render
from tests.oracles.strict import violations

RENDERED = [(name, wire) for name in FAULTS for wire in FORMATS if render(name, wire) is not None]
# Not broken for a strict provider: the valid one, and results in two messages, which are read as one run.
SENDABLE = {"valid", "split_results"}
# Responses pairs by call_id, wherever the output stands after its call.
SENDABLE_IN = {("late_after_user", "openai_responses"), ("late_after_assistant", "openai_responses")}
# The verdict is stricter than the contracts, which let an empty text pass and compare ids of UI parts nowhere.
NOT_IN_THE_CONTRACTS = {
    ("empty_assistant", "openai_chat"),
    ("empty_assistant", "openai_responses"),
    ("dup_call_one_message", "ai_sdk_ui"),
}


def rendered(name: str, format: str) -> list[Any]:
    """Render a fault that exists in the format."""
    messages = render(name, format)
    assert messages is not None
    return messages


def test_there_are_sixteen() -> None:
    """The comparison has sixteen faults, each told in a sentence; seven of them can exist in a UI history."""
    assert len(FAULTS) == 16
    assert all(fault.about for fault in FAULTS.values())
    assert sum(fault.in_ui for fault in FAULTS.values()) == 7


@pytest.mark.parametrize(("name", "format"), RENDERED)
def test_faults_are_faults(name: str, format: str) -> None:
    """Each fault makes its history unsendable, and compared with itself nothing of it is lost."""
    messages = rendered(name, format)
    verdict = judge(messages, messages, format)
    assert verdict.sendable == (name in SENDABLE or (name, format) in SENDABLE_IN)
    assert (verdict.lost, verdict.invented_calls) == ((), ())


@pytest.mark.parametrize(("name", "format"), RENDERED)
def test_the_contracts_agree(name: str, format: str) -> None:
    """The strict checker refuses the same histories, but for what the contracts let pass."""
    messages = rendered(name, format)
    sendable = judge(messages, messages, format).sendable
    assert (violations(messages, format) == []) == (sendable or (name, format) in NOT_IN_THE_CONTRACTS)


@pytest.mark.parametrize(("name", "format"), RENDERED)
def test_every_loss_is_seen(name: str, format: str) -> None:
    """Whichever message goes, the verdict says what went with it; nothing goes with an empty or made-up one."""
    messages = rendered(name, format)
    for place, message in enumerate(messages):
        rest = messages[:place] + messages[place + 1 :]
        worthless = "interrupted" in str(message) and "[R" not in str(message)
        empty = message.get("content") in ("", []) and "tool_calls" not in message
        assert bool(judge(messages, rest, format).lost) == (not worthless and not empty)


def test_a_result_with_another_call_is_lost() -> None:
    """A result that moved to another call is not where it belongs, though its text is still there."""
    before = rendered("split_results", "openai_chat")
    after = copy.deepcopy(before)
    after[2]["tool_call_id"], after[3]["tool_call_id"] = after[3]["tool_call_id"], after[2]["tool_call_id"]
    verdict = judge(before, after, "openai_chat")
    assert verdict.sendable
    assert len(verdict.lost) == 2


def test_text_in_another_role_is_lost() -> None:
    """What the assistant said is not kept by letting the user say it."""
    before = rendered("valid", "anthropic")
    after = copy.deepcopy(before)
    after[3]["role"] = "user"
    assert judge(before, after, "anthropic").lost == ("assistant text '[A2]'",)


def test_an_invented_call_is_named() -> None:
    """A call that nobody made is no loss, but it is told."""
    before = rendered("orphan_middle", "openai_chat")
    after = copy.deepcopy(before)
    call = {"id": "c9", "type": "function", "function": {"name": "recovered", "arguments": "{}"}}
    after[1]["tool_calls"] = [call]
    verdict = judge(before, after, "openai_chat")
    assert verdict.sendable
    assert verdict.invented_calls == ("recovered({})",)
    assert verdict.lost == ()

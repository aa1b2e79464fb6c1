"""The AI SDK's UIMessages: what is found in them, and what becomes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import suture
from suture import pipeline
from suture.transcript import CAUSES, Part, TextPart, ToolPart
from suture.wire import ai_sdk_ui
from tests.oracles import node, strict
from tests.wire.cases import Case
from tests.wire.ui import (
    BROKEN,
    CASES,
    FORMAT,
    GRANTED,
    LATER,
    REFUSED,
    SAID,
    SOUND,
    STEP,
    USER,
    answer,
    found,
    named,
    parts_of,
    repaired,
    tool,
)

# --- the cases ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", named(SOUND))
def test_sound_case_is_the_same_object(case: Case) -> None:
    """What the SDK sends as it is comes back as it is."""
    done = repaired(case.messages)

    assert [] == done.repairs
    assert case.messages is done.messages


@pytest.mark.parametrize("case", named(BROKEN))
def test_broken_case_is_mended_for_good(case: Case) -> None:
    """It is found, and its repair checks clean and is the same when repaired again."""
    done = repaired(case.messages)

    assert done.repairs
    assert done.changed
    assert [] == strict.violations(done.messages, FORMAT, {})


def test_the_sdk_sends_every_case_after_its_repair() -> None:
    """The SDK itself validates, converts and sends them."""
    node.require()
    errors = node.ai_errors([repaired(case.messages).messages for case in CASES])

    assert {} == {case.id: error for case, error in zip(CASES, errors, strict=True) if error}


# --- fields and states ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        pytest.param(
            tool(output=..., errorText="x"), tool("output-error", errorText="x"), id="an error among the successes"
        ),
        pytest.param(tool(errorText="x"), tool(output="4 C\n\n[error of the same call]\nx"), id="both outcomes stay"),
        pytest.param(
            tool("output-error", output={"t": 4}),
            tool("output-error", errorText='timeout\n\n[output of the same call]\n{"t":4}'),
            id="an output beside an error stays",
        ),
        pytest.param(tool(output=...), tool(output=None), id="an output that was undefined"),
        pytest.param(tool("input-available", output="4 C"), tool(), id="an open call with an output"),
        pytest.param(tool("result"), tool("output-error", errorText=CAUSES["unknown"]), id="an unknown state"),
        pytest.param(tool(errorText=None, approval=None), tool(), id="keys that are null"),
        pytest.param(
            tool("output-error", errorText={"code": 4}), tool("output-error", errorText='{"code":4}'), id="code"
        ),
        pytest.param(
            tool("approval-responded", approval=REFUSED), tool("output-denied", approval=REFUSED), id="refused"
        ),
        pytest.param(
            tool("output-denied", errorText="late"),
            tool("output-denied", approval={**REFUSED, "reason": "no\n\n[outcome of the same call]\nlate"}),
            id="a denial with an error's text",
        ),
    ],
)
def test_fields_that_do_not_go_with_the_state(part: dict[str, Any], expected: dict[str, Any]) -> None:
    """The state and the fields agree afterwards, and no text is gone."""
    (mended,) = parts_of([USER, answer(part), LATER])

    assert expected == mended


def test_an_approval_that_the_state_cannot_hold_is_in_the_report() -> None:
    """What had to go is quoted."""
    (repair,) = repaired([USER, answer(tool(approval=REFUSED)), LATER]).repairs

    assert "tool-state" == repair.finding.rule
    assert json.dumps(REFUSED, separators=(",", ":")) == repair.lost


# --- open calls -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [[], [SAID], [{"type": "data-progress", "data": 1}], [STEP]], ids=str)
def test_a_decided_call_of_the_last_step_is_left_to_the_sdk(after: list[Any]) -> None:
    """The SDK runs what was approved, and answers what was denied, in the step that it goes on with."""
    for approval in (GRANTED, REFUSED):
        assert [] == found([USER, answer(tool("approval-responded", approval=approval), *after)])


@pytest.mark.parametrize("after", [[], [{"type": "data-progress", "data": 1}], [STEP]], ids=str)
def test_a_message_that_sends_nothing_is_not_the_last_one(after: list[Any]) -> None:
    """The SDK makes no model message of it, and runs what was approved before it."""
    messages = [USER, answer(tool("approval-responded")), {**answer(*after), "id": "a2"}]

    assert [] == found(messages) == strict.violations(messages, FORMAT)


@pytest.mark.parametrize("after", [[STEP, SAID], [STEP, tool(call_id="c2")]], ids=["text", "call"])
def test_a_decided_call_of_an_earlier_step_is_settled(after: list[Any]) -> None:
    """The SDK never gets to it."""
    part = parts_of([USER, answer(tool("approval-responded"), *after)])[0]

    assert tool("output-error", approval=GRANTED, errorText=CAUSES["unknown"]) == part


def test_a_text_after_the_call_proves_that_it_is_over() -> None:
    """It is settled even where running calls are kept."""
    messages = [USER, answer(tool("input-available"), SAID)]

    assert tool("output-error", errorText=CAUSES["unknown"]) == parts_of(messages, open_calls="keep")[0]


@pytest.mark.parametrize("state", ["input-streaming", "input-available", "approval-requested", "approval-responded"])
@pytest.mark.parametrize("after", [[], [{"type": "data-progress", "data": 1}]], ids=["last", "progress"])
def test_running_calls_are_kept(state: str, after: list[Any]) -> None:
    """`open_calls="keep"` leaves the end of the history alone, however far the arguments have come."""
    parts = [tool(state)]
    if state == "input-streaming":
        parts.append(tool(state, input=..., rawInput='{"city": "Os'))
    for part in parts:
        messages = [USER, answer(part, *after)]
        assert messages is repaired(messages, open_calls="keep").messages


@pytest.mark.parametrize(
    ("fields", "expected", "cause"),
    [
        ({}, {"city": "Oslo"}, "unknown"),
        ({"input": ...}, {}, "unknown"),
        ({"rawInput": '{"city": "Oslo"}'}, {"city": "Oslo"}, "unknown"),
        ({"input": ..., "rawInput": '{"city": "Oslo"}'}, {"city": "Oslo"}, "unknown"),
        ({"input": {"city": "Os"}, "rawInput": '{"city": "Os'}, {"_raw": '{"city": "Os'}, "malformed"),
        ({"input": '{"city": "Os'}, {"_raw": '{"city": "Os'}, "malformed"),
    ],
)
def test_arguments_that_were_still_streaming(fields: dict[str, Any], expected: Any, cause: str) -> None:
    """What had arrived stays; only what is really cut off is called so."""
    (part,) = parts_of([USER, answer(tool("input-streaming", **fields)), LATER])

    assert ("output-error", expected, CAUSES[cause]) == (part["state"], part["input"], part["errorText"])


def test_a_preliminary_output_is_quoted() -> None:
    """It is not the result, and it is not lost."""
    (part,) = parts_of([USER, answer(tool(output="3 of 5 hosts", preliminary=True)), LATER])

    assert "output-error" == part["state"]
    assert part["errorText"].endswith("3 of 5 hosts")
    assert "preliminary" not in part


@pytest.mark.parametrize("output", ["The operation was aborted.", {"error": "Tool call was not completed"}])
def test_an_abort_that_was_stored_as_a_success(output: Any) -> None:
    """It is an error with the very text."""
    text = output if isinstance(output, str) else json.dumps(output, separators=(",", ":"))
    messages = [USER, answer(tool(output=output)), LATER]

    assert ["placeholder-result"] == found(messages)
    assert [tool("output-error", errorText=text)] == parts_of(messages)


def test_the_hook_shapes_a_call() -> None:
    """It gets an object as input, and what it gives back is printed."""
    seen: list[ToolPart] = []

    def hook(part: ToolPart) -> ToolPart:
        seen.append(part)
        return part.settle("gone")

    (part,) = parts_of([USER, answer(tool("input-streaming", input=...)), LATER], on_interrupted=hook)

    assert [{}] == [part.input for part in seen]
    assert tool("output-error", input={}, errorText="gone") == part


@pytest.mark.parametrize(
    ("shaped", "expected"),
    [
        (TextPart("Which city?"), {"type": "text", "text": "Which city?"}),
        (
            ToolPart(call_id="c1", name="weather", input={}, state="output-denied", output="no"),
            {"state": "output-denied", "reason": "no", "approved": False},
        ),
        (
            ToolPart(call_id="c1", name="weather", input={"a": 1}, state="output-available", output={"t": 4}),
            {
                "type": "tool-weather",
                "toolCallId": "c1",
                "state": "output-available",
                "input": {"a": 1},
                "output": {"t": 4},
            },
        ),
        (
            ToolPart(call_id="c1", name="rain", state="output-available", output=(TextPart("4"), TextPart("C"))),
            {"type": "tool-rain", "input": None, "output": "4\nC"},
        ),
    ],
)
def test_the_sdk_takes_what_the_hook_makes(shaped: Part, expected: dict[str, Any]) -> None:
    """A part that never was one of the SDK's gets all that its state needs."""
    done = repaired([USER, answer(tool("approval-requested")), LATER], on_interrupted=lambda _: shaped)
    part = done.messages[1]["parts"][1]

    assert expected.items() <= {**part, **part.get("approval", {})}.items()
    assert [] == strict.violations(done.messages, FORMAT, {})


# --- steps, ids, shapes ---------------------------------------------------------------------------------------------


def test_steps_that_run_into_each_other_are_parted() -> None:
    """A `step-start` stands between two answers of the model, and the parts are the same objects."""
    first, second = tool(), tool(call_id="c2")
    parts = parts_of([USER, answer(first, SAID, second)])

    assert [first, STEP, SAID, second] == parts
    assert first is parts[0]
    assert SAID is parts[2]


@pytest.mark.parametrize(
    "parts",
    [
        [tool(), SAID],
        [tool(), tool(call_id="c2"), SAID],
        [SAID, tool(), tool(call_id="c2")],
        [tool(), {"type": "data-progress", "data": 1}, tool(call_id="c2")],
        [tool(providerExecuted=True), SAID, tool(call_id="c2")],
        [tool(), STEP, SAID, tool(call_id="c2")],
        [tool(), {"type": "text", "text": "\n\n"}, tool(call_id="c2")],
        [tool("approval-responded"), SAID, tool(call_id="c2")],
    ],
)
def test_steps_that_are_clear_stay(parts: list[Any]) -> None:
    """Calls side by side are one answer, and so are the provider's calls with what follows them."""
    assert [] == found([USER, answer(*parts)])


def test_two_calls_of_one_message_have_two_ids() -> None:
    """In two messages they may be the same."""
    assert ["duplicate-call-id"] == found([USER, answer(tool(), tool(output="5 C"))])
    assert [] == found([USER, answer(tool()), LATER, answer(tool())])


def test_messages_without_anything() -> None:
    """The SDK refuses them from the user, and sends nothing for them from the assistant."""
    empty = {"id": "u", "role": "user", "parts": []}

    assert [USER] == repaired([empty, USER]).messages
    assert [USER] == repaired([{**empty, "role": "system"}, USER]).messages
    assert [[{"type": "text", "text": "[empty message]"}]] == [m["parts"] for m in repaired([empty]).messages]
    assert [] == found([USER, {**empty, "role": "assistant"}, LATER])
    assert [USER, LATER] == repaired([USER, answer({"type": "text", "text": ""}), LATER]).messages


def v4(state: str, **fields: Any) -> dict[str, Any]:
    """A tool part of AI SDK 4."""
    call = {"state": state, "step": 0, "toolCallId": "c1", "toolName": "weather", "args": {"city": "Oslo"}, **fields}
    return {"type": "tool-invocation", "toolInvocation": call}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (v4("result", result="4 C"), tool(step=0)),
        (v4("result", result={"t": 4}), tool(output={"t": 4}, step=0)),
        (v4("call"), tool("output-error", errorText=CAUSES["unknown"], step=0)),
        (v4("partial-call"), tool("output-error", errorText=CAUSES["unknown"], step=0)),
        (
            {
                "type": "reasoning",
                "reasoning": "plan",
                "details": [{"type": "text", "text": "plan", "signature": "c2ln"}],
            },
            {"type": "reasoning", "text": "plan", "details": [{"type": "text", "text": "plan", "signature": "c2ln"}]},
        ),
        (
            {"type": "source", "source": {"sourceType": "url", "id": "s1", "url": "https://example.com", "title": "t"}},
            {"type": "source-url", "sourceId": "s1", "url": "https://example.com", "title": "t"},
        ),
        (
            {"type": "file", "mimeType": "image/png", "data": "aGk="},
            {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,aGk="},
        ),
    ],
)
def test_parts_of_version_4(part: dict[str, Any], expected: dict[str, Any]) -> None:
    """They become the parts of today, with all that is in them."""
    assert [expected] == parts_of([USER, answer(part), LATER])


def test_messages_of_version_4() -> None:
    """Content, tool invocations and attachments become parts, in the steps that they had."""
    calls = [
        v4("result", result="4 C")["toolInvocation"],
        v4("result", step=1, toolCallId="c2", result="5 C")["toolInvocation"],
    ]
    asked = {"id": "u", "role": "user", "content": "Weather?", "experimental_attachments": [{"url": "data:image/png,"}]}
    told = {"id": "a", "role": "assistant", "content": "4 C.", "toolInvocations": calls}
    user, assistant = repaired([asked, told]).messages

    assert FORMAT == suture.detect([asked, told])
    assert ["text", "file"] == [part["type"] for part in user["parts"]]
    assert "experimental_attachments" not in user
    weather = "tool-weather"
    assert [weather, "step-start", weather, "step-start", "text"] == [part["type"] for part in assistant["parts"]]


def test_what_nobody_knows_is_carried_through() -> None:
    """Unknown keys, data and metadata are the same objects after a repair; an unknown part becomes data, whole."""
    odd = [{"type": "hologram", "x": 1}, {"type": "data-place", "data": {"lat": 59.9}}]
    metadata = {"model": "m"}
    broken_call = tool("input-available", note={"a": 1})
    done = repaired([USER, answer(*odd, broken_call, metadata=metadata, extra=[1]), LATER])

    assert done.messages[0] is USER
    assert done.messages[2] is LATER
    mended = done.messages[1]
    assert {"type": "data-hologram", "data": odd[0]} == mended["parts"][1]
    assert odd[1] is mended["parts"][2]
    assert metadata is mended["metadata"]
    assert [1] == mended["extra"]
    assert broken_call["note"] is mended["parts"][3]["note"]


def test_a_rule_that_may_not_act_leaves_the_record() -> None:
    """Where only other rules may act, a broken record is printed as it stood."""
    part = v4("result", result="4 C")
    messages = [USER, answer(part, tool("input-available")), LATER]
    done = pipeline.run(messages, ai_sdk_ui, {}, pipeline.Policies(), rules={"unanswered-call"})

    assert [part, tool("output-error", errorText=CAUSES["unknown"])] == done.messages[1]["parts"][1:]

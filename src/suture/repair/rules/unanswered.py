"""Every call has an outcome: where none was recorded, an honest one says so."""

from __future__ import annotations

from typing import Any

import msgspec

from suture.repair.bench import Bench
from suture.repair.foreign import is_placeholder
from suture.repair.history import edit_calls, last_step, tail_calls
from suture.repair.rule import Example, Rule
from suture.repair.settle import shape
from suture.transcript import Cause, Message, Part, ToolPart
from suture.transcript.arguments import as_object

__all__ = ["RULES", "apply"]


def _ui(**part: Any) -> Example:
    tool = {"type": "tool-deploy", "toolCallId": "c1", "input": {"to": "staging"}, **part}
    return Example(
        "ai_sdk_ui",
        [
            {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "deploy"}]},
            {"id": "a1", "role": "assistant", "parts": [{"type": "step-start"}, tool]},
            {"id": "u2", "role": "user", "parts": [{"type": "text", "text": "did it work?"}]},
        ],
    )


RULES = (
    Rule(
        code="SU101",
        name="unanswered-call",
        summary="Every tool call has a result.",
        why="The agent was stopped, timed out, crashed or was killed between the model's call and the result. "
        "From then on the provider refuses the history, for ever.",
        fix="The call gets a synthetic result that says what is known and no more, marked as an error where the "
        "format can. "
        "The hook `on_interrupted` may shape it. `open_calls='keep'` leaves the calls alone that end the history.",
        example=Example(
            "anthropic",
            [
                {"role": "user", "content": "make the folder"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "mkdir out"}},
                        {"type": "tool_use", "id": "toolu_2", "name": "Bash", "input": {"command": "ls"}},
                    ],
                },
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": ""}]},
                {"role": "user", "content": "use build/ instead"},
            ],
        ),
    ),
    Rule(
        code="SU107",
        name="unfinished-result",
        summary="A result is final.",
        why="A tool that streams its output was cut off after a preliminary one.",
        fix="The call is settled as interrupted; the outcome quotes the last preliminary output.",
        example=_ui(state="output-available", output="3 of 5 hosts done", preliminary=True),
    ),
    Rule(
        code="SU108",
        name="unanswered-approval",
        summary="A call that waits for a person's decision is decided, or is the last thing in the history.",
        why="The person wrote something else instead of deciding, or decided and the process died before the tool ran.",
        fix="Undecided: settled as not run. Denied: settled as denied, with the reason. Approved but without a result: "
        "settled as interrupted. An approved call that ends the history is still going to run and is left alone.",
        example=_ui(state="approval-requested", approval={"id": "ap1"}),
    ),
)


def apply(messages: list[Message], bench: Bench) -> list[Message]:
    """Settle every open call, but for those that may be running still where the caller says so."""
    if all(part.settled for m in messages for part in m.parts if isinstance(part, ToolPart)):
        return messages
    tail = tail_calls(messages) if bench.at_end and bench.open_calls == "keep" else set()
    last = last_step(messages) if bench.at_end and bench.applies("unanswered-approval") else set()

    def mend(part: ToolPart) -> Part:
        if part.settled or part.executor == "provider":
            return part
        if id(part) in tail or (id(part) in last and part.state == "approval-responded"):
            return part  # may be running, or is what the AI SDK will run first
        return _settle(part, bench)

    return edit_calls(messages, mend)


def _settle(part: ToolPart, bench: Bench) -> Part:
    rule, message, cause = _diagnose(part)
    part = msgspec.structs.replace(part, cause=part.cause or cause, input=_input(part))
    where = part.origin.at if part.origin else ()
    if part.state == "approval-responded" and part.approval and part.approval.get("approved") is False:
        if not bench.report(rule, where, message, "settled as denied", call_id=part.call_id):
            return part
        reason = part.approval.get("reason")
        return msgspec.structs.replace(part, state="output-denied", output=reason, synthetic=True)
    if not bench.applies(rule):
        return part
    outcome, action = shape(part, bench.on_interrupted)
    bench.report(rule, where, message, action, call_id=part.call_id)
    return outcome


def _input(part: ToolPart) -> Any:
    return as_object(part.input) if part.kind == "function" else part.input


def _diagnose(part: ToolPart) -> tuple[str, str, Cause]:
    """The rule that an open call breaks, in words, and what its state says about the cause."""
    call = f"the call {part.call_id!r} of {part.name!r}"
    if part.preliminary:
        if is_placeholder(part.output):
            return "placeholder-result", f"{call} has a placeholder where its result belongs", "unknown"
        return "unfinished-result", f"{call} has only a preliminary result", "unknown"
    if part.state == "approval-requested":
        return "unanswered-approval", f"{call} waits for an approval", "awaiting_approval"
    if part.state == "approval-responded":
        return "unanswered-approval", f"{call} was decided, and nothing was recorded after that", "unknown"
    return "unanswered-call", f"{call} has no result", "unknown"

"""A result stands where its provider looks for it: after its call, with nothing in between."""

from __future__ import annotations

from suture.repair.bench import Bench
from suture.repair.pairing import Answer, Pairing, Slot
from suture.repair.rule import Example, Rule
from suture.transcript import Origin, Result

__all__ = ["RULES", "apply"]

_CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "build", "arguments": "{}"}}],
}

RULES = (
    Rule(
        code="SU103",
        name="misplaced-result",
        summary="A result follows its call, with no other message in between.",
        why="A user wrote while the tool was running, a queue delivered late, or a sub-agent answered turns later: the "
        "result is there, but not where the provider looks for it.",
        fix="The result moves to its call. What stood between them comes after it, in its old order.",
        example=Example(
            "openai_chat",
            [
                {"role": "user", "content": "build"},
                _CALL,
                {"role": "user", "content": "are you there?"},
                {"role": "tool", "tool_call_id": "call_1", "content": "ok"},
            ],
        ),
    ),
    Rule(
        code="SU104",
        name="result-before-call",
        summary="A result comes after its call.",
        why="Two writers saved in the wrong order, or messages were sorted by a clock that is not precise enough.",
        fix="The result moves behind its call.",
        example=Example(
            "openai_chat",
            [
                {"role": "user", "content": "build"},
                {"role": "tool", "tool_call_id": "call_1", "content": "ok"},
                _CALL,
                {"role": "user", "content": "thanks"},
            ],
        ),
    ),
    Rule(
        code="SU207",
        name="item-id-as-call-id",
        summary="A result names its call by `call_id`, never by the record's own `id`.",
        why="A record of the OpenAI Responses format has two ids; a client that echoes the wrong one breaks the pair.",
        fix="The result is given the call's `call_id`.",
        example=Example(
            "openai_responses",
            [
                {"role": "user", "content": "build"},
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "build", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "fc_1", "output": "ok"},
            ],
        ),
    ),
)


_SPEAKERS = frozenset({"user", "system"})


def apply(pairing: Pairing, bench: Bench) -> None:
    """Take each misplaced result out of its place, so that printing puts it behind its call."""
    for slot in pairing.slots:
        if slot.part.executor == "provider":
            continue
        for number, answer in enumerate(slot.answers):
            if answer.result.call_id != slot.part.call_id:
                _named(slot, answer, bench)
            if answer.result.flaws:
                what = f"a result has no well-formed {answer.result.flaws[0]!r}"
                bench.report("malformed-block", answer.result.origin.at, what, "written as the format needs it")
            if _misplaced(slot, answer, bench):
                slot.answers[number] = _displaced(answer)


def _named(slot: Slot, answer: Answer, bench: Bench) -> None:
    """Report a result that names its call in another way than by the call's id; printing names it."""
    where, said, call_id = answer.result.origin.at, answer.result.call_id, slot.part.call_id
    if slot.via_item:
        message = f"the result names the record {said!r}, not the call {call_id!r}"
        bench.report("item-id-as-call-id", where, message, "named after its call", call_id=said)
    elif not said:
        message = f"a result stands behind the call {call_id!r} and names none"
        bench.report("missing-call-id", where, message, "named after the call that it stands behind", call_id=call_id)


def _misplaced(slot: Slot, answer: Answer, bench: Bench) -> bool:
    """Whether the answer stands where the target does not look for it; reports it."""
    where, call_id = answer.result.origin.at, slot.part.call_id
    if answer.entry < slot.entry or (answer.entry == slot.entry and where < _at(slot)):
        message = f"the result of {call_id!r} stands before its call"
        return bench.report("result-before-call", where, message, "moved behind its call", call_id=call_id)
    if _apart(slot, answer, bench):
        message = f"the result of {call_id!r} is separated from its call"
        return bench.report("misplaced-result", where, message, "moved to its call", call_id=call_id)
    if bench.limits.results == "next" and answer.entry != slot.entry + 1:
        message = f"the result of {call_id!r} is not the item right after its call"
        return bench.report("misplaced-result", where, message, "moved to its call", call_id=call_id)
    return False


def _apart(slot: Slot, answer: Answer, bench: Bench) -> bool:
    """Whether something stands between a call and its answer that may not."""
    if bench.limits.results == "adjacent":
        return answer.turn != slot.turn
    if slot.part.origin is None:  # only the server holds the call
        return False
    if answer.exchange != slot.exchange or answer.turn == slot.turn:
        return answer.exchange != slot.exchange
    start, stop = slot.part.origin.at[0], answer.result.origin.at[0]
    return bench.spoken_between(int(start) + 1, int(stop), _SPEAKERS)


def _at(slot: Slot) -> tuple[int | str, ...]:
    return slot.part.origin.at if slot.part.origin else ()


def _displaced(answer: Answer) -> Answer:
    result = answer.result
    moved = Result(
        call_id=result.call_id,
        name=result.name,
        output=result.output,
        state=result.state,
        kind=result.kind,
        executor=result.executor,
        origin=Origin((), result.origin.wire),
        container=Origin((), result.container.wire),
    )
    return Answer(moved, answer.entry, answer.turn, answer.exchange)

"""The records of a history of items (OpenAI Responses): each there once, under an id that it may bear, in its place.

A record has an id of its own beside the call id that pairs it. The server may know that id, so a wrong one is worse
than none: it goes wherever the format lets a record be without.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import Any, Final

import msgspec

from suture.repair.bench import Bench
from suture.repair.history import with_parts
from suture.repair.rule import Example, Rule
from suture.repair.rules.item_ids import id_of, kind_of, problem, rename, whole
from suture.repair.rules.orphans import UNKNOWN_TOOL
from suture.transcript import Entry, Message, OpaquePart, Origin, Part, Result, ToolPart, output_text
from suture.transcript.codec import dumps

__all__ = ["ELSEWHERE", "RULES", "apply", "noted", "prepare"]

ELSEWHERE: Final = "elsewhere"
"""The kind of a call that the server holds and this list does not."""

_USER = {"role": "user", "content": "build"}
_CALL = {"type": "function_call", "call_id": "call_1", "name": "build", "arguments": "{}"}
_OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "ok"}
_SAID = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
_ANSWER = {**_SAID, "content": [{"type": "output_text", "text": "Done.", "annotations": []}]}

RULES = (
    Rule(
        code="SU205",
        name="malformed-item-id",
        summary="A record's own id begins as its type demands, and has the characters and the length that are taken.",
        why="A client put the call's id, its own message id or nothing into the field.",
        fix="The id is removed where the format lets a record be without one, else a new one is derived from the old. "
        "An assistant message without id is written as its text.",
        example=Example("openai_responses", [_USER, {**_CALL, "id": "call_1"}, _OUTPUT]),
    ),
    Rule(
        code="SU415",
        name="untyped-item",
        summary="A record says what it is: by its type, a message by its role.",
        why="Records of another format were mixed in, or a key was lost.",
        fix="What it holds says what it is: a call, a result, or a message of the user where nothing else is sure. A "
        "record that holds nothing known is dropped, and is in the report.",
        example=Example("openai_responses", [_USER, {**_CALL, "type": None}, _OUTPUT]),
    ),
    Rule(
        code="SU206",
        name="duplicate-item",
        summary="No two records have one id.",
        why="A turn was saved twice, or new records were added to a list that held them already.",
        fix="A record that says the same again goes. One that says something else stays and loses its id.",
        example=Example("openai_responses", [_USER, _ANSWER, _ANSWER, {"role": "user", "content": "thanks"}]),
    ),
    Rule(
        code="SU208",
        name="unstored-reference",
        summary="Where nothing is stored, no record is named by its id alone.",
        why="Storing was switched off after the history had been written, or a stored history went to another account.",
        fix="The reference goes, and is in the report: what it stood for can only come from the caller's own copy.",
        example=Example(
            "openai_responses",
            [_USER, {"type": "item_reference", "id": "msg_1"}, {"role": "user", "content": "thanks"}],
            {"store": False},
        ),
    ),
    Rule(
        code="SU508",
        name="trigger-not-last",
        summary="A compaction trigger is the last record.",
        why="The turn went on in a list that had been prepared for compaction.",
        fix="It moves to the end; of several, one stays.",
        example=Example("openai_responses", [{"type": "compaction_trigger"}, _USER]),
    ),
    Rule(
        code="SU802",
        name="two-continuations",
        summary="A request goes on from a response or from a conversation, not from both.",
        why="Both settings were kept when the client changed from one to the other.",
        fix="`previous_response_id` is gone from `Repaired.request`: a conversation has the response already.",
        example=Example("openai_responses", [_USER], {"previous_response_id": "resp_1", "conversation": "conv_1"}),
    ),
)


# --- before pairing -------------------------------------------------------------------------------------------------


def prepare(entries: list[Entry], bench: Bench) -> list[Entry]:
    """Take out what stands there twice or refers to nothing, and let the server's own calls count as calls."""
    if not bench.applies("malformed-item-id"):
        return entries
    if bench.request.get("previous_response_id") and bench.request.get("conversation"):
        what = "both `previous_response_id` and `conversation` are given"
        if bench.report("two-continuations", (), what, "`previous_response_id` was dropped from `Repaired.request`"):
            bench.request.pop("previous_response_id")
    if any(entry.metadata for entry in entries):
        entries = [entry for entry in entries if not (noted(entry, "untyped") and _unknown(entry, bench))]
    if bench.request.get("store") is False:
        entries = [entry for entry in entries if not _unstored(entry, bench)]
    if any(entry.id is not None for entry in entries):
        entries = _own_outputs(_once(entries, bench), bench)
    return _server_calls(entries, bench)


def noted(entry: Entry | Message, note: str) -> bool:
    """Whether a reader, or `prepare`, left this note."""
    return isinstance(entry.metadata, dict) and bool(entry.metadata.get(note))


def _unknown(entry: Entry, bench: Bench) -> bool:
    """Whether an entry that does not say what it is holds nothing to tell it by; reports it in either case."""
    nothing = _opaque(entry) == "" and any(isinstance(item, OpaquePart) and whole(item) for item in entry.items)
    kind = "result" if entry.role == "tool" else "call" if entry.calls else f"message of the {entry.role}"
    what = "nothing here says what this is"
    if not nothing:
        bench.report("untyped-item", entry.origin.at, what, f"taken as a {kind}")
        return False
    return bench.report("untyped-item", entry.origin.at, what, "dropped", lost=dumps(entry.origin.wire))


def _unstored(entry: Entry, bench: Bench) -> bool:
    """Whether the entry is a reference into a store that there is not."""
    if _opaque(entry) != "item_reference":
        return False
    what = f"nothing is stored, and {entry.id!r} is named by its id alone"
    return bench.report("unstored-reference", entry.origin.at, what, "dropped", lost=dumps(entry.origin.wire))


def _opaque(entry: Entry) -> str:
    part = entry.items[0] if len(entry.items) == 1 else None
    return part.kind if isinstance(part, OpaquePart) and whole(part) else ""


def _once(entries: list[Entry], bench: Bench) -> list[Entry]:
    """The entries without those that repeat an earlier one, id and all."""
    seen: dict[str, Any] = {}
    kept = []
    for entry in entries:
        if entry.id and _opaque(entry) != "item_reference":
            same = seen.setdefault(entry.id, entry.origin.wire)
            if same is not entry.origin.wire and same == entry.origin.wire:
                what = f"the record {entry.id!r} stands here a second time"
                if bench.report("duplicate-item", entry.origin.at, what, "dropped: it says the same again"):
                    continue
        kept.append(entry)
    return kept


def _own_outputs(entries: list[Entry], bench: Bench) -> list[Entry]:
    """The entries, results without a wrong id of their own: no result needs one."""
    taken = {entry.id for entry in entries if entry.id and entry.role != "tool"}
    result = []
    for entry in entries:
        item = entry.items[0] if entry.items else None
        if entry.role == "tool" and entry.id is not None and isinstance(item, Result) and item.kind != "local_shell":
            rule = problem("result", entry.id) or ("duplicate-item" if entry.id in taken else "")
            taken.add(entry.id)
            what = f"the id {entry.id!r} of a result is not its own" if entry.id else "the id of a result is empty"
            if rule and bench.report(rule, entry.origin.at, what, "removed", call_id=item.call_id):
                result.append(_without_id(entry, item))
                continue
        result.append(entry)
    return result


def _without_id(entry: Entry, item: Result) -> Entry:
    wire = {key: value for key, value in item.origin.wire.items() if key != "id"}
    bare = msgspec.structs.replace(item, origin=Origin(item.origin.at, wire))
    return msgspec.structs.replace(entry, id=None, items=(bare,))


def _server_calls(entries: list[Entry], bench: Bench) -> list[Entry]:
    """The entries, with the calls that the server holds.

    Where the caller knows which are open there, they stand at the head as calls like any other. Where it does not, a
    result whose call is not in this list is taken as the answer to one, and so is one whose call may be what an
    `item_reference` names. Such calls are never printed.
    """
    known = bench.request.get("open_calls")
    if isinstance(known, list):
        ids = dict.fromkeys(call_id for call_id in known if isinstance(call_id, str) and call_id)
        return [*(_server_call(call_id, 0) for call_id in ids), *entries]
    chained = bool(bench.request.get("previous_response_id") or bench.request.get("conversation"))
    if not chained and OpaquePart not in {type(item) for entry in entries for item in entry.items}:
        return entries
    names = {name for entry in entries for call in entry.calls for name in (call.call_id, call.item_id)}
    result = []
    referred = excused = 0
    for entry in entries:
        item = entry.items[0] if entry.items else None
        if _opaque(entry) == "item_reference" and not str(entry.id).startswith(("msg_", "rs_", "mcpr_")):
            referred += 1
        elif (
            isinstance(item, Result)
            and 0 < len(item.call_id) <= bench.limits.id_max
            and item.call_id not in names
            and (chained or excused < referred)
        ):
            excused += 1
            names.add(item.call_id)
            result.append(_server_call(item.call_id, entry.origin.at[0]))
        result.append(entry)
    return result


def _server_call(call_id: str, place: int | str) -> Entry:
    call = ToolPart(call_id=call_id, name=UNKNOWN_TOOL, input={}, raw_input="{}", kind=ELSEWHERE)
    return Entry("assistant", (call,), Origin((place,), call), metadata={ELSEWHERE: True})


# --- after pairing --------------------------------------------------------------------------------------------------


def apply(messages: list[Message], bench: Bench) -> list[Message]:
    """Give each record an id that it may bear, and the trigger its place."""
    if not bench.applies("malformed-item-id"):
        return messages
    if any(message.metadata for message in messages):
        messages = _answered(messages)
    return _trigger(_identified(_uncrossed(messages, bench), bench), bench)


def _answered(messages: list[Message]) -> list[Message]:
    """The messages; a call that only the server holds is answered, whatever the hook made of it."""
    return [_settled(message) if noted(message, ELSEWHERE) else message for message in messages]


def _settled(message: Message) -> Message:
    call = message.origin.wire if message.origin else None
    if isinstance(call, ToolPart) and not isinstance(message.parts[0], ToolPart):
        message = msgspec.structs.replace(message, parts=(call.settle(output_text(message.parts)),))
    return msgspec.structs.replace(message, origin=None)


def _uncrossed(messages: list[Message], bench: Bench) -> list[Message]:
    """The messages, no result behind a later call that bears its call's id: there it would answer that one."""
    names = [part.call_id for message in messages for part in message.parts if type(part) is ToolPart]
    if len(names) == len(set(names)):
        return messages
    places: dict[str, list[int]] = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolPart):
                places.setdefault(part.call_id, []).append(message.place)

    def mend(part: Part, place: int) -> Part:
        if not isinstance(part, ToolPart) or not part.outcome_origin or not part.outcome_origin.at:
            return part
        at, others = part.outcome_origin.at, places[part.call_id]
        following = bisect_right(others, place)
        if following == len(others) or others[following] > int(at[0]):
            return part
        what = f"the result of {part.call_id!r} stands behind another call of that id"
        if not bench.report("misplaced-result", at, what, "moved to its call", call_id=part.call_id):
            return part
        return msgspec.structs.replace(part, outcome_origin=Origin((), part.outcome_origin.wire))

    return [with_parts(m, (mend(part, m.place) for part in m.parts)) if m.parts else m for m in messages]


def _identified(messages: list[Message], bench: Bench) -> list[Message]:
    """The messages with ids that are well-formed and their own."""
    seen: set[str] = set()
    times: Counter[str] = Counter()
    renamed: dict[str, str] = {}
    result: list[Message] = []
    for message in messages:
        old, kind = id_of(message), kind_of(message)
        if old is not None and kind not in ("item_reference", "result"):
            times[old] += 1
            rule = problem(kind, old, message.role) or ("duplicate-item" if old in seen else "")
            own = _reidentified(message, rule, times[old], bench) if rule else message
            if kind == "mcp_approval_request" and own is not message:
                renamed.setdefault(old, id_of(own) or old)
            seen.add(id_of(own) or "")
            result.append(own)
        else:
            result.append(message)
    return [_follow(message, renamed) for message in result] if renamed else result


def _reidentified(message: Message, rule: str, time: int, bench: Bench) -> Message:
    old, kind = id_of(message), kind_of(message)
    new = rename(message, time)
    action = "removed" if id_of(new) is None else f"replaced by {id_of(new)!r}"
    belongs = "belongs to an earlier record" if rule == "duplicate-item" else "is not what the format takes"
    what = f"the id {old!r} of this {kind} {belongs}" if old else f"the id of this {kind} is empty or no text"
    where = message.origin.at if message.origin else ()
    return new if bench.report(rule, where, what, action) else message


def _follow(message: Message, renamed: dict[str, str]) -> Message:
    """An answer to a request for approval, under the request's new id."""
    part = message.parts[0] if message.parts else None
    if not isinstance(part, OpaquePart) or kind_of(message) != "mcp_approval_response":
        return message
    new = renamed.get(part.value.get("approval_request_id"))
    if new is None:
        return message
    value = {**part.value, "approval_request_id": new}
    return msgspec.structs.replace(message, parts=(msgspec.structs.replace(part, value=value),))


def _trigger(messages: list[Message], bench: Bench) -> list[Message]:
    """The messages with one trigger, at the end."""
    places = [n for n, message in enumerate(messages) if kind_of(message) == "compaction_trigger"]
    misplaced = [n for n in places if messages[n].place != bench.length - 1]
    if not misplaced:
        return messages
    kept = messages[places[-1]]
    for number in misplaced:
        where = messages[number].origin
        action = "moved to the end" if messages[number] is kept else "dropped: one is enough"
        if not bench.report("trigger-not-last", where.at if where else (), "a compaction trigger is not last", action):
            return messages
    rest = [message for number, message in enumerate(messages) if number not in places]
    return [*rest, msgspec.structs.replace(kept, origin=None, place=bench.length)]

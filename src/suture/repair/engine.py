"""From entries as they were read to messages whose calls all have their outcome: pairing, then rule after rule."""

from __future__ import annotations

import msgspec

from suture.repair.bench import Bench
from suture.repair.foreign import is_placeholder
from suture.repair.pairing import Pairing, Slot, pair
from suture.repair.rules import MESSAGE_RULES, blocks, duplicates, item_reasoning, item_types, items, ordering, orphans
from suture.transcript import Entry, Message, Part, Result, TextPart, ToolPart

__all__ = ["mend"]


def mend(entries: list[Entry], bench: Bench) -> list[Message]:
    """The messages of `entries`, repaired for the bench's target; what was done is in the bench's report."""
    entries = items.prepare(blocks.apply(entries, bench), bench)
    pairing = pair(entries, joins_roles=bench.limits.joins_roles)
    duplicates.apply(pairing, bench)
    item_types.fit(pairing, bench)
    ordering.apply(pairing, bench)
    item_reasoning.between(entries, pairing, bench)
    rebuilt = orphans.apply(entries, pairing, bench)
    messages = _assemble(entries, pairing, rebuilt, bench)
    for apply in MESSAGE_RULES:
        messages = apply(messages, bench)
    return messages


def _assemble(entries: list[Entry], pairing: Pairing, rebuilt: orphans.Rebuilt, bench: Bench) -> list[Message]:
    """Fold each result into its call; an entry that held nothing but results is gone with them."""
    slots = iter(pairing.slots)
    messages: list[Message] = []
    asked = not bench.at_start
    for index, entry in enumerate(entries):
        place = int(entry.origin.at[0])
        for message in rebuilt.before.get(index, ()):
            if not asked and message.role == "assistant":
                messages.append(Message(role="user", parts=(TextPart(orphans.HEAD_TEXT),), place=place))
            asked = True
            messages.append(msgspec.structs.replace(message, place=place))
        parts: list[Part] = []
        for item in entry.items:
            if isinstance(item, ToolPart):
                parts.append(_answered(next(slots)))
            elif not isinstance(item, Result):
                parts.append(item)
            elif (call := rebuilt.inside.get(id(item))) is not None:
                parts.append(call)
        if not parts and entry.items:
            continue
        asked = asked or entry.role != "system"
        messages.append(
            Message(
                role="user" if entry.role == "tool" else entry.role,
                parts=tuple(parts),
                id=entry.id,
                metadata=entry.metadata,
                keeps=entry.keeps,
                hollow=not entry.items,
                place=place,
                origin=entry.origin,
                faults=entry.faults,
            )
        )
    return messages


def _answered(slot: Slot) -> ToolPart:
    """The call with its outcome; a placeholder is an outcome that is still to come."""
    if not slot.answers:
        return slot.part
    result = slot.answers[0].result
    return msgspec.structs.replace(
        slot.part,
        state=result.state,
        output=result.output,
        preliminary=is_placeholder(result.output),
        outcome_origin=result.origin,
        outcome_container=result.container,
    )

"""Blocks stand in a message of the role that may say them."""

from __future__ import annotations

import msgspec

from suture.repair.bench import Bench
from suture.repair.rule import Example, Rule
from suture.transcript import Entry, Part, ReasoningPart, Result, ToolPart

__all__ = ["RULES", "apply"]

RULES = (
    Rule(
        code="SU406",
        name="misplaced-block",
        summary="Calls and reasoning are the assistant's, results are the user's.",
        why="Messages were assembled by hand, or merged without regard to their roles.",
        fix="The message is split where the role changes; every block keeps its place in the order.",
        example=Example(
            "anthropic",
            [
                {"role": "user", "content": "list"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}},
                        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a.txt"},
                    ],
                },
                {"role": "user", "content": "thanks"},
            ],
        ),
    ),
    Rule(
        code="SU507",
        name="unknown-role",
        summary="Every message has one of the format's roles.",
        why="Other formats and templates have roles of their own, or the key was lost.",
        fix="The role follows from what the message holds: a result's, a caller's, else the user's.",
        example=Example("openai_chat", [{"role": "user", "content": "Hi"}, {"role": "narrator", "content": "Rain."}]),
    ),
)


def apply(entries: list[Entry], bench: Bench) -> list[Entry]:
    """Name the roles that are not known, and split entries that hold blocks of the other role."""
    for entry in entries:
        if entry.metadata and "unknown" in entry.metadata:
            what = f"the role {entry.metadata['unknown']!r} is not known"
            bench.report("unknown-role", entry.origin.at, what, f"taken as {entry.role!r}")
    if not bench.applies("misplaced-block"):
        return entries
    return [piece for entry in entries for piece in _split(entry, bench)]


def _split(entry: Entry, bench: Bench) -> list[Entry]:
    if all(_role(item, entry) == entry.role for item in entry.items):
        return [entry]
    pieces: list[Entry] = []
    for item in entry.items:
        role = _role(item, entry)
        if role != entry.role:
            where = item.origin.at if item.origin else ()
            what = f"the {entry.role} message holds what only the {role} says"
            bench.report("misplaced-block", where, what, "the message was split")
        if pieces and pieces[-1].role == role:
            pieces[-1] = msgspec.structs.replace(pieces[-1], items=(*pieces[-1].items, item))
        else:
            pieces.append(msgspec.structs.replace(entry, role=role, items=(item,)))
    return pieces


def _role(item: Part | Result, entry: Entry) -> str:
    """The role that may say this."""
    kind = type(item)
    if kind is ToolPart or kind is ReasoningPart:
        return "assistant"
    if isinstance(item, Result):
        return "assistant" if item.executor == "provider" else "user"
    return entry.role

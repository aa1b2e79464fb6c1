"""Which records of a rollout the model still sees."""

from __future__ import annotations

from typing import Any, Final

import msgspec

__all__ = ["Record", "Source", "Turns", "is_envelope", "is_record"]

_TURN_STARTS: Final = frozenset({"task_started", "turn_started"})
_OWN_ITEMS: Final = frozenset({"ghost_snapshot", "other"})
_CONTEXT: Final = (
    *("<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions"),
    *("<turn_aborted>", "<user_shell_command>", "<skill>", "<permissions instructions>", "<subagent_notification>"),
)
"""What begins a message that Codex writes in the user's name; such a message begins no turn."""


class Record(msgspec.Struct, frozen=True):
    """A record of the file that the model's history is made of."""

    line: int
    piece: int
    """Which record of the line it is."""
    value: dict[str, Any]

    @property
    def items(self) -> list[tuple[int, dict[str, Any]]]:
        """The items that it holds, each with its number in `replacement_history`, or -1."""
        value = self.value
        if "payload" not in value:
            return [(-1, value)]
        payload = value["payload"]
        if value["type"] == "response_item":
            return [(-1, payload)]
        replacement = payload.get("replacement_history")
        if isinstance(replacement, list):
            return [(number, item) for number, item in enumerate(replacement) if isinstance(item, dict)]
        text = {"type": "input_text", "text": str(payload.get("message", ""))}
        return [(-1, {"type": "message", "role": "user", "content": [text]})]

    @property
    def compacts(self) -> bool:
        """Whether it replaces everything before it."""
        return self.value.get("type") == "compacted" and "payload" in self.value


class Source(msgspec.Struct, frozen=True):
    """Where an item comes from."""

    record: Record
    number: int
    """Its place in `replacement_history`, or -1."""


class _Turn(msgspec.Struct):
    """The records of a turn, which a rollback takes away as a whole."""

    records: list[Record] = []
    by_user: bool = False
    marked: bool = False
    """Whether an event says where it begins."""


def is_envelope(value: Any) -> bool:
    """Whether an object is a line rather than a part of one, which an item without an envelope might be."""
    return isinstance(value, dict) and isinstance(value.get("type"), str) and isinstance(value.get("payload"), dict)


def is_record(value: Any) -> bool:
    """Whether an object is something that the history can be made of."""
    return is_envelope(value) or (isinstance(value, dict) and _is_bare_item(value))


def _is_bare_item(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    if kind == "message":
        return isinstance(value.get("role"), str) and isinstance(value.get("content"), list)
    return isinstance(kind, str) and (kind == "reasoning" or kind.endswith(("_call", "_output")))


class Turns:
    """Follows a rollout from its first record to its last."""

    def __init__(self) -> None:
        """Before the first record."""
        self.turns: list[_Turn] = [_Turn()]

    @property
    def records(self) -> list[Record]:
        """What the history is made of: the last compaction, if any, and what follows it."""
        records = [record for turn in self.turns for record in turn.records]
        first = max((number for number, record in enumerate(records) if record.compacts), default=0)
        return records[first:]

    def add(self, record: Record) -> None:
        """Takes one more record into account."""
        value = record.value
        payload = value.get("payload", value)
        kind = payload.get("type")
        if value["type"] == "event_msg":
            if kind in _TURN_STARTS:
                self.turns.append(_Turn(marked=True))
            elif kind == "thread_rolled_back":
                self._roll_back(payload.get("num_turns"))
            return
        if (value["type"] not in {"response_item", "compacted"} and "payload" in value) or kind in _OWN_ITEMS:
            return
        if _by_user(payload):
            if not self.turns[-1].marked:
                self.turns.append(_Turn())
            self.turns[-1].by_user = True
        self.turns[-1].records.append(record)

    def _roll_back(self, number: Any) -> None:
        """Takes away the last turns of the user, and all that comes after them; what is before the first turn stays."""
        left = number if isinstance(number, int) else 0
        while left > 0 and any(turn.by_user for turn in self.turns):
            left -= self.turns.pop().by_user
        self.turns.append(_Turn())


def _by_user(item: dict[str, Any]) -> bool:
    if item.get("type") != "message" or item.get("role") != "user":
        return False
    content = item.get("content")
    texts = [part.get("text") for part in content if isinstance(part, dict)] if isinstance(content, list) else [content]
    return not any(isinstance(text, str) and text.lstrip().startswith(_CONTEXT) for text in texts)

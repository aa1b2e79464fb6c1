"""Builds Claude Code lines as the tool writes them, for tests."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

__all__ = ["Transcript"]

_SPACE = uuid.UUID("00000000-0000-4000-8000-000000000000")


class Transcript:
    """A file in the making: each call adds a line; names stand for `uuid`s."""

    def __init__(self, session: str = "sess") -> None:
        """An empty file."""
        self.session = str(uuid.uuid5(_SPACE, session))
        self.rows: list[dict[str, Any]] = []
        self.last: str | None = None
        self.calls: list[str] = []
        self.story: list[str] = []

    def __repr__(self) -> str:
        """Which line continues which."""
        return "\n".join(self.story)

    def uuid(self, name: str) -> str:
        """The `uuid` that a name stands for."""
        return str(uuid.uuid5(_SPACE, name))

    def add(self, name: str, parent: str | None = "", **keys: Any) -> Transcript:
        """Adds a line behind the last one, or behind `parent`; None begins a chain."""
        parent = self.last if parent == "" else parent
        envelope: dict[str, Any] = {
            "parentUuid": parent and self.uuid(parent),
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/dev/app",
            "sessionId": self.session,
            "version": "2.1.14",
            "gitBranch": "main",
        }
        stamp = f"2026-02-03T09:{len(self.rows) // 60 % 60:02}:{len(self.rows) % 60:02}.000Z"
        self.rows.append(envelope | keys | {"uuid": self.uuid(name), "timestamp": stamp})
        self.last = name
        self.story.append(f"{parent} <- {name}: {keys.get('message', keys['type'])}")
        return self

    def user(self, name: str, text: Any, parent: str | None = "", **keys: Any) -> Transcript:
        """Adds what a user said."""
        return self.add(name, parent, type="user", message={"role": "user", "content": text}, **keys)

    def part(self, name: str, message: str, block: dict[str, Any], parent: str | None = "", **keys: Any) -> Transcript:
        """Adds one content block of an API message."""
        full = {"id": message, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": [block]}
        return self.add(name, parent, type="assistant", message=full, requestId="req_" + message, **keys)

    def says(self, name: str, message: str, text: str, parent: str | None = "", **keys: Any) -> Transcript:
        """Adds a text of the model."""
        return self.part(name, message, {"type": "text", "text": text}, parent, **keys)

    def call(self, name: str, message: str, call: str, parent: str | None = "", **keys: Any) -> Transcript:
        """Adds a tool call."""
        self.calls.append(call)
        block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": f"run {call}"}}
        return self.part(name, message, block, parent, **keys)

    def result(self, name: str, call: str, parent: str | None = "", **keys: Any) -> Transcript:
        """Adds the result of a call."""
        block = {"tool_use_id": call, "type": "tool_result", "content": f"done {call}", "is_error": False}
        shown = {"stdout": f"done {call}", "stderr": "", "interrupted": False, "isImage": False}
        return self.add(
            name, parent, type="user", message={"role": "user", "content": [block]}, toolUseResult=shown, **keys
        )

    def raw(self, row: dict[str, Any]) -> Transcript:
        """Adds a line that is in no chain."""
        self.rows.append(row)
        return self

    @property
    def data(self) -> bytes:
        """The file's content."""
        return b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in self.rows)

    def save(self, path: Path) -> Path:
        """Writes the file."""
        path.write_bytes(self.data)
        return path

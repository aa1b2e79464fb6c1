"""Reads, repairs and writes a session file, as a command does, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from suture.pipeline import repair
from suture.sessions import READERS, Mended, Session, Thread

__all__ = ["mend", "messages_of", "said", "summary"]


def mend(session: Session) -> bytes:
    """The new content of a file, with everything repaired."""
    reader = READERS[session.format]
    mended = [
        Mended(thread=thread, messages=repair(thread.messages, thread.format, request=session.request).messages)
        for thread in reader.history(session)
    ]
    return b"".join(reader.write(session, mended))


def messages_of(path: Path, name: str = "main") -> list[Any]:
    """The messages of a thread."""
    session = READERS["claude_code"].read(path)
    return next(thread.messages for thread in READERS["claude_code"].history(session) if thread.name == name)


def summary(thread: Thread) -> list[str]:
    """A thread in short: role and what its blocks are about."""
    return [f"{message['role']}: {' '.join(map(_short, _blocks(message)))}" for message in thread.messages]


def _short(block: dict[str, Any]) -> str:
    match block["type"]:
        case "tool_use":
            return f"call {block['id']}"
        case "tool_result":
            return f"{'error' if block.get('is_error') else 'result'} {block['tool_use_id']}"
        case "text":
            return str(block["text"])
        case other:
            return str(other)


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def said(messages: list[Any]) -> list[tuple[str, list[Any]]]:
    """What a message list says to the API: neighbours of one role are one, and the order of results means nothing."""
    turns: list[tuple[str, list[Any]]] = []
    for message in messages:
        if turns and turns[-1][0] == message["role"]:
            turns[-1][1].extend(_blocks(message))
        else:
            turns.append((message["role"], list(_blocks(message))))
    return [(role, _sorted(blocks)) for role, blocks in turns]


def _sorted(blocks: list[Any]) -> list[Any]:
    count = next((number for number, block in enumerate(blocks) if block["type"] != "tool_result"), len(blocks))
    return sorted(blocks[:count], key=str) + blocks[count:]

"""How long the check of a large Claude Code file takes, and how much memory.

    uv run --extra cli python -m benchmarks.stream [MEGABYTES]

The file is written to a temporary folder first: turns of a coding agent, one call in a thousand without its result. The
check runs as the command does, in a process of its own, so that its peak is its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.histories import healthy

MEGABYTES = 1_000
LIMIT = 400
"""Megabytes of memory at the peak."""


def lines(megabytes: int) -> Iterator[bytes]:
    """The lines of a session, each the child of the one before."""
    dice = Random(7)
    turns = healthy("anthropic", 1_000)
    parent, size, number = None, 0, 0
    while size < megabytes * 1_000_000:
        message = turns[number % len(turns)]
        number += 1
        if message["role"] == "user" and isinstance(message["content"], list) and not dice.randrange(1_000):
            continue
        line = _line(_renamed(message, number // len(turns)), parent, str(uuid.UUID(int=dice.getrandbits(128))))
        parent = line["uuid"]
        written = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        size += len(written)
        yield written


def _renamed(message: dict[str, Any], time: int) -> dict[str, Any]:
    """The message with ids of its own, each time that it comes."""
    if isinstance(message["content"], str):
        return message
    keys = {"tool_use": "id", "tool_result": "tool_use_id"}
    blocks = [
        {**block, key: f"{block[key]}_{time}"} if (key := keys.get(block["type"])) else block
        for block in message["content"]
    ]
    return {**message, "content": blocks}


def _line(message: dict[str, Any], parent: str | None, own: str) -> dict[str, Any]:
    if message["role"] == "assistant":
        message = {"id": f"msg_{own}", "type": "message", "model": "a-model", **message}
    fields = {"isSidechain": False, "userType": "external", "cwd": "/home/dev/app", "sessionId": "s", "version": "2.1"}
    stamp = "2026-02-17T14:02:03.038Z"
    return {
        "parentUuid": parent,
        **fields,
        "type": message["role"],
        "message": message,
        "uuid": own,
        "timestamp": stamp,
    }


def main() -> int:
    """Print the figures; 1 where the peak is over its limit."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else MEGABYTES
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        with path.open("wb") as file:
            file.writelines(lines(megabytes))
        start = time.perf_counter()
        command = [str(Path(sys.executable).with_name("suture")), "check", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1_000
        said = done.stdout.strip().splitlines()
        print(said[-2] if len(said) > 1 else done.stderr)
        print(f"{path.stat().st_size / 1e6:.0f} MB: {seconds:.1f} s, {peak:.0f} MB at the peak (limit {LIMIT} MB)")
    return bool(peak > LIMIT or done.returncode > 1)


if __name__ == "__main__":
    sys.exit(main())

"""What differs from run to run, in one place: who we are, how ids are made, what time it is."""

from __future__ import annotations

import asyncio
import os
import socket
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from suture.harness.notices import Notice
from suture.harness.running import Outcome, run
from suture.harness.tools import AnyTool, ToolContext

__all__ = ["Runtime"]


def _owner() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


class Runtime(msgspec.Struct, frozen=True):
    """The ports of a harness other than its store, its model and its tools; tests bring their own."""

    owner: str = msgspec.field(default_factory=_owner)
    """Names this process in a store: host, process id and a random part."""
    new_id: Callable[[], str] = lambda: uuid.uuid4().hex
    """Makes ids of messages, turns and calls: never the same twice."""
    now: Callable[[], float] = time.monotonic
    """Seconds, for time limits."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    run_tool: Callable[[AnyTool, dict[str, Any], ToolContext], Awaitable[Outcome]] = run
    broadcast: Callable[[Notice], None] = lambda _: None
    """Gets everything that a session tells, whoever listens."""

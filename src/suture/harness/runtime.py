"""What differs from run to run, in one place: who we are, how ids are made, what time it is."""

from __future__ import annotations

import asyncio
import os
import socket
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from suture.harness.notices import Notice
from suture.harness.running import Outcome, run
from suture.harness.tools import AnyTool, ToolContext

__all__ = ["Runtime"]


_OURS: Final[set[str]] = set()
"""The owners that this process made up."""


def _place() -> str:
    """Where process ids mean what they mean here: the host, and the namespace where there is one."""
    try:
        return f"{socket.gethostname()}/{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return socket.gethostname()


def _owner() -> str:
    owner = f"{_place()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
    _OURS.add(owner)
    return owner


def _is_gone(owner: str) -> bool:
    """Whether an owner was a process of this place that is not there any more; False where that cannot be told."""
    place, _, rest = owner.rpartition(":")[0].rpartition(":")
    if place != _place() or not rest.isdecimal() or owner in _OURS:
        return False
    if int(rest) == os.getpid():  # an earlier process had our number
        return True
    try:
        os.kill(int(rest), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


class Runtime(msgspec.Struct, frozen=True):
    """The ports of a harness other than its store, its model and its tools; tests bring their own."""

    owner: str = msgspec.field(default_factory=_owner)
    """Names this process in a store: host, process id and a random part."""
    is_gone: Callable[[str], bool] = _is_gone
    """Whether another owner is a process that has ended, so that nobody need wait for its lease to run out."""
    new_id: Callable[[], str] = lambda: uuid.uuid4().hex
    """Makes ids of messages, turns and calls: never the same twice."""
    now: Callable[[], float] = time.monotonic
    """Seconds, for time limits."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    run_tool: Callable[[AnyTool, dict[str, Any], ToolContext], Awaitable[Outcome]] = run
    broadcast: Callable[[Notice], None] = lambda _: None
    """Gets everything that a session tells, whoever listens."""

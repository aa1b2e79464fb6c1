"""What a running tool shows of itself: passed on at once, and kept on disk now and then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from suture.errors import StoreError
from suture.harness.notices import CallProgress
from suture.harness.outputs import outcome_of
from suture.transcript import ToolPart
from suture.transcript.events import CallProgressed

if TYPE_CHECKING:
    from suture.harness.turn import Turn

__all__ = ["Progress"]

_PAUSE: Final = 1.0
"""Seconds between two values that are kept: each costs a write to the disk."""


class Progress:
    """The preliminary outputs of one call, as long as its tool runs."""

    def __init__(self, turn: Turn, part: ToolPart, max_output: int) -> None:
        """Nothing was shown yet."""
        self.part: ToolPart = part
        """The call, with the last value that was shown of it, if any was."""
        self._turn = turn
        self._max_output = max_output
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._over = False

    def show(self, value: Any) -> None:
        """Pass a value on; may be called from any thread."""
        with suppress(RuntimeError):  # the loop was closed: a thread outlived it
            self._loop.call_soon_threadsafe(self._shown, value)

    def _shown(self, value: Any) -> None:
        if self._over:
            return
        turn, output = self._turn, outcome_of(value, self._max_output).output
        self.part = msgspec.structs.replace(self.part, state="output-available", output=output, preliminary=True)
        self._news.set()
        turn.tell(CallProgress(session=turn.session.name, turn=turn.id, call=self.part.call_id, output=output))

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Record the newest value now and then, until the tool is done."""
        keeping = asyncio.create_task(self._keep())
        try:
            yield
        finally:
            self._over = True
            keeping.cancel()
            await asyncio.wait([keeping])

    async def _keep(self) -> None:
        with suppress(StoreError):  # whoever runs the call finds out by itself
            while True:
                await self._news.wait()
                self._news.clear()
                await self._turn.record([CallProgressed(call=self.part.call_id, output=self.part.output)])
                await self._turn.agent.runtime.sleep(_PAUSE)

"""A conversation in a terminal, from one message to the next."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from suture.cli.chat_input import Typed
from suture.cli.chat_screen import Screen, call_line
from suture.cli.output import safe, sentence
from suture.errors import SutureError
from suture.harness import Session
from suture.harness.healing import question
from suture.harness.notices import Notice
from suture.transcript import ToolPart

__all__ = ["Talk"]

_SHOWN: Final = 6
"""How many messages of an older conversation are printed."""
_PERSON: Final = frozenset({"awaiting_approval", "awaiting_client"})
"""What waits for whoever sits here, and not for a tool or another program."""
_YES: Final = frozenset({"y", "yes"})
_NO: Final = frozenset({"", "n", "no"})

_HELP: Final = """/again  another answer to your last message
/quit   leave; the conversation stays (Ctrl-D does the same)
Ctrl-C  stop the turn that runs; once more: leave"""


class Talk:
    """One session, one screen, one person."""

    def __init__(self, session: Session, screen: Screen, typed: Typed) -> None:
        """Nothing is shown yet."""
        self.session: Session = session
        self.screen: Screen = screen
        self.typed: Typed = typed
        self._leaving = False

    async def hold(self) -> None:
        """Talk until the person leaves.

        Raises:
            StoreError: the session cannot be read.
        """
        session = self.session
        await session.load()
        messages = session.conversation.messages()
        if messages:
            self.screen.history(messages[-_SHOWN:])
        if session.conversation.head.turn is not None:
            self.screen.line("! the last turn was cut off; it goes on", "yellow")
            await self._turn(session.resume())
        while not self._leaving and await self._settled():
            said = await self.typed.message()
            if said is None:
                break
            await self._said(said.strip())

    async def _said(self, said: str) -> None:
        match said:
            case "":
                pass
            case "/quit" | "/exit":
                self._leaving = True
            case "/help":
                self.screen.line(_HELP)
            case "/again":
                await self._turn(self.session.regenerate())
            case _ if said.startswith("/"):
                self.screen.line(f"! there is no {safe(said.split(maxsplit=1)[0])}; /help lists what there is", "red")
            case _:
                await self._turn(self.session.run(said))

    async def _settled(self) -> bool:
        """Ask for what the conversation waits for, and go on; False where the person leaves it open, and goes."""
        while waiting := [part for part in self.session.waiting if part.cause in _PERSON]:
            for part in waiting:
                if not await self._asked(part):
                    return False
            await self._turn(self.session.resume())
            if self._leaving:
                return False
        return True

    async def _asked(self, part: ToolPart) -> bool:
        if part.state == "approval-requested":
            said = await self.typed.answer(f"Allow {call_line(part)}? [y]es, [n]o, or why not:")
            if said is None:
                return False
            if said.strip().casefold() in _YES:
                return await self.session.approve(part.call_id)
            reason = None if said.strip().casefold() in _NO else said.strip()
            return await self.session.deny(part.call_id, reason)
        said = await self.typed.answer(safe(question(part)))
        return said is not None and await self.session.tool_result(part.call_id, said)

    async def _turn(self, notices: AsyncIterator[Notice]) -> None:
        """Show a turn; Ctrl-C stops it, and once more leaves."""
        with self._interruptible():
            try:
                async for notice in notices:
                    self.screen.show(notice)
            except SutureError as error:
                self.screen.line(f"! {sentence(error)}", "red")
            finally:
                self.screen.settle()

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        stopping: list[asyncio.Task[None]] = []

        def interrupted() -> None:
            if stopping:
                self._leaving = True
            else:
                self.screen.line("stopping …", "dim")
                stopping.append(loop.create_task(self.session.stop()))

        def on_signal(*_: Any) -> None:
            loop.call_soon_threadsafe(interrupted)

        before = signal.signal(signal.SIGINT, on_signal)
        try:
            yield
        finally:
            with suppress(ValueError):
                signal.signal(signal.SIGINT, before)

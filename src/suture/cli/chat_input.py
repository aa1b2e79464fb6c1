"""What a person types: on a terminal with several lines and a history, else one line of standard input at a time."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any, Protocol

__all__ = ["Lines", "Prompt", "Typed", "reader"]


class Typed(Protocol):
    """Asks a person."""

    async def message(self) -> str | None:
        """What they say; None where they leave."""

    async def answer(self, question: str) -> str | None:
        """Their answer, on one line; None where they leave it open."""


def reader(history: Path) -> Typed:
    """Whoever sits there: a person at a terminal, or a pipe."""
    return Prompt(history) if sys.stdin.isatty() and sys.stdout.isatty() else Lines()


class Prompt:
    """A terminal: Enter sends, Escape and then Enter begins another line, the arrows go through what was said."""

    def __init__(self, history: Path) -> None:
        """`history` is the file in which it is kept."""
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import FileHistory
        from prompt_toolkit.key_binding import KeyBindings

        keys = KeyBindings()

        @keys.add("enter")
        def _(event: Any) -> None:
            event.current_buffer.validate_and_handle()

        @keys.add("escape", "enter")
        def _(event: Any) -> None:
            event.current_buffer.insert_text("\n")

        history.parent.mkdir(parents=True, exist_ok=True)
        self._messages: PromptSession[str] = PromptSession(
            history=FileHistory(str(history)), multiline=True, key_bindings=keys
        )
        self._answers: PromptSession[str] = PromptSession()

    async def message(self) -> str | None:
        """See `Typed`. Ctrl-C empties the line, and leaves where it is empty; so does Ctrl-D."""
        while True:
            try:
                return await self._messages.prompt_async("> ")
            except KeyboardInterrupt:
                if not self._messages.default_buffer.text:
                    return None
            except EOFError:
                return None

    async def answer(self, question: str) -> str | None:
        """See `Typed`."""
        try:
            return await self._answers.prompt_async(f"{question} ")
        except (KeyboardInterrupt, EOFError):
            return None


class Lines:
    """A pipe."""

    async def message(self) -> str | None:
        """See `Typed`."""
        line = await asyncio.to_thread(sys.stdin.readline)
        return line.rstrip("\n") if line else None

    async def answer(self, question: str) -> str | None:
        """See `Typed`."""
        sys.stdout.write(f"{question} ")
        sys.stdout.flush()
        said = await self.message()
        sys.stdout.write("\n")
        return said

"""A terminal that a program runs in, as a person sees it: keys go in, a screen comes out."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pyte

__all__ = ["Terminal"]

_SECONDS = 30
"""How long something may take to be seen, at the longest."""


class Terminal:
    """A program in a terminal of many rows, so that nothing scrolls away."""

    def __init__(self, *arguments: str, columns: int = 100, rows: int = 200) -> None:
        """Start `suture` with these arguments."""
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.Stream(self._screen)
        script = str(Path(sys.executable).with_name("suture"))
        environment = {**os.environ, "TERM": "xterm", "PYTHONUTF8": "1", "PROMPT_TOOLKIT_NO_CPR": "1"}
        for name in ("NO_COLOR", "COLUMNS", "LINES"):  # what would speak louder than the terminal
            environment.pop(name, None)
        self._program = pexpect.spawn(
            script, list(arguments), env=environment, encoding="utf-8", dimensions=(rows, columns)
        )

    @property
    def text(self) -> str:
        """What is on the screen."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()

    def sees(self, text: str) -> None:
        """Wait until this is on the screen."""
        self._until(lambda: text in self.text, text)

    def ready(self) -> None:
        """Wait for the prompt of the next message."""
        self._until(lambda: self._screen.display[self._screen.cursor.y].strip() == ">", "the prompt")

    def say(self, text: str) -> None:
        """Type a message at the prompt."""
        self.ready()
        self.press(f"{text}\r")

    def press(self, keys: str) -> None:
        """Press keys."""
        self._program.send(keys)

    def leave(self) -> None:
        """Leave at the prompt, with Ctrl-D; the program has to end well."""
        self.ready()
        self.press("\x04")
        self._ended()
        assert 0 == self._program.exitstatus, self.text

    def kill(self) -> None:
        """End the program as a crash would."""
        self._program.kill(9)
        self._ended()

    def close(self) -> None:
        """End whatever runs still."""
        self._program.close(force=True)

    def _ended(self) -> None:
        self._program.expect(pexpect.EOF, timeout=_SECONDS)
        self._stream.feed(str(self._program.before))
        self._program.close()

    def _until(self, condition: object, what: str) -> None:
        end = time.monotonic() + _SECONDS
        while not condition():  # type: ignore[operator]
            try:
                self._stream.feed(self._program.read_nonblocking(65_536, timeout=0.2))
            except pexpect.TIMEOUT:
                pass
            except pexpect.EOF:
                raise AssertionError(f"the program ended before {what!r} was seen:\n{self.text}") from None
            if time.monotonic() > end:
                raise AssertionError(f"{what!r} was not seen:\n{self.text}")

"""The screens on the page about the terminal: taken from a real one, in which a person's keys were pressed."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.cli.terminal import Terminal

__all__ = ["PAGE", "main", "screens", "shown"]

PAGE: Final = Path(__file__).parents[2] / "docs" / "howto" / "chat-in-the-terminal.md"
_BLOCK: Final = re.compile(r"<!-- screen: (\w+) -->\n```text\n(.*?)```", re.DOTALL)
_MOVING: Final = (
    (re.compile(r"[⠀-⣿] build"), "⠹ build"),  # the spinner turns
    (re.compile(r"0:00:0\d"), "0:00:02"),
    (re.compile(r"\d\.\d s: "), "0.0 s: "),
    (re.compile(r"step \d of"), "step 2 of"),  # kept once a second, so the kill may come before the second one is
)


def shown() -> dict[str, str]:
    """The screens that the page has, by their names."""
    return {name: text.rstrip("\n") for name, text in _BLOCK.findall(PAGE.read_text(encoding="utf-8"))}


def screens() -> dict[str, str]:
    """The screens as they are now, but for what differs from run to run."""
    found: dict[str, str] = {}
    with _home():
        chat = _started()
        chat.say("build it")
        chat.sees("step 2 of 20")
        found["killed"] = chat.text
        chat.kill()
        chat = _started()
        chat.sees("did not come")
        chat.ready()
        found["again"] = chat.text
        chat.say("ask")
        chat.sees("Which colour")
        chat.press("blue\r")
        chat.sees("blue, then.")
        chat.say("delete it")
        chat.sees("Allow")
        chat.press("y\r")
        chat.sees("Done")
        chat.ready()
        found["asked"] = chat.text[len(found["again"]) - 1 :]
        chat.leave()
    return {name: _still(text) for name, text in found.items()}


def _started() -> Terminal:
    return Terminal("chat", columns=90, rows=60)


def _still(text: str) -> str:
    for moving, still in _MOVING:
        text = moving.sub(still, text)
    return text.strip()


@contextmanager
def _home() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder:
        before = dict(os.environ)
        os.environ["SUTURE_HOME"] = folder
        os.environ.pop("SUTURE_STORE", None)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def main() -> None:
    """Write the screens into the page."""
    now = screens()
    text = PAGE.read_text(encoding="utf-8")
    made = _BLOCK.sub(lambda found: f"<!-- screen: {found[1]} -->\n```text\n{now[found[1]]}\n```", text)
    PAGE.write_text(made, encoding="utf-8")

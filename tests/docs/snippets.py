"""The examples in README and docs: what is in their fenced blocks, and how a command among them is run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["PAGES", "ROOT", "Block", "Command", "blocks", "commands", "run", "same", "workplace"]

ROOT: Final = Path(__file__).resolve().parents[2]
PAGES: Final = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
"""Every page that users read."""

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>[\w-]*)[^\n]*\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)


class Block(NamedTuple):
    """A fenced block."""

    language: str
    text: str
    line: int
    """The line of the page that its text begins on."""


class Command(NamedTuple):
    """A `$ …` line of a console block, and the output shown under it."""

    line: str
    shown: str


def blocks(page: Path, language: str) -> list[Block]:
    """The page's blocks of one language, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(match["language"], match["text"], text.count("\n", 0, match.start("text")) + 1)
        for match in _FENCE.finditer(text)
        if match["language"] == language
    ]


def commands(block: Block) -> Iterator[Command]:
    """The commands of a console block; output under a command is what stands before the next one."""
    for piece in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, shown = piece.partition("\n")
        yield Command(line, shown)


def workplace(folder: Path) -> Path:
    """A copy of what the commands on the pages name: they may write."""
    if (ROOT / "examples").is_dir():
        shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "home").mkdir()
    return folder


def run(command: Command, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a `suture` command as a person would, in `folder`, without a terminal."""
    program, *arguments = shlex.split(command.line)
    if program != "suture":
        msg = f"only `suture` commands are run, not {command.line!r}"
        raise ValueError(msg)
    environment = {**os.environ, "HOME": str(folder / "home"), "NO_COLOR": "1", "COLUMNS": "120", "PYTHONUTF8": "1"}
    script = Path(sys.executable).with_name("suture")
    return subprocess.run(
        [str(script), *arguments],
        cwd=folder,
        env=environment,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )


def same(shown: str, printed: str) -> bool:
    """Whether the output is the one shown; a line of nothing but `…` or `...` stands for any lines."""
    pieces = re.split(r"^(?:…|\.\.\.)\n", shown, flags=re.MULTILINE)
    pattern = "(?:.*\n)*?".join(re.escape(piece) for piece in pieces)
    return re.fullmatch(pattern, printed) is not None

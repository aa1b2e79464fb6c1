"""What commands print: lines with colour on a terminal, JSON for programs, one sentence for an error."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable
from typing import Any, Final

import click

from suture.cli.problems import Problem
from suture.errors import SessionError, SutureError

__all__ = ["CLEAN", "FAILED", "FOUND", "Printer", "counted", "finding_line", "json_text", "paint", "safe", "sentence"]

CLEAN: Final = 0
FOUND: Final = 1
FAILED: Final = 2

_UNSAFE: Final = {
    number: f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
    for number in (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
} | {0xDC00 + byte: f"\\x{byte:02x}" for byte in range(0x80, 0x100)}
"""Characters that steer a terminal or turn text around, for what is printed comes from files that anybody may have
written; and bytes that are not UTF-8, as `surrogateescape` reads them."""


class Printer:
    """Prints with colour or without."""

    def __init__(self, color: str, *, err: bool = False) -> None:
        """`color` is `auto`, `always` or `never`; `err` sends everything to standard error."""
        self._err = err
        stream = sys.stderr if err else sys.stdout
        self.terminal: bool = stream.isatty()
        plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        self.color: bool = color == "always" or (color == "auto" and self.terminal and not plain)

    def lines(self, lines: Iterable[str]) -> None:
        """Print lines that `paint` made, at once."""
        text = "\n".join(lines)
        if text:
            click.echo(text, err=self._err, color=self.color)

    def line(self, text: str = "") -> None:
        """Print one line that `paint` made."""
        click.echo(text, err=self._err, color=self.color)

    def error(self, shown: str, error: Exception) -> str:
        """Print why a path could not be handled; gives back the sentence.

        Raises:
            BrokenPipeError: it is no problem of the path.
        """
        if isinstance(error, BrokenPipeError):
            raise error
        problem = sentence(error, shown)
        click.echo(f"Error: {paint(problem)}", err=True)
        return problem

    def json(self, document: Any) -> None:
        """Print a JSON document, in ASCII, so that any pipe takes it."""
        click.echo(json.dumps(document, indent=2), err=self._err)


def safe(text: str) -> str:
    """Text of any origin with nothing in it that steers a terminal."""
    return text.translate(_UNSAFE)


def paint(text: str, fg: str | None = None, *, bold: bool = False, dim: bool = False) -> str:
    """Text of any origin, made safe for a terminal and styled."""
    shown = safe(text)
    if fg is None and not bold and not dim:
        return shown
    # False would be written as a code of its own.
    return click.style(shown, fg=fg, bold=bold or None, dim=dim or None)


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON to be read by people; lone surrogates, which no encoding takes, stand as escapes."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def finding_line(shown: str, problem: Problem) -> str:
    """`path:line: CODE message`; where there are no lines, the place in the JSON stands after the path."""
    where = paint(shown, bold=True) + paint(":", fg="cyan")
    if problem.line is not None:
        where += paint(str(problem.line)) + paint(":", fg="cyan")
    elif problem.path:
        where += " " + paint(problem.path) + paint(":", fg="cyan")
    notes = []
    if problem.offset is not None:
        notes.append(f"byte {problem.offset}")
    if problem.call_id is not None and problem.call_id not in problem.message:
        notes.append(problem.call_id)
    if problem.thread != "main":
        notes.append(problem.thread)
    code = paint(problem.code, fg="yellow" if problem.note else "red", bold=True)
    message = paint(("note: " if problem.note else "") + problem.message)
    return f"{where} {code} {message}" + (paint(f" ({', '.join(notes)})", dim=True) if notes else "")


def sentence(error: Exception, shown: str | None = None) -> str:
    """An error as one sentence; `shown` is the path that it is about, as the user wrote it."""
    begin = f"{shown}: " if shown else ""
    match error:
        case SessionError() if shown:
            return begin + error.problem
        case SutureError():
            # The library's words for an argument.
            return begin + str(error).replace("`format`", "--format")
        case OSError():
            return begin + (error.strerror or str(error))
        case RecursionError():
            return begin + "its JSON is nested too deeply"
        case MemoryError():
            return begin + "there is not enough memory"
        case _ if os.environ.get("SUTURE_TRACEBACK"):
            raise error
        case _:
            kind = type(error).__name__
            return f"{begin}a defect of Suture, please report it ({kind}: {error}); SUTURE_TRACEBACK=1 shows where"

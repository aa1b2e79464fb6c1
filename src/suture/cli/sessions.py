"""`suture sessions`: the conversations in a store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

import click

from suture.cli.options import color_option, json_option, store_option

if TYPE_CHECKING:
    from suture.store import Store

__all__ = ["sessions"]

T = TypeVar("T")

_LIST: Final = """\b
Keys of --json:
  sessions  name, events, changed (seconds since 1970), running
"""
_SHOW: Final = """\b
Keys of --json:
  messages  id, role, parts, metadata, as the store has them
"""
_SEARCH: Final = """\b
Keys of --json:
  found  session, message, text
"""


@click.group()
def sessions() -> None:
    """List, show, search, export and delete conversations that agents keep in a store."""


@sessions.command("list", epilog=_LIST)
@store_option
@json_option
@color_option
def list_(*, store: str, as_json: bool, color: str) -> None:
    """Print the conversations, the one that changed last first."""
    import datetime as dt

    from suture.cli.output import Printer, counted, paint

    found = _within(store, lambda opened: opened.sessions())
    printer = Printer(color)
    if as_json:
        printer.json(
            {
                "sessions": [
                    {"name": each.session, "events": each.number, "changed": each.changed, "running": bool(each.turn)}
                    for each in found
                ]
            }
        )
        return
    for each in found:
        when = dt.datetime.fromtimestamp(each.changed).astimezone().strftime("%Y-%m-%d %H:%M")
        running = "  a turn is open" if each.turn else ""
        printer.line(f"{when}  {paint(each.session, bold=True)}  {counted(each.number, 'event')}{running}")
    if not found:
        printer.line(f"There are no conversations in {paint(store)}.")


@sessions.command(epilog=_SHOW)
@click.argument("name")
@store_option
@json_option
@color_option
def show(*, name: str, store: str, as_json: bool, color: str) -> None:
    """Print the conversation NAME."""
    import msgspec

    from suture.cli.output import Printer

    async def messages(opened: Store) -> list[Any]:
        loaded = await opened.load(name)
        if not loaded.number:
            raise _unknown(name, await opened.sessions())
        return list(loaded.conversation.messages())

    found = _within(store, messages)
    if as_json:
        Printer(color).json({"messages": msgspec.to_builtins(found)})
        return
    from rich.console import Console

    from suture.cli.chat_screen import Screen

    terminal = {"always": True, "never": False}.get(color)
    Screen(Console(force_terminal=terminal, highlight=False), reasoning=True).history(found)


@sessions.command(epilog=_SEARCH)
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many hits at most.")
@store_option
@json_option
@color_option
def search(*, words: tuple[str, ...], limit: int, store: str, as_json: bool, color: str) -> None:
    """Find the messages in which all WORDS occur."""
    from suture.cli.output import Printer, paint
    from suture.transcript import TextPart

    async def found(opened: Store) -> list[tuple[str, str, str]]:
        hits = await opened.search(" ".join(words), limit=limit)
        loaded = {name: (await opened.load(name)).conversation for name in dict.fromkeys(name for name, _ in hits)}
        return [
            (
                name,
                message,
                " ".join(p.text for p in loaded[name].message(message).parts if isinstance(p, TextPart)),
            )
            for name, message in hits
        ]

    hits = _within(store, found)
    printer = Printer(color)
    if as_json:
        printer.json({"found": [{"session": name, "message": message, "text": text} for name, message, text in hits]})
        return
    for name, _, text in hits:
        line = " ".join(text.split())
        printer.line(f"{paint(name, bold=True)}: {paint(line if len(line) <= 160 else line[:159] + '…')}")
    if not hits:
        printer.line("Nothing was found.")


@sessions.command()
@click.argument("name")
@click.option("--output", "-o", type=click.File("wb"), default="-", help="The file to write; standard output else.")
@store_option
def export(*, name: str, output: IO[bytes], store: str) -> None:
    """Write the conversation NAME as JSON lines: every event, in its order."""
    from suture.store.export import export as lines_of

    async def write(opened: Store) -> None:
        if not (await opened.load(name)).number:
            raise _unknown(name, await opened.sessions())
        async for line in lines_of(opened, name):
            output.write(line)

    _within(store, write)


@sessions.command()
@click.argument("name")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@store_option
def delete(*, name: str, yes: bool, store: str) -> None:
    """Delete the conversation NAME, with everything in it, for good."""

    async def count(opened: Store) -> int:
        number = (await opened.load(name)).number
        if not number:
            raise _unknown(name, await opened.sessions())
        return number

    number = _within(store, count)
    if not yes:
        click.confirm(f"Delete {name!r} with its {number} events, for good?", abort=True)
    _within(store, lambda opened: opened.delete(name))


def _unknown(name: str, known: list[Any]) -> click.UsageError:
    import difflib

    close = difflib.get_close_matches(name, [each.session for each in known], n=3)
    hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else "; `suture sessions list` lists them"
    return click.UsageError(f"there is no conversation {name!r}{hint}")


def _within(url: str, work: Callable[[Store], Awaitable[T]]) -> T:
    """What comes of some work on an open store."""
    import asyncio

    from suture.store import open_store

    async def opened() -> T:
        store = open_store(url)
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(opened())

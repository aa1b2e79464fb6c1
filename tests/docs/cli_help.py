"""Write the help texts of the command line into docs/reference/cli.md: `python -m tests.docs.cli_help`."""

from __future__ import annotations

from collections.abc import Iterator

import click
from click.testing import CliRunner

from suture.cli.group import cli
from tests.docs.snippets import ROOT

__all__ = ["PAGE", "main", "text"]

PAGE = ROOT / "docs" / "reference" / "cli.md"

_BEGIN = """\
# The command line

The help texts of `suture`, as `--help` prints them. How to go about a repair is told in
[Repair a session file](../howto/repair-a-session.md).
"""

_END = """
## Environment

| variable | |
| --- | --- |
| `NO_COLOR` | not empty: no colour, unless `--color always` asks for it |
| `SUTURE_HOME` | the folder for what the command keeps itself, in place of the system's usual one |
| `SUTURE_STORE` | where `suture chat` and `suture sessions` keep conversations, unless `--store` says otherwise |
| `SUTURE_TRACEBACK` | not empty: a defect of Suture shows its traceback, for a report |
"""


def text() -> str:
    """The page."""
    parts = [_BEGIN]
    for arguments in ([], *_commands(cli)):
        shown = CliRunner().invoke(cli, [*arguments, "--help"], prog_name="suture", terminal_width=100).output
        title = " ".join(["suture", *arguments])
        parts.append(f"\n## {title}\n\n```text\n{shown}```\n")
    return "".join([*parts, _END])


def _commands(group: click.Group) -> Iterator[list[str]]:
    for name, command in group.commands.items():
        yield [name]
        if isinstance(command, click.Group):
            yield from ([name, *inner] for inner in _commands(command))


def main() -> None:
    """Write the page."""
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()

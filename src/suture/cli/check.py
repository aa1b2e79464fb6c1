"""`suture check`: what is wrong, one line a finding."""

from __future__ import annotations

from typing import Any, Final

import click

from suture.cli.options import color_option, format_option, json_option, request_option

__all__ = ["check"]

_MORE: Final = """\b
Examples:
  suture check session.jsonl
  suture check ~/.claude/projects ~/.codex/sessions
  suture check --format deepseek --request '{"thinking": true}' messages.json
  my-agent --dump | suture check -

\b
Exit codes: 0 nothing was found, 1 something was, 2 a path could not be checked.

\b
Keys of --json:
  findings  file, code, rule, line, path, offset, thread, call_id, message, salvaged,
            confidence, contract, note (true: for information, no repair is needed)
  errors    file, message
  summary   files, findings, skipped, errors
"""
"""What `--help` prints below the options."""


@click.command(epilog=_MORE)
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@format_option
@request_option
@json_option
@click.option("--quiet", "-q", is_flag=True, help="Print findings and nothing else.")
@color_option
@click.pass_context
def check(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    format: str | None,
    request: dict[str, Any],
    as_json: bool,
    quiet: bool,
    color: str,
) -> None:
    """Say what is wrong with conversations, one line a finding.

    PATH is a JSON or JSONL file of messages, a session file of Claude Code or Codex, a directory with such files, or -
    for standard input. Nothing is changed.
    """
    from suture.cli.checking import Checking
    from suture.cli.output import Printer

    ctx.exit(Checking(format, request, Printer(color), as_json=as_json, quiet=quiet).run(paths))

"""`suture repair`: what a repair would change, and with `--write` the repair."""

from __future__ import annotations

from typing import Any, Final, Literal

import click

from suture.cli.options import color_option, format_option, json_option, request_option

__all__ = ["repair"]

_MORE: Final = """\b
Examples:
  suture repair session.jsonl                    show what would change
  suture repair --write session.jsonl            write it, and keep a backup
  suture repair --undo session.jsonl             bring the backup back
  suture repair --output healthy.json messages.json
  my-agent --dump | suture repair --output - -   as a filter

\b
Exit codes: 0 nothing is to be repaired, or it was written; 1 something is to be repaired and was
not written; 2 a path could not be repaired: it is as it was.

\b
Keys of --json:
  files    file, changed, written (where to, or null), backup, request (settings to send the
           messages with), left (findings that are left), repairs (action, lost, and the keys of
           a finding of `suture check`); with --undo: file, backup
  errors   file, message
  summary  files, repairs, written, skipped, errors
"""
"""What `--help` prints below the options."""


@click.command(epilog=_MORE)
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option("--write", "-w", is_flag=True, help="Write what would change. The old file stays beside it as a backup.")
@click.option("--output", "-o", metavar="FILE", help="Write the repaired content to FILE, - for standard output.")
@click.option("--undo", is_flag=True, help="Bring the newest backup of each PATH back, unless it was written to since.")
@click.option("--force", is_flag=True, help="With --undo: bring it back all the same. What was written since is lost.")
@click.option(
    "--open-calls",
    type=click.Choice(["settle", "keep"]),
    default="settle",
    show_default=True,
    help="Calls that end a conversation: give them an outcome, or keep them open, as they may be running.",
)
@click.option(
    "--orphans",
    type=click.Choice(["rebuild", "drop", "text"]),
    default="rebuild",
    show_default=True,
    help="Results whose call is gone: put the call back, drop the result, or quote it as text of the user.",
)
@format_option
@request_option
@json_option
@color_option
@click.pass_context
def repair(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    write: bool,
    output: str | None,
    undo: bool,
    force: bool,
    open_calls: Literal["settle", "keep"],
    orphans: Literal["rebuild", "drop", "text"],
    format: str | None,
    request: dict[str, Any],
    as_json: bool,
    color: str,
) -> None:
    """Show what a repair of conversations would change, and write it with --write.

    PATH is what `suture check` takes. Nothing real is lost: results go to their calls, a call without a result gets one
    that says so, lines that are not understood stay byte for byte. A file that changes in the meantime is left alone.
    """
    _require_sense(paths, write=write, undo=undo, force=force, output=output)

    from suture.cli.output import Printer
    from suture.cli.repairing import Repairing, bring_back
    from suture.pipeline import Policies

    # With the repaired content on standard output, what is said about it goes elsewhere.
    printer = Printer(color, err=output == "-")
    if undo:
        ctx.exit(bring_back(paths, printer, as_json=as_json, force=force))
    policies = Policies(open_calls=open_calls, orphans=orphans)
    ctx.exit(Repairing(format, request, policies, printer, as_json=as_json, write=write, output=output).run(paths))


def _require_sense(paths: tuple[str, ...], *, write: bool, undo: bool, force: bool, output: str | None) -> None:
    """Refuse options that do not go together."""
    if (write, undo, output is not None).count(True) > 1:
        raise click.UsageError("--write, --output and --undo exclude each other")
    if force and not undo:
        raise click.UsageError("--force goes with --undo")
    if output is not None and len(paths) > 1:
        raise click.UsageError("--output takes one PATH")
    if (write or undo) and "-" in paths:
        raise click.UsageError("standard input cannot be written: give --output")

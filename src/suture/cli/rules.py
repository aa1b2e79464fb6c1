"""`suture rules`: the catalogue, and the page of a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from suture.cli.options import color_option, json_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suture.repair.rule import Rule
    from suture.sessions import DamageRule

__all__ = ["rules"]

_MORE: Final = """\b
Examples:
  suture rules
  suture rules SU101
  suture rules unanswered-call
  suture rules --json

\b
Keys of --json:
  rules    code, name, group, summary, why, fix, formats, example
  formats  by name: rule (the provider's), confidence, error, source
  example  format, request, before, after
"""
"""What `--help` prints below the options."""


@click.command(epilog=_MORE)
@click.argument("code", required=False)
@json_option
@color_option
@click.pass_context
def rules(ctx: click.Context, *, code: str | None, as_json: bool, color: str) -> None:
    """Print what Suture looks for, or the page of one rule.

    CODE is a code such as SU101, or a name such as unanswered-call. A page is Markdown, laid out where it is printed
    on a terminal.
    """
    from suture.cli.output import Printer
    from suture.cli.pages import RULES, page, record

    printer = Printer(color)
    found = list(RULES) if code is None else [_named(code)]
    if as_json:
        printer.json({"rules": [record(rule) for rule in found]})
    elif code is None:
        printer.lines(_catalogue())
    elif printer.color:
        _lay_out(page(found[0]))
    else:
        printer.lines(page(found[0]).splitlines())
    ctx.exit(0)


def _named(code: str) -> Rule | DamageRule:
    """The rule with this code or name."""
    import difflib

    from suture.cli.pages import RULES

    wanted = code.casefold()
    known = {name.casefold(): rule for rule in RULES for name in (rule.code, rule.name)}
    if wanted not in known:
        close = difflib.get_close_matches(wanted, known, n=3)
        hint = f"; did you mean {' or '.join(known[name].code + ' ' + known[name].name for name in close)}?"
        raise click.UsageError(f"there is no rule {code!r}{hint if close else '; `suture rules` lists them'}")
    return known[wanted]


def _catalogue() -> Iterator[str]:
    """The rules under their headings, one a line."""
    from suture.cli.output import paint
    from suture.cli.pages import RULES, group_of

    width = max(len(rule.name) for rule in RULES)
    group = ""
    for rule in RULES:
        if group != group_of(rule):
            if group:
                yield ""
            group = group_of(rule)
            yield paint(group, bold=True)
        yield f"  {paint(rule.code, 'red')}  {rule.name.ljust(width)}  {paint(rule.summary, dim=True)}"


def _lay_out(text: str) -> None:
    """Print Markdown on a terminal."""
    from rich.console import Console
    from rich.markdown import Markdown

    Console(force_terminal=True).print(Markdown(text, code_theme="ansi_dark"))

"""The commands under one name, and what becomes of everything that they can raise."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from suture.cli.chat import chat
from suture.cli.check import check
from suture.cli.repair import repair
from suture.cli.rules import rules
from suture.cli.sessions import sessions

__all__ = ["cli"]

_INTERRUPTED = 130
_BROKEN_PIPE = 141
"""What a shell reports for a program that a signal ended: 128 and the signal's number."""


class _Failure(click.ClickException):
    """An error as users see it: one sentence, exit code 2."""

    exit_code = 2


class _Commands(click.Group):
    """Turns everything that a command can raise into a sentence and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except (KeyboardInterrupt, click.Abort):
            raise click.exceptions.Exit(_INTERRUPTED) from None
        except BrokenPipeError:
            _mute_stdout()
            raise click.exceptions.Exit(_BROKEN_PIPE) from None
        except Exception as error:
            from suture.cli.output import sentence

            raise _Failure(sentence(error)) from error


def _mute_stdout() -> None:
    """Nobody reads any more: what is left in the buffer goes nowhere, and the interpreter's own flush is silent."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="suture", message="suture %(version)s")
def cli() -> None:
    """Find and repair broken LLM conversation histories, in message lists and in agents' session files.

    \b
    suture check session.jsonl           what is wrong, one line a finding
    suture repair session.jsonl          what a repair would change
    suture repair --write session.jsonl  write it, and keep a backup
    suture rules SU101                   what a code means
    suture chat                          talk to an agent; needs no key to try
    suture sessions list                 the conversations that agents keep
    """  # noqa: D301 (click's mark for lines that are not to be joined)
    for stream in (sys.stdout, sys.stderr):
        # Histories hold lone surrogates, and terminals lack characters: neither is a reason to fail.
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


cli.add_command(chat)
cli.add_command(check)
cli.add_command(repair)
cli.add_command(rules)
cli.add_command(sessions)

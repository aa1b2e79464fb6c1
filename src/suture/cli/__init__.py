"""The command `suture`: one command a file, on the same functions that the library offers.

Only click is loaded at the start; a command loads the rest when it runs, so that `--help` is instant.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    try:
        from suture.cli.group import cli
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.stderr.write("Error: the command needs click and rich, the library alone does not: install suture[cli]\n")
        sys.exit(2)
    cli()

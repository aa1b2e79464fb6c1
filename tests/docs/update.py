"""Write all pages anew that are written from the code: `python -m tests.docs.update`.

These are the outputs shown in console blocks (those with a line of `…` are left alone), the page of each rule, and the
help texts of the command line, and the screens of the terminal chat.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from tests.docs import cli_help, rules, screens
from tests.docs.snippets import PAGES, blocks, commands, run, same, workplace

__all__ = ["main"]

_LEFT_OUT = re.compile(r"^(?:…|\.\.\.)$", re.MULTILINE)


def main() -> None:
    """Write the pages; run every command of every page, and put its output under it where one is shown."""
    rules.main()
    cli_help.main()
    screens.main()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            place = workplace(Path(folder))
            for block in blocks(page, "console"):
                fresh = ""
                for command in commands(block):
                    printed = run(command, place).stdout
                    shown = command.shown
                    keep = not shown.strip() or same(shown, printed) or _LEFT_OUT.search(shown)
                    fresh += f"$ {command.line}\n{shown if keep else printed}"
                text = text.replace(f"```console\n{block.text}```", f"```console\n{fresh}```", 1)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""Write the outputs shown in console blocks anew: `python -m tests.docs.update`. Outputs with `…` are left alone."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.docs.snippets import PAGES, blocks, commands, run, same, workplace

__all__ = ["main"]


def main() -> None:
    """Run every command of every page, and put its output under it where one is shown."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            place = workplace(Path(folder))
            for block in blocks(page, "console"):
                fresh = ""
                for command in commands(block):
                    printed = run(command, place).stdout
                    keep = not command.shown.strip() or same(command.shown, printed) or "…" in command.shown
                    fresh += f"$ {command.line}\n{command.shown if keep else printed}"
                text = text.replace(block.text, fresh)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

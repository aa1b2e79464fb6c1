"""Write the page of each rule and their list into docs/rules/: `python -m tests.docs.rules`."""

from __future__ import annotations

from suture.cli.pages import RULES, index, page
from tests.docs.snippets import ROOT

__all__ = ["FOLDER", "main", "pages"]

FOLDER = ROOT / "docs" / "rules"


def pages() -> dict[str, str]:
    """Every page by the name of its file."""
    return {"README.md": index(), **{f"{rule.code}.md": page(rule) for rule in RULES}}


def main() -> None:
    """Write all pages, and remove those of rules that are no more."""
    fresh = pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in fresh:
            path.unlink()
    for name, text in fresh.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""README and docs do what they say: every example runs, every output shown is the one printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.docs.snippets import PAGES, ROOT, Block, blocks, commands, run, same, workplace

FOUND_OR_CLEAN = (0, 1)
"""What `suture` exits with where it could run."""


def name(page: Path) -> str:
    """A page's path in the repository."""
    return page.relative_to(ROOT).as_posix()


def with_blocks(language: str) -> list[Path]:
    """The pages that have blocks of a language."""
    return [page for page in PAGES if blocks(page, language)]


@pytest.mark.parametrize("page", with_blocks("python"), ids=name)
def test_the_python_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run in order, as one program, in a folder with a copy of the examples."""
    monkeypatch.chdir(workplace(tmp_path))
    namespace: dict[str, Any] = {"__name__": "__main__"}

    for block in blocks(page, "python"):
        # The blank lines make line numbers in a traceback those of the page.
        exec(compile("\n" * (block.line - 1) + block.text, name(page), "exec"), namespace)


@pytest.mark.parametrize("page", with_blocks("console"), ids=name)
def test_the_commands_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    """The commands of a page run in order, in one folder; those without output shown have to run, no more."""
    folder = workplace(tmp_path)
    for block in blocks(page, "console"):
        for command in commands(block):
            done = run(command, folder)
            assert done.returncode in FOUND_OR_CLEAN, f"{name(page)}: {command.line}\n{done.stdout}"
            assert "Traceback (most recent call last)" not in done.stdout, done.stdout
            if command.shown.strip():
                assert same(command.shown, done.stdout), f"{name(page)}: {command.line}\n{done.stdout}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page names a file or folder that is there."""
    targets = links(page.read_text(encoding="utf-8"))

    assert [] == [target for target in targets if not (page.parent / target.partition("#")[0]).exists()]


def links(text: str) -> list[str]:
    """The relative targets of a page's links."""
    pieces = (piece.partition(")")[0] for piece in text.split("](")[1:])
    return [target for target in pieces if "://" not in target and not target.startswith("#")]


def test_output_may_leave_lines_out() -> None:
    """A line of `…` stands for any number of lines, and for nothing else."""
    assert same("a\n…\nd\n", "a\nb\nc\nd\n")
    assert same("a\n…\n", "a\n")
    assert not same("a\n…\nd\n", "a\nb\n")
    assert not same("a.\n", "ab\n")


def test_a_console_block_is_commands_with_their_output() -> None:
    """Output belongs to the command above it."""
    block = Block("console", "$ suture rules\nSU101 x\n$ suture check a.json\n", 1)

    assert [("suture rules", "SU101 x\n"), ("suture check a.json", "")] == list(commands(block))

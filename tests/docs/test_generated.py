"""The pages that are written from the code are those that the code of today writes."""

from __future__ import annotations

import pytest

from tests.docs import cli_help, rules, screens


@pytest.mark.parametrize("name", rules.pages())
def test_the_page_of_a_rule_is_the_one_that_the_rule_makes(name: str) -> None:
    """`python -m tests.docs.rules` writes them anew."""
    assert rules.pages()[name] == (rules.FOLDER / name).read_text(encoding="utf-8")


def test_there_is_no_page_of_a_rule_that_is_no_more() -> None:
    """A page stands and falls with its rule."""
    assert set(rules.pages()) == {path.name for path in rules.FOLDER.iterdir()}


def test_the_page_about_the_command_line_is_what_help_prints() -> None:
    """`python -m tests.docs.cli_help` writes it anew."""
    assert cli_help.text() == cli_help.PAGE.read_text(encoding="utf-8")


def test_the_screens_are_what_a_person_sees() -> None:
    """A real terminal, keys pressed, the program killed; `python -m tests.docs.update` writes them anew."""
    assert screens.screens() == screens.shown()

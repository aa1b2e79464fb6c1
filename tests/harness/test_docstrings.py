"""`suture.harness.docstrings`: what a docstring says, in each of the styles."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from suture.harness.docstrings import described

GOOGLE = """Search the index.

    Looks everywhere.

    Args:
        query: Words that have
            to occur.
        limit (int, optional): How many.

    Returns:
        The hits.
    """
NUMPY = """Search the index.

    Looks everywhere.

    Parameters
    ----------
    query : str
        Words that have
        to occur.
    limit : int, optional
        How many.

    Returns
    -------
    list
        The hits.
    """
REST = """Search the index.

    Looks everywhere.

    :param query: Words that have
        to occur.
    :param int limit: How many.
    :returns: The hits.
    """
TEXT = "Search the index.\n\nLooks everywhere."


def with_docstring(docstring: str | None) -> Any:
    """A function that has it."""

    def function() -> None:
        pass

    function.__doc__ = docstring
    return function


@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, REST], ids=["google", "numpy", "rest"])
def test_every_style_says_the_same(docstring: str) -> None:
    """The text is summary and explanation alone; a description is one line, however it was wrapped."""
    said = described(with_docstring(docstring))

    assert TEXT == said.text
    assert {"query": "Words that have to occur.", "limit": "How many."} == said.parameters


@pytest.mark.parametrize(
    ("docstring", "text", "parameters"),
    [
        (None, "", {}),
        ("", "", {}),
        ("One line.", "One line.", {}),
        ("A list:\n\n- a: b\n- c: d\n", "A list:\n\n- a: b\n- c: d", {}),
        ("Both.\n\nParameters\n----------\na, b : int\n    A number.\n", "Both.", {"a": "A number.", "b": "A number."}),
        ("More.\n\nArgs:\n    **rest: The rest.\n", "More.", {"rest": "The rest."}),
    ],
)
def test_other_docstrings(docstring: str | None, text: str, parameters: dict[str, str]) -> None:
    """What has no sections is text as it stands; names that are described together are all described."""
    said = described(with_docstring(docstring))

    assert (text, parameters) == (said.text, said.parameters)


def test_without_the_parser_the_whole_docstring_is_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is not installed: the model still reads everything."""
    monkeypatch.setitem(sys.modules, "docstring_parser", None)

    said = described(with_docstring(GOOGLE))

    assert said.text.startswith(TEXT)
    assert "query: Words that have\n" in said.text
    assert {} == said.parameters


def test_what_the_parser_refuses_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """A docstring that is none in any style does not keep a function from being a tool."""
    import docstring_parser

    def refuse(_: str) -> None:
        raise docstring_parser.ParseError

    monkeypatch.setattr(docstring_parser, "parse", refuse)

    assert described(with_docstring("Odd.")).text == "Odd."

"""What a function's docstring says of it and of its parameters; Google, NumPy and reST style."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import msgspec

__all__ = ["Description", "described"]


class Description(msgspec.Struct, frozen=True):
    """A docstring, taken apart."""

    text: str
    """What it says of the function: summary and explanation, without the sections about parameters and results."""
    parameters: dict[str, str]
    """What it says of each parameter."""


def described(function: Callable[..., Any]) -> Description:
    """The docstring of `function`, taken apart.

    Needs docstring-parser, which the extra `agent` installs. Without it, and where the docstring is none that it can
    read, the whole docstring is the text: the model still reads all of it.
    """
    docstring = inspect.getdoc(function) or ""
    try:
        import docstring_parser  # noqa: PLC0415 - an extra
    except ImportError:
        return Description(docstring, {})
    try:
        parsed = docstring_parser.parse(docstring)
    except docstring_parser.ParseError:
        return Description(docstring, {})
    parameters = {
        name.strip().lstrip("*"): " ".join(parameter.description.split())
        for parameter in parsed.params
        if parameter.description
        for name in parameter.arg_name.split(",")  # NumPy describes `a, b : int` together
    }
    return Description((parsed.description or "").strip(), parameters)

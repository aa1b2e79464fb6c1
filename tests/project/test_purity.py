"""The core does no IO: it imports no clock, no random source, no socket, logger, database or file system.

What it may import is a list, so that a new import is a decision.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.project.paths import SOURCE, imported_names, module_name, modules, parsed

PURE = ("suture.errors", "suture.pipeline", "suture.repair", "suture.transcript", "suture.wire")

ALLOWED = frozenset(
    {
        "__future__",
        "bisect",
        "collections",
        "collections.abc",
        "contextlib",
        "copy",
        "dataclasses",
        "enum",
        "functools",
        "hashlib",  # ids are derived from what they stand for
        "importlib",  # adapters and rules are loaded when they are needed
        "itertools",
        "json",  # where msgspec refuses what really occurs
        "math",
        "msgspec",
        "msgspec.json",
        "msgspec.structs",
        "operator",
        "re",
        "string",
        "textwrap",
        "types",
        "typing",
        "unicodedata",
        "uuid",  # `uuid5` alone: see below
    }
)

IMPURE_CALLS = frozenset({"breakpoint", "exec", "eval", "input", "open", "print", "__import__"})
IMPURE_ATTRIBUTES = frozenset({"uuid1", "uuid4", "getnode"})


def pure_modules() -> list[Path]:
    """The files that have to be pure."""
    return [path for path in modules() if any(f"{module_name(path)}.".startswith(f"{layer}.") for layer in PURE)]


@pytest.mark.parametrize("path", pure_modules(), ids=module_name)
def test_a_pure_module_imports_only_what_is_allowed(path: Path) -> None:
    """Every import of a pure module, at any depth, is its own package's or on the list."""
    foreign = {name for name in imported_names(parsed(path)) if name != "suture" and not name.startswith("suture.")}

    assert set() == foreign - ALLOWED


@pytest.mark.parametrize("path", pure_modules(), ids=module_name)
def test_a_pure_module_calls_no_builtin_that_does_io(path: Path) -> None:
    """Files, terminals, run-time code and ids that differ from run to run are out of reach."""
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found |= {node.func.id} & IMPURE_CALLS
        elif isinstance(node, ast.Attribute):
            found |= {node.attr} & IMPURE_ATTRIBUTES
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names} & IMPURE_ATTRIBUTES

    assert set() == found


def test_the_pure_layers_exist() -> None:
    """The list above names what is there, so that a renamed layer does not leave the check."""
    missing = [
        layer
        for layer in PURE
        if not (SOURCE.parent / layer.replace(".", "/")).is_dir()
        and not (SOURCE.parent / f"{layer.replace('.', '/')}.py").is_file()
    ]

    assert [] == missing

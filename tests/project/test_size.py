"""Files and functions stay small enough to be read at once. Complexity is ruff's C901; this checks that it is on."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

from tests.project.paths import ROOT, module_name, modules, parsed

FILE_LINES = 500
FUNCTION_LINES = 60
COMPLEXITY = 12

HOT_LOOPS = "src/suture/wire/look/*"
"""One loop over the whole history with one state: a call for each message would cost more than its work."""


@pytest.mark.parametrize("path", modules(), ids=module_name)
def test_a_file_is_short(path: Path) -> None:
    """No source file is longer than 500 lines."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= FILE_LINES


@pytest.mark.parametrize("path", modules(), ids=module_name)
def test_a_function_is_short(path: Path) -> None:
    """No function is longer than 60 lines, its docstring and decorators included."""
    too_long = {}
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            length = (node.end_lineno or node.lineno) - first + 1
            if length > FUNCTION_LINES:
                too_long[node.name] = length

    assert {} == too_long


def test_complexity_is_limited_by_the_linter() -> None:
    """Ruff's limit stands at 12, its rule is selected, and nothing takes it back but for the loops of the fast look."""
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]

    assert COMPLEXITY == lint["mccabe"]["max-complexity"]
    assert "C901" in lint["extend-select"]
    for pattern, ignored in lint["per-file-ignores"].items():
        assert pattern == HOT_LOOPS or not (pattern.startswith("src") and {"C90", "C901"} & set(ignored))


@pytest.mark.parametrize("path", modules(), ids=module_name)
def test_complexity_is_not_waved_through(path: Path) -> None:
    """No source file silences the complexity rule."""
    assert "C901" not in path.read_text(encoding="utf-8")

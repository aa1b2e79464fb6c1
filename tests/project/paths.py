"""Where the project's own files are, and how its modules are read without importing them."""

from __future__ import annotations

import ast
import functools
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

__all__ = ["ROOT", "SOURCE", "imported_names", "module_name", "modules", "parsed", "tracked"]

ROOT = Path(__file__).resolve().parents[2]
"""The checkout."""
SOURCE = ROOT / "src" / "suture"
"""The package."""

_NOT_OURS = frozenset({".git", ".venv", ".tools", "node_modules", "dist", "__pycache__"})


def modules() -> list[Path]:
    """Every file of the package, in order."""
    return sorted(SOURCE.rglob("*.py"))


def module_name(path: Path) -> str:
    """The dotted name of a file of the package."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imported_names(tree: ast.Module) -> Iterator[str]:
    """What a module imports, wherever in it the import stands: `a.b` for `import a.b` and for `from a.b import c`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."


def tracked() -> list[Path]:
    """The files that git knows or would take up; without git, every file that is not plainly generated."""
    if (ROOT / ".git").exists() and (git := shutil.which("git")):
        command = [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
        return sorted(path for name in set(names) if name and (path := ROOT / name).is_file())
    return sorted(
        path for path in ROOT.rglob("*") if path.is_file() and not _NOT_OURS & set(path.relative_to(ROOT).parts)
    )

"""`__all__` is explicit in every module, and true."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import suture
from tests.project.paths import module_name, modules

MODULES = [path for path in modules() if path.name != "__main__.py"]
"""Every file of the package but the one that is a program."""


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_all_is_explicit_and_true(path: Path) -> None:
    """Every module says what is public in it; each name is there, once."""
    module = importlib.import_module(module_name(path))

    exported = getattr(module, "__all__", None)

    assert exported is not None, f"{module.__name__} has no __all__"
    assert len(exported) == len(set(exported))
    assert [] == [name for name in exported if not hasattr(module, name)]


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_what_is_defined_without_an_underscore_is_exported(path: Path) -> None:
    """A class or function that is not in `__all__` begins with an underscore."""
    module = importlib.import_module(module_name(path))
    exported = set(getattr(module, "__all__", ()))

    defined = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and callable(value)
        and getattr(value, "__module__", None) == module.__name__
        and getattr(value, "__name__", None) == name
    }

    assert set() == defined - exported


def test_the_package_names_everything_that_it_exports() -> None:
    """`dir(suture)` shows the public names before any is loaded, and no other name is answered."""
    assert set() == set(suture.__all__) - set(dir(suture))
    with pytest.raises(AttributeError, match="no attribute 'mend'"):
        _ = suture.mend  # type: ignore[attr-defined]

"""The public API as data, and the frozen copy of it: `python -m tests.project.api` writes the copy anew.

What stands in `api.json` is promised to users: a change of it belongs in the changelog.
"""

from __future__ import annotations

import importlib
import inspect
import json
import types
import typing
from pathlib import Path
from typing import Any, Final

import msgspec

import suture

__all__ = ["FROZEN", "describe", "main"]

FROZEN: Final = Path(__file__).with_name("api.json")


def describe() -> dict[str, Any]:
    """The public names, what the functions take, what the records hold, and the tree of exceptions."""
    api: dict[str, Any] = {"names": sorted(suture.__all__), "functions": {}, "records": {}, "exceptions": {}}
    for name in api["names"]:
        value = getattr(suture, name)
        if isinstance(value, types.FunctionType):
            api["functions"][name] = _parameters(value)
        elif isinstance(value, type) and issubclass(value, msgspec.Struct):
            api["records"][name] = _fields(value)
        elif isinstance(value, type) and issubclass(value, Exception):
            api["exceptions"][name] = [base.__name__ for base in value.__bases__]
    return api


def _parameters(function: types.FunctionType) -> list[str]:
    """Each parameter as it is written in a call's help, without its type: `*, request=None`."""
    signature = inspect.signature(function)
    bare = signature.replace(
        parameters=[each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()],
        return_annotation=inspect.Signature.empty,
    )
    return str(bare).removeprefix("(").removesuffix(")").split(", ")


def _fields(record: type[msgspec.Struct]) -> dict[str, str]:
    """Each field of a record, with its type and whether it has a default."""
    namespace = vars(importlib.import_module(record.__module__))
    hints = typing.get_type_hints(record, namespace)
    return {
        field.name: f"{_type_name(hints[field.name])}{'' if field.required else ' = …'}"
        for field in msgspec.structs.fields(record)
    }


def _type_name(hint: Any) -> str:
    """A type as users write it."""
    if isinstance(hint, type) and not typing.get_args(hint):
        return hint.__name__
    return str(hint).replace("typing.", "").replace("suture.repair.report.", "")


def main() -> None:
    """Write the frozen copy."""
    FROZEN.write_text(json.dumps(describe(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {FROZEN}")


if __name__ == "__main__":
    main()

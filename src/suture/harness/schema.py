"""What a function takes, read from its signature: its parameters, their types, and their JSON Schema."""

from __future__ import annotations

import functools
import inspect
import math
import operator
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec

from suture.errors import ToolDefinitionError
from suture.harness.context import ToolContext

__all__ = ["REF", "Parameter", "Signature", "is_model", "signature_of"]

REF: Final = "#/$defs/"
"""How a reference inside a schema begins."""

_TYPES = (
    "a type that JSON can hold (str, int, float, bool, list, dict, Literal, Enum, datetime, a msgspec struct, "
    "a dataclass, a TypedDict, a pydantic model)"
)
_DATA: Final = frozenset({"const", "default", "enum", "examples"})
"""Keywords that hold values, not schemas."""
_NAMED: Final = frozenset({"$defs", "dependentSchemas", "patternProperties", "properties"})
"""Keywords that hold schemas by name."""
_NOISE: Final = frozenset({"discriminator", "title"})
"""Keywords that tell a model nothing: class names once more, and references into what was inlined."""


class Parameter(msgspec.Struct, frozen=True):
    """One argument that a model gives."""

    name: str
    hint: Any
    """Its type."""
    required: bool
    schema: dict[str, Any]
    """Its JSON Schema, complete in itself."""


class Signature(msgspec.Struct, frozen=True):
    """What a function takes."""

    parameters: tuple[Parameter, ...]
    """Without the context. The types are not read where the schema was given by hand."""
    wants_context: bool
    schema: dict[str, Any]
    """The JSON Schema of all arguments, one object that refers to nothing outside."""
    by_hand: bool = False
    """The schema was given, not read: the values of arguments are taken as they are."""
    open: bool = False
    """It takes arguments of any name."""


def is_model(kind: Any) -> bool:
    """Whether this is a pydantic model, found out without importing pydantic."""
    return isinstance(kind, type) and hasattr(kind, "model_json_schema") and hasattr(kind, "model_validate")


def signature_of(
    tool: str, function: Callable[..., Any], descriptions: Mapping[str, str], by_hand: dict[str, Any] | None
) -> Signature:
    """Read what a function takes.

    Args:
        tool: The tool's name, for errors.
        function: A function or a bound method.
        descriptions: What is known of each parameter.
        by_hand: The schema, where the user gave one: the types are then not looked at.

    Raises:
        ToolDefinitionError: a parameter that no model can give, or a type that JSON cannot hold.
    """
    try:
        listed = list(inspect.signature(function).parameters.values())
    except (NameError, TypeError, ValueError) as error:
        raise ToolDefinitionError(tool, "function", "one whose signature can be read", str(error)) from error
    wants_context = is_open = False
    taken: list[inspect.Parameter] = []
    hints: list[Any] = []
    for parameter in listed:
        _check_kind(tool, parameter, first=parameter is listed[0], by_hand=by_hand is not None)
        if parameter.kind is parameter.VAR_KEYWORD:
            is_open = True
            continue
        hint = Any if by_hand is not None and parameter.name != "ctx" else _hint(tool, function, parameter)
        if any(each is ToolContext for each in (hint, *typing.get_args(hint))):
            if parameter.name != "ctx":
                raise ToolDefinitionError(tool, parameter.name, "the name ctx for a ToolContext", parameter.name)
            wants_context = True
            continue
        taken.append(parameter)
        hints.append(hint)
    if by_hand is not None:
        known = tuple(Parameter(each.name, Any, each.default is each.empty, {}) for each in taken)
        copied = msgspec.json.decode(msgspec.json.encode(by_hand))  # what the user does to it later changes no tool
        return Signature(known, wants_context, copied, by_hand=True, open=is_open)
    return _with_schema(tool, taken, hints, descriptions, wants_context=wants_context)


def _check_kind(tool: str, parameter: inspect.Parameter, *, first: bool, by_hand: bool) -> None:
    """Refuse a parameter that cannot be given by its name."""
    named = "a parameter that can be given by its name"
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise ToolDefinitionError(tool, parameter.name, named, "a positional-only one")
    if parameter.kind is parameter.VAR_POSITIONAL:
        raise ToolDefinitionError(tool, parameter.name, named, f"*{parameter.name}")
    if parameter.kind is parameter.VAR_KEYWORD and not by_hand:
        expected = f"{named}, or a schema= that says which there are"
        raise ToolDefinitionError(tool, parameter.name, expected, f"**{parameter.name}")
    if first and parameter.name in ("self", "cls") and parameter.annotation is parameter.empty:
        raise ToolDefinitionError(tool, parameter.name, "a function or a bound method", "a method without its object")


def _hint(tool: str, function: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    """The type of a parameter, also where it is written as text, and where it is defined inside a function."""
    if parameter.annotation is parameter.empty or parameter.annotation is object:
        return Any

    def probe() -> None:
        """A function with this one annotation: the others, and the result's, need not be readable."""

    probe.__annotations__ = {parameter.name: parameter.annotation}
    plain = inspect.unwrap(function)
    # The context is known even where it was imported for type checkers alone.
    known = {"ToolContext": ToolContext, **getattr(plain, "__globals__", {})}
    try:
        hints = typing.get_type_hints(probe, known, _names_around(plain), include_extras=True)
        hint = _dated(hints[parameter.name])
        return hint | None if parameter.default is None and hint is not Any else hint
    except Exception as error:
        got = f"{parameter.annotation!r}: {error}"
        raise ToolDefinitionError(tool, parameter.name, "a type that is known where the function is", got) from error


def _dated(hint: Any) -> Any:
    """A type with the format of its dates: msgspec names none, as it takes times without a zone, too."""
    if hint is datetime:
        return Annotated[datetime, msgspec.Meta(extra_json_schema={"format": "date-time"})]
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return functools.reduce(operator.or_, map(_dated, typing.get_args(hint)))
    return hint


def _names_around(function: Callable[..., Any]) -> dict[str, Any]:
    """What is defined in the functions that `function` is written in, as long as they run."""
    names: dict[str, Any] = {}
    where, module = getattr(function, "__qualname__", ""), getattr(function, "__globals__", None)
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_globals is module and where.startswith(f"{frame.f_code.co_qualname}."):
            names = {**frame.f_locals, **names}
        frame = frame.f_back
    return names


def _with_schema(
    tool: str,
    taken: Sequence[inspect.Parameter],
    hints: Sequence[Any],
    descriptions: Mapping[str, str],
    *,
    wants_context: bool,
) -> Signature:
    """The parameters, each with its schema."""
    for parameter, hint in zip(taken, hints, strict=True):
        try:
            _Schemas((hint,))
        except Exception as error:
            reason = str(error).rpartition("\n")[2]
            got = f"{_written(hint)}: {reason}"
            raise ToolDefinitionError(tool, parameter.name, _TYPES, got) from error
    schemas = _Schemas(tuple(hints))
    properties: dict[str, Any] = {}
    for parameter, root in zip(taken, schemas.roots, strict=True):
        schema = dict(root)
        if parameter.name in descriptions:
            schema.setdefault("description", descriptions[parameter.name])
        properties[parameter.name] = {**schemas.inlined(schema), **_default(parameter)}
    definitions = {"$defs": schemas.recursive} if schemas.recursive else {}
    parameters = tuple(
        Parameter(each.name, hint, each.default is each.empty, {**properties[each.name], **definitions})
        for each, hint in zip(taken, hints, strict=True)
    )
    whole = {
        "type": "object",
        "properties": properties,
        "required": [each.name for each in parameters if each.required],
        "additionalProperties": False,
        **definitions,
    }
    return Signature(parameters, wants_context, whole)


def _default(parameter: inspect.Parameter) -> dict[str, Any]:
    """The default of a parameter, where JSON can hold it."""
    value = parameter.default
    if value is parameter.empty or (isinstance(value, float) and not math.isfinite(value)):
        return {}
    try:
        return {"default": msgspec.json.decode(msgspec.json.encode(value))}
    except Exception:  # noqa: BLE001 - any object can be a default
        return {}


def _written(hint: Any) -> str:
    """A type as it is written."""
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)


class _Schemas:
    """The JSON Schemas of types, without references but for types that contain themselves."""

    def __init__(self, hints: tuple[Any, ...]) -> None:
        """Raises what msgspec and pydantic raise for types that they do not know."""
        self._parts: dict[str, dict[str, Any]] = {}
        self.roots, parts = msgspec.json.schema_components(hints, schema_hook=self._model, ref_template=REF + "{name}")
        self._parts |= parts
        self._cyclic = {name for name in self._parts if name in self._reached(name)}
        self.recursive = {name: self.inlined(self._parts[name]) for name in sorted(self._cyclic)}

    def _model(self, kind: type) -> dict[str, Any]:
        """A pydantic model: what it defines comes to the other definitions, under names of its own."""
        if not is_model(kind):
            raise NotImplementedError
        home = re.sub(r"[^\w.]", "_", f"{kind.__module__}.{kind.__qualname__}")
        schema = kind.model_json_schema(ref_template=f"{REF}{home}.{{model}}")  # type: ignore[attr-defined]
        self._parts |= {f"{home}.{name}": part for name, part in schema.pop("$defs", {}).items()}
        self._parts[home] = schema
        return {"$ref": REF + home}

    def _reached(self, name: str) -> set[str]:
        """The definitions that one refers to, directly or through others."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            new = set(_references(self._parts[waiting.pop()])) - found
            found |= new
            waiting += new
        return found

    def inlined(self, schema: Any) -> Any:
        """A copy in which every definition that does not contain itself stands where it was referred to."""
        if isinstance(schema, list):
            return [self.inlined(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        copied: dict[str, Any] = {}
        for key, value in schema.items():
            if key in _DATA:
                copied[key] = value
            elif key in _NAMED:
                copied[key] = {name: self.inlined(each) for name, each in value.items()}
            elif key not in _NOISE:
                copied[key] = self.inlined(value)
        name = copied.get("$ref", "").removeprefix(REF)
        if not name or name in self._cyclic:
            return copied
        del copied["$ref"]
        return {**self.inlined(self._parts[name]), **copied}


def _references(schema: Any) -> Iterator[str]:
    """The names of the definitions that a schema refers to."""
    if isinstance(schema, list):
        for each in schema:
            yield from _references(each)
    elif isinstance(schema, dict):
        for key, value in schema.items():
            if key == "$ref":
                yield value.removeprefix(REF)
            elif key in _NAMED:
                yield from _references(list(value.values()))
            elif key not in _DATA | _NOISE:
                yield from _references(value)

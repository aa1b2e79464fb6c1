"""From the JSON arguments of a call to the values that a function takes, or to a sentence that the model can act on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from suture.harness.schema import REF, Parameter, Signature, is_model
from suture.transcript.codec import plain

__all__ = ["ArgumentsError", "decode"]

_LONGEST = 2_000
_SHOWN = 100
"""How many characters of a wrong value are repeated."""

_WORDS: Final = {
    "array": "an array",
    "bool": "true or false",
    "bytes": "base64 text",
    "date": "a date",
    "datetime": "a date and time",
    "decimal": "a decimal number",
    "duration": "a duration",
    "float": "a number",
    "int": "an integer",
    "null": "null",
    "object": "an object",
    "str": "a string",
    "time": "a time",
    "uuid": "a UUID",
}
"""msgspec's names of types, in words."""

_FORMATS: Final = {
    "Invalid RFC3339 encoded datetime": "a date and time such as 2026-01-31T12:00:00Z",
    "Invalid RFC3339 encoded date": "a date such as 2026-01-31",
    "Invalid RFC3339 encoded time": "a time such as 12:00:00Z",
    "Invalid ISO8601 duration": "a duration such as PT1H30M",
    "Invalid UUID": "a UUID",
    "Invalid base64 encoded string": "base64 text",
    "Invalid decimal string": "a decimal number",
    "Integer value out of range": "a smaller number",
    "Number out of range": "a smaller number",
}
"""What msgspec says of text that is not of its format, and what was expected."""

_AT = re.compile(r"(?P<what>.*?)(?: - at (?P<key>`key` in )?`\$(?P<path>[^`]*)`)?", re.DOTALL)
_STEP = re.compile(r"\.(?P<name>[^.\[\]]+)|\[(?:(?P<index>\d+)|\.\.\.)\]")
_GOT = re.compile(r", got (?:`[^`]*`|\d+)\Z")
_TYPES = re.compile(r"`([^`]*)`")


class ArgumentsError(Exception):
    """The arguments of a call do not fit. The message is meant for the model: where, what was expected, what came."""

    def __init__(self, problems: Sequence[str]) -> None:
        """`problems` has one clause for each argument that does not fit."""
        self.problems: tuple[str, ...] = tuple(plain(problem) for problem in problems)
        super().__init__("; ".join(self.problems)[:_LONGEST])


def decode(signature: Signature, arguments: Any) -> dict[str, Any]:
    """The arguments as the types that the parameters ask for; those that were not given are not there.

    Text is taken where it reads as what is asked for: `"5"` as an integer. Nothing in the result is shared with
    `arguments`, so that a function may change what it gets.

    Raises:
        ArgumentsError: they do not fit; names every argument that does not, and nothing else is ever raised.
    """
    if not isinstance(arguments, dict):
        raise ArgumentsError([f"expected an object that holds the arguments, got {_shown(arguments)}"])
    problems = _misnamed(signature, arguments)
    decoded: dict[str, Any] = {}
    hints = {parameter.name: parameter for parameter in signature.parameters}
    for name, value in arguments.items():
        parameter = hints.get(name) or (Parameter(name, Any, required=False, schema={}) if signature.open else None)
        if parameter is None:
            continue
        try:
            decoded[name] = msgspec.convert(msgspec.to_builtins(value), parameter.hint, strict=False, dec_hook=_model)
        except msgspec.ValidationError as error:
            problems += _explained(parameter, value, error)
        except RecursionError:
            problems.append(f"{name}: nested too deeply")
        except Exception:  # noqa: BLE001 - an odd value (a set of objects, half a character) or a type's own check
            problems.append(f"{name}: this value does not fit, got {_shown(value)}")
    if problems:
        raise ArgumentsError(problems)
    return decoded


def _misnamed(signature: Signature, arguments: dict[Any, Any]) -> list[str]:
    """What is wrong with the names alone: unknown ones, and required ones that are missing."""
    known = [each.name for each in signature.parameters]
    unknown = [name for name in arguments if not _is_known(signature, name)]
    problems = []
    if unknown:
        named = ", ".join(name if isinstance(name, str) else _shown(name) for name in unknown)
        there_are = f"there {'are' if len(known) > 1 else 'is'} {', '.join(known)}" if known else "there are none"
        problems.append(f"{named}: unknown argument{'s' if len(unknown) > 1 else ''}; {there_are}")
    required = (each.name for each in signature.parameters if each.required)
    return problems + [f"{name}: required, but not given" for name in required if name not in arguments]


def _is_known(signature: Signature, name: Any) -> bool:
    """Whether the function takes an argument of this name. Its context is none that a model can give."""
    if signature.open:
        return isinstance(name, str) and not (signature.wants_context and name == "ctx")
    return any(each.name == name for each in signature.parameters)


def _model(kind: type, value: Any) -> Any:
    """An instance of a pydantic model. By way of text: a strict model takes a date from JSON, not from a string."""
    if not is_model(kind):
        raise NotImplementedError
    return kind.model_validate_json(json.dumps(value))  # type: ignore[attr-defined]


def _explained(parameter: Parameter, value: Any, error: msgspec.ValidationError) -> Iterator[str]:
    """What msgspec or pydantic found, with the path, what was expected and what came."""
    found = _AT.fullmatch(str(error))
    assert found is not None  # the pattern takes any text
    steps = [match["name"] or match["index"] for match in _STEP.finditer(found["path"] or "")]
    place = parameter.name + (found["path"] or "")
    cause: Any = error.__cause__
    if hasattr(cause, "errors") and hasattr(cause, "error_count"):  # pydantic's
        for each in cause.errors(include_url=False, include_context=False):
            inner = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in each["loc"])
            got = "" if each["type"] == "missing" else f", got {_shown(each['input'])}"
            yield f"{place}{inner}: {each['msg']}{got}"
        return
    expected = _expected(found["what"], parameter.schema, steps)
    if found["key"]:
        yield f"{place}: a key: {expected}"
        return
    known, wrong = _walk(value, steps)
    yield f"{place}: {expected}{f', got {_shown(wrong)}' if known else ''}"


def _expected(what: str, schema: dict[str, Any], steps: Sequence[str | None]) -> str:
    """A sentence of msgspec's as one that begins with what was expected."""
    if what.startswith("Expected "):
        asked = _GOT.sub("", what.removeprefix("Expected "))
        return f"expected {_TYPES.sub(lambda types: _in_words(types[1]), asked)}"
    if what.startswith(("Invalid enum value", "Invalid value")):
        allowed = [_shown(value) for node in _nodes(schema, schema, steps) for value in node.get("enum", ())]
        return f"expected one of {', '.join(dict.fromkeys(allowed))}" if allowed else "expected another value"
    if what.startswith("Object missing required field"):
        return f'expected an object with the field "{what.split("`")[1]}"'
    if what.startswith("Object contains unknown field"):
        return f'expected an object without the field "{what.split("`")[1]}"'
    return f"expected {_FORMATS[what]}" if what in _FORMATS else what


def _in_words(types: str) -> str:
    return " or ".join(_WORDS.get(name, name) for name in types.split(" | "))


def _walk(value: Any, steps: Sequence[str | None]) -> tuple[bool, Any]:
    """What stands at a path; False where the path does not say which value of an object it means."""
    for step in steps:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step is not None and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return False, None
    return True, value


def _nodes(node: dict[str, Any], root: dict[str, Any], steps: Sequence[str | None]) -> Iterator[dict[str, Any]]:
    """The schemas that hold for what stands at a path: several where there are alternatives."""
    if "$ref" in node:
        yield from _nodes(root["$defs"][node["$ref"].removeprefix(REF)], root, steps)
    for branch in node.get("anyOf", ()):
        yield from _nodes(branch, root, steps)
    if not steps:
        yield node
        return
    step, rest = steps[0], steps[1:]
    inner = [node.get("properties", {}).get(step), node.get("items"), node.get("additionalProperties")]
    if step is not None and step.isdecimal():
        inner.append(dict(enumerate(node.get("prefixItems", ()))).get(int(step)))
    for each in inner:
        if isinstance(each, dict):
            yield from _nodes(each, root, rest)


def _shown(value: Any) -> str:
    """A value as JSON, cut where it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except Exception:  # noqa: BLE001 - no JSON value, or too deep to print
        text = type(value).__name__
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"

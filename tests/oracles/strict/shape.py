"""What the strict checkers of all formats share: reading JSON that may have any shape.

The checkers judge whatever a repair returns for whatever JSON can express, so nothing here may raise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Messages: TypeAlias = Sequence[Any]
Request: TypeAlias = Mapping[str, Any]

NAME_PATTERN = re.compile(r"[a-zA-Z0-9_-]+")
# Documented limit; 128 and 200 were measured here and there (section 16.1), 64 passes everywhere.
NAME_LENGTH = 64


def members(value: object) -> list[dict[str, Any]]:
    """Give the objects of a list, leaving out all that is not one."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def numbered(value: object) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give the objects of a list with their place in it."""
    if isinstance(value, (list, tuple)):
        yield from ((place, each) for place, each in enumerate(value) if isinstance(each, dict))


def text_of(value: Mapping[str, Any], key: str) -> str:
    """Read a string; anything else reads as the empty string."""
    found = value.get(key)
    return found if isinstance(found, str) else ""


def kind(value: Mapping[str, Any]) -> str:
    """Read the `type` of a part, block or item."""
    return text_of(value, "type")


def blank(value: object) -> bool:
    """Whether a value is a text that shows nothing."""
    return isinstance(value, str) and not value.strip()


def object_text(value: object) -> bool:
    """Whether a value is a text that holds one JSON object, as the standard knows JSON (no NaN)."""
    if not isinstance(value, str):
        return False
    try:
        return isinstance(json.loads(value, parse_constant=_no_constant), dict)
    except (ValueError, RecursionError):
        return False


def _no_constant(name: str) -> None:
    """Refuse what Python reads but JSON does not have."""
    raise ValueError(name)


def not_objects(messages: Messages, rule: str) -> Iterator[str]:
    """Report list members that are no objects; no format has such."""
    for place, message in enumerate(messages):
        if not isinstance(message, dict):
            yield f"{rule} [{place}]: not an object"


def tool_names(request: Request) -> set[str] | None:
    """Read the names of the request's tools, given as names or as definitions; None when it says nothing."""
    tools = request.get("tools")
    if not isinstance(tools, list):
        return None
    return {tool if isinstance(tool, str) else _name_of(tool) for tool in tools}


def _name_of(tool: object) -> str:
    """Read the name of one tool definition, flat or wrapped in `function`."""
    if not isinstance(tool, dict):
        return ""
    inner = tool.get("function")
    return text_of(inner if isinstance(inner, dict) else tool, "name")


def switch(request: Request, key: str) -> bool | None:
    """Read a setting given as a boolean or in the provider's form `{"type": "enabled"}`; None when absent."""
    value = request.get(key)
    if isinstance(value, dict):
        return value.get("type") != "disabled"
    return value if isinstance(value, bool) else None


def name_errors(name: object, where: str) -> Iterator[str]:
    """Judge a function name as OpenAI does."""
    if not isinstance(name, str) or not NAME_PATTERN.fullmatch(name):
        yield f"OCC-09 {where}: name does not match {NAME_PATTERN.pattern}"
    elif len(name) > NAME_LENGTH:
        yield f"OCC-10 {where}: name longer than {NAME_LENGTH}"

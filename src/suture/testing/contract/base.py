"""The shape that every format has here, and what its rules are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, Protocol

from suture.testing.contract.script import Answer

__all__ = ["KIND", "Format", "Refusal", "Rule", "Stored", "Wrong", "event", "first", "objects", "text_of"]

Refusal = tuple[int, dict[str, Any]]
"""The HTTP status and the body of a refusal."""

KIND: Final[dict[type, str]] = {
    dict: "object",
    list: "array",
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
"""JSON's names for the types of values."""


class Wrong(NamedTuple):
    """What a rule found: the provider's words, and where."""

    message: str
    param: str | None = None
    code: str | None = None
    status: int = 400


class Rule(NamedTuple):
    """One rule of a contract; its id is the contract's."""

    id: str
    find: Callable[..., Iterable[Wrong]]


class Stored:
    """What the provider of Responses has stored: the conversation of each response, the reasoning before an item."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.conversations: dict[str, list[Any]] = {}
        """By the id of a response: the items up to it, and its own."""
        self.reasoning: dict[str, str] = {}
        """By the id of an item: the id of the reasoning that it was produced after."""

    def add(self, before: list[Any], response: Mapping[str, Any]) -> None:
        """Store a response, whose whole input was `before`."""
        output = response["output"]
        self.conversations[response["id"]] = [*before, *output]
        last = ""
        for item in output:
            if item["type"] == "reasoning":
                last = item["id"]
            elif last:
                self.reasoning[item["id"]] = last


class Format(Protocol):
    """One provider's format. A module of this package fits it."""

    NAME: str
    """The name of the format."""
    PATH: str
    """Where its requests go."""

    def unauthorized(self, headers: Mapping[str, str], /) -> Refusal | None:
        """The refusal of a request without a key; None where there is one. The names of headers are in lower case."""

    def refusal(self, body: Any, headers: Mapping[str, str], stored: Stored | None = None, /) -> Refusal | None:
        """The refusal of the first rule that the request breaks; None where the provider takes it."""

    def error(self, status: int, message: str = "", /) -> dict[str, Any]:
        """The body of an error, in the provider's own words where there is no message."""

    def overflow(self) -> Refusal:
        """The refusal of a request that is too long for the model."""

    def failed(self, message: str = "", /) -> bytes:
        """The event that ends a stream in which the provider failed."""

    def said(self, body: Any, /) -> str:
        """The last text of the user."""

    def events(self, answer: Answer, body: Any, /) -> Iterator[bytes]:
        """The answer as the events of a stream."""

    def whole(self, answer: Answer, body: Any, /) -> dict[str, Any]:
        """The answer as one object."""


def first(rules: Iterable[Rule], *given: Any) -> Wrong | None:
    """What the first of the rules finds that finds something; no rule is asked for more than its first finding."""
    for rule in rules:
        for wrong in rule.find(*given):
            return wrong
    return None


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects in a list; none where it is no list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def text_of(content: Any) -> str:
    """The text of a content: a string, or parts with a `text`."""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in objects(content) if isinstance(part.get("text"), str))


def event(data: bytes, name: str = "") -> bytes:
    """One event of a stream."""
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + data + b"\n\n"

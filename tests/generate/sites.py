"""Where calls and results stand in each format: what a mutation needs to know, and nothing more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.oracles.strict.shape import kind, numbered


@dataclass(frozen=True)
class Site:
    """A call or a result: the list that it is a member of, its place there, and the object itself."""

    home: list[Any]
    place: int
    value: dict[str, Any]

    def remove(self) -> None:
        """Take it out of its list."""
        self.home[:] = [each for each in self.home if each is not self.value]


@dataclass(frozen=True)
class Keys:
    """Under which keys a format keeps what a mutation spoils."""

    call_id: str
    result_id: str
    name: str
    arguments: str
    result: str
    content: str


KEYS = {
    "openai_chat": Keys("id", "tool_call_id", "name", "arguments", "content", "content"),
    "openai_responses": Keys("call_id", "call_id", "name", "arguments", "output", "content"),
    "anthropic": Keys("id", "tool_use_id", "name", "input", "content", "content"),
    # Here a part is both: its result is lost by losing its state, and its name is its type.
    "ai_sdk_ui": Keys("toolCallId", "toolCallId", "type", "input", "output", "parts"),
}
CALLS = frozenset({"function_call", "custom_tool_call", "computer_call", "shell_call", "apply_patch_call"})
CALLS |= {"local_shell_call", "tool_use"}


def calls(messages: list[Any], format: str) -> list[Site]:
    """Find the client's calls: those that owe a result."""
    return list(_calls(messages, format))


def results(messages: list[Any], format: str) -> list[Site]:
    """Find the client's results; in `ai_sdk_ui` these are the settled calls."""
    return list(_results(messages, format))


def body(call: dict[str, Any]) -> dict[str, Any]:
    """Give the object that holds name and arguments of a call."""
    inner = call.get("function", call.get("custom"))
    return inner if isinstance(inner, dict) else call


def _calls(messages: list[Any], format: str) -> Iterator[Site]:
    """Walk a history for calls."""
    for place, message in numbered(messages):
        if format == "openai_chat":
            yield from _members(message.get("tool_calls"))
        elif format == "openai_responses":
            if kind(message) in CALLS:
                yield Site(messages, place, message)
        elif format == "anthropic":
            yield from (site for site in _members(message.get("content")) if kind(site.value) in CALLS)
        else:
            yield from (site for site in _members(message.get("parts")) if _is_ours(site.value))


def _results(messages: list[Any], format: str) -> Iterator[Site]:
    """Walk a history for results."""
    for place, message in numbered(messages):
        if format == "openai_chat":
            if message.get("role") == "tool":
                yield Site(messages, place, message)
        elif format == "openai_responses":
            if kind(message).removesuffix("_output") in CALLS and kind(message).endswith("_output"):
                yield Site(messages, place, message)
        elif format == "anthropic":
            yield from (site for site in _members(message.get("content")) if kind(site.value) == "tool_result")
        else:
            yield from (site for site in _members(message.get("parts")) if _is_ours(site.value))


def _members(value: object) -> Iterator[Site]:
    """Give the objects of a list as sites."""
    if isinstance(value, list):
        yield from (Site(value, place, each) for place, each in numbered(value))


def _is_ours(part: dict[str, Any]) -> bool:
    """Whether a part is a tool call that the provider did not run."""
    tool = kind(part) == "dynamic-tool" or kind(part).startswith("tool-")
    return tool and not part.get("providerExecuted")

"""What Anthropic's Messages refuse for what a block is, wherever it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from suture.testing.contract.base import Rule, Wrong, objects
from suture.testing.contract.seals import intact

__all__ = ["RULES", "blocks"]

_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
_SERVER_ID: Final = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
_NAME_MOST: Final = 200
_TOOL_MOST: Final = 128
_MARKERS: Final = 4

_USERS: Final = ("tool_result",)
_MODELS: Final = ("thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use")
"""Blocks that only one role may have."""
_TYPES: Final = frozenset(
    {
        *_USERS,
        *_MODELS,
        "advisor_tool_result",
        "bash_code_execution_tool_result",
        "code_execution_tool_result",
        "compaction",
        "container_upload",
        "document",
        "fallback",
        "image",
        "mcp_tool_listing",
        "mcp_tool_result",
        "search_result",
        "text",
        "text_editor_code_execution_tool_result",
        "tool_addition",
        "tool_removal",
        "tool_search_tool_result",
        "web_fetch_tool_result",
        "web_search_tool_result",
    }
)
_TEXTS: Final = {
    "text": ("text",),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "tool_use": ("id", "name"),
    "tool_result": ("tool_use_id",),
    "server_tool_use": ("id", "name"),
    "mcp_tool_use": ("id", "name", "server_name"),
}
"""The fields of a block that have to be texts. ANT-25 among them: a call over MCP names its server."""


def blocks(body: Any) -> Iterator[tuple[str, Any, str]]:
    """Each block of the messages, with its path and the role that it is of."""
    for place, message in enumerate(body["messages"]):
        if isinstance(message["content"], list):
            for index, block in enumerate(message["content"]):
                yield f"messages.{place}.content.{index}", block, message["role"]


def _shapes(body: Any) -> Iterator[Wrong]:
    for path, block, _ in blocks(body):
        if not isinstance(block, dict):
            yield Wrong(f"{path}: Input should be a valid dictionary or object to extract fields from")
        kind = block.get("type")
        if kind is None:
            yield Wrong(f"{path}.type: Field required")
        if not isinstance(kind, str) or kind not in _TYPES:
            tags = ", ".join(f"'{each}'" for each in sorted(_TYPES))
            yield Wrong(
                f"{path}: Input tag '{kind}' found using 'type' does not match any of the expected tags: {tags}"
            )
        for field in _TEXTS.get(str(kind), ()):
            if block.get(field) is None:
                yield Wrong(f"{path}.{kind}.{field}: Field required")
            if not isinstance(block[field], str):
                yield Wrong(f"{path}.{kind}.{field}: Input should be a valid string")


def _inputs(body: Any) -> Iterator[Wrong]:
    for path, block, _ in blocks(body):
        if block["type"].endswith("tool_use"):
            if "input" not in block:
                yield Wrong(f"{path}.{block['type']}.input: Field required")
            elif not isinstance(block["input"], dict):
                yield Wrong(f"{path}.{block['type']}.input: Input should be a valid dictionary")


def _ids(body: Any) -> Iterator[Wrong]:
    for path, block, _ in blocks(body):
        kind = block["type"]
        field = "id" if kind == "tool_use" else "tool_use_id"
        if kind in ("tool_use", "tool_result") and not _ID.fullmatch(block[field]):
            yield Wrong(f"{path}.{kind}.{field}: String should match pattern '^[a-zA-Z0-9_-]+$'")
        if kind == "server_tool_use" and not _SERVER_ID.fullmatch(block["id"]):
            yield Wrong(f"{path}.{kind}.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'")


def _names(body: Any) -> Iterator[Wrong]:
    for path, block, _ in blocks(body):
        if block["type"] == "tool_use":
            yield from _name(block["name"], f"{path}.tool_use.name", _NAME_MOST)
    for place, tool in enumerate(objects(body.get("tools"))):
        if tool.get("type") in (None, "custom") and isinstance(tool.get("name"), str):
            yield from _name(tool["name"], f"tools.{place}.custom.name", _TOOL_MOST)


def _name(name: str, path: str, most: int) -> Iterator[Wrong]:
    if not name:
        yield Wrong(f"{path}: String should have at least 1 character")
    if len(name) > most:
        yield Wrong(f"{path}: String should have at most {most} characters")
    if not _ID.fullmatch(name):
        yield Wrong(f"{path}: String should match pattern '^[a-zA-Z0-9_-]{{1,{most}}}$'")


def _roles(body: Any) -> Iterator[Wrong]:
    for path, block, role in blocks(body):
        if block["type"] in _USERS and role != "user":
            yield Wrong(f"{path}: `{block['type']}` blocks can only be in `user` messages")
        if block["type"] in _MODELS and role != "assistant":
            yield Wrong(f"{path}: `{block['type']}` blocks can only be in `assistant` messages")


def _texts(body: Any) -> Iterator[Wrong]:
    """No text is empty, also in a result, and no message is nothing but blank text."""
    for _, block, _role in blocks(body):
        inner = objects(block.get("content")) if block["type"] == "tool_result" else []
        if any(each.get("type") == "text" and each.get("text") == "" for each in (block, *inner)):
            yield Wrong("messages: text content blocks must be non-empty")
    if any(part.get("type") == "text" and part.get("text") == "" for part in objects(body.get("system"))):
        yield Wrong("system: text content blocks must be non-empty")
    for message in body["messages"]:
        content = message["content"]
        texts = (
            [content]
            if isinstance(content, str)
            else [block["text"] if block["type"] == "text" else None for block in content]
        )
        if any(texts) and all(text is not None and not text.strip() for text in texts):
            yield Wrong("messages: text content blocks must contain non-whitespace text")


def _errors(body: Any) -> Iterator[Wrong]:
    for path, block, _ in blocks(body):
        if block["type"] != "tool_result":
            continue
        content = block.get("content")
        if content is not None and not isinstance(content, str | list):
            yield Wrong(f"{path}.tool_result.content: Input should be a valid list")
        for index, part in enumerate(content if isinstance(content, list) else []):
            if not isinstance(part, dict):
                yield Wrong(f"{path}.tool_result.content.{index}: Input should be a valid dictionary")
        if block.get("is_error") is True and any(part.get("type") != "text" for part in objects(content)):
            yield Wrong(f"{path}.tool_result: all content must be type `text` if `is_error` is true")


def _markers(body: Any) -> Iterator[Wrong]:
    places: list[dict[str, Any]] = [body, *objects(body.get("tools")), *objects(body.get("system"))]
    for path, block, _ in blocks(body):
        if block.get("cache_control") is not None and block["type"].endswith("thinking"):
            yield Wrong(f"{path}.{block['type']}.cache_control: Extra inputs are not permitted")
        places += [block, *objects(block.get("content"))]
    count = sum(place.get("cache_control") is not None for place in places)
    if count > _MARKERS:
        yield Wrong(f"A maximum of {_MARKERS} blocks with cache_control may be provided. Found {count}.")


def _signatures(body: Any) -> Iterator[Wrong]:
    for path, block, _ in blocks(body):
        if block["type"] == "thinking" and not intact(block["signature"], block["thinking"]):
            yield Wrong(f"{path}: Invalid `signature` in `thinking` block")


RULES: Final = (
    Rule("shape, ANT-25", _shapes),
    Rule("ANT-06", _inputs),
    Rule("ANT-05, ANT-24", _ids),
    Rule("ANT-07", _names),
    Rule("ANT-27", _roles),
    Rule("ANT-08, ANT-09", _texts),
    Rule("ANT-28", _errors),
    Rule("ANT-29", _markers),
    Rule("ANT-17", _signatures),
)
"""What is refused, in the order of looking; a rule may rely on what those before it let through."""

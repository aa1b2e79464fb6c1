"""Anthropic Messages, section 3 of the contracts (`ANT`), message by message; `anthropic_turns` judges the pairing.

`ANT-00` is the envelope: members are objects, roles exist, content is text or typed blocks.
Not judged: ANT-17, -18 and -20 beyond the presence of a signature (only the server, or a comparison, can), ANT-31
(soft), ANT-33 (opaque), kinds of blocks unknown here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.oracles.strict import anthropic_turns
from tests.oracles.strict.anthropic_turns import CALLS, SERVER_CALLS, THINKING, blocks_of, is_server_result
from tests.oracles.strict.shape import (
    NAME_LENGTH,
    NAME_PATTERN,
    Messages,
    Request,
    blank,
    kind,
    members,
    not_objects,
    numbered,
    switch,
    text_of,
)

NAME = "anthropic"
ROLES = frozenset({"user", "assistant", "system"})
ID_PATTERN = re.compile(r"[a-zA-Z0-9_-]+")
SERVER_ID_PATTERN = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
MOST_MESSAGES = 100_000
MOST_CACHE_MARKERS = 4


def violations(messages: Messages, request: Request) -> list[str]:
    """List what Anthropic would refuse in this history."""
    return [
        *not_objects(messages, "ANT-00"),
        *_messages(messages),
        *_system(messages, request),
        *_ends(messages, request),
        *_cache(messages, request),
        *anthropic_turns.violations(messages, request),
    ]


def _messages(messages: Messages) -> Iterator[str]:
    """Judge every message by itself."""
    if len(messages) > MOST_MESSAGES:
        yield f"ANT-32 more than {MOST_MESSAGES} messages"
    for place, message in numbered(messages):
        where = f"[{place}]"
        if text_of(message, "role") not in ROLES:
            yield f"ANT-00 {where}: unknown role"
        last = place == len(messages) - 1
        yield from _content(message, where, optional=last and message.get("role") == "assistant")
        for spot, block in numbered(message.get("content")):
            yield from _block(block, message.get("role"), f"{where}.content[{spot}]")


def _content(message: dict[str, Any], where: str, *, optional: bool) -> Iterator[str]:
    """Judge ANT-09 and ANT-10; only the last message may be empty, and only when it is the assistant's."""
    content = message.get("content")
    if not isinstance(content, (str, list)):
        yield f"ANT-00 {where}: content is neither text nor blocks"
        return
    if not content:
        if not optional:
            yield f"ANT-10 {where}: empty content"
        return
    if isinstance(content, list) and not all(isinstance(each, dict) and kind(each) for each in content):
        yield f"ANT-00 {where}: not every member of the content is a block"
    texts = [block.get("text") if kind(block) == "text" else None for block in blocks_of(message)]
    if texts and all(blank(text) for text in texts):
        yield f"ANT-09 {where}: nothing but whitespace"


def _block(block: dict[str, Any], role: object, where: str) -> Iterator[str]:
    """Judge one block by its kind."""
    which = kind(block)
    if (which in CALLS or which in THINKING or is_server_result(block)) and role != "assistant":
        yield f"ANT-27 {where}: {which} in a {role} message"
    if which == "text":
        yield from _text(block, where)
    elif which in CALLS:
        yield from _call(block, which, where)
    elif which == "tool_result":
        yield from _result(block, role, where)
    elif which in THINKING:
        yield from _thinking(block, which, where)


def _text(block: dict[str, Any], where: str) -> Iterator[str]:
    """Judge ANT-08."""
    if not isinstance(block.get("text"), str):
        yield f"ANT-00 {where}: text block without text"
    elif not block["text"]:
        yield f"ANT-08 {where}: empty text block"


def _call(block: dict[str, Any], which: str, where: str) -> Iterator[str]:
    """Judge the call itself: ANT-05, -06, -07, -24, -25."""
    pattern = SERVER_ID_PATTERN if which == "server_tool_use" else ID_PATTERN
    if not pattern.fullmatch(text_of(block, "id")):
        yield f"{'ANT-24' if which == 'server_tool_use' else 'ANT-05'} {where}: id does not match {pattern.pattern}"
    if not isinstance(block.get("input"), dict):
        yield f"ANT-06 {where}: input is not an object"
    name = text_of(block, "name")
    if which == "tool_use" and (not NAME_PATTERN.fullmatch(name) or len(name) > NAME_LENGTH):
        yield f"ANT-07 {where}: name is empty, too long or ill-formed"
    if which == "mcp_tool_use" and not text_of(block, "server_name"):
        yield f"ANT-25 {where}: no server_name"


def _result(block: dict[str, Any], role: object, where: str) -> Iterator[str]:
    """Judge a client result by itself: ANT-05, -08, -27, -28."""
    if role != "user":
        yield f"ANT-27 {where}: tool_result in a {role} message"
    if not ID_PATTERN.fullmatch(text_of(block, "tool_use_id")):
        yield f"ANT-05 {where}: tool_use_id does not match {ID_PATTERN.pattern}"
    content = block.get("content", "")
    if not isinstance(content, (str, list)):
        yield f"ANT-00 {where}: content is neither text nor blocks"
        return
    for spot, inner in enumerate(content if isinstance(content, list) else []):
        if not isinstance(inner, dict) or not kind(inner):
            yield f"ANT-00 {where}.content[{spot}]: not a block"
        elif kind(inner) == "text":
            yield from _text(inner, f"{where}.content[{spot}]")
        elif block.get("is_error") is True:
            yield f"ANT-28 {where}.content[{spot}]: {kind(inner)} in an error result"


def _thinking(block: dict[str, Any], which: str, where: str) -> Iterator[str]:
    """Judge ANT-17 and -29 as far as they show: the payload is there and carries no cache marker."""
    key = "signature" if which == "thinking" else "data"
    if not text_of(block, key) or (which == "thinking" and not isinstance(block.get("thinking"), str)):
        yield f"ANT-17 {where}: {which} without its {key}"
    if block.get("cache_control"):
        yield f"ANT-29 {where}: cache marker on {which}"


def _system(messages: Messages, request: Request) -> Iterator[str]:
    """Judge ANT-30: what may stand around a system message, where the model takes one at all."""
    allowed = request.get("model_family") == "mid_conversation_system"
    for place, message in numbered(messages):
        if message.get("role") != "system":
            continue
        if not allowed:
            yield f"ANT-30 [{place}]: role 'system' is not supported on this model"
        before = messages[place - 1] if place else None
        after = messages[place + 1] if place + 1 < len(messages) else {"role": "assistant"}
        if not _may_precede_system(before) or not isinstance(after, dict) or after.get("role") != "assistant":
            yield f"ANT-30 [{place}]: system message between the wrong neighbours"


def _may_precede_system(message: object) -> bool:
    """Whether a system message may follow: after the user's, or after a server call that is still running."""
    if not isinstance(message, dict):
        return False
    tail = blocks_of(message)[-1:]
    running = message.get("role") == "assistant" and any(kind(block) in SERVER_CALLS for block in tail)
    return message.get("role") == "user" or running


def _ends(messages: Messages, request: Request) -> Iterator[str]:
    """Judge the first and the last message: ANT-11, -13, -14, -15."""
    if not messages:
        return
    first, last = messages[0], messages[-1]
    if not isinstance(first, dict) or first.get("role") != "user":
        yield "ANT-11 [0]: first message is not the user's"
    if not isinstance(last, dict) or last.get("role") != "assistant":
        return
    if switch(request, "prefill") is False:
        yield "ANT-14 [-1]: the conversation ends with the assistant"
    tail = blocks_of(last)[-1:]
    for block in tail:
        text = text_of(block, "text") if kind(block) == "text" else ""
        if text != text.rstrip() and switch(request, "prefill") is not False:
            yield "ANT-13 [-1]: final assistant text ends with whitespace"
        if kind(block) in THINKING:
            yield f"ANT-15 [-1]: the last message ends with {kind(block)}"


def _cache(messages: Messages, request: Request) -> Iterator[str]:
    """Judge the number of cache markers, ANT-29, over tools, system text and messages."""
    blocks = [block for _, message in numbered(messages) for block in members(message.get("content"))]
    inner = [each for block in blocks for each in members(block.get("content"))]
    outside = [*members(request.get("tools")), *members(request.get("system"))]
    marked = sum(1 for each in (*outside, *blocks, *inner) if each.get("cache_control"))
    if marked > MOST_CACHE_MARKERS:
        yield f"ANT-29 {marked} cache markers"
    for block in (*blocks, *inner):
        if block.get("cache_control") and kind(block) == "text" and blank(block.get("text")):
            yield "ANT-29 cache marker on an empty text"

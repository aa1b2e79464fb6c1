"""What Anthropic's Messages refuse for how the messages follow each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Any, Final, NamedTuple

from suture.testing.contract.anthropic_blocks import blocks
from suture.testing.contract.base import Rule, Wrong, objects

__all__ = ["RULES"]

_VERSION: Final = re.compile(r"claude-(?:[a-z]+-)?(\d+)(?:[-.](\d)(?!\d))?")
_NO_PREFILL: Final = (4, 6)
_SYSTEM_ROLE: Final = (4, 8)
_NEWEST: Final = (99, 0)
_THOUGHTS: Final = ("thinking", "redacted_thinking")


class _Turn(NamedTuple):
    """Neighbours of one role, which are read as one message."""

    role: str
    place: int
    """The number of the first message."""
    blocks: list[dict[str, Any]]

    def kind(self, *types: str) -> list[dict[str, Any]]:
        return [block for block in self.blocks if block["type"] in types]

    @property
    def results_only(self) -> bool:
        return bool(self.blocks) and all(block["type"] == "tool_result" for block in self.blocks)

    @property
    def run(self) -> list[dict[str, Any]]:
        """The results that it begins with."""
        return list(takewhile(lambda block: block["type"] == "tool_result", self.blocks))


def _turns(body: Any) -> list[_Turn]:
    """The conversation without the words of the system between its messages."""
    turns: list[_Turn] = []
    for place, message in enumerate(body["messages"]):
        content = message["content"]
        held = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if message["role"] == "system":
            continue
        if turns and turns[-1].role == message["role"]:
            turns[-1].blocks.extend(held)
        else:
            turns.append(_Turn(message["role"], place, [*held]))
    return turns


def _version(body: Any) -> tuple[int, int]:
    """The version of the model; one that is not known counts as the newest."""
    found = _VERSION.search(body["model"])
    return (int(found[1]), int(found[2] or 0)) if found else _NEWEST


def _first(body: Any) -> Iterator[Wrong]:
    if body["messages"][0]["role"] == "assistant":
        yield Wrong('messages: first message must use the "user" role')


def _empty(body: Any) -> Iterator[Wrong]:
    """Sources disagree about an empty message of the assistant; it is refused, as most say."""
    for place, message in enumerate(body["messages"]):
        if message["content"]:
            continue
        if message["role"] == "user":
            yield Wrong(f"messages.{place}: user messages must have non-empty content")
        if place + 1 < len(body["messages"]) or message["role"] == "system":
            yield Wrong(
                f"messages.{place}: all messages must have non-empty content except for the optional final "
                "assistant message"
            )


def _system(body: Any) -> Iterator[Wrong]:
    messages = body["messages"]
    for place, message in enumerate(messages):
        if message["role"] != "system":
            continue
        if _version(body) < _SYSTEM_ROLE:
            yield Wrong(f"messages.{place}: role 'system' is not supported on this model")
        before: dict[str, Any] = messages[place - 1] if place else {"role": "", "content": ""}
        server = [block["type"] for block in objects(before["content"])][-1:] == ["server_tool_use"]
        if before["role"] != "user" and not (before["role"] == "assistant" and server):
            yield Wrong(f"messages.{place}: role 'system' must follow a 'user' message")
        if place + 1 < len(messages) and messages[place + 1]["role"] != "assistant":
            yield Wrong(f"messages.{place}: role 'system' must be last or be followed by an 'assistant' message")


def _unique(body: Any) -> Iterator[Wrong]:
    seen: set[str] = set()
    for path, block, _ in blocks(body):
        if block["type"] == "tool_use":
            if block["id"] in seen:
                yield Wrong(f"{path}: `tool_use` ids must be unique")
            seen.add(block["id"])


def _pairs(body: Any) -> Iterator[Wrong]:
    turns = _turns(body)
    for number, turn in enumerate(turns):
        after = turns[number + 1] if number + 1 < len(turns) else None
        answered = [block["tool_use_id"] for block in (after.run if after else [])]
        missing = [block["id"] for block in turn.kind("tool_use") if block["id"] not in answered]
        if missing:
            yield Wrong(
                f"messages.{turn.place}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
                "next message."
            )
        calls = {block["id"] for block in turns[number - 1].kind("tool_use")} if number else set()
        seen: set[str] = set()
        for block in turn.kind("tool_result"):
            given = block["tool_use_id"]
            if given not in calls:
                yield Wrong(
                    f"messages.{turn.place}: unexpected `tool_use_id` found in `tool_result` blocks: {given}. Each "
                    "`tool_result` block must have a corresponding `tool_use` block in the previous message."
                )
            if given in seen:
                yield Wrong(
                    f"messages.{turn.place}: each tool_use must have a single result. "
                    f"Found multiple `tool_result` blocks with id: {given}"
                )
            seen.add(given)


def _servers(body: Any) -> Iterator[Wrong]:
    """A call of the provider's own tools has its result behind it, unless the turn is still open."""
    open_calls: dict[str, dict[str, Any]] = {}
    for turn in _turns(body):
        if turn.role == "user":
            if not turn.results_only:
                yield from _unresolved(open_calls)
            continue
        for block in turn.blocks:
            kind = block["type"]
            if kind in ("server_tool_use", "mcp_tool_use"):
                open_calls[block["id"]] = block
            elif kind.endswith("_tool_result"):
                given = block.get("tool_use_id")
                asked = open_calls.pop(given, None) if isinstance(given, str) else None
                needed = "mcp_tool_use" if kind == "mcp_tool_result" else "server_tool_use"
                if asked is None or asked["type"] != needed:
                    yield Wrong(
                        f"messages.{turn.place}: unexpected `tool_use_id` found in `{kind}` blocks: {given}. Each "
                        f"`{kind}` block must have a corresponding `{needed}` block before it."
                    )
    offered = {tool.get("name") for tool in objects(body.get("tools"))}
    for call in open_calls.values():
        if call["type"] == "server_tool_use" and call["name"] not in offered:
            yield from _unresolved(open_calls, f", but no `{call['name']}` tool was provided")


def _unresolved(calls: dict[str, dict[str, Any]], end: str = "") -> Iterator[Wrong]:
    for each, call in calls.items():
        yield Wrong(
            f"`{call['name']}` tool use with id `{each}` was found without a corresponding "
            f"`{call['name']}_tool_result` block{end}"
        )


def _callers(body: Any) -> Iterator[Wrong]:
    programs = {block["id"] for _, block, _ in blocks(body) if block["type"] == "server_tool_use"}
    for path, block, _ in blocks(body):
        caller = block.get("caller")
        if isinstance(caller, dict) and "tool_id" in caller and str(caller["tool_id"]) not in programs:
            yield Wrong(f"{path}.{block['type']}.caller.tool_id: no `server_tool_use` with id {caller['tool_id']}")


def _thinking(body: Any) -> Iterator[Wrong]:
    """What stands in the turn that goes on: the assistant's own words behind the last words of the user."""
    mode = body.get("thinking")
    enabled = mode.get("type") if isinstance(mode, dict) else "disabled"
    going: list[_Turn] = []
    for turn in reversed(_turns(body)):
        if turn.role == "user" and not turn.results_only:
            break
        going.insert(0, turn)
    assistants = [turn for turn in going if turn.role == "assistant"]
    if not assistants:
        return
    # Without interleaved thinking only the first step thinks; where thinking was turned on later, only the last one.
    start, last = ([block["type"] for block in turn.blocks[:1]] for turn in (assistants[0], assistants[-1]))
    led = any(kind in _THOUGHTS for kind in (*start, *last))
    if enabled == "enabled" and going[-1].role == "user" and not led:
        yield Wrong(
            f"messages.{assistants[0].place}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
            f"`{start[0]}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block "
            "(preceeding the lastmost set of `tool_use` and `tool_result` blocks)."
        )
    if enabled == "disabled" and assistants[-1].kind(*_THOUGHTS):
        yield Wrong(
            f"messages.{assistants[-1].place}.content.0.type: When thinking is disabled, an `assistant` message in the "
            "final position cannot contain `thinking`."
        )


def _last(body: Any) -> Iterator[Wrong]:
    last = _turns(body)[-1]
    if last.role != "assistant" or (last.blocks and last.blocks[-1]["type"].endswith(("_tool_use", "_tool_result"))):
        return  # what ends in a tool of the provider's own was paused, and goes on
    if _version(body) >= _NO_PREFILL:
        yield Wrong(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    if not last.blocks:
        return
    end = last.blocks[-1]
    if end["type"] in _THOUGHTS:
        yield Wrong(f"messages.{last.place}: The final block in an assistant message cannot be `thinking`.")
    if end["type"] == "text" and end["text"] != end["text"].rstrip():
        yield Wrong("messages: final assistant content cannot end with trailing whitespace")


RULES: Final = (
    Rule("ANT-11", _first),
    Rule("ANT-10", _empty),
    Rule("ANT-30", _system),
    Rule("ANT-03", _unique),
    Rule("ANT-01, ANT-02, ANT-04, ANT-12", _pairs),
    Rule("ANT-21, ANT-22, ANT-23, ANT-25", _servers),
    Rule("ANT-26", _callers),
    Rule("ANT-16, ANT-19", _thinking),
    Rule("ANT-13, ANT-14, ANT-15", _last),
)
"""What is refused, in the order of looking; a rule may rely on what those before it let through."""

"""Anthropic Messages: the `messages` of `/v1/messages`.

Quirks handled here:
- results are blocks at the head of the user message after the call; the run may cross several user messages;
- neighbours of one role count as one turn;
- the provider's own tools stand with their results inside the assistant message;
- thinking is signed, bound to its model, and goes back as it came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from suture.transcript import (
    Contract,
    Entry,
    FilePart,
    Limits,
    Message,
    OpaquePart,
    Origin,
    Part,
    ReasoningPart,
    Result,
    TextPart,
    ToolPart,
)
from suture.transcript.codec import dumps
from suture.transcript.parts import MALFORMED
from suture.wire.base import ABSENT, Request, patch, patch_list
from suture.wire.look.anthropic import continues, fits, makes_call, mentions, scan

__all__ = ["NAME", "ROOT", "RULES", "continues", "decode", "encode", "fits", "limits", "makes_call", "mentions", "scan"]

NAME: Final = "anthropic"
ROOT: Final = "messages"

_LIMITS: Final = Limits(
    results="adjacent",
    joins_roles=True,
    id_pattern=r"[a-zA-Z0-9_-]+",
    id_scope="history",
    name_pattern=r"[a-zA-Z0-9_-]+",
    name_max=200,
    arguments="object",
    result_content="rich",
    final_empty_assistant=True,
    server_id_prefix="srvtoolu_",
    echoed=("toolset_name",),
    marker=("cache_control", 4),
)
_MID_SYSTEM: Final = msgspec.structs.replace(_LIMITS, mid_system=True)

_NO_RESULT = (
    "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_…. Each `tool_use` block must "
    "have a "
    "corresponding `tool_result` block in the next message."
)
_NO_USE = (
    "unexpected `tool_use_id` found in `tool_result` blocks: toolu_…. Each `tool_result` block must have a "
    "corresponding "
    "`tool_use` block in the previous message."
)
_NOT_UNIQUE = "messages.1.content.1: `tool_use` ids must be unique"
_BAD_ID = "messages.5.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
_NO_DICT = "messages.61.content.0.tool_use.input: Input should be a valid dictionary"
_NOT_MODIFIED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
    "These blocks must remain as they were in the original response."
)
_NO_SERVER_RESULT = (
    "`web_search` tool use with id `srvtoolu_…` was found without a corresponding `web_search_tool_result` block"
)

RULES: Final = {
    "lone-surrogate": Contract(
        "ANT-08",
        "seen",
        "The request body is not valid JSON: no low surrogate in string: line 1 column 129185 (char 129184)",
        "anthropics/claude-code#6273",
    ),
    "unanswered-call": Contract("ANT-01", "documented", _NO_RESULT, "anthropics/claude-code#2697"),
    "misplaced-result": Contract("ANT-01", "documented", _NO_RESULT, "anthropics/claude-code#2697"),
    "placeholder-result": Contract("ANT-01", "inferred"),
    "orphan-result": Contract("ANT-02", "seen", _NO_USE, "anthropics/claude-code#18947"),
    "result-before-call": Contract("ANT-02", "seen", _NO_USE, "anthropics/claude-code#18947"),
    "duplicate-call-id": Contract("ANT-03", "seen", _NOT_UNIQUE, "BerriAI/litellm#23510"),
    "reused-call-id": Contract("ANT-03", "seen", _NOT_UNIQUE, "BerriAI/litellm#23510"),
    "duplicate-result": Contract(
        "ANT-04",
        "seen",
        "each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_…",
        "vectorize-io/hindsight#4250",
    ),
    "missing-call-id": Contract("ANT-05", "seen", _BAD_ID, "maximhq/bifrost#5097"),
    "malformed-call-id": Contract("ANT-05", "seen", _BAD_ID, "maximhq/bifrost#5097"),
    "truncated-arguments": Contract("ANT-06", "seen", _NO_DICT, "anthropics/claude-code#6696"),
    "arguments-not-an-object": Contract("ANT-06", "seen", _NO_DICT, "agentgateway/agentgateway#3002"),
    "arguments-encoding": Contract("ANT-06", "seen", _NO_DICT, "anthropics/claude-code#6696"),
    "malformed-tool-name": Contract("ANT-07", "seen", "tool_use.name: String should have at most 200 characters"),
    "malformed-call": Contract("ANT-25", "documented", source="anthropic SDK: mcp_tool_use needs server_name"),
    "malformed-block": Contract("ANT-08", "documented", source="anthropic SDK: content block types"),
    "unknown-role": Contract("ANT-30", "documented", source="anthropic SDK: roles are user and assistant"),
    "blank-text": Contract(
        "ANT-08", "seen", "messages: text content blocks must be non-empty", "stackblitz/bolt.new#7426"
    ),
    "white-space": Contract("ANT-09", "seen", "text content blocks must contain non-whitespace text"),
    "empty-message": Contract(
        "ANT-10", "seen", "all messages must have non-empty content except for the optional final assistant message"
    ),
    "first-role": Contract("ANT-11", "seen", 'first message must use the "user" role'),
    "trailing-whitespace": Contract(
        "ANT-13", "documented", "final assistant content cannot end with trailing whitespace"
    ),
    "last-role": Contract(
        "ANT-14",
        "documented",
        "This model does not support assistant message prefill. The conversation must end with a user message.",
    ),
    "reasoning-at-the-end": Contract("ANT-15", "seen", "The final block in an assistant message cannot be `thinking`."),
    "reasoning-wanted": Contract(
        "ANT-16",
        "seen",
        "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final "
        "`assistant` "
        "message must start with a thinking block",
        "anomalyco/opencode#3077",
    ),
    "foreign-reasoning": Contract("ANT-17", "documented", "Invalid `signature` in `thinking` block"),
    "unsigned-reasoning": Contract("ANT-17", "documented", "Invalid `signature` in `thinking` block"),
    "altered-reasoning": Contract("ANT-18", "seen", _NOT_MODIFIED, "anthropics/claude-code#10199"),
    "reasoning-not-wanted": Contract(
        "ANT-19",
        "seen",
        "When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`.",
        "tailcallhq/forgecode#1853",
    ),
    "unfinished-server-call": Contract("ANT-21", "documented", _NO_SERVER_RESULT, "LibreChat-AI/agents#216"),
    "mixed-turn": Contract("ANT-22", "documented", _NO_SERVER_RESULT),
    "orphan-server-result": Contract(
        "ANT-23",
        "seen",
        "unexpected `tool_use_id` found in `advisor_tool_result` blocks: srvtoolu_…. Each `advisor_tool_result` block "
        "must "
        "have a corresponding `server_tool_use` block before it.",
        "anthropics/claude-code#64383",
    ),
    "server-call-id": Contract("ANT-24", "inferred", source="BerriAI/litellm#31672"),
    "dangling-caller": Contract("ANT-26", "inferred"),
    "misplaced-block": Contract("ANT-27", "inferred"),
    "result-content": Contract(
        "ANT-28", "seen", "messages.N.content.0.tool_result: all content must be type `text` if `is_error` is true"
    ),
    "cache-markers": Contract("ANT-29", "seen", "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    "system-position": Contract("ANT-30", "documented", "role 'system' is not supported on this model"),
    "missing-tools": Contract("ANT-31", "inferred"),
    "unrepeated-key": Contract("ANT-34", "documented"),
}


def limits(request: Request, /) -> Limits:
    """Only the place of system messages depends on the model."""
    return _MID_SYSTEM if request.get("model_family") == "mid_conversation_system" else _LIMITS


# --- reading --------------------------------------------------------------------------------------------------------

_REDACTED: Final = "redacted_thinking"
_REASONING: Final = ("thinking", _REDACTED)
_SIGNED: Final = frozenset({"type", "thinking", "signature", "data"})
_PROVIDER_USES: Final = {"server_tool_use": "server", "mcp_tool_use": "mcp"}
_PROVIDER_RESULT: Final = "_tool_result"
UNKNOWN_SERVER: Final = "unknown_server"


def decode(messages: Iterable[tuple[int, Any]], /) -> list[Entry]:
    """Each wire message as an entry."""
    return [_entry(index, message) for index, message in messages]


def _entry(index: int, wire: dict[str, Any]) -> Entry:
    origin = Origin((index,), wire)
    role, odd = wire.get("role"), None
    content = wire.get("content")
    if role not in ("user", "assistant", "system"):
        calls = isinstance(content, list) and any(isinstance(b, dict) and b.get("type") == "tool_use" for b in content)
        role, odd = "assistant" if calls else "user", {"unknown": role}
    if content is None:
        odd = {**(odd or {}), "absent": "content"}
    return Entry(role, tuple(_content(content, index, origin)), origin, metadata=odd)  # type: ignore[arg-type]


def _content(content: Any, index: int, origin: Origin) -> Iterator[Part | Result]:
    """Text and blocks; nothing for null, empty text and an empty list."""
    if isinstance(content, str):
        if content:
            yield TextPart(content, Origin((index, "content"), content))
    elif isinstance(content, list):
        for n, block in enumerate(content):
            yield _block(block, Origin((index, "content", n), block), origin)
    elif content is not None:
        yield OpaquePart(MALFORMED, content, Origin((index, "content"), content))


def _block(block: Any, origin: Origin, container: Origin) -> Part | Result:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text" and isinstance(block.get("text"), str):
        return TextPart(block["text"], origin)
    if isinstance(block, dict) and not kind and "tool_use_id" in block:
        return _result(block, origin, container, ("type",))
    if kind == "text" or not kind or not isinstance(kind, str):
        return OpaquePart(MALFORMED, block, origin)
    if kind == "tool_use" or kind in _PROVIDER_USES:
        return _use(block, kind, origin)
    if kind == "tool_result":
        return _result(block, origin, container)
    if kind.endswith(_PROVIDER_RESULT):
        return _provider_result(block, kind, origin, container)
    if kind in _REASONING and not (block.keys() <= _SIGNED or isinstance(block.get("thinking"), str)):
        return OpaquePart(MALFORMED, block, origin)
    if kind in _REASONING:
        whole = kind != "thinking" or isinstance(block.get("thinking"), str)
        payload = block.get("signature" if kind == "thinking" else "data") if whole else None
        model = container.wire.get("model")
        return ReasoningPart(
            text=_text(block.get("thinking")),
            payload=payload if isinstance(payload, str) and payload else None,
            model=model if isinstance(model, str) else None,
            origin=origin,
        )
    return FilePart(kind, None, origin) if kind in ("image", "document") else OpaquePart(kind, block, origin)


def _use(block: dict[str, Any], kind: str, origin: Origin) -> ToolPart:
    provider = kind in _PROVIDER_USES
    unnamed = kind == "mcp_tool_use" and not isinstance(block.get("server_name"), str)
    return ToolPart(
        call_id=_text(block.get("id")),
        name=_text(block.get("name")),
        input=block.get("input"),
        kind=_PROVIDER_USES.get(kind, "function"),
        executor="provider" if provider else "host",
        flaws=("server_name",) if unnamed else (),
        origin=origin,
    )


def _result(block: dict[str, Any], origin: Origin, container: Origin, flaws: tuple[str, ...] = ()) -> Result:
    content = block.get("content", block.get("text"))
    output: Any = content
    if content is None and "content" in block:
        flaws = (*flaws, "content")
    if isinstance(content, list):
        output = tuple(_inner(b, Origin((*origin.at, "content", n), b)) for n, b in enumerate(content))
    return Result(
        call_id=_text(block.get("tool_use_id")),
        output=output,
        state="output-error" if block.get("is_error") is True else "output-available",
        flaws=flaws,
        origin=origin,
        container=container,
    )


def _inner(block: Any, origin: Origin) -> Part:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text" and isinstance(block.get("text"), str):
        return TextPart(block["text"], origin)
    if kind in ("image", "document"):
        return FilePart(kind, None, origin)
    return OpaquePart(kind if kind and isinstance(kind, str) and kind != "text" else MALFORMED, block, origin)


def _provider_result(block: dict[str, Any], kind: str, origin: Origin, container: Origin) -> Result:
    content = block.get("content")
    failed = isinstance(content, dict) and "error_code" in content
    return Result(
        call_id=_text(block.get("tool_use_id")),
        name=kind.removesuffix(_PROVIDER_RESULT),
        output=content,
        state="output-error" if failed or block.get("is_error") is True else "output-available",
        kind="mcp" if kind == "mcp_tool_result" else "server",
        executor="provider",
        origin=origin,
        container=container,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


# --- printing -------------------------------------------------------------------------------------------------------


def encode(messages: Sequence[Message], limits: Limits, /) -> list[Any]:
    """Each message; the results of a turn's calls at the head of the user message after it."""
    printed: list[Any] = []
    waiting: list[ToolPart] = []
    for message in messages:
        if message.role == "assistant":
            if waiting and not _still_calling(waiting, message):
                _flush(waiting, None, limits, printed)
                waiting = []
            waiting += (part for part in message.parts if isinstance(part, ToolPart) and _waits(part))
            printed.append(_print(message, [], None))
        else:
            head, base = _flush(waiting, message if message.role == "user" else None, limits, printed)
            waiting = []
            printed.append(_print(message, head, base))
    _flush(waiting, None, limits, printed)
    return printed


def _waits(part: ToolPart) -> bool:
    """Whether a call's result goes to the next user message."""
    return part.executor != "provider" and (part.settled or part.outcome_origin is not None)


def _still_calling(waiting: list[ToolPart], message: Message) -> bool:
    """Whether this answer belongs to the turn of the calls before it: their results stand behind it."""
    stood = [part.outcome_container.at[0] for part in waiting if part.outcome_container and part.outcome_container.at]
    if not stood:
        return False
    if message.origin is not None:
        return message.origin.at[0] < min(stood)  # type: ignore[operator]
    calls = [part for part in message.parts if isinstance(part, ToolPart)]
    own = [call.outcome_container.at[0] for call in calls if call.outcome_container and call.outcome_container.at]
    return own[:1] == stood[:1]


def _flush(
    calls: list[ToolPart], following: Message | None, limits: Limits, printed: list[Any]
) -> tuple[list[Any], dict[str, Any] | None]:
    """Print results in the user messages that they came in; give back those for the head of the following one.

    Results that stand where they belong keep their order and their message; the others join the last of them. Beside
    the head comes the message that it stood in, where the following one is new.
    """
    groups: list[tuple[Any, list[Any]]] = []
    moved: dict[int, Any] = {}
    for part in sorted(calls, key=_place):
        container = part.outcome_container
        block = _print_result(part, limits)
        if container is not None and not container.at:
            moved[id(block)], container = container.wire, None
        if groups and (container is None or container.wire is groups[-1][0]):
            groups[-1][1].append(block)
        else:
            groups.append((container.wire if container else None, [block]))
    head: list[Any] = []
    base = None
    if groups and following is not None:
        last = groups[-1][0]
        if last is None or following.origin is None or following.origin.wire is last:
            base, head = groups.pop()
    for wire, blocks in groups:
        home = wire or moved.get(id(blocks[0]))
        whole = home if wire or patch_list(home and home.get("content"), blocks) is not blocks else None
        printed.append(patch(whole, role="user", content=patch_list(whole and whole.get("content"), blocks)))
    return head, base


def _place(part: ToolPart) -> tuple[bool, tuple[int, int]]:
    at = part.outcome_origin.at if part.outcome_origin else ()
    if not at:
        return True, (0, 0)
    return False, (int(at[0]), int(at[-1]))


def _print(message: Message, head: list[Any], base: dict[str, Any] | None) -> Any:
    wire = message.origin.wire if message.origin else base
    old = wire.get("content", ABSENT) if wire is not None else None
    return patch(wire, role=message.role, content=_print_content(message.parts, head, old))


def _print_content(parts: Sequence[Part], head: list[Any], old: Any) -> Any:
    """Content in the shape it had: text stays text, blocks stay blocks."""
    if not parts and not head:
        return old if not old else []
    if not head and len(parts) == 1 and parts[0].origin is not None and parts[0].origin.wire is old:
        return old if not isinstance(parts[0], TextPart) or parts[0].text == old else parts[0].text
    if not head and len(parts) == 1 and isinstance(parts[0], TextPart) and not isinstance(old, list):
        return parts[0].text
    return patch_list(old, [*head, *_blocks(parts)])


def _blocks(parts: Sequence[Part]) -> Iterator[Any]:
    """Each part's block; a result of the provider's own tool where it stood, or right behind its call."""
    if not any(isinstance(part, ToolPart) and part.executor == "provider" for part in parts):
        yield from map(_print_part, parts)
        return
    waiting: list[ToolPart] = []
    for part in parts:
        at = part.origin.at[-1] if part.origin else None
        while waiting and (at is None or _stood(waiting[0]) < at):  # type: ignore[operator]
            yield _print_provider_result(waiting.pop(0))
        yield _print_part(part)
        if isinstance(part, ToolPart) and part.executor == "provider" and part.outcome_origin is not None:
            waiting.append(part)
            waiting.sort(key=_stood)
    yield from map(_print_provider_result, waiting)


def _stood(part: ToolPart) -> int:
    at = part.outcome_origin.at if part.outcome_origin else ()
    return int(at[-1]) if at else -1


def _print_part(part: Part) -> Any:
    wire = part.origin.wire if part.origin else None
    if isinstance(part, TextPart):
        return patch(wire if isinstance(wire, dict) else None, type="text", text=part.text)
    if isinstance(part, ToolPart):
        kind = {"server": "server_tool_use", "mcp": "mcp_tool_use"}.get(part.kind, "tool_use")
        fields = {"type": kind, "id": part.call_id, "name": part.name, "input": part.input}
        if part.kind == "mcp" and not part.flaws and not isinstance((wire or {}).get("server_name"), str):
            fields["server_name"] = UNKNOWN_SERVER
        return patch(wire, **fields)
    if isinstance(part, ReasoningPart) and wire is None:
        if part.key == _REDACTED:
            return {"type": _REDACTED, "data": part.payload}
        return {"type": "thinking", "thinking": part.text, "signature": part.payload}
    return wire


def _print_result(part: ToolPart, limits: Limits) -> Any:
    wire = part.outcome_origin.wire if part.outcome_origin else None
    call = part.origin.wire if part.origin else {}
    fields: dict[str, Any] = {"type": "tool_result", "tool_use_id": part.call_id}
    old = wire.get("content", ABSENT) if wire else None
    fields["content"] = ABSENT if part.output is None and old is ABSENT else _print_output(part.output, old)
    if part.state != "output-available":
        fields["is_error"] = True
    fields |= {key: call[key] for key in limits.echoed if key in call}
    return patch(wire, **fields)


def _print_output(output: Any, old: Any) -> Any:
    if output is None:
        return ""
    if output is old or isinstance(output, str):
        return output
    if isinstance(output, tuple):
        return patch_list(old, [_print_part(part) for part in output])
    return dumps(output)


def _print_provider_result(part: ToolPart) -> Any:
    return patch(part.outcome_origin.wire if part.outcome_origin else None, tool_use_id=part.call_id)

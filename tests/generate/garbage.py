"""Lists of objects made of the words of all formats, with no regard for what they mean."""

from __future__ import annotations

from typing import Any

from tests.generate.dice import Dice
from tests.generate.mutations import ARGUMENTS, CONTENTS, IDS, KINDS, NAMES, ROLES, UNSETTLED

WORDS = (
    "role", "content", "type", "text", "id", "tool_calls", "tool_call_id", "tool_use_id", "function",
    "custom", "name", "arguments", "input", "output", "call_id", "parts", "state", "toolCallId", "toolName",
    "errorText", "approval", "approved", "providerExecuted", "is_error", "cache_control", "signature",
    "thinking", "data", "reasoning_content", "refusal", "summary", "encrypted_content", "status", "caller",
    "tool_id", "server_name",
)  # fmt: skip
KIND_WORDS = (
    "text", "tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use",
    "web_search_tool_result", "mcp_tool_use", "image", "message", "function_call", "function_call_output",
    "custom_tool_call", "reasoning", "item_reference", "mcp_approval_request", "function", "custom",
    "input_text", "output_text", "image_url", "tool-x", "dynamic-tool", "step-start", "data-x", "file",
    "tool-invocation",
)  # fmt: skip
ROLE_WORDS = ("user", "assistant", "system", "developer", "tool", "function", *ROLES)
LEAVES: tuple[Any, ...] = (*IDS, *NAMES, *ARGUMENTS, *CONTENTS, "call_1", "toolu_1", 1.5, -(10**30), "\ud800", "\u0000")
# Key -> values that fit it, so that some of the garbage gets past the first look.
FITTING: dict[str, tuple[Any, ...]] = {
    "role": ROLE_WORDS,
    "type": (*KIND_WORDS, *KINDS),
    "state": ("output-available", "output-error", "output-denied", *UNSETTLED),
    **dict.fromkeys(("id", "call_id", "tool_call_id", "tool_use_id", "toolCallId"), ("call_1", "call_2", "fc_1")),
}
DEPTH = 3


def garbage(dice: Dice, count: int) -> list[dict[str, Any]]:
    """Build a list of so many objects, most of them with a role."""
    members = [_object(dice, DEPTH) for _ in range(count)]
    return [{**each, "role": dice.fresh(ROLE_WORDS)} if dice.chance(0.7) else each for each in members]


def _object(dice: Dice, depth: int) -> dict[str, Any]:
    """Build an object of known keys."""
    keys = [dice.pick(WORDS) for _ in range(dice.number(0, 5))]
    return {key: _value(dice, key, depth - 1) for key in keys}


def _value(dice: Dice, key: str, depth: int) -> Any:
    """Build a value that often fits its key."""
    if key in FITTING and dice.chance(0.7):
        return dice.fresh(FITTING[key])
    if depth <= 0 or dice.chance(0.5):
        return dice.fresh(LEAVES)
    if dice.chance(0.6):
        return [_object(dice, depth) for _ in range(dice.number(0, 3))]
    return _object(dice, depth)

"""Outcomes that no tool wrote, as data: what other programs put where a result is missing.

Such a text gives way to a real result whenever one turns up. Only the exact texts and the shapes listed here count: a
tool may well answer with the word "aborted" inside a longer text, and that is real.
"""

from __future__ import annotations

import re
from typing import Any, Final

from suture.transcript import CAUSES, PLACEHOLDERS, output_text

__all__ = ["is_placeholder", "is_synthetic"]

_TEXTS: Final = frozenset(
    {
        "aborted",  # Codex
        "Interrupted by the user to make a correction",  # goose
        "[Tool execution was interrupted]",  # opencode
        (
            "Tool execution result was not recorded — likely interrupted by network failure, abort, or process exit. "
            "Treat as failure and retry if needed."
        ),  # Qwen Code
        "The tool execution result was lost due to context management truncation.",  # Gemini CLI
        (
            "Tool result is not available in the current context. Do not assume the tool completed successfully."
        ),  # Kimi Code
        (
            "Tool execution was interrupted before its result was recorded. "
            "Do not assume the tool completed successfully."
        ),  # Kimi Code, on resume
        "No result provided",  # Pi
        "The tool call was interrupted before a result was produced.",  # pydantic-ai
        "Tool was interrupted.",  # Strands
        "Tool call interrupted before completion. The conversation was paused.",  # OpenHands
        "Tool execution was interrupted before completion.",  # Roo Code
        "Task was interrupted before this tool call could be completed.",  # Roo Code, on resume
        (
            "tool call was interrupted and did not produce a result, "
            "you may retry this call if the result is still needed"
        ),  # crush
        "Tool call was not completed",  # assistant-ui
        '{"error":"Tool call was not completed"}',  # assistant-ui, as JSON
        "The operation was aborted.",  # fetch and the AI SDK
        "This operation was aborted",  # fetch, in Node
        "[Request interrupted by user for tool use]",  # Claude Code
        "[Request interrupted by user]",  # Claude Code
        "[no result was recorded for this call]",
    }
)

_SHAPES: Final = re.compile(
    r"Tool call .{0,300} was cancelled - another message came in before it could be completed\."  # deepagents
    r"|Tool call .{0,300} could not be executed - arguments were malformed or truncated\."  # deepagents
    r"|\[System: Tool execution skipped/interrupted by user\. No result provided for tool '.{0,300}'\.\]"  # LiteLLM
    r"|\W{0,3}(the )?(tool|task|operation|command|request|execution)( call| use| execution| result)?"
    r" (was |has been |is )?(interrupted|aborted|cancell?ed|not (recorded|available|completed|executed|provided))"
    r"( by (the )?user| before completion| due to (an )?\w+)?\W{0,3}",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST: Final = 700
_OURS: Final = tuple(CAUSES.values())


def is_synthetic(output: Any) -> bool:
    """Whether this outcome was written in place of a result, by us or by another program."""
    text = output_text(output).strip()
    if text.startswith(_OURS):
        return True
    return len(text) <= _LONGEST and (text in _TEXTS or _SHAPES.fullmatch(text) is not None)


def is_placeholder(output: Any) -> bool:
    """Whether this outcome only says that the tool is still running."""
    return output_text(output).strip() in PLACEHOLDERS

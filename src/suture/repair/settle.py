"""What takes the place of an interrupted call: its cause in words, or what the caller's hook makes of it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from suture.transcript import CAUSES, Part, ToolPart, output_text

__all__ = ["default_outcome", "shape"]


def default_outcome(part: ToolPart, text: str = "") -> str:
    """The text of an interrupted call that nobody shaped: its cause, and its last preliminary output if any.

    `text` stands in place of the words for the cause where more is known.
    """
    text = text or CAUSES[part.cause or "unknown"]
    last = output_text(part.output).strip() if part.preliminary else ""
    return f"{text} Its last preliminary output was: {last}" if last else text


def shape(part: ToolPart, hook: Callable[[ToolPart], Part] | None) -> tuple[Part, str]:
    """What takes an interrupted call's place, and in words where it comes from.

    That is the hook's answer where it keeps its contract (a settled call of the same id, or any other part), and the
    default in every other case: a hook never fails a repair.
    """
    default = part.settle(default_outcome(part))
    if hook is None:
        return default, "settled with a synthetic result"
    try:
        shaped = hook(part)
    except Exception as error:  # noqa: BLE001 (the hook is the caller's code: a turn never fails for it)
        return default, f"settled with a synthetic result: the hook raised {type(error).__name__}: {error}"
    problem = _broken_contract(part, shaped)
    if problem:
        return default, f"settled with a synthetic result: the hook {problem}"
    if isinstance(shaped, ToolPart):
        cut = msgspec.structs.replace(shaped, synthetic=True, outcome_origin=None, outcome_container=None)
        return cut, "settled by the hook"
    return shaped, "replaced by the hook"


def _broken_contract(part: ToolPart, shaped: object) -> str:
    """What is wrong with the hook's answer; empty where nothing is."""
    if not isinstance(shaped, Part):
        return f"returned {type(shaped).__name__}, expected a part"
    if not isinstance(shaped, ToolPart):
        return ""
    if not shaped.settled:
        return f"returned a call in the state {shaped.state!r}, expected a settled one"
    if shaped.call_id != part.call_id:
        return f"returned the call {shaped.call_id!r}, expected {part.call_id!r}"
    return ""

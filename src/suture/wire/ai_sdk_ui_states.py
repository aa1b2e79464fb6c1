"""What a tool part of the AI SDK has to hold in each state, and how one is read that does not.

The table is that of `validateUIMessages` in `ai` 6; a part that fits it is never touched.
"""

from __future__ import annotations

from typing import Any, Final

from suture.transcript import SETTLED, output_text
from suture.transcript.codec import dumps, loads
from suture.transcript.ids import derive
from suture.wire.base import ABSENT, patch

__all__ = ["REQUIRES_INPUT", "approval_for", "consistent"]

FAILED: Final = "This tool call failed; no error text was recorded."
"""The error's text where the record has none."""

REQUIRES_INPUT: Final = frozenset(SETTLED) - {"input-streaming", "output-error"}
_OPEN: Final = frozenset(state for state, settled in SETTLED.items() if not settled)

_OPTIONAL: Final = ("callProviderMetadata", "toolMetadata", "providerExecuted")
_OPTIONAL_IN: Final = {
    "output-available": (*_OPTIONAL, "resultProviderMetadata", "preliminary"),
    "output-error": (*_OPTIONAL, "resultProviderMetadata"),
}
"""Keys of a tool part that are absent where they say nothing; null is refused."""


def consistent(part: dict[str, Any]) -> tuple[dict[str, Any], str, str | None]:
    """A tool part whose state and fields agree, what was wrong, and what it could not hold.

    A part that fits comes back as the very object, with an empty text.
    """
    state = _state(part)
    fields, lost = _outcome(part, state)
    fields["state"] = state
    if state in REQUIRES_INPUT and "input" not in part:
        fields["input"] = _input(part, state)
    fields |= {key: ABSENT for key in _OPTIONAL_IN.get(state, _OPTIONAL) if part.get(key, ABSENT) is None}
    if part["type"] == "dynamic-tool" and part.get("dynamic", False) is not False:
        fields["dynamic"] = ABSENT
    mended = patch(part, **fields)
    if mended is part:
        return part, "", None
    wrong = [key for key in {**part, **mended} if part.get(key, ABSENT) is not mended.get(key, ABSENT)]
    return mended, f"state {part.get('state')!r} does not go with its fields: {', '.join(wrong)}", lost


def _state(part: dict[str, Any]) -> str:
    """The state that the record is in.

    A settled state stands. Where an open or an unknown one has an outcome or a decision beside it, that is later news.
    """
    state = part.get("state")
    state = state if isinstance(state, str) and state in SETTLED else ""
    given = part.get("approval")
    decided = given.get("approved") if isinstance(given, dict) else None
    failed = part.get("errorText") is not None
    answered = part.get("output") is not None or ("output" in part and state in ("", "output-available"))
    if state == "output-available" and part.get("output") is None:
        if failed:
            return "output-error"
        return "output-denied" if decided is False and not answered else state
    if SETTLED.get(state):
        return state
    if answered or failed:
        return "output-available" if answered else "output-error"
    if isinstance(given, dict):
        return "approval-responded" if isinstance(decided, bool) else "approval-requested"
    if state in ("approval-requested", "approval-responded"):
        return "approval-requested"
    return state or "input-available"


def _outcome(part: dict[str, Any], state: str) -> tuple[dict[str, Any], str | None]:
    """The fields of the outcome, and what they could not hold."""
    output, error = part.get("output"), part.get("errorText")
    said = None if output is None else output_text(output)
    failed = None if error is None else output_text(error)
    fields: dict[str, Any] = {"output": ABSENT, "errorText": ABSENT}
    extra = None
    if state == "output-available":
        fields["output"] = _both(said, "error", failed) if said and failed else output
    elif state == "output-error":
        text = _both(failed, "output", said)
        fields["errorText"] = FAILED if text is None else text
    elif state == "output-denied":
        extra = _both(failed, "output", said)
    fields["approval"], lost = approval_for(state, part.get("approval", ABSENT), part.get("toolCallId"), extra)
    return fields, lost


def _both(first: str | None, kind: str, second: str | None) -> str | None:
    """Two texts of one call as one, none of them lost."""
    if not second or first == second:
        return first if first is not None else second
    return f"{first}\n\n[{kind} of the same call]\n{second}" if first else second


def approval_for(state: str, given: Any, call_id: Any, extra: str | None = None) -> tuple[Any, str | None]:
    """The approval as `state` has one, and what of it had to go; `extra` joins the reason of a denial."""
    decided = given.get("approved") if isinstance(given, dict) else None
    if state in _OPEN - {"approval-requested", "approval-responded"} or (
        state in ("output-available", "output-error") and decided is not True
    ):
        return ABSENT, dumps(given) if given else None
    old = given if isinstance(given, dict) else {}
    reason = old.get("reason") if isinstance(old.get("reason"), str) else None
    fields: dict[str, Any] = {"id": old.get("id"), "reason": ABSENT if reason is None else reason}
    if not isinstance(fields["id"], str):
        fields["id"] = f"approval_{derive('approval', call_id)}"
    if old.get("signature", ABSENT) is None:
        fields["signature"] = ABSENT
    lost = None
    if state == "approval-requested":
        fields |= {"approved": ABSENT, "reason": ABSENT}
        lost = reason or (dumps(decided) if decided is not None else None)
    elif state == "output-denied":
        fields["approved"] = False
        if extra:
            fields["reason"] = _both(reason, "outcome", extra)
        lost = dumps(given) if decided is True else None
    return patch(old, **fields), lost


def _input(part: dict[str, Any], state: str) -> Any:
    """The input of a part that has none under that key: what was received, as an object once the call is settled."""
    raw = part.get("rawInput")
    if raw is None:
        return {}
    try:
        value = loads(raw, finite=True) if isinstance(raw, str) else raw
    except ValueError:
        value = raw
    return value if isinstance(value, dict) else raw if state in _OPEN else {"_raw": raw}

"""Single steps of the repair, for people who know them from elsewhere; `suture.repair` does all of them and more."""

from __future__ import annotations

from typing import Any

from suture.pipeline import Policies, adapter_of, plain, run
from suture.transcript.arguments import as_object

__all__ = ["close_unanswered_tool_calls", "drop_leading_orphan_tools", "normalize_tool_input"]


def close_unanswered_tool_calls(messages: Any, format: str | None = None) -> Any:
    """Give each call that has no result a synthetic one, and change nothing else.

    Args:
        messages: See `suture.check`.
        format: See `suture.check`.

    Returns:
        The messages; the same object where every call has its result.

    Raises:
        InputError, UnknownFormatError: as `suture.repair`.
    """
    rules = ("unanswered-call", "unanswered-approval", "unfinished-result")
    return run(messages, adapter_of(messages, format), {}, Policies(), rules=rules).messages


def drop_leading_orphan_tools(messages: Any, format: str | None = None) -> Any:
    """Drop the results at the head whose calls were cut off; what else their messages say stays.

    For a history of which only the tail was loaded. `suture.repair` rebuilds the calls instead, and loses nothing.

    Args:
        messages: See `suture.check`.
        format: See `suture.check`.

    Returns:
        The messages; the same object where no result leads them.

    Raises:
        InputError, UnknownFormatError: as `suture.repair`.
    """
    wire = plain(messages)
    adapter = adapter_of(wire, format)
    calls = (int(entry.origin.at[0]) for entry in adapter.decode(enumerate(wire)) if entry.calls)
    head = wire[: next(calls, len(wire))]
    kept = run(head, adapter, {}, Policies(orphans="drop"), rules=("orphan-result",)).messages
    return messages if kept is head else [*kept, *wire[len(head) :]]


def normalize_tool_input(value: Any) -> dict[str, Any]:
    """Whatever stands as a call's arguments, as an object.

    An object stays as it is; null and blank text become `{}`; JSON text that holds an object, even encoded several
    times, becomes that object; anything else is kept as `{"_raw": value}`. Never raises.
    """
    return as_object(value)

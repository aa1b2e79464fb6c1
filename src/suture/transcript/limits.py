"""What a provider's format demands of a history, as data: repair reads it, nothing branches on a provider's name."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Contract", "Limits"]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The demands of one format, or of one profile over it."""

    results: Literal["adjacent", "after", "next", "inside"]
    """Where a result stands: `adjacent`, in the run of results right after the call's message; `after`, after the
    call and before the user's next message; `next`, the very next item; `inside`, in the call's own record."""
    joins_roles: bool = False
    """Consecutive messages of one role count as one turn."""
    id_pattern: str = ""
    """What a call id has to match in full; empty: anything that is not empty."""
    id_max: int = 0
    """The longest call id in characters; 0: no limit."""
    id_scope: Literal["message", "turn", "history"] = "message"
    """Within what a call id has to be unique."""
    name_pattern: str = ""
    name_max: int = 0
    """The longest tool name that is accepted."""
    name_write_max: int = 64
    """The longest tool name that is written."""
    arguments: Literal["text", "object", "any"] = "any"
    """Whether arguments are JSON text or a JSON object."""
    result_content: Literal["text", "rich", "any"] = "any"
    """`text`: no images in a result; `rich`: images, but not in an error."""
    empty_user: Literal["placeholder", "drop"] = "placeholder"
    """What becomes of a user message that carries nothing."""
    final_empty_assistant: bool = False
    """An empty assistant message is taken as the last one."""
    mid_system: bool = False
    """A system message is taken between the user and the assistant."""
    server_id_prefix: str = ""
    """How the ids of calls begin that the provider runs itself."""
    echoed: tuple[str, ...] = ()
    """Keys of a call that its result repeats."""
    marker: tuple[str, int] = ("", 0)
    """A key that only so many blocks of a request may have."""
    alternate: bool = False
    """User and assistant take turns, message by message."""
    reasoning_key: str = ""
    """The message key that carries reasoning, where the host reads one."""
    reasoning_wanted: bool = False
    """An answer that calls tools carries its reasoning."""


class Contract(msgspec.Struct, frozen=True):
    """How one of Suture's rules stands in one format: the provider's rule, its error text, how it is known."""

    id: str
    """The provider's rule in the contracts table, such as `ANT-01`."""
    confidence: Literal["documented", "seen", "inferred"]
    error: str = ""
    """The literal error that a provider answers with; empty where none was seen."""
    source: str = ""

"""What `check` finds and what `repair` did: plain records, in the order of the messages."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = ["Confidence", "Finding", "Repair", "Repaired"]

Confidence = Literal["documented", "seen", "inferred"]
"""How a provider's rule is known: its documentation or SDK says so, an error was seen, or it follows from others."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing in a history that its provider refuses, or that loses information on the way."""

    code: str
    """The rule's code, such as `SU101`; `suture rules SU101` prints its page."""
    rule: str
    """The rule's name, such as `unanswered-call`."""
    path: str
    """Where in the input: `messages[3].content[0]`."""
    call_id: str | None = None
    """The tool call's id as it stands in the input, where the finding is about one."""
    message: str
    """One sentence: what is wrong here."""
    confidence: Confidence
    """How the rule is known for this format."""
    contract: str = ""
    """The provider's rule in the contracts table, such as `ANT-01`."""


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that `repair` changed, or that it could not keep."""

    finding: Finding
    """What was wrong."""
    action: str
    """One sentence: what was done about it."""
    lost: str | None = None
    """What the format cannot hold and is therefore gone from the messages, in full; None where nothing is."""


class Repaired(msgspec.Struct, kw_only=True):
    """The outcome of `repair`."""

    messages: Any
    """The messages to send: the very input object where nothing had to change."""
    repairs: list[Repair]
    """What was changed and why, in the order of the messages."""
    changed: bool
    """Whether `messages` differs from the input."""
    request: dict[str, Any]
    """The request settings to send with them: those given, plus what only a request change can mend."""

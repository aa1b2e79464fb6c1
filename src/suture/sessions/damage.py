"""What can be wrong with a session file itself, as opposed to the conversation that it holds.

Lines of an unknown type, unknown keys, blank lines, a byte order mark and CRLF endings are not damage: they pass
silently, byte for byte.
"""

from __future__ import annotations

from typing import Final

import msgspec

__all__ = ["DAMAGES", "Damage", "DamageRule"]


class DamageRule(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of damage: its code and name, one line, and the page that `suture rules` prints."""

    code: str
    name: str
    summary: str
    page: str
    mended: bool
    """Whether writing the file again mends it."""


class Damage(msgspec.Struct, frozen=True, kw_only=True):
    """One damaged place in a session file."""

    code: str
    """The rule's code, such as `SU901`."""
    line: int
    """The line, counted from 1."""
    offset: int
    """The first damaged byte, counted from the beginning of the file; near it, where the line has other damage."""
    found: str
    """One sentence: what stands there."""
    salvaged: str
    """One sentence: what of it is used, and what becomes of the rest."""
    kept: bool = False
    """Whether the line stays as it is, also in a repaired file: it cannot be read, but may be whole."""

    @property
    def rule(self) -> DamageRule:
        """The kind of damage."""
        return DAMAGES[self.code]

    @property
    def mended(self) -> bool:
        """Whether writing the file again mends it."""
        return self.rule.mended and not self.kept


DAMAGES: Final[dict[str, DamageRule]] = {
    "SU901": DamageRule(
        code="SU901",
        name="torn-line",
        summary="A record was cut off before its end.",
        page=(
            "A process that is killed, or a disk that fills up, while a line is being written leaves the beginning of "
            "a record. Agents then stop reading at that line, skip it, or glue the next record to it. A torn record "
            "is never completed by guessing: it is reported, left out of the conversation, and left out of a repaired "
            "file. The backup keeps it."
        ),
        mended=True,
    ),
    "SU902": DamageRule(
        code="SU902",
        name="nul-padding",
        summary="A line holds NUL bytes.",
        page=(
            "After a power loss or a crash of the machine, a file system can leave a stretch of NUL bytes where data "
            "had been promised. The bytes carry nothing. They are stripped, and what is left of the line is read as "
            "usual; a line of nothing but NUL bytes is left out of a repaired file."
        ),
        mended=True,
    ),
    "SU903": DamageRule(
        code="SU903",
        name="glued-records",
        summary="Two records stand on one line.",
        page=(
            "When a line end was lost, or two processes wrote at once, one line holds two records, and a reader that "
            "takes a line for a record loses both. They are taken apart, and a repaired file holds each on a line of "
            "its own."
        ),
        mended=True,
    ),
    "SU904": DamageRule(
        code="SU904",
        name="cut-character",
        summary="A line holds bytes that are not UTF-8.",
        page=(
            "Output that was cut at a byte count can end in the middle of a character, and a torn write can do the "
            "same. Each such sequence is read as U+FFFD, the replacement character, and is written as one in a "
            "repaired file. Nothing else of the line changes."
        ),
        mended=True,
    ),
    "SU905": DamageRule(
        code="SU905",
        name="missing-parent",
        summary="A line continues from a line that is not in the file.",
        page=(
            "Each line of a conversation names the line before it. When that one was never written, or was lost, an "
            "agent that walks the chain stops there, and everything before is silently forgotten. The line is linked "
            "to the conversation line before it in the same chain; a repaired file holds the new link. A first line "
            "whose parent is elsewhere is no damage: the conversation goes on from another file."
        ),
        mended=True,
    ),
    "SU906": DamageRule(
        code="SU906",
        name="forked-history",
        summary="The conversation splits into branches.",
        page=(
            "Two processes on one session, or going back to an earlier message, make several lines continue from the "
            "same one. The live branch is the one that was written last. Each branch is checked and repaired on its "
            "own, and a call is never paired with a result of another branch. A repaired file keeps all branches: "
            "which one to go on with is not for a repair to decide. Parallel tool calls, whose results hang off their "
            "own calls, are no fork."
        ),
        mended=False,
    ),
    # SU907 is not given: a line of an unknown type is no damage.
    "SU908": DamageRule(
        code="SU908",
        name="not-json",
        summary="A line is not JSON, or cannot be read as such.",
        page=(
            "Something else than a record was written to the file: a log line, the output of another program, a "
            "fragment of a record. It is left out of the conversation and of a repaired file; the backup keeps it. A "
            "line that is nested too deeply or is too long to be read stays in the file as it is."
        ),
        mended=True,
    ),
}
"""Every kind of damage, by code."""

"""Everything that is wrong with a file, in one shape: findings in its conversations and damage of the file itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from suture.cli.inputs import Kind
from suture.repair.report import Confidence, Finding
from suture.sessions import READERS, Damage, Located, check_stream, claude_code

__all__ = ["Judge", "Problem", "in_order", "of_damage", "of_finding", "problems_of"]

Judge = Callable[[Any, str | None, Mapping[str, Any]], list[Finding]]
"""Finds things in messages, in this wire format and with these request settings."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One line of `suture check`; `--json` prints these keys."""

    code: str
    """`SU101`; `suture rules SU101` explains it."""
    rule: str
    """`unanswered-call`."""
    line: int | None
    """The line of the file, counted from 1; null in a file that is one JSON value."""
    path: str | None
    """The place in the messages, `messages[3].content[0]`; null for damage, and in Claude Code files."""
    offset: int | None = None
    """For damage: the first damaged byte, counted from the beginning of the file."""
    thread: str
    """The conversation of the file: `main`, `branch 2`, `sidechain x1`."""
    call_id: str | None = None
    """The tool call that it is about."""
    message: str
    """One sentence: what is wrong."""
    salvaged: str | None = None
    """For damage: what of it is used."""
    confidence: Confidence | None = None
    """How the provider's rule is known: `documented`, `seen`, `inferred`."""
    contract: str | None = None
    """The provider's rule, such as `ANT-01`."""
    note: bool = False
    """Said for information: no repair is needed, and the exit code does not count it."""


def of_damage(damage: Damage) -> Problem:
    """A damage of the file."""
    return Problem(
        code=damage.code,
        rule=damage.rule.name,
        line=damage.line,
        path=None,
        offset=damage.offset,
        thread="main",
        message=damage.found,
        salvaged=damage.salvaged,
        note=not damage.mended,
    )


def of_finding(finding: Finding, thread: str, line: int | None, path: str | None) -> Problem:
    """A finding in a conversation, with its place in the file."""
    return Problem(
        code=finding.code,
        rule=finding.rule,
        line=line,
        path=path,
        thread=thread,
        call_id=finding.call_id,
        message=finding.message,
        confidence=finding.confidence,
        contract=finding.contract or None,
    )


def problems_of(path: Path, kind: Kind, given: Mapping[str, Any], judge: Judge) -> list[Problem]:
    """Everything that is wrong with a file, in the order of its lines; a large Claude Code file is never in memory.

    Args:
        path: The file.
        kind: What it holds.
        given: The request settings that the user gave.
        judge: What finds things in messages: `suture.pipeline.check`, or a repair that leaves something alone.
    """
    if kind.reader == claude_code.NAME:
        settings = kind.settings({}, given)
        found = check_stream(path, lambda messages, wire: judge(messages, wire, settings))
        return in_order(_streamed(one) for one in found)
    session = READERS[kind.reader].read(path)
    settings = kind.settings(session.request, given)
    problems = [of_damage(damage) for damage in session.damages]
    for thread in READERS[kind.reader].history(session):
        problems += [
            of_finding(finding, thread.name, thread.line_of(finding.path), finding.path)
            for finding in judge(thread.messages, kind.wire or thread.format, settings)
        ]
    return in_order(problems)


def _streamed(one: Damage | Located) -> Problem:
    return of_damage(one) if isinstance(one, Damage) else of_finding(one.finding, one.thread, one.line, None)


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Sorted by lines; what has no line stays in the order of the messages."""
    return sorted(problems, key=lambda problem: problem.line or 0)

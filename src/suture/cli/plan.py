"""What a repair would make of a file: planned in full beside it, and checked, before anything is written."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from suture import pipeline
from suture.cli.inputs import Kind, Target
from suture.cli.problems import Problem, in_order, of_damage, of_finding, problems_of
from suture.errors import SessionError
from suture.repair.report import Finding, Repair, Repaired
from suture.sessions import READERS, Mended, Session, Thread

__all__ = ["Fix", "Plan", "plan"]


class Fix(msgspec.Struct, frozen=True, kw_only=True):
    """A problem, and what is done about it."""

    problem: Problem
    action: str
    """One sentence."""
    lost: str | None = None
    """What the file cannot hold any more, in full."""


class Plan(msgspec.Struct, kw_only=True):
    """What a repair would make of a file."""

    target: Target
    session: Session
    fixes: list[Fix]
    mended: list[Mended]
    content: Path
    """The new content of the file, in a file of its own."""
    changed: bool
    """Whether it differs from the old content."""
    request: dict[str, Any]
    """Request settings that the messages need and that were not given."""
    left: list[Problem]
    """What a check of the new content finds, with these settings."""


def plan(target: Target, kind: Kind, given: Mapping[str, Any], policies: pipeline.Policies, content: Path) -> Plan:
    """Repair a file into the file `content`, and check what came out.

    Raises:
        SutureError: the file cannot be read, or is no session, or nothing of it would be left.
    """
    session = READERS[kind.reader].read(target.path)
    settings = kind.settings(session.request, given)
    repaired = _repairer(policies)
    fixes = [_fix_of_damage(of_damage(damage)) for damage in session.damages if damage.mended]
    mended: list[Mended] = []
    asked: dict[str, Any] = {}
    for thread in READERS[kind.reader].history(session):
        done = repaired(thread.messages, kind.wire or thread.format, settings)
        mended.append(Mended(thread=thread, messages=done.messages))
        asked |= {key: value for key, value in done.request.items() if settings.get(key) != value}
        fixes += [_fix(repair, thread) for repair in done.repairs]
    changed = _write(session, mended, content)
    if changed and not content.read_bytes().strip():
        raise SessionError(str(target.path), "nothing in it can be read, so nothing would be left of it")
    return Plan(
        target=target,
        session=session,
        fixes=sorted(_distinct(fixes), key=lambda fix: fix.problem.line or 0),
        mended=mended,
        content=content,
        changed=changed,
        request=asked,
        left=_left(content, kind, {**given, **asked}, repaired),
    )


Repairer = Callable[[Any, str | None, Mapping[str, Any]], Repaired]


def _repairer(policies: pipeline.Policies) -> Repairer:
    """`repair` under these policies."""

    def repaired(messages: Any, wire: str | None, settings: Mapping[str, Any]) -> Repaired:
        return pipeline.repair(
            messages, wire, request=settings, open_calls=policies.open_calls, orphans=policies.orphans
        )

    return repaired


def _distinct(fixes: Iterable[Fix]) -> Iterator[Fix]:
    """The fixes, each once: branches share their beginning, and what is wrong with it."""
    seen: set[tuple[object, ...]] = set()
    for fix in fixes:
        problem = fix.problem
        key = (problem.code, problem.line, problem.offset, problem.call_id, problem.message)
        if problem.line is None or key not in seen:
            seen.add(key)
            yield fix


def _fix(repair: Repair, thread: Thread) -> Fix:
    line = thread.line_of(repair.finding.path)
    problem = of_finding(repair.finding, thread.name, line, repair.finding.path)
    return Fix(problem=problem, action=repair.action, lost=repair.lost)


def _fix_of_damage(problem: Problem) -> Fix:
    return Fix(problem=problem, action=problem.salvaged or "")


def _write(session: Session, mended: list[Mended], content: Path) -> bool:
    """Write the new content; gives back whether it is another than the old one."""
    digest = hashlib.blake2b()
    with content.open("wb") as stream:
        for chunk in READERS[session.format].write(session, mended):
            digest.update(chunk)
            stream.write(chunk)
    return digest.digest() != session.fingerprint.content


def _left(content: Path, kind: Kind, given: Mapping[str, Any], repaired: Repairer) -> list[Problem]:
    """What is wrong with the new content."""

    def judge(messages: Any, wire: str | None, settings: Mapping[str, Any]) -> list[Finding]:
        return [repair.finding for repair in repaired(messages, wire, settings).repairs]

    return in_order(problem for problem in problems_of(content, kind, given, judge) if not problem.note)

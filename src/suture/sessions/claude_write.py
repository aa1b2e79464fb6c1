"""Writes a Claude Code file anew: lines that a repair did not touch byte for byte, and every link between lines right.

The `uuid` of a new line is derived from the call that it answers, so the same repair of the same file gives the same
bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from suture.sessions.base import Mended
from suture.sessions.claude_chain import Forest
from suture.sessions.claude_index import is_record
from suture.sessions.claude_plan import NewLine, Plan
from suture.sessions.files import problems_of
from suture.sessions.lines import decode, encode
from suture.sessions.rewrite import Change, rewritten_lines

__all__ = ["rewritten"]

_COPIED: Final = (
    *("isSidechain", "agentId", "teamName", "agentName", "userType", "entrypoint"),
    *("cwd", "sessionId", "version", "gitBranch", "slug"),
)
"""What a new line takes over from the line that it stands next to."""


def rewritten(path: Path, forest: Forest, mended: Sequence[Mended]) -> Iterator[bytes]:
    """The new content of a file."""
    with problems_of(path), path.open("rb") as stream:
        plan = Plan(forest, stream)
        for thread in mended:
            plan.add_thread(thread)
        changes = _changes(plan)
    yield from rewritten_lines(path, changes, forest.index.damages, is_record)


def _changes(plan: Plan) -> dict[tuple[int, int], Change]:
    """What becomes of the records that something becomes of."""
    index = plan.index
    parents = plan.relinked()
    changes: dict[tuple[int, int], Change] = {}
    added = [(line, encode(_record(plan, line))) for line in plan.new.values()]
    for row in {row for rows in (plan.contents, parents, plan.named, plan.gone) for row in rows}:
        content = {"content": plan.contents[row]} if row in plan.contents else {}
        links = {"parentUuid": parents[row]} if row in parents else {}
        links |= {"uuid": plan.named[row]} if row in plan.named else {}
        edit = _gone if row in plan.gone else partial(_edited, content, links)
        changes[index.place_of(row)] = Change(edit=edit)
    for line, record in added:
        change = changes.setdefault(index.place_of(line.beside), Change())
        (change.before if line.ahead else change.after).append(record)
    for row, former in plan.ends.items():
        change = changes.setdefault(index.place_of(row), Change())
        data = index.data(plan.stream, row)
        kept = change.edit(data) if change.edit else data
        changes.setdefault(index.place_of(former), Change()).after += [kept] if kept is not None else []
        change.edit = _gone
    return changes


def _edited(content: dict[str, Any], links: dict[str, Any], data: bytes) -> bytes:
    """A record with a new content, new links or both; every other key stays, in its order."""
    record = decode(data) | links
    if content:
        record["message"] |= content
    return encode(record)


def _gone(_: bytes) -> None:
    return None


def _record(plan: Plan, line: NewLine) -> dict[str, Any]:
    """A new line in the shape that Claude Code gives such lines."""
    beside = plan.value(line.beside)
    record: dict[str, Any] = {"parentUuid": plan.name_of(line.parent)} if plan.chained else {}
    record |= {key: beside[key] for key in _COPIED if key in beside}
    record["type"] = line.kept.role
    if line.kept.role == "assistant":
        shared = dict(line.group)
        usage = {"usage": shared.pop("usage")} if "usage" in shared else {}
        said = {"role": "assistant", "content": line.kept.content, "stop_reason": None, "stop_sequence": None}
        record["message"] = shared | said | usage
    else:
        record["message"] = {"role": "user", "content": line.kept.content}
    record |= {"uuid": line.uuid} if plan.chained else {}
    record |= {"timestamp": beside["timestamp"]} if "timestamp" in beside else {}
    if line.call is not None:
        record["toolUseResult"] = _shown(line.kept.content[0])
        record["sourceToolAssistantUUID"] = plan.linked_name(line.call)
    return record


def _shown(result: dict[str, Any]) -> str:
    """What Claude Code shows its user of a result: for one that failed, a text that begins with "Error: "."""
    content = result.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return f"Error: {content or ''}" if result.get("is_error") else str(content or "")

"""Claude Code files of every shape, whole and broken, for property tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.sessions.claude_lines import Transcript

__all__ = ["transcripts"]


KINDS = ["user", "step", "step", "step", "says", "progress", "fork", "dangling", "orphan", "compact"]


@st.composite
def transcripts(draw: st.DrawFn, *, max_steps: int = 8, beside: bool = False) -> Transcript:
    """A conversation as Claude Code records it, with whatever can go wrong in one.

    With `beside`, results may stand in another branch than their calls.
    """
    made = Transcript()
    made.user("u0", "go", None)
    names = ["u0"]
    last: list[dict[str, Any]] = []
    for count in range(1, draw(st.integers(1, max_steps))):
        kind = draw(st.sampled_from([*KINDS, "beside"] if beside else KINDS))
        name, start = f"n{count}", len(made.rows)
        if kind == "user":
            made.user(name, draw(st.sampled_from(["more", "are you there?", [{"type": "text", "text": "block"}]])))
        elif kind == "says":
            made.says(name, f"m{count}", "fine")
        elif kind == "progress":
            made.add(name, type="progress", data={"type": "hook_progress"})
        elif kind == "fork":
            made.user(name, "again", draw(st.sampled_from(names)))
        elif kind == "compact":
            _compact(made, name, last if draw(st.booleans()) else [])
        elif kind == "dangling":
            made.user(name, "lost", "nowhere")
        elif kind == "orphan":
            # A result of no call, of an earlier call of this branch or of another branch's.
            made.result(name, draw(st.sampled_from([f"lost{count}", *made.calls])))
        elif kind == "beside":
            made.result(name, draw(st.sampled_from([f"lost{count}", *made.calls])), draw(st.sampled_from(names)))
        else:
            _step(draw, made, count)
        names.append(made.last or name)
        last = made.rows[start:] if kind in {"user", "says", "step"} else []
    if draw(st.booleans()):
        made.user("s0", "look around", None, isSidechain=True, agentId="x1")
        made.call("s1", "side", "s_call", isSidechain=True, agentId="x1")
    return made


def _compact(made: Transcript, name: str, rows: list[dict[str, Any]]) -> None:
    """A compaction, which may keep what was said last word for word."""
    kept = [row["uuid"] for row in rows]
    compaction = {"preservedMessages": {"anchorUuid": made.uuid(name), "uuids": kept}} if kept else {}
    named = made.uuid(made.last or "u0")
    made.add(
        name + "b", None, type="system", subtype="compact_boundary", logicalParentUuid=named, compactMetadata=compaction
    )
    made.user(name, "summary", isCompactSummary=True)


def _step(draw: st.DrawFn, made: Transcript, count: int) -> None:
    """One API message with some calls, and the results that came before it all ended."""
    calls = draw(st.integers(1, 3))
    message = f"m{count}"
    if draw(st.booleans()):
        made.says(f"t{count}", message, "let me see")
    hanging: list[dict[str, Any]] = []
    linear = draw(st.booleans())
    for number in range(calls):
        # Now and then an id that an earlier message has used already.
        again = not number and made.calls and not draw(st.integers(0, 9))
        call = draw(st.sampled_from(made.calls)) if again else f"c{count}_{number}"
        made.call(f"a{count}_{number}", message, call)
        here = made.last
        if not draw(st.integers(0, 3)):
            continue
        if linear or draw(st.booleans()):
            made.result(f"r{count}_{number}", call, here)
            made.last = made.last if linear else here
        else:
            hanging.append({"name": f"r{count}_{number}", "call": call, "parent": here})
    for row in draw(st.permutations(hanging)):
        made.result(**row)

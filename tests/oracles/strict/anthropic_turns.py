"""Anthropic Messages, section 3 of the contracts: what must hold between messages (pairing, server tools, thinking).

Neighbours of one role are merged first, as the server does (ANT-12), into turns.
A server call stays open over user turns that hold nothing but results, for then the answer goes on (ANT-22).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tests.oracles.strict.shape import Messages, Request, kind, members, numbered, switch, text_of, tool_names

SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
CALLS = SERVER_CALLS | {"tool_use"}
THINKING = frozenset({"thinking", "redacted_thinking"})


@dataclass
class Turn:
    """Neighbouring messages of one role, as the server sees them."""

    role: object
    place: int
    blocks: list[dict[str, Any]] = field(default_factory=list)

    @property
    def where(self) -> str:
        """Name the first message of the turn."""
        return f"[{self.place}]"

    def ids(self, which: str) -> list[str]:
        """Give the ids of the calls of one kind."""
        return [text_of(block, "id") for block in self.blocks if kind(block) == which]

    def only_results(self) -> bool:
        """Whether the turn is the user's and holds nothing but results."""
        return self.role == "user" and all(kind(block) == "tool_result" for block in self.blocks)


def blocks_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the content as blocks; a text is one block."""
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else members(content)


def is_server_result(block: dict[str, Any]) -> bool:
    """Whether a block answers a server tool: `web_search_tool_result`, `mcp_tool_result` and their like."""
    return kind(block).endswith("_tool_result")


def violations(messages: Messages, request: Request) -> list[str]:
    """List what Anthropic would refuse between the messages."""
    turns = _turns(messages)
    return [*_unique(turns), *_clients(turns), *_servers(turns, request), *_callers(turns), *_thinking(turns, request)]


def _turns(messages: Messages) -> list[Turn]:
    """Merge neighbours of one role."""
    turns: list[Turn] = []
    for place, message in numbered(messages):
        if not turns or turns[-1].role != message.get("role"):
            turns.append(Turn(message.get("role"), place))
        turns[-1].blocks += blocks_of(message)
    return turns


def _unique(turns: list[Turn]) -> Iterator[str]:
    """Judge ANT-03: no call id twice in the request."""
    seen: set[str] = set()
    for turn in turns:
        for block in turn.blocks:
            if kind(block) not in CALLS:
                continue
            if text_of(block, "id") in seen:
                yield f"ANT-03 {turn.where}: id {text_of(block, 'id')!r} twice"
            seen.add(text_of(block, "id"))


def _clients(turns: list[Turn]) -> Iterator[str]:
    """Judge ANT-01, -02, -04 and -34 over each pair of neighbouring turns."""
    nobody = Turn(None, 0)
    for before, turn in pairwise([nobody, *turns, nobody]):
        calls: dict[str, dict[str, Any]] = {}
        if before.role == "assistant":
            calls = {text_of(block, "id"): block for block in before.blocks if kind(block) == "tool_use"}
        run = set(_leading_results(turn)) if turn.role == "user" else set()
        for call_id in sorted(calls.keys() - run):
            yield f"ANT-01 {before.where}: no result for {call_id!r} at the head of the next message"
        yield from _results(turn, calls)


def _leading_results(turn: Turn) -> Iterator[str]:
    """Give the ids answered before the first block that is no result."""
    for block in turn.blocks:
        if kind(block) != "tool_result":
            return
        yield text_of(block, "tool_use_id")


def _results(turn: Turn, calls: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Judge the results of one turn against the calls of the turn before."""
    answered: set[str] = set()
    for block in turn.blocks:
        if kind(block) != "tool_result":
            continue
        call_id = text_of(block, "tool_use_id")
        if call_id not in calls:
            yield f"ANT-02 {turn.where}: result for {call_id!r}, which the turn before did not call"
        elif block.get("toolset_name") != calls[call_id].get("toolset_name"):
            yield f"ANT-34 {turn.where}: result for {call_id!r} of another toolset"
        if call_id in answered:
            yield f"ANT-04 {turn.where}: second result for {call_id!r}"
        answered.add(call_id)


def _servers(turns: list[Turn], request: Request) -> Iterator[str]:
    """Judge ANT-21 to -23 and -25: server calls are answered within the assistant's own (continued) turn."""
    seen: set[str] = set()
    done: set[str] = set()
    running: dict[str, dict[str, Any]] = {}
    for place, turn in enumerate(turns):
        if turn.role != "assistant":
            yield from _interrupted(turns, place, running, request)
            continue
        for block in turn.blocks:
            if kind(block) in SERVER_CALLS:
                seen.add(text_of(block, "id"))
                running[text_of(block, "id")] = block
            elif is_server_result(block):
                call_id = text_of(block, "tool_use_id")
                if call_id not in seen:
                    yield f"ANT-23 {turn.where}: {kind(block)} for {call_id!r} without a call before it"
                elif call_id in done:
                    yield f"ANT-04 {turn.where}: second result for {call_id!r}"
                done.add(call_id)
                running.pop(call_id, None)


def _interrupted(turns: list[Turn], place: int, running: dict[str, dict[str, Any]], request: Request) -> Iterator[str]:
    """Judge what a turn between does to server calls that still run; it ends them unless it only brings results."""
    turn, before = turns[place], turns[place - 1]
    mixed = place > 0 and bool(before.ids("tool_use"))
    if not running or (turn.only_results() and mixed):
        names = tool_names(request)
        for call_id, block in running.items():
            if names is not None and kind(block) == "server_tool_use" and text_of(block, "name") not in names:
                yield f"ANT-22 {turn.where}: {call_id!r} still runs but its tool is not in the request"
        # Only a tail may stay open: the answer that follows has to bring the result.
        if running and place + 2 < len(turns) and not _goes_on(turns[place + 1], set(running)):
            yield f"ANT-21 {turns[place + 1].where}: {sorted(running)} never answered"
            running.clear()
        return
    for call_id in running:
        yield f"{'ANT-22' if mixed else 'ANT-21'} {turn.where}: server call {call_id!r} was left without its result"
    running.clear()


def _goes_on(turn: Turn, running: set[str]) -> bool:
    """Whether an assistant's turn answers all server calls that still run."""
    answered = {text_of(block, "tool_use_id") for block in turn.blocks if is_server_result(block)}
    return running <= answered


def _callers(turns: list[Turn]) -> Iterator[str]:
    """Judge ANT-26: a call made by running code needs that code's call before it."""
    seen: set[str] = set()
    for turn in turns:
        for block in turn.blocks:
            seen.update([text_of(block, "id")] if kind(block) == "server_tool_use" else [])
            caller = block.get("caller")
            if kind(block) != "tool_use" or not isinstance(caller, dict) or "tool_id" not in caller:
                continue
            if text_of(caller, "tool_id") not in seen:
                yield f"ANT-26 {turn.where}: called by {caller['tool_id']!r}, which is not in the history"


def _thinking(turns: list[Turn], request: Request) -> Iterator[str]:
    """Judge ANT-16 and -19, which hang on the request's thinking setting."""
    assistants = [turn for turn in turns if turn.role == "assistant"]
    if not assistants:
        return
    final, thinking = assistants[-1], switch(request, "thinking")
    if thinking is False and any(kind(block) in THINKING for block in final.blocks):
        yield f"ANT-19 {final.where}: thinking is off, the final assistant message holds it"
    in_loop = turns[-1].role == "user" and any(kind(block) == "tool_result" for block in turns[-1].blocks)
    if thinking and in_loop and kind(final.blocks[0] if final.blocks else {}) not in THINKING:
        yield f"ANT-16 {final.where}: thinking is on, the open tool loop does not start with it"

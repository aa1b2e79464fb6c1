"""From lines that name their parents to conversations: which branches there are, and what each one says in which order.

Two things make a file look like a tree where the conversation is a line. An API message is split over several lines,
one a content block, and the result of a parallel call hangs off the line of its own call:

    call A ── call B ── result B ── next message
       └──── result A

Result A is no branch: nothing follows it, and it answers a call of this message. So a branch is the path from its
last line up to the root, and with it all lines off that path that belong to a message on it and lead nowhere else.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

import msgspec

from suture.sessions.claude_index import ASSISTANT, BOUNDARY, MAIN, RESULT, SUMMARY, TALK, TEXT, UNNAMED, ClaudeIndex
from suture.sessions.damage import Damage

__all__ = ["Branch", "Forest", "Turn"]


class Turn(msgspec.Struct):
    """One message: its role, and the rows that its blocks come from, in order."""

    role: str
    rows: list[int]


class Branch(msgspec.Struct):
    """One conversation: everything up to its last line."""

    chain: int
    leaf: int
    own: int
    """The first row on its path that no branch before it holds."""
    fork: int
    """The first row on its path that was not there before: its parent is where it splits off, if it does."""
    name: str = ""


class Forest:
    """The lines of a file as the conversations that they are."""

    def __init__(self, index: ClaudeIndex) -> None:
        """The forest of an index; the cost grows with the number of lines."""
        self.index = index
        count = len(index)
        self.first_child: array[int] = array("i", [-1]) * count
        self.next_child: array[int] = array("i", [-1]) * count
        self._link_children()
        self.damages: list[Damage] = []
        self.branches: list[Branch] = self._branches()

    def _link_children(self) -> None:
        """Fills in who follows whom among the messages, whatever else stands between them."""
        index = self.index
        count = len(index)
        above = array("i", [-1]) * count
        for row in range(count):
            parent = index.parents[row]
            while parent >= 0 and not index.flags[parent] & TALK:
                parent = above[parent] if parent < row else index.parents[parent]
            above[row] = parent
        # Backwards, so that each list of children is in the order of the file.
        for row in range(count - 1, -1, -1):
            if index.flags[row] & TALK and above[row] >= 0:
                self.next_child[row] = self.first_child[above[row]]
                self.first_child[above[row]] = row

    def children(self, row: int) -> Iterator[int]:
        """The messages that continue a message."""
        row = self.first_child[row]
        while row >= 0:
            yield row
            row = self.next_child[row]

    def path(self, leaf: int, stop: int = -1) -> array[int]:
        """The rows from the beginning of what the model sees, or from `stop`, down to `leaf`."""
        index, row = self.index, leaf
        rows = array("i")
        while row >= 0:
            rows.append(row)
            if row == stop or index.flags[row] & (SUMMARY | BOUNDARY):
                break
            row = index.parents[row]
        rows.reverse()
        return rows

    def turns(self, path: Sequence[int]) -> Iterator[Turn]:
        """The messages of a path, each API message and each run of its results as one."""
        for zone in self._zones(self._with_preserved(path)):
            yield from self._arrange(zone, self._pulled(zone))

    def _with_preserved(self, path: Sequence[int]) -> Iterator[int]:
        """The messages on a path, and behind a compaction's summary those that it kept word for word."""
        index = self.index
        boundary = path[0] if path else -1
        while boundary >= 0 and not index.flags[boundary] & BOUNDARY:
            boundary = index.parents[boundary] if boundary == path[0] or not index.flags[boundary] & TALK else -1
        anchor, kept = index.preserved.get(boundary, (-1, []))
        on_path = set(path) if kept else set()
        for row in path:
            if index.flags[row] & TALK:
                yield row
            if row == anchor:
                yield from (kept_row for kept_row in kept if kept_row not in on_path)

    def _zones(self, rows: Iterator[int]) -> Iterator[list[int]]:
        """Cuts a path before each new API message."""
        index = self.index
        zone: list[int] = []
        group = 0
        for row in rows:
            if index.flags[row] & ASSISTANT and (not index.groups[row] or index.groups[row] != group):
                if zone:
                    yield zone
                zone, group = [], index.groups[row]
            zone.append(row)
        if zone:
            yield zone

    def _pulled(self, zone: list[int]) -> list[int]:
        """The rows off the path that belong to the zone's API message and lead nowhere else."""
        index = self.index
        if not index.flags[zone[0]] & ASSISTANT:
            return []
        group = index.groups[zone[0]]
        on_path = set(zone)
        calls: set[int] = set()
        answered: set[int] = set()
        for row in zone:
            (calls if index.flags[row] & ASSISTANT else answered).update(index.tools_of(row))
        pulled: list[int] = []
        for row in zone:
            if not index.flags[row] & ASSISTANT and not self._belongs(row, group, calls):
                continue
            for child in self.children(row):
                if child not in on_path:
                    found = self._dead_end(child, group, calls, answered)
                    for part in found:
                        (calls if index.flags[part] & ASSISTANT else answered).update(index.tools_of(part))
                    pulled += found
        return pulled

    def _belongs(self, row: int, group: int, calls: set[int]) -> bool:
        """Whether a row is a part of the API message, or nothing but results of its calls."""
        index = self.index
        if index.flags[row] & ASSISTANT:
            return index.groups[row] == group != 0
        tools = index.tools_of(row)
        return bool(index.flags[row] & RESULT and tools) and calls.issuperset(tools)

    def _dead_end(self, start: int, group: int, calls: set[int], answered: set[int]) -> list[int]:
        """`start` and everything below it where all of it belongs to the API message; otherwise nothing."""
        index = self.index
        found: list[int] = []
        waiting = [(start, False)]
        calls, answered = set(calls), set(answered)
        while waiting:
            row, other = waiting.pop()
            if not self._belongs(row, group, calls) or (other and index.flags[row] & ASSISTANT):
                return []
            tools = index.tools_of(row)
            if index.flags[row] & ASSISTANT:
                calls.update(tools)
            # Another result of an answered call, and what hangs off it, is no part of this conversation.
            elif other or not answered.isdisjoint(tools):
                other = True
            else:
                answered.update(tools)
            found += [] if other else [row]
            waiting += ((child, other) for child in self.children(row))
        return found

    def _arrange(self, zone: list[int], pulled: list[int]) -> Iterator[Turn]:
        """A zone as messages: the API message, one message of its results, and the rest as it stands."""
        index = self.index
        if not index.flags[zone[0]] & ASSISTANT:
            yield from (Turn("user", [row]) for row in zone)
            return
        rows = zone + pulled
        parts = sorted(row for row in rows if index.flags[row] & ASSISTANT)
        order = {tool: place for place, tool in enumerate(tool for row in parts for tool in index.tools_of(row))}
        last = max(place for place, row in enumerate(zone) if index.flags[row] & ASSISTANT)
        results = [row for row in pulled if not index.flags[row] & ASSISTANT]
        rest: list[int] = []
        broken = False
        for place, row in enumerate(zone):
            if index.flags[row] & ASSISTANT:
                continue
            # Behind the last part of the message, only an unbroken run of results still belongs to it.
            if not broken and self._belongs(row, index.groups[zone[0]], set(order)):
                results.append(row)
            else:
                rest.append(row)
                broken = place > last
        yield Turn("assistant", parts)
        if results:
            yield Turn("user", sorted(results, key=lambda row: (min(map(order.__getitem__, index.tools_of(row))), row)))
        yield from (Turn("user", [row]) for row in rest)

    def _branches(self) -> list[Branch]:
        """The conversations of a file: the main chain's first, the live branch of each chain before its others."""
        index = self.index
        covered = bytearray(len(index))
        kept: dict[int, Branch] = {}
        for leaf in range(len(index) - 1, -1, -1):
            if not index.flags[leaf] & TALK or self.first_child[leaf] >= 0 or covered[leaf]:
                continue
            self._take(leaf, covered, kept)
        ordered = sorted(kept.values(), key=lambda branch: (branch.chain != MAIN, self._key(branch), -branch.leaf))
        self._name(ordered)
        return ordered

    def _take(self, leaf: int, covered: bytearray, kept: dict[int, Branch]) -> None:
        """Adds the branch of a leaf, and marks what it holds (1) and what was compacted away before it (2)."""
        index = self.index
        own = fork = row = leaf
        while row >= 0 and covered[row] != 1:
            fork = fork if covered[row] else row
            covered[row], own = 1, row
            if index.flags[row] & (SUMMARY | BOUNDARY):
                self._cover_compacted(index.parents[row], covered, kept)
                row = -1
                break
            row = index.parents[row]
        branch = kept[leaf] = Branch(index.chains[leaf], leaf, own, fork)
        while row >= 0 and not index.flags[row] & (TEXT | SUMMARY | BOUNDARY) and index.parents[row] >= 0:
            row = index.parents[row]
        former = self._cover_pulled(self._with_preserved(self.path(leaf, row)), 1, covered, kept)
        if former is not None:
            branch.own, branch.fork = former.own, former.fork

    def _cover_compacted(self, row: int, covered: bytearray, kept: dict[int, Branch]) -> None:
        """Marks what was compacted away, so that it is not taken for branches; it may have been so several times."""
        rows = []
        while row >= 0 and not covered[row]:
            covered[row] = 2
            rows.append(row)
            row = self.index.parents[row]
        talk = (row for row in reversed(rows) if self.index.flags[row] & TALK)
        self._cover_pulled(talk, 2, covered, kept)

    def _cover_pulled(
        self, rows: Iterator[int], mark: int, covered: bytearray, kept: dict[int, Branch]
    ) -> Branch | None:
        """Marks the rows off a path that belong to it; gives back the branch that one of them was taken for before."""
        former = None
        for zone in self._zones(rows):
            for pulled in self._pulled(zone):
                covered[pulled] = covered[pulled] or mark
                former = kept.pop(pulled, former)
        return former

    def _key(self, branch: Branch) -> int:
        """What branches of one conversation share: the chain, or the root of the tree where chains have no name."""
        return self.path(branch.leaf)[0] - len(self.index) if branch.chain == UNNAMED else branch.chain

    def _name(self, branches: list[Branch]) -> None:
        """Names the branches and reports the forks."""
        index = self.index
        counts: dict[int, int] = {}
        sides = 0
        for branch in branches:
            key = self._key(branch)
            number = counts[key] = counts.get(key, 0) + 1
            if branch.chain == MAIN:
                branch.name = "main" if number == 1 else f"branch {number}"
            else:
                sides += number == 1
                name = f"sidechain {index.agents[branch.chain] or sides}"
                branch.name = name if number == 1 else f"{name} branch {number}"
            splits_at = index.parents[branch.fork]
            if number > 1 and splits_at >= 0:
                self.damages.append(
                    Damage(
                        code="SU906",
                        line=index.numbers[branch.fork],
                        offset=index.offsets[branch.fork],
                        found=f"another branch of the conversation, from line {index.numbers[splits_at]} on, "
                        f"which ends at line {index.numbers[branch.leaf]}",
                        salvaged=f"both branches; this one is the thread {branch.name!r}",
                    )
                )

"""Which result answers which call: by occurrence and position, never by a transcript-wide set of ids.

Ids repeat: some models count from `call_0` in every turn, some repeat an id inside one message, some give none. A
result therefore goes to the nearest call before it that bears its id and is still open; inside one message the first
such call comes first. Only then come weaker proofs: a second result for a settled call, a call that comes later, the id
of the record instead of the call's, and, where one side has no id at all, the tool's name and the order.
"""

from __future__ import annotations

from bisect import bisect_left

from suture.transcript import Entry, Result, ToolPart

__all__ = ["Answer", "Pairing", "Slot", "pair"]


class Answer:
    """A result on its way to a call."""

    __slots__ = ("entry", "exchange", "result", "turn")

    def __init__(self, result: Result, entry: int, turn: int, exchange: int) -> None:
        """`entry` is where it stands, `turn` the turn whose run of results it stands in, -1 outside of any.

        `exchange` counts the entries before it in which the user or the developer spoke.
        """
        self.result: Result = result
        self.entry: int = entry
        self.turn: int = turn
        self.exchange: int = exchange


class Slot:
    """A call, and what answers it."""

    __slots__ = ("answers", "entry", "exchange", "part", "turn", "via_item")

    def __init__(self, part: ToolPart, entry: int, turn: int, exchange: int) -> None:
        """`entry` is where the call stands, `turn` the first entry of its turn, `exchange` as for an answer."""
        self.part: ToolPart = part
        self.entry: int = entry
        self.turn: int = turn
        self.exchange: int = exchange
        self.answers: list[Answer] = []
        self.via_item: bool = False


class Pairing:
    """Every call with its answers, and the results that no call is known for."""

    def __init__(self) -> None:
        """Nothing is paired yet."""
        self.slots: list[Slot] = []
        self.orphans: list[Answer] = []
        self.by_id: dict[str, list[Slot]] = {}
        self.by_provider_id: dict[str, list[Slot]] = {}
        self._open: dict[str, list[Slot]] = {}
        self._early: list[Answer] = []

    def call(self, part: ToolPart, entry: int, turn: int, exchange: int) -> None:
        """Take up a call."""
        slot = Slot(part, entry, turn, exchange)
        self.slots.append(slot)
        if part.executor == "provider":
            self.by_provider_id.setdefault(part.call_id, []).append(slot)
        else:
            self.by_id.setdefault(part.call_id, []).append(slot)
            self._open.setdefault(part.call_id, []).append(slot)

    def result(self, answer: Answer) -> None:
        """Take up a result: to the nearest open call with its id, else to the nearest one."""
        if answer.result.executor == "provider":
            self._provider_result(answer)
            return
        still_open = self._open.get(answer.result.call_id)
        if still_open:
            first = len(still_open) - 1
            while first and still_open[first - 1].entry == still_open[-1].entry:
                first -= 1
            still_open.pop(first).answers.append(answer)
        elif still_open is not None:
            self.by_id[answer.result.call_id][-1].answers.append(answer)
        else:
            self._early.append(answer)

    def _provider_result(self, answer: Answer) -> None:
        """A provider answers its own calls inside the turn that made them, or not at all."""
        for slot in reversed(self.by_provider_id.get(answer.result.call_id, ())):
            if slot.turn == answer.turn and not slot.answers:
                slot.answers.append(answer)
                return
        self.orphans.append(answer)

    def finish(self) -> None:
        """Place the results whose call had not been seen when they came."""
        items = {slot.part.item_id: slot for slot in self.slots if slot.part.item_id} if self._early else {}
        for answer in self._early:
            later = [s for s in self.by_id.get(answer.result.call_id, ()) if s.entry > answer.entry]
            slot = next((s for s in later if not s.answers), None) or (later[0] if later else None)
            if slot is None and (slot := items.get(answer.result.call_id)):
                slot.via_item = True
            slot = slot or self._unnamed(answer)
            if slot is None:
                self.orphans.append(answer)
            else:
                slot.answers.append(answer)

    def _unnamed(self, answer: Answer) -> Slot | None:
        """The open call of the nearest earlier turn that fits where the call or the result has no id."""
        turn: list[Slot] = []
        for slot in reversed(self.slots[: bisect_left(self.slots, answer.entry, key=lambda slot: slot.entry)]):
            if turn and slot.turn != turn[0].turn:
                break
            nameless = not (slot.part.call_id and answer.result.call_id)
            if slot.part.executor != "provider" and not slot.answers and nameless:
                turn.append(slot)
        if not turn:
            return None
        turn.reverse()
        known = {answer.result.call_id, answer.result.name} - {""}
        named = next((slot for slot in turn if slot.part.name in known), None)
        if named or answer.turn != turn[0].turn:
            return named
        return turn[0]


_SPEAKERS = frozenset({"user", "system"})


def pair(entries: list[Entry], *, joins_roles: bool) -> Pairing:
    """Pair the calls and results of `entries`, in one pass over them.

    `joins_roles` says whether neighbours of one role are one turn for the target.
    """
    pairing = Pairing()
    turn, run_open, role, last, exchange = -1, False, "", -1, 0
    for index, entry in enumerate(entries):
        place = int(entry.origin.at[0])
        adjacent = place in (last, last + 1)
        last = place
        exchange += entry.role in _SPEAKERS
        if entry.role == "assistant":
            if not (joins_roles and role == "assistant" and adjacent):
                turn = index
            run_open = True
        elif entry.role == "system" or not adjacent:
            run_open = False
        role = entry.role
        for item in entry.items:
            if isinstance(item, Result):
                inside = run_open and (role != "assistant" or item.executor == "provider")
                pairing.result(Answer(item, index, turn if inside else -1, exchange))
            elif isinstance(item, ToolPart):
                pairing.call(item, index, turn, exchange)
            elif role == "user":
                run_open = False
    pairing.finish()
    return pairing

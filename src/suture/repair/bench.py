"""The workbench that the rules share: the target's demands, the caller's policies, and the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Literal

from suture.repair.report import Finding, Repair
from suture.transcript import Contract, Limits, Part, ToolPart

__all__ = ["Bench", "render_path"]

At = tuple[int | str, ...]


def render_path(at: At, root: str = "messages") -> str:
    """The readable form of a path: `messages[3].content[0]`."""
    return root + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at)


class Bench:
    """What one repair knows and reports.

    A rule says what it found with `report`, which answers whether the rule is one of the target's: only then may the
    rule change anything. So a finding and its repair are one act, and `check` cannot disagree with `repair`.
    """

    def __init__(
        self,
        *,
        limits: Limits,
        contracts: Mapping[str, Contract],
        codes: Mapping[str, str],
        request: dict[str, Any],
        length: int,
        root: str = "messages",
        on_interrupted: Callable[[ToolPart], Part] | None = None,
        open_calls: Literal["settle", "keep"] = "settle",
        orphans: Literal["rebuild", "drop", "text"] = "rebuild",
        at_start: bool = True,
        at_end: bool = True,
        users_turn: bool = False,
        spoken_between: Callable[[int, int, frozenset[str]], bool] = lambda _start, _stop, _roles: False,
        calls: Callable[[], Iterable[ToolPart]] = tuple,
    ) -> None:
        """`codes` maps a rule's name to its code; `length` counts the wire messages of the whole history.

        `at_start` and `at_end` say whether the broken stretches reach the start and the end of the history,
        `users_turn` whether its last message was the user's or a tool's, so that the model is to speak next.
        `spoken_between` tells whether a message of one of these roles is among those from a start to before a stop,
        `calls` gives every call of the whole history, as it was read.
        """
        self.limits = limits
        self.contracts = contracts
        self.codes = codes
        self.request = request
        self.length = length
        self.root = root
        self.on_interrupted = on_interrupted
        self.open_calls = open_calls
        self.orphans = orphans
        self.at_start = at_start
        self.at_end = at_end
        self.users_turn = users_turn
        self.spoken_between: Callable[[int, int, frozenset[str]], bool] = spoken_between
        self._calls = calls
        self.repairs: list[tuple[int, Repair]] = []

    @cached_property
    def calls(self) -> list[ToolPart]:
        """Every call of the whole history, as it was read. Read only when one has to be told from another."""
        return list(self._calls())

    def applies(self, rule: str) -> bool:
        """Whether the target has this rule."""
        return rule in self.contracts

    def report(
        self, rule: str, at: At, message: str, action: str, *, call_id: str | None = None, lost: str | None = None
    ) -> bool:
        """Record one finding and what is done about it; False where the target does not have the rule."""
        contract = self.contracts.get(rule)
        if contract is None:
            return False
        finding = Finding(
            code=self.codes[rule],
            rule=rule,
            path=render_path(at, self.root),
            call_id=call_id,
            message=message,
            confidence=contract.confidence,
            contract=contract.id,
        )
        where = at[0] if at and isinstance(at[0], int) else 0
        self.repairs.append((where, Repair(finding=finding, action=action, lost=lost)))
        return True

    def ordered(self) -> list[Repair]:
        """The report in the order of the messages."""
        self.repairs.sort(key=lambda pair: pair[0])
        return [repair for _, repair in self.repairs]

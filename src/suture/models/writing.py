"""Conversations as the messages of a request, in bytes: what was written once is kept, and not written again.

A conversation is written in stretches that begin with a user's message. Each passes the repair pipeline of its target
by itself: pairs, and whatever else a rule looks at, lie within a turn, and ids are unique in a session.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from suture.pipeline import Policies, run
from suture.repair.report import Repair
from suture.transcript import Message
from suture.transcript.listing import Listing, Piece
from suture.wire.base import Adapter
from suture.wire.outgoing import outgoing

__all__ = ["Writer"]

_LOG = logging.getLogger("suture.models")

_KEPT_BYTES: Final = 256_000_000
_KEPT_MESSAGES: Final = 8_192


class _Stretch(msgspec.Struct):
    """A stretch that was written."""

    pieces: list[Piece]
    """Kept so that nothing else gets their identity."""
    data: bytes


class Writer:
    """Writes the messages of requests to one model, with the same settings."""

    def __init__(self, adapter: Adapter, settings: Mapping[str, Any], model: str) -> None:
        """Nothing was written yet.

        Args:
            adapter: The format.
            settings: What the pipeline is told of the request.
            model: The model as steps name it: reasoning goes back to it alone.
        """
        self._adapter = adapter
        self._settings = dict(settings)
        self._model = model
        self._stretches: OrderedDict[tuple[Any, ...], _Stretch] = OrderedDict()
        self._size = 0
        self._messages: dict[int, tuple[Message, list[Any]]] = {}

    def write(self, messages: Sequence[Message], opening: list[Any]) -> list[bytes]:
        """The list of messages as JSON, behind the messages that open it, in pieces that follow one another."""
        if not isinstance(messages, Listing):
            return [msgspec.json.encode(self._sound([*opening, *self._wire(messages)], last=True))]
        stretches = list(messages.stretches())
        written: list[bytes] = []
        for number, pieces in enumerate(stretches):
            first, last = number == 0, number == len(stretches) - 1
            written.append(self._stretch(pieces, opening if first else [], last=last))
        if not stretches:
            written.append(_inner(self._sound(opening, last=True)))
        parts = [b"["]
        for data in filter(None, written):
            parts += [data, b","]
        return [*parts[: max(len(parts) - 1, 1)], b"]"]

    def strictly(self, messages: Sequence[Message], opening: list[Any]) -> tuple[list[bytes], list[Repair]]:
        """The same, every message read in full, and what had to be mended: for a list that was refused."""
        wire = [*opening, *self._wire(messages)]
        done = run(wire, self._adapter, dict(self._settings), Policies(), suspects=set(range(len(wire))))
        return [msgspec.json.encode(done.messages)], done.repairs

    # --- stretches --------------------------------------------------------------------------------------------------

    def _stretch(self, pieces: list[Piece], opening: list[Any], *, last: bool) -> bytes:
        """One stretch; all but the last stay what they are."""
        if last:
            messages = [message for chunk, start, stop in pieces for message in chunk[start:stop]]
            return _inner(self._sound([*opening, *self._wire(messages)], last=True))
        key = (*((id(chunk), start, stop) for chunk, start, stop in pieces), msgspec.json.encode(opening))
        found = self._stretches.get(key)
        if found is None:
            messages = [message for chunk, start, stop in pieces for message in chunk[start:stop]]
            data = _inner(self._sound([*opening, *self._wire(messages)], last=False))
            found = self._stretches[key] = _Stretch(pieces, data)
            self._size += len(data)
            while self._size > _KEPT_BYTES and len(self._stretches) > 1:
                _, dropped = self._stretches.popitem(last=False)
                self._size -= len(dropped.data)
        else:
            self._stretches.move_to_end(key)
        return found.data

    def _sound(self, wire: list[Any], *, last: bool) -> list[Any]:
        """The messages as the pipeline passes them on; there is nothing to mend unless our own repair has a gap."""
        settings = self._settings if last else {**self._settings, "next_role": "user"}
        done = run(wire, self._adapter, dict(settings), Policies())
        for repair in done.repairs:
            _LOG.warning("a request had to be mended: %s: %s", repair.finding.rule, repair.finding.message)
        mended: list[Any] = done.messages
        return mended

    # --- messages ---------------------------------------------------------------------------------------------------

    def _wire(self, messages: Sequence[Message]) -> list[Any]:
        wire: list[Any] = []
        for message in messages:
            known = self._messages.get(id(message))
            if known is None:
                known = message, outgoing([message], self._adapter, self._settings, model=self._model)
                if len(self._messages) >= _KEPT_MESSAGES:
                    del self._messages[next(iter(self._messages))]
                self._messages[id(message)] = known
            wire += known[1]
        return wire


def _inner(items: list[Any]) -> bytes:
    """The items of a list as JSON, without its brackets."""
    return msgspec.json.encode(items)[1:-1]

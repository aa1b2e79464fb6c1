"""From the pieces of an answer to the parts that are recorded."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import msgspec

from suture.models.base import CallPiece, Finish, Piece, ReasoningPiece, TextPiece, Usage
from suture.transcript import CAUSES, Part, ReasoningPart, TextPart, ToolPart
from suture.transcript.codec import loads, plain, plain_json

__all__ = ["Answer"]


class _Call(msgspec.Struct):
    call_id: str = ""
    name: str = ""
    executor: str = "host"
    arguments: str = ""


class Answer:
    """An answer as it grows. First come, first placed: parts keep the order in which their first pieces came."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self.pieces: list[list[str] | ReasoningPiece | _Call] = []
        self.usage: dict[str, int] = {}
        self.finish: Finish | None = None
        self._calls: dict[int, _Call] = {}

    def add(self, piece: Piece) -> None:
        """Take in one more piece."""
        match piece:
            case TextPiece(text):
                if not (self.pieces and isinstance(self.pieces[-1], list)):
                    self.pieces.append([])
                self.pieces[-1].append(text)  # type: ignore[union-attr]
            case ReasoningPiece():
                self._add_reasoning(piece)
            case CallPiece():
                self._add_call(piece)
            case Usage(tokens):
                self.usage |= tokens
            case Finish():
                self.finish = piece

    def _add_reasoning(self, piece: ReasoningPiece) -> None:
        last = self.pieces[-1] if self.pieces else None
        if isinstance(last, ReasoningPiece) and last.payload is None:
            self.pieces[-1] = ReasoningPiece(last.text + piece.text, piece.payload, piece.item_id or last.item_id)
        else:
            self.pieces.append(piece)

    def _add_call(self, piece: CallPiece) -> None:
        call = self._calls.get(piece.index)
        if call is None:
            call = self._calls[piece.index] = _Call(executor=piece.executor)
            self.pieces.append(call)
        call.call_id = call.call_id or piece.call_id
        call.name = call.name or piece.name
        call.arguments += piece.arguments

    def parts(self, *, new_id: Callable[[], str], taken: Callable[[str], bool], clients: Collection[str]) -> list[Part]:
        """What is to be recorded.

        A call whose arguments are no JSON object is settled at once: it says that it was not run. An id that is
        missing, or that another call of the session has, is replaced by a new one.

        Args:
            new_id: Makes an id that no call has.
            taken: Whether a call of the session has an id.
            clients: The names of the tools that a client runs.
        """
        model = self.finish.model if self.finish else ""
        parts: list[Part] = []
        ids: set[str] = set()
        for piece in self.pieces:
            if isinstance(piece, list):
                parts.append(TextPart(plain("".join(piece))))
            elif isinstance(piece, ReasoningPiece):
                bound = model or None if piece.payload is not None else None
                parts.append(ReasoningPart(plain(piece.text), piece.payload, bound, item_id=piece.item_id))
            else:
                if not piece.call_id or piece.call_id in ids or taken(piece.call_id):
                    piece.call_id = new_id()
                ids.add(piece.call_id)
                parts.append(_call_part(piece, clients))
        return [part for part in parts if not (isinstance(part, TextPart) and not part.text)]


def _call_part(call: _Call, clients: Collection[str]) -> ToolPart:
    value = _object(call.arguments)
    executor = "client" if call.name in clients else call.executor
    if value is None:
        raw = {"_raw": plain(call.arguments)}
        return ToolPart(call_id=call.call_id, name=call.name, input=raw, executor=executor, cause="malformed").settle(
            CAUSES["malformed"]
        )
    cause: Any = "awaiting_client" if executor == "client" else "not_started"
    return ToolPart(call_id=call.call_id, name=call.name, input=value, executor=executor, cause=cause)


def _object(text: str) -> dict[str, Any] | None:
    """Arguments as an object: nothing at all is an empty one; None where they are something else."""
    if not text.strip():
        return {}
    try:
        value = loads(text, finite=True)
    except ValueError:
        return None
    return plain_json(value) if isinstance(value, dict) else None

"""From the pieces of an answer to the parts that are recorded."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import msgspec

from suture.models.base import CallPiece, Finish, Piece, ReasoningPiece, Remark, TextPiece, Usage
from suture.transcript import CAUSES, DataPart, Part, ReasoningPart, TextPart, ToolPart
from suture.transcript.codec import loads, plain, plain_json

__all__ = ["Answer"]


class _Call(msgspec.Struct):
    call_id: str = ""
    name: str = ""
    executor: str = "host"
    arguments: str = ""


class Answer:
    """An answer as it grows. First come, first placed: parts keep the order in which their first pieces came."""

    def __init__(self, new_id: Callable[[], str], taken: Callable[[str], bool]) -> None:
        """Nothing was said yet.

        Args:
            new_id: Makes an id that no call has.
            taken: Whether a call of the session has an id.
        """
        self._new_id = new_id
        self._taken = taken
        self.pieces: list[list[str] | ReasoningPiece | _Call] = []
        self.usage: dict[str, int] = {}
        self.finish: Finish | None = None
        self._calls: dict[int, _Call] = {}
        self._ids: set[str] = set()

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
            case Remark():
                pass

    def _add_reasoning(self, piece: ReasoningPiece) -> None:
        last = self.pieces[-1] if self.pieces else None
        if isinstance(last, ReasoningPiece) and last.payload is None:
            self.pieces[-1] = ReasoningPiece(
                last.text + piece.text, piece.payload, piece.key or last.key, piece.item_id or last.item_id
            )
        else:
            self.pieces.append(piece)

    def _add_call(self, piece: CallPiece) -> None:
        call = self._calls.get(piece.index)
        if call is None:
            call = self._calls[piece.index] = _Call(self._id(piece.call_id), executor=piece.executor)
            self.pieces.append(call)
        call.name = call.name or piece.name
        call.arguments += piece.arguments

    def _id(self, given: str) -> str:
        """The id of a new call: one that is missing, or that another call of the session has, is replaced."""
        call = given if given and given not in self._ids and not self._taken(given) else self._new_id()
        self._ids.add(call)
        return call

    def call(self, index: int) -> tuple[str, str]:
        """The id and the name of the call of an index."""
        call = self._calls[index]
        return call.call_id, call.name

    def named(self, call_id: str) -> str | None:
        """The name of the tool that a call of this id is for; None where there is no such call."""
        return next((call.name for call in self._calls.values() if call.call_id == call_id), None)

    def parts(self, clients: Collection[str]) -> list[Part]:
        """What is to be recorded. A call whose arguments are no JSON object is settled at once, as not run.

        A call that the provider ran itself is for readers: nobody here has to answer it, and it is not sent back.

        Args:
            clients: The names of the tools that a client runs.
        """
        model = self.finish.model if self.finish else ""
        parts: list[Part] = []
        for piece in self.pieces:
            if isinstance(piece, list):
                parts.append(TextPart(plain("".join(piece))))
            elif isinstance(piece, ReasoningPiece):
                parts.append(ReasoningPart(plain(piece.text), piece.payload, model or None, piece.key, piece.item_id))
            elif piece.executor == "provider":
                parts.append(DataPart("provider-call", {"name": piece.name, "arguments": plain(piece.arguments)}))
            else:
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

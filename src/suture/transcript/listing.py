"""A long list of messages of which each state can be kept: taking one costs nothing like a copy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, TypeAlias, overload

from suture.transcript.messages import Message

__all__ = ["Listing", "Piece"]

_CHUNK: Final = 512

Piece: TypeAlias = tuple[tuple[Message, ...], int, int]
"""Some messages of a chunk: from one place in it to another."""


class Listing(Sequence[Message]):  # noqa: PLW1641 - messages hold what has no hash
    """Messages in order; never changed. What is added or replaced makes another one, which shares nearly all of it."""

    __slots__ = ("_chunks", "_count")

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        """These messages."""
        whole = list(messages)
        self._chunks: tuple[tuple[Message, ...], ...] = tuple(
            tuple(whole[start : start + _CHUNK]) for start in range(0, len(whole), _CHUNK)
        )
        self._count: int = len(whole)

    def added(self, message: Message) -> Listing:
        """These messages and one more."""
        last = self._chunks[-1] if self._chunks else ()
        if len(last) < _CHUNK:
            return self._made((*self._chunks[:-1], (*last, message)), self._count + 1)
        return self._made((*self._chunks, (message,)), self._count + 1)

    def replaced(self, place: int, message: Message) -> Listing:
        """These messages, another one at a place, counted from 0."""
        number, inside = divmod(place, _CHUNK)
        chunk = self._chunks[number]
        chunk = (*chunk[:inside], message, *chunk[inside + 1 :])
        return self._made((*self._chunks[:number], chunk, *self._chunks[number + 1 :]), self._count)

    def stretches(self) -> Iterator[list[Piece]]:
        """The messages in stretches of a few hundred; each but the first begins with a user's message.

        What did not change is made of the same chunks in every state of the list, so that its pieces tell it apart.
        """
        stretch: list[Piece] = []
        for chunk in self._chunks:
            start = next((at for at, message in enumerate(chunk) if message.role == "user"), len(chunk))
            if start:
                stretch.append((chunk, 0, start))
            if start < len(chunk):
                if stretch:
                    yield stretch
                stretch = [(chunk, start, len(chunk))]
        if stretch:
            yield stretch

    def _made(self, chunks: tuple[tuple[Message, ...], ...], count: int) -> Listing:
        made = Listing()
        made._chunks, made._count = chunks, count
        return made

    def __len__(self) -> int:
        """How many there are."""
        return self._count

    def __iter__(self) -> Iterator[Message]:
        """One after another."""
        return chain.from_iterable(self._chunks)

    @overload
    def __getitem__(self, place: int) -> Message: ...
    @overload
    def __getitem__(self, place: slice) -> list[Message]: ...
    def __getitem__(self, place: int | slice) -> Message | list[Message]:
        """One message, or some as a list.

        Raises:
            IndexError: there is none at this place.
        """
        if isinstance(place, slice):
            return list(self)[place]
        at = place + self._count if place < 0 else place
        if not 0 <= at < self._count:
            raise IndexError(place)
        return self._chunks[at // _CHUNK][at % _CHUNK]

    def __eq__(self, other: object) -> bool:
        """Whether another sequence holds the same messages."""
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def __repr__(self) -> str:
        """The messages, as a list shows them."""
        return f"Listing({list(self)!r})"

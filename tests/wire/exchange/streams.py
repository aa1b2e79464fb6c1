"""The streams under `tests/streams`: a folder for each format; beside each file one with the pieces that it holds.

`.sse` is an event stream, `.body` an answer that is none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from suture.transcript.deltas import Failure, Piece
from suture.wire.exchange import EXCHANGES

__all__ = ["STREAMS", "decoded", "expected", "name_of", "plain"]

FOLDER = Path(__file__).parents[2] / "streams"

STREAMS = sorted(path for path in FOLDER.rglob("*") if path.suffix in {".sse", ".body"})
"""Every recorded answer."""


def name_of(path: Path) -> str:
    """A stream's name in a test report: its format and its file."""
    return f"{path.parent.name}/{path.name}"


def expected(path: Path) -> list[Any]:
    """The pieces that a stream holds, as plain values."""
    pieces: list[Any] = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    return pieces


def decoded(path: Path, chunks: Iterable[bytes]) -> list[Piece | Failure]:
    """The pieces that the decoder of a stream's format finds in these bytes."""
    decoder = EXCHANGES[path.parent.name].Decoder()
    pieces = [piece for chunk in chunks for piece in decoder.feed(chunk)]
    return pieces + decoder.end()


def plain(pieces: Iterable[Piece | Failure]) -> list[Any]:
    """Pieces as plain values."""
    return [msgspec.to_builtins(piece) for piece in pieces]

"""What is said to a provider and what it answers: one file a format, all of one shape (`suture.wire.exchange.base`)."""

from __future__ import annotations

from typing import Final

from suture.wire.exchange import anthropic, openai_chat, openai_responses
from suture.wire.exchange.base import Exchange, StreamDecoder

__all__ = ["EXCHANGES", "Exchange", "StreamDecoder"]

EXCHANGES: Final[dict[str, Exchange]] = {
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "anthropic": anthropic,
}
"""The exchanges by their formats' names."""

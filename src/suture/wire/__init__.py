"""The formats that Suture reads and writes: one file each, all of one shape (`suture.wire.base.Adapter`)."""

from __future__ import annotations

from typing import Final

from suture.wire import ai_sdk_ui, anthropic, openai_chat, openai_responses
from suture.wire.base import Adapter, Request
from suture.wire.profiles import PROFILES, SURFACES

__all__ = ["ADAPTERS", "PROFILES", "resolve"]

ADAPTERS: Final[dict[str, Adapter]] = {
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "anthropic": anthropic,
    "ai_sdk_ui": ai_sdk_ui,
}


def resolve(name: str, request: Request) -> Adapter | None:
    """The adapter of a format or profile; None where there is none of that name.

    A host may speak more than one format: `surface` in the request says which.
    """
    return SURFACES.get((name, str(request.get("surface")))) or ADAPTERS.get(name) or PROFILES.get(name)

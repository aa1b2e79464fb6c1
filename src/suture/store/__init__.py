"""Durable sessions: one interface, one file for each kind of store."""

from __future__ import annotations

from suture.errors import StoreError
from suture.store.base import LEASE, Lease, Loaded, Recorded, SessionInfo, Store

__all__ = ["LEASE", "Lease", "Loaded", "Recorded", "SessionInfo", "Store", "open_store"]

_KINDS = {
    "memory": ("suture.store.memory", "MemoryStore"),
    "sqlite": ("suture.store.sqlite", "SqliteStore"),
    "jsonl": ("suture.store.jsonl", "JsonlStore"),
}
"""Where each kind of store is, by the scheme of its URL."""


def open_store(url: str) -> Store:
    """The store at `memory:`, `sqlite:FILE` or `jsonl:FOLDER`; files and folders that are not there are made.

    Raises:
        StoreError: there is no such kind of store, or it cannot be opened.
    """
    import importlib  # noqa: PLC0415 - a store is loaded when it is opened

    scheme, colon, place = url.partition(":")
    if not colon or scheme not in _KINDS or bool(place) == (scheme == "memory"):
        raise StoreError(url, "not a store; expected memory:, sqlite:FILE or jsonl:FOLDER")
    module, name = _KINDS[scheme]
    kind = getattr(importlib.import_module(module), name)
    store: Store = kind(place) if place else kind()
    return store

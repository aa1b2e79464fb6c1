"""The session files that agents leave on disk."""

from __future__ import annotations

"""The public API is what `api.json` says: nothing changes by accident."""

from __future__ import annotations

import json

from tests.project.api import FROZEN, describe


def test_the_public_api_is_the_frozen_one() -> None:
    """Where the change is meant: run `python -m tests.project.api`, and say it in CHANGELOG.md."""
    assert json.loads(FROZEN.read_text(encoding="utf-8")) == describe()

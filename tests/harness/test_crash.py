"""The crash matrix: scenarios and stores, killed at every crossing of every port, and gone on from what is left."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from suture.harness import Session
from suture.store import open_store
from suture.testing import Report, crash_matrix
from suture.testing.crash import Crash, aftermath, attempt
from tests.harness.scenarios import SCENARIOS, playing

pytestmark = pytest.mark.anyio

STORES = ("memory", "sqlite", "jsonl")


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("name", SCENARIOS)
async def test_killed_anywhere_it_goes_on(name: str, kind: str, tmp_path: Path) -> None:
    """Every promise holds after a kill at every crossing."""
    make, scenario, least = SCENARIOS[name]
    numbers = itertools.count()
    report: Report = await crash_matrix(
        make,
        scenario,
        store=lambda: open_store("memory:" if kind == "memory" else f"{kind}:{tmp_path / str(next(numbers))}"),
    )

    assert [] == report.broken
    assert len(report.crossings) >= least


KILLS = ("three parallel", "approval", "client tool", "two steps")
"""The scenarios whose every crossing ends a real process: more than 200 together."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX processes")
@pytest.mark.parametrize("kind", STORES[1:])
def test_killed_for_real_it_goes_on(kind: str, tmp_path: Path) -> None:
    """SIGKILL at every crossing of four scenarios: what is on disk keeps every promise."""
    kills = 0
    for name in KILLS:
        make, _, _ = SCENARIOS[name]
        folder = tmp_path / name.replace(" ", "-")
        folder.mkdir()
        url, log = f"{kind}:{folder}/", f"{folder}/runs-"
        crossings = len(asyncio.run(_crossings(name)))
        command = [sys.executable, "-m", "tests.harness.victims", name, url, log, *map(str, range(crossings))]
        ended = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
        codes = [int(line.split()[1]) for line in ended.stdout.splitlines()]
        assert [-signal.SIGKILL] * crossings == codes, ended.stderr
        kills += crossings
        for at in range(crossings):
            assert [] == asyncio.run(_left(make, f"{url}{at}", _ran(Path(f"{log}{at}")))), (name, at)
    assert kills >= 200


def _ran(log: Path) -> Counter[str]:
    return Counter(log.read_text().split() if log.exists() else [])


async def _crossings(name: str) -> list[str]:
    make, scenario, _ = SCENARIOS[name]
    crash = Crash()
    await attempt(make, scenario, open_store("memory:"), "crash", crash=crash, runs=Counter())
    return crash.crossings


async def _left(make: Any, url: str, runs: Counter[str]) -> list[str]:
    store = open_store(url)
    try:
        return await aftermath(make, store, "crash", "go on", runs=runs)
    finally:
        await store.close()


async def test_a_scenario_that_fails_by_itself_is_no_crash() -> None:
    """Its error comes out."""

    async def wrong(_: Session) -> None:
        raise KeyError("typo")

    with pytest.raises(KeyError, match="typo"):
        await crash_matrix(playing("x"), wrong, store=lambda: open_store("memory:"))


MUTANTS: dict[str, tuple[str, str, Any, str]] = {
    "a tool that may run once is run again": ("suture.harness.healing", "_SERVER", {"error": "run"}, "may run once"),
    "nothing is healed": ("suture.harness.turn", "heal", None, "would refuse the request"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
async def test_the_matrix_sees_what_is_wrong(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no promise if nothing can break it."""
    import importlib

    from suture.harness.healing import Healing

    module, attribute, value, expected = MUTANTS[mutant]
    home = importlib.import_module(module)
    if isinstance(value, dict):
        monkeypatch.setattr(home, attribute, {**getattr(home, attribute), **value})
    else:
        monkeypatch.setattr(home, attribute, lambda *_, **__: Healing())
        monkeypatch.setattr("suture.harness.asking.stubbed", lambda message: message)
    make, scenario, _ = SCENARIOS["one tool"]
    report = await crash_matrix(make, scenario, store=lambda: open_store("memory:"))

    assert any(expected in broken for broken in report.broken)

"""The npm package `ai`, run by Node, as the judge of `ai_sdk_ui`.

It is installed on first use, beside this file, in a folder that git ignores. Where Node or npm is missing, or nothing
can be installed, `available()` is false and `missing()` says why; `require()` then skips a test, with a warning, so
that a run without this judge does not look like one with it.
"""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent
# npm writes this file last, so a half-finished install is not taken for a whole one.
INSTALLED = FOLDER / "node_modules" / ".package-lock.json"
OLDEST_NODE = 18


class JudgeMissingWarning(pytest.PytestWarning):
    """A judge could not be asked, so the tests that need it were skipped."""


def available() -> bool:
    """Whether the AI SDK can be asked; installs it on first use."""
    return missing() is None


@functools.cache
def missing() -> str | None:
    """Say what keeps the AI SDK from being asked; None when nothing does."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return "node or npm is not installed"
    version = _run([node, "--version"]).stdout.strip()
    if not version.startswith("v") or int(version[1:].split(".")[0]) < OLDEST_NODE:
        return f"node {version} is older than {OLDEST_NODE}"
    if INSTALLED.exists():
        return None
    done = _run([npm, "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"])
    return None if done.returncode == 0 and INSTALLED.exists() else f"npm install failed: {done.stderr.strip()[-300:]}"


def require() -> None:
    """Skip the calling test when the judge is missing, loudly."""
    reason = missing()
    if reason is None:
        return
    message = f"the AI SDK was not asked: {reason}"
    with warnings.catch_warnings():
        # A project that makes warnings errors still wants a skip here, and the warning in the summary.
        warnings.simplefilter("always", JudgeMissingWarning)
        warnings.warn(message, JudgeMissingWarning, stacklevel=2)
    pytest.skip(message)


def ai_errors(lists: Sequence[Sequence[Any]]) -> list[str | None]:
    """Ask the AI SDK about many histories at once, in one process.

    Args:
        lists: histories of UIMessages.

    Returns:
        For each history the SDK's error, or None where a model could be called with it.

    Raises:
        RuntimeError: Node itself failed.
    """
    node = shutil.which("node") or "node"
    done = _run([node, "judge.mjs"], json.dumps(lists))
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    answer: list[str | None] = json.loads(done.stdout)
    return answer


def _run(command: list[str], sent: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in the judge's folder."""
    return subprocess.run(
        command, cwd=FOLDER, input=sent, capture_output=True, text=True, encoding="utf-8", check=False
    )

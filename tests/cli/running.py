"""Runs `suture` as a person would, for tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from suture.cli.group import cli

__all__ = ["EXAMPLES", "HEALTHY", "OPEN", "ROOT", "SESSIONS", "program", "save", "suture", "suture_json"]

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
SESSIONS = ROOT / "tests" / "cases" / "sessions"

OPEN: list[dict[str, Any]] = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "run", "input": {}}]},
    {"role": "user", "content": "are you there?"},
]
"""A history with a call that has no result."""

HEALTHY: list[dict[str, Any]] = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "Gone."}]
"""A history with nothing wrong."""


def suture(*arguments: str | Path, given: bytes | None = None, code: int = 0) -> Result:
    """Run the command in this process; it has to end with the exit code."""
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments], input=given, prog_name="suture")
    assert done.exit_code == code, done.output
    assert "a defect of Suture" not in done.stderr
    return done


def suture_json(*arguments: str | Path, given: bytes | None = None, code: int = 0) -> Any:
    """Run the command with `--json`; gives back the document on standard output."""
    return json.loads(suture(*arguments, "--json", given=given, code=code).stdout)


def program(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run the installed program."""
    script = Path(sys.executable).with_name("suture")
    environment = {**os.environ, "PYTHONUTF8": "1", **options.pop("environment", {})}
    return subprocess.run(
        [script, *arguments], env=environment, capture_output=True, check=False, timeout=60, **options
    )


def save(path: Path, messages: Any, **body: Any) -> Path:
    """Write messages, or a request's body that holds them."""
    value: Mapping[str, Any] | Any = {**body, "messages": messages} if body else messages
    path.write_text(json.dumps(value), encoding="utf-8")
    return path

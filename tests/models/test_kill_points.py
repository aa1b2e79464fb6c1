"""Real processes, killed at four points of a turn with two tools, over three wires, on two stores."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from suture.testing import Answer, ContractServer
from suture.transcript import Message, ToolPart
from tests.models.test_crash_http import playing
from tests.models.test_remote import NAMES
from tests.models.victim import POINTS, made

DONE = {
    "before any tool": [False, False],
    "in the first tool": [False, False],
    "between the tools": [True, False],
    "after both": [True, True],
}
"""Which of the two calls had its result recorded when the process died."""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("point", POINTS)
def test_killed_and_tried_again(point: str, name: str, store: str, tmp_path: Path) -> None:
    """Two more messages are answered; settled results stay; nothing with an effect ran twice, and that is said."""
    log, url = tmp_path / "log", f"{store}:{tmp_path / 'chats'}"
    with ContractServer(script=playing([Answer(calls=[("first", {}), ("second", {})])])) as server:
        command = [sys.executable, "-m", "tests.models.victim", name, server.url, url, str(log), point]
        killed = subprocess.run(command, check=False, capture_output=True, timeout=60)
        assert -signal.SIGKILL == killed.returncode, killed.stderr.decode()
        ran = log.read_text().split() if log.exists() else []

        agent = made(name, server.url, url, log)
        session = agent.session("s")
        replies = [session.run_sync(text) for text in ("go on: try again", "go on: thanks")]
        calls = _calls(session.messages)

    assert ["completed", "completed"] == [reply.outcome for reply in replies]
    assert {200} == {request.status for request in server.requests}
    assert DONE[point] == [not call.synthetic for call in calls]
    assert ["first done", "second done"][: sum(DONE[point])] == [call.output for call in calls if not call.synthetic]
    for call in calls:
        if call.synthetic:
            expected = "may have taken effect" if call.name in ran else "did not run"
            assert expected in call.output
    assert ran == (log.read_text().split() if log.exists() else [])


def _calls(messages: list[Message]) -> list[ToolPart]:
    return [part for message in messages for part in message.parts if isinstance(part, ToolPart)]

"""An agent over HTTP that kills itself at one point: `python -m tests.models.victim MODEL URL STORE LOG POINT`.

Its two tools run one after another, and each leaves a line in the log when it has taken effect.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from suture import Agent, model, tool
from suture.harness.hooks import StepContext
from suture.harness.tools import AnyTool
from suture.transcript import ToolPart

__all__ = ["POINTS", "made", "tools"]

POINTS = ("before any tool", "in the first tool", "between the tools", "after both")


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def tools(log: Path, point: str = "") -> list[AnyTool]:
    """The tools, the first of which may be the end."""

    @tool(effect="once", parallel=False)
    def first() -> str:
        """Do the first thing."""
        with log.open("a") as file:
            file.write("first\n")
        if point == "in the first tool":
            _die()
        return "first done"

    @tool(effect="once", parallel=False)
    def second() -> str:
        """Do the second thing."""
        with log.open("a") as file:
            file.write("second\n")
        return "second done"

    return [first, second]


def made(name: str, url: str, store: str, log: Path, point: str = "") -> Agent:
    """The agent; without a point it lives."""

    class Victim(Agent):
        def before_tool_call(self, part: ToolPart) -> None:
            if (point, part.name) in (("before any tool", "first"), ("between the tools", "second")):
                _die()

        def before_step(self, context: StepContext) -> None:
            if point == "after both" and context.number == 2:
                _die()

    return Victim(model=model(name, base_url=url, api_key="k"), tools=tools(log, point), store=store)


def main(name: str, url: str, store: str, log: str, point: str) -> Any:
    """One turn, which does not come to its end."""
    return made(name, url, store, Path(log), point).session("s").run_sync("do both")


if __name__ == "__main__":
    main(*sys.argv[1:])

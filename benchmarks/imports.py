"""How long `import suture` takes, and the first repair: the shortest of several runs, each in a new interpreter.

uv run python -m benchmarks.imports
"""

from __future__ import annotations

import subprocess
import sys

LIMIT = 40
"""Milliseconds for `import suture`."""
ROUNDS = 20
_CLOCK = "import time; start = time.perf_counter(); {}; print((time.perf_counter() - start) * 1000)"
STATEMENTS = {
    "import suture": "import suture",
    "import suture, check an empty list": "import suture; suture.check([], 'anthropic')",
}


def milliseconds(statement: str) -> float:
    """The shortest time that a new interpreter takes for a statement."""
    command = [sys.executable, "-c", _CLOCK.format(statement)]
    runs = (subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(ROUNDS))
    return min(float(run.stdout) for run in runs)


def main() -> int:
    """Print the figures; 1 where the import is over its limit."""
    times = {name: milliseconds(statement) for name, statement in STATEMENTS.items()}
    for name, time in times.items():
        print(f"{name}: {time:.1f} ms")
    return times["import suture"] > LIMIT


if __name__ == "__main__":
    sys.exit(main())

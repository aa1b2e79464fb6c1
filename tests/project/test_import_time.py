"""`import suture` costs nothing, and a repair loads no more than it needs.

Not a stopwatch: what is loaded is listed, in a fresh interpreter, and compared with what may be.
"""

from __future__ import annotations

import json
import subprocess
import sys

LAZY = frozenset({"__future__", "suture"})
"""All that `import suture` may load."""

NEVER = frozenset(
    {
        "anthropic",
        "apsw",
        "asyncio",
        "click",
        "ctypes",
        "decimal",
        "email",
        "http",
        "importlib.metadata",
        "inspect",
        "logging",
        "multiprocessing",
        "openai",
        "pydantic",
        "rich",
        "socket",
        "sqlite3",
        "ssl",
        "subprocess",
        "tempfile",
        "unittest",
        "urllib.request",
    }
)
"""What no check and no repair of plain messages loads."""


def loaded(statement: str, *, after: str = "pass") -> list[str]:
    """The modules that `statement` loads in a fresh, isolated interpreter where `after` ran already."""
    program = (
        "import json, sys\n"
        f"{after}\n"
        "before = set(sys.modules)\n"
        f"{statement}\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], check=True, capture_output=True, text=True)
    names: list[str] = json.loads(done.stdout)
    return names


def test_importing_the_package_loads_nothing_else() -> None:
    """Every public name is loaded on first use, so the import is one small file."""
    assert set() == set(loaded("import suture")) - LAZY


def test_the_version_is_read_only_when_asked_for() -> None:
    """The installed distribution's metadata is slow to read, and few ask for it."""
    assert "importlib.metadata" not in loaded("import suture")
    assert "importlib.metadata" in loaded("import suture; suture.__version__")


def test_a_check_and_a_repair_load_only_the_core() -> None:
    """Neither the command's libraries nor an SDK, and nothing that opens files or sockets."""
    statement = (
        "import suture\n"
        "call = {'type': 'tool_use', 'id': 'toolu_1', 'name': 'f', 'input': {}}\n"
        "history = [{'role': 'user', 'content': 'hi'}, {'role': 'assistant', 'content': [call]}]\n"
        "suture.check(history, 'anthropic')\n"
        "suture.repair(history, 'anthropic')"
    )

    # msgspec is the core's one dependency: what it loads by itself is its own affair.
    names = set(loaded(statement, after="import msgspec"))

    assert set() == names & NEVER
    assert set() == {name for name in names if name.split(".")[0] in {"click", "rich", "pydantic", "openai"}}
    assert set() == {name for name in names if name.startswith(("suture.cli", "suture.sessions"))}


def test_the_public_name_repair_is_the_function_in_any_order() -> None:
    """A submodule has that name too; whichever is loaded first, `suture.repair` stays the function."""
    orders = [
        "from suture import repair",
        "import suture.repair.report; from suture import repair",
        "from suture.repair.report import Finding; import suture; repair = suture.repair",
        "import suture; suture.repair; import suture.repair.report; from suture import repair",
        "import suture.pipeline; from suture import repair",
    ]
    for order in orders:
        program = f"{order}\nassert repair.__module__ == 'suture.pipeline', repair\nassert callable(repair), repair"
        subprocess.run([sys.executable, "-I", "-c", program], check=True)

"""The small parts of the contract server: its pieces and seals, what it imports, and its fixture."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.testing import ContractServer
from suture.testing.contract.script import pieces
from suture.testing.contract.seals import intact, seal
from tests.project.paths import SOURCE, imported_names, module_name, modules, parsed

FOLDER: Final = SOURCE / "testing" / "contract"
KNOWS_THE_FORMATS: Final = ("suture.repair", "suture.wire", "suture.pipeline", "suture.transcript")


@given(st.text())
def test_the_pieces_of_a_text_are_the_text(text: str) -> None:
    """Nothing is lost where a text is streamed, and no piece is empty."""
    assert text == "".join(pieces(text))
    assert all(pieces(text))


@given(st.text(), st.text())
def test_a_seal_shows_a_change(text: str, other: str) -> None:
    """A seal is intact over its text alone; one that somebody else made is let pass."""
    assert intact(seal(text))
    assert intact(seal(text), text)
    assert (text == other) == intact(seal(text), other)
    assert intact(other, text)


def test_a_broken_seal_is_seen() -> None:
    """One character more, or another one, is enough."""
    sealed = seal("what was thought")

    assert not intact(sealed[:-1])
    assert not intact(sealed[:30] + ("A" if sealed[30] != "A" else "B") + sealed[31:])


@pytest.mark.parametrize("path", [path for path in modules() if FOLDER in path.parents], ids=module_name)
def test_the_server_is_a_reading_of_its_own(path: Path) -> None:
    """It imports nothing of what the library knows about formats: each can prove the other wrong."""
    names = set(imported_names(parsed(path)))

    assert set() == {name for name in names if name.startswith(KNOWS_THE_FORMATS)}


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import suture.testing", ["suture.harness", "suture.testing.contract", "http"]),
        ("from suture.testing import ContractServer", ["suture.harness", "suture.wire", "suture.pipeline", "pytest"]),
        ("from suture.testing import crash_matrix", ["suture.testing.contract"]),
    ],
)
def test_only_what_is_used_is_loaded(statement: str, absent: list[str]) -> None:
    """The server needs no agent, and the agent's tests need no server."""
    program = f"import sys\n{statement}\nprint([name for name in {absent} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-I", "-c", program], check=True, capture_output=True, text=True)

    assert "[]" == done.stdout.strip()


def test_the_fixture_is_a_server_that_runs(contract_server: ContractServer) -> None:
    """It has an address, and echoes."""
    assert contract_server.url.startswith("http://127.0.0.1:")
    assert contract_server.script is None

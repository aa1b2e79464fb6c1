"""The fast look at UIMessages agrees with the AI SDK about every state, and misses nothing that a full look finds."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import suture
from suture import pipeline
from suture.errors import InputError
from suture.repair import foreign
from suture.repair.report import Repaired
from suture.transcript import CAUSES, PLACEHOLDERS
from suture.wire import ai_sdk_ui
from suture.wire.base import Adapter
from suture.wire.look import ai_sdk_ui as look
from tests.oracles import node
from tests.strategies import broken, histories
from tests.wire.cases import Case
from tests.wire.ui import CASES, FORMAT, TABLE, found, named, repaired, tool

# What the SDK takes, and a provider behind it does not, or what is lost on the way: found all the same.
SOFT = {
    "input-streaming",  # dropped by the conversion
    "preliminary",  # sent as if it were final
    "provider",  # an open call of the provider that is not going on
    "no input",
    "null input",
    "text input",
    "raw input",
    "no name",
}


@pytest.fixture(scope="module")
def verdicts() -> dict[str, str | None]:
    """What the SDK says of every row of the table."""
    node.require()
    return dict(zip(TABLE, node.ai_errors(list(TABLE.values())), strict=True))


def test_what_the_sdk_refuses_is_found(verdicts: dict[str, str | None]) -> None:
    """No state and no field that the SDK stumbles over goes unseen."""
    assert [] == [row for row, error in verdicts.items() if error and not found(TABLE[row])]


def test_what_the_sdk_takes_is_left_alone(verdicts: dict[str, str | None]) -> None:
    """Findings in what the SDK takes are those that are meant."""
    taken = [row for row, error in verdicts.items() if not error and SOFT.isdisjoint(row.split(", "))]

    assert len(taken) > 50
    assert {} == {row: rules for row in taken if (rules := found(TABLE[row]))}


def test_the_sdk_takes_every_repair() -> None:
    """Whatever the state and its fields were, the repair is sent."""
    node.require()
    errors = node.ai_errors([repaired(messages).messages for messages in TABLE.values()])

    assert {} == {row: error for row, error in zip(TABLE, errors, strict=True) if error}


# --- the fast look --------------------------------------------------------------------------------------------------


class Thorough:
    """The adapter with a look that suspects every message."""

    def __getattr__(self, name: str) -> Any:
        """All else as it is."""
        return getattr(ai_sdk_ui, name)

    def scan(self, messages: list[Any], request: object, /) -> set[int]:  # noqa: ARG002
        """Everything."""
        return set(range(len(messages)))


def looked_at_in_full(messages: list[Any]) -> Repaired:
    """The repair without the fast look."""
    thorough: Adapter = Thorough()
    return pipeline.run(messages, thorough, {}, pipeline.Policies())


@pytest.mark.parametrize("case", named(CASES))
def test_the_fast_look_misses_nothing_in_the_cases(case: Case) -> None:
    """Nor in a case of which any one key is gone, null or something else."""
    for messages in (case.messages, *_spoilt(case.messages)):
        full, fast = looked_at_in_full(messages), suture.repair(messages, FORMAT)
        assert full.repairs == fast.repairs
        assert full.messages == fast.messages


@pytest.mark.parametrize("row", TABLE)
def test_the_fast_look_misses_nothing_in_any_state(row: str) -> None:
    """Every state with every field."""
    assert looked_at_in_full(TABLE[row]).repairs == suture.repair(TABLE[row], FORMAT).repairs


@given(st.one_of(broken(FORMAT), histories(FORMAT)))
@example([])
def test_the_fast_look_misses_nothing(messages: list[Any]) -> None:
    """What it passes over, a full look passes over too; and a repair is final."""
    if not all(isinstance(message, dict) for message in messages):
        with pytest.raises(InputError):
            suture.check(messages, FORMAT)
        return
    done = repaired(messages)

    assert looked_at_in_full(messages).repairs == done.repairs
    assert json.dumps(looked_at_in_full(messages).messages) == json.dumps(done.messages)


def test_the_fast_look_knows_how_a_stand_in_begins() -> None:
    """Every text that the rules take for one is read closely."""
    shapes = (
        "Tool call x with id y was cancelled - another message came in before it could be completed.",
        "[System: Tool execution skipped/interrupted by user. No result provided for tool 'x'.]",
        *(
            f"{lead}{what} was interrupted by the user."
            for lead in ("", "[", '["', "The ", "[The ")
            for what in ("tool call", "task", "operation", "command", "request use", "execution result")
        ),
    )
    for text in (*foreign._TEXTS, *CAUSES.values(), *shapes):
        assert foreign.is_synthetic(text), text
        assert not look._is_settled(tool(output=f" {text}")), text
    for text in PLACEHOLDERS:
        assert not look._is_settled(tool(output=text)), text
    assert not look._is_settled(tool(output=["operation aborted"]))
    assert look._is_settled(tool(output="4 C"))


def _spoilt(messages: list[Any]) -> list[list[Any]]:
    """The messages with any one key gone, null, a number, an empty text or an empty list."""
    made: list[list[Any]] = []
    others: tuple[Any, ...] = (..., None, 7, "", [])
    for path in _paths(messages):
        for value in others:
            copied = copy.deepcopy(messages)
            home: Any = copied
            for step in path[:-1]:
                home = home[step]
            if value is ...:
                del home[path[-1]]
            else:
                home[path[-1]] = value
            made.append(copied)
    return [each for each in made if all(isinstance(message, dict) for message in each)]


def _paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, inner in items for path in ((*at, key), *_paths(inner, (*at, key)))]

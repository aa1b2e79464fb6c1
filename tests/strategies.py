"""Hypothesis strategies: valid histories, broken ones, and anything that JSON can express.

Every example is a few small integers that seed a plain builder, so that ten thousand examples take seconds. Hypothesis
shrinks the number of turns and the list of mutations; the seeds themselves do not shrink to anything meaningful.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.generate import ai_sdk_ui, anthropic, openai_chat, openai_responses
from tests.generate.dice import Dice
from tests.generate.garbage import garbage
from tests.generate.mutations import MUTATIONS

__all__ = ["BUILDERS", "anything", "broken", "histories", "history", "mutated"]

BUILDERS: dict[str, Callable[[Dice, int], list[dict[str, Any]]]] = {
    "openai_chat": openai_chat.history,
    "openai_responses": openai_responses.history,
    "anthropic": anthropic.history,
    "ai_sdk_ui": ai_sdk_ui.history,
}
SEEDS = st.integers(0, 2**32 - 1)
TURNS = st.integers(1, 6)


def histories(format: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Draw valid histories of a format."""
    return st.builds(history, st.just(format), TURNS, SEEDS)


def broken(format: str) -> st.SearchStrategy[list[Any]]:
    """Draw histories of a format that went through one to six mutations; some survive unbroken."""
    return st.builds(mutated, st.just(format), TURNS, SEEDS, st.lists(SEEDS, min_size=1, max_size=6))


def anything() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Draw lists of objects made of the words of all formats, with no regard for what they mean."""
    return st.builds(lambda count, seed: garbage(Dice(seed), count), st.integers(0, 8), SEEDS)


def history(format: str, turns: int, seed: int) -> list[dict[str, Any]]:
    """Build one valid history."""
    built = BUILDERS[format](Dice(seed), turns)
    # Builders share constants between messages; JSON holds trees, where a change is a change in one place.
    fresh: list[dict[str, Any]] = json.loads(json.dumps(built))
    return fresh


def mutated(format: str, turns: int, seed: int, mutations: list[int]) -> list[Any]:
    """Build one history and break it, once for each seed; a seed also chooses the mutation."""
    messages: list[Any] = history(format, turns, seed)
    for each in mutations:
        dice = Dice(each)
        dice.pick(MUTATIONS)(messages, format, dice)
    return messages

"""Chance, and the words that all formats use: texts, ids, names, arguments."""

from __future__ import annotations

import copy
import json
import random
import string
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")

TEXTS = (
    "Weather in Oslo?",
    "4 C",
    "go on",
    "naïve café ☕",
    "日本語のテキスト",
    "🙂👩‍👩‍👧",
    "\u200fعربي",
    "two\nlines\n\tand a tab",
    '{"looks": "like JSON"}',
    "[result of call_1] 4 C",
    "Tool execution was interrupted.",
    "<tool_call>not one</tool_call>",
    "null",
    "0",
    "a " * 400 + "end",
)
NAMES = ("get_weather", "Bash", "read-file", "a", "search_2", "x" * 64, "mcp__docs__search")
VALUES: tuple[Any, ...] = (
    "Oslo",
    "",
    "é",
    0,
    -1,
    2.5,
    10**20,
    True,
    None,
    [],
    {},
    ["a", {"b": None}],
    {"c": {"d": [1]}},
)
KEYS = ("city", "q", "path", "é", "type", "id", "")
PIXEL = "iVBORw0KGgo="
ALPHABET = string.ascii_letters + string.digits


class Dice:
    """A seeded source of all choices that a builder makes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.minted = 0

    def chance(self, share: float) -> bool:
        """Say yes in this share of all cases."""
        return self.random.random() < share

    def pick(self, choices: Sequence[T]) -> T:
        """Choose one."""
        return choices[int(self.random.random() * len(choices))]

    def fresh(self, choices: Sequence[T]) -> T:
        """Choose one and copy it, so that what becomes of it here changes no constant."""
        return copy.deepcopy(self.pick(choices))

    def number(self, least: int, most: int) -> int:
        """Choose a number, both ends included."""
        return least + int(self.random.random() * (most - least + 1))

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """Give the values in another order."""
        return self.random.sample(values, len(values))

    def text(self) -> str:
        """Give a text that shows something and does not end in whitespace."""
        return self.pick(TEXTS)

    def name(self) -> str:
        """Give a tool name that every format takes."""
        return self.pick(NAMES)

    def arguments(self) -> dict[str, Any]:
        """Give the arguments of a call: a JSON object."""
        return {self.pick(KEYS): self.pick(VALUES) for _ in range(self.number(0, 3))}

    def arguments_text(self) -> str:
        """Give arguments as models write them: tight, spaced, or with escapes."""
        style: dict[str, Any] = self.pick(({"separators": (",", ":")}, {}, {"ensure_ascii": False}, {"indent": 1}))
        return json.dumps(self.arguments(), **style)

    def letters(self, count: int) -> str:
        """Give letters and digits."""
        return "".join(self.random.choices(ALPHABET, k=count))

    def serial(self) -> int:
        """Give a number that this history has not had."""
        self.minted += 1
        return self.minted

    def call_id(self, *, dots: bool = True) -> str:
        """Give a new call id in the style of some provider, of at most 40 characters.

        Args:
            dots: whether ids with `.` and `:` are legal, as Kimi writes them.
        """
        serial = self.serial()
        plain = (
            f"call_{serial}",
            f"toolu_01{self.letters(18)}{serial}",
            f"call_{self.letters(20)}{serial}",
            f"{serial}",
        )
        dotted = (f"functions.{self.pick(('Bash', 'get_weather'))}:{serial}", f"Shell:{serial}")
        return self.pick((*plain, *dotted) if dots else plain)

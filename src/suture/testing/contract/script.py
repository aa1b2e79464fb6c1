"""What the server answers: a list of answers, a function, or an echo."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import msgspec

__all__ = ["Answer", "OutOfStepsError", "Player", "Script", "arguments", "call_id", "pieces"]


class Answer(msgspec.Struct, frozen=True):
    """One answer of the model."""

    text: str = ""
    calls: Sequence[tuple[str, Any]] = ()
    """Names and arguments, in order. A text as arguments is sent as it is, also where it is no JSON."""
    reasoning: str = ""
    """Thinking (Anthropic), a summary (Responses), `reasoning_content` (chat, as compatible hosts do)."""
    ids: Sequence[str] = ()
    """The ids of the calls; made from the number of the answer where they are not given."""
    finish: Literal["", "length", "filter"] = ""
    """Why the answer ends before its end: for its length, or for a filter."""
    input_tokens: int = 10
    """What the request is said to have cost, with `cached_tokens`."""
    output_tokens: int = 5
    """What the answer is said to have cost, with `reasoning_tokens`."""
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    number: int = 0
    """Which answer of the server this is, from 1: all ids are made from it. The server sets it where it is 0."""


Script = Sequence[Answer | str] | Callable[[Any, str], Answer | str] | None
"""Answers in their order; or a function from the body of a request and the name of its format; or an echo."""


class OutOfStepsError(Exception):
    """The script has no more answers."""


class Player:
    """Plays a script, one answer for a request."""

    def __init__(self, script: Script) -> None:
        """`script` is played from its beginning."""
        self.script: Script = script
        self.left: deque[Answer | str] = deque(() if script is None or callable(script) else script)
        """The answers that were not given yet."""

    def answer(self, body: Any, format: str, echo: str, *, keep: bool) -> Answer:
        """The answer to a request; `keep` leaves it in the script, because it will not arrive whole.

        Raises:
            OutOfStepsError: the script is over.
            Exception: whatever the script's function raises.
        """
        if self.script is None:
            step: Answer | str = echo
        elif callable(self.script):
            step = self.script(body, format)
        else:
            try:
                step = self.left[0] if keep else self.left.popleft()
            except IndexError:
                count = len(self.script)
                raise OutOfStepsError(f"the script has {count} steps, and the server was asked once more") from None
        return Answer(step) if isinstance(step, str) else step


_WORDS: Final = re.compile(r"\s*\S{1,40}|\s+\Z")


def pieces(text: str) -> list[str]:
    """A text in the pieces in which it is streamed: about one word each."""
    return _WORDS.findall(text)


def arguments(given: Any) -> str:
    """A call's arguments as JSON text."""
    return given if isinstance(given, str) else msgspec.json.encode(given).decode()


def call_id(answer: Answer, index: int, prefix: str) -> str:
    """The id of a call of an answer."""
    return answer.ids[index] if index < len(answer.ids) else f"{prefix}{answer.number}_{index}"

"""The server: its life, whom it answers, and what it keeps of them."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from suture.testing.contract import anthropic, openai_chat, openai_responses, replies
from suture.testing.contract.base import Format, Stored
from suture.testing.contract.connection import Connection, Handle, Reply, Request
from suture.testing.contract.faults import Fault, take
from suture.testing.contract.listener import Listener
from suture.testing.contract.script import OutOfStepsError, Player, Script

__all__ = ["ContractServer", "Recorded"]

_FORMATS: Final[tuple[Format, ...]] = (openai_chat, openai_responses, anthropic)
_BY_PATH: Final = {each.PATH: each for each in _FORMATS}
_SECRETS: Final = frozenset({"authorization", "cookie", "proxy-authorization", "x-api-key"})
_MASK: Final = "***"
_LIMIT: Final = 32_000_000


class Recorded(msgspec.Struct, frozen=True):
    """A request that the server got, and how it was answered."""

    format: str
    """`openai_chat`, `openai_responses` or `anthropic`; empty where nothing speaks at its path."""
    path: str
    headers: Mapping[str, str]
    """Their names in lower case, keys and cookies masked."""
    body: Any
    """The decoded JSON; the bytes where it is no JSON or was not looked at; None where it was above the limit."""
    status: int
    """The HTTP status; 0 where the connection hung or was cut before there was one."""


class ContractServer:
    """Speaks OpenAI's Chat Completions and Responses and Anthropic's Messages, and refuses what they refuse.

    It answers from a script and plays faults. What it refuses, it refuses with the HTTP status, the shape and the words
    of the provider, as far as they are known. It listens on the loopback interface alone, takes any key, and stores
    nothing beyond its own life. It may be used as a context manager, in both kinds of `with`.
    """

    def __init__(
        self, script: Script = None, *, validate: bool = True, limit: int = _LIMIT, record: bool = True
    ) -> None:
        """Make a server that is not yet started.

        Args:
            script: Answers, one for each request that is answered; a function from the body of a request and the name
                of its format to an answer; or None: the last text of the user is said back. Where there are no answers
                left, the server says so with status 500.
            validate: Whether requests are refused that the provider would refuse. Keys are always asked for.
            limit: How many bytes a body may have; above it is status 413.
            record: Whether `requests` is kept.
        """
        self.requests: list[Recorded] = []
        """Every request so far, in the order of their answers."""
        self.faults: list[Fault] = []
        """What goes wrong with the next requests: each takes the first that is meant for it, unless it is refused."""
        self.validate: bool = validate
        self._record: bool = record
        self._limit: int = limit
        self._player: Player = Player(script)
        self._stored: Stored = Stored()
        self._numbers: Iterator[int] = itertools.count(1)
        self._over: threading.Event = threading.Event()
        self._lock: threading.Lock = threading.Lock()
        self._listener: Listener | None = None

    @property
    def script(self) -> Script:
        """What it answers; a new script is played from its beginning."""
        return self._player.script

    @script.setter
    def script(self, script: Script) -> None:
        self._player = Player(script)

    @property
    def root(self) -> str:
        """Where the server is: the `base_url` of Anthropic's SDK, which adds `/v1` by itself.

        Raises:
            RuntimeError: the server was not started.
        """
        if self._listener is None:
            raise RuntimeError("the server was not started")
        return f"http://127.0.0.1:{self._listener.port}"

    @property
    def url(self) -> str:
        """Where its API is: the `base_url` of OpenAI's SDK.

        Raises:
            RuntimeError: the server was not started.
        """
        return f"{self.root}/v1"

    def start(self) -> Self:
        """Listen at a port of the system's choice; a server that listens is left alone.

        Raises:
            RuntimeError: the server was stopped before.
        """
        if self._over.is_set():
            raise RuntimeError("a stopped server is not started again: make a new one")
        if self._listener is None:
            self._listener = Listener(Connection, Handle(self._reply, self._limit))
            self._listener.begin()
        return self

    def stop(self) -> None:
        """Close the port and every connection, also those that hang; once more does nothing."""
        with self._lock:
            first = self._listener is not None and not self._over.is_set()
            self._over.set()
        if first and self._listener is not None:
            self._listener.end()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.stop)

    def _reply(self, request: Request) -> Reply:
        asked = _BY_PATH.get(request.path)
        body, refused = replies.read(request, asked, self._limit)
        if asked is not None and refused is None and self.validate:
            refused = asked.refusal(body, request.headers, self._stored)
        if asked is None or refused is not None:
            reply = replies.whole(*(refused or (404, {})))
        else:
            reply = self._answer(asked, body)
        if self._record:
            headers = {name: _MASK if name in _SECRETS else value for name, value in request.headers.items()}
            name, status = asked.NAME if asked is not None else "", reply.status if reply.begun else 0
            self.requests.append(Recorded(name, request.path, headers, body, status))
        return reply

    def _answer(self, format: Format, body: Any) -> Reply:
        """The answer of the script, with the fault that happens to it."""
        with self._lock:
            fault = take(self.faults, format.NAME)
        instead = replies.instead(format, body, fault)
        if instead is not None:
            return instead
        breaks = fault is not None and fault.breaks
        try:
            answer = self._player.answer(body, format.NAME, format.said(body), keep=breaks)
            if not answer.number:
                answer = msgspec.structs.replace(answer, number=next(self._numbers))
            reply = replies.answered(format, body, answer, fault, self._over)
        except OutOfStepsError as error:
            return replies.failed(format, str(error))
        except Exception as error:  # noqa: BLE001 - what the script did wrong is what the client is told
            return replies.failed(format, f"the script raised {type(error).__name__}: {error}")
        if format.PATH == openai_responses.PATH and body.get("store") is not False and not breaks:
            self._stored.add(openai_responses.effective(body, self._stored), openai_responses.whole(answer, body))
        return reply

"""A session's messages in memory: the fold of its events, and what a turn asks of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from suture.transcript.events import Admitted, ClientToolsSet, Compacted, Event, MessageAdded
from suture.transcript.fold import Head, Place, fold
from suture.transcript.listing import Listing
from suture.transcript.messages import Message
from suture.transcript.parts import Part, ToolPart
from suture.transcript.tools import ToolSpec

__all__ = ["Conversation"]


class _Record(msgspec.Struct, gc=False):  # part of no cycle, and there are as many as messages
    """A message as it grows."""

    role: str
    parent: str | None
    metadata: dict[str, object] | None
    parts: list[Part]
    made: Message | None = None
    """The message as it was last asked for; None where a part changed since."""


class Conversation:
    """The rows of one session: every message of every branch, the open calls, and the messages that wait."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        """The fold of these events, in their order.

        Raises:
            EventError: an event cannot follow what happened before it.
        """
        self.head: Head = Head()
        self.inputs: dict[str, Admitted] = {}
        """The messages that wait for a turn, by their ids, in the order in which they were admitted."""
        self.summaries: list[Compacted] = []
        """Every summary, oldest first."""
        self.client_tools: tuple[ToolSpec, ...] = ()
        """The tools that the client said it runs."""
        self._records: dict[str, _Record] = {}
        self._calls: dict[str, tuple[str, int]] = {}
        self._open: dict[str, None] = {}
        self._path: list[str] = []
        self._at: dict[str, int] = {}
        """Where each message of the path stands in it."""
        self._list: Listing = Listing()
        """The messages of the path, as they were last asked for."""
        self._changed: set[int] = set()
        """The places in it that are no longer true."""
        for event in events:
            self.apply(event)

    @classmethod
    def restore(
        cls,
        head: Head,
        messages: Iterable[tuple[MessageAdded, list[Part]]],
        *,
        calls: Mapping[str, tuple[str, int]],
        opened: Iterable[str],
        inputs: Iterable[Admitted],
        summaries: Iterable[Compacted],
        client_tools: Iterable[ToolSpec] = (),
    ) -> Conversation:
        """The conversation whose rows a store kept; they are taken as they are.

        Args:
            head: As the fold left it.
            messages: Each as it was added, with the parts that it has now; the lists are not copied.
            calls: Where each call stands that was ever made.
            opened: The calls without a final outcome, in the order in which they were made.
            inputs: The messages that wait, in the order in which they were admitted.
            summaries: Oldest first.
            client_tools: Those that the client said last that it runs.
        """
        made = cls()
        made.head = head
        made.inputs = {event.message: event for event in inputs}
        made.summaries = list(summaries)
        made.client_tools = tuple(client_tools)
        made._records = {
            event.message: _Record(event.role, event.parent, event.metadata, parts) for event, parts in messages
        }
        made._calls = dict(calls)
        made._open = dict.fromkeys(opened)
        return made

    def apply(self, event: Event) -> None:
        """Take in one more event.

        Raises:
            EventError: it cannot follow what happened before; nothing has changed then.
        """
        fold(event, self)

    def copy(self) -> Conversation:
        """Another conversation that says the same and goes its own way."""
        made = Conversation()
        made.head = msgspec.structs.replace(self.head)
        made.inputs = dict(self.inputs)
        made.summaries = list(self.summaries)
        made.client_tools = self.client_tools
        made._records = {
            name: msgspec.structs.replace(record, parts=list(record.parts)) for name, record in self._records.items()
        }
        made._calls = dict(self._calls)
        made._open = dict(self._open)
        return made

    # --- what a turn asks -------------------------------------------------------------------------------------------

    def path(self, leaf: str | None = None) -> list[str]:
        """The ids of the messages from the first to `leaf`, or to the newest of the conversation."""
        if leaf is not None and leaf != self.head.leaf:
            return list(self._upwards(leaf))[::-1]
        self._follow()
        return list(self._path)

    def messages(self, leaf: str | None = None) -> Listing:
        """The messages from the first to `leaf`, or to the newest of the conversation, as they are now.

        For the newest, the cost is what has changed since it was last asked.
        """
        if leaf is not None and leaf != self.head.leaf:
            return Listing(self.message(name) for name in self.path(leaf))
        self._follow()
        for place in self._changed:
            self._list = self._list.replaced(place, self.message(self._path[place]))
        self._changed.clear()
        return self._list

    def place(self, name: str) -> int:
        """Where a message that is on the path to the newest one stands in it, from 0."""
        self._follow()
        return self._at[name]

    def is_shown(self, name: str) -> bool:
        """Whether a message is on the path to the newest one."""
        self._follow()
        return name in self._at

    def _follow(self) -> None:
        """Bring the path up to date: mostly, there is one message more."""
        leaf = self.head.leaf
        if leaf is not None and self._path and self._records[leaf].parent == self._path[-1]:
            added = [leaf]
        elif (self._path[-1] if self._path else None) == leaf:
            return
        else:
            added = [] if leaf is None else list(self._upwards(leaf))[::-1]
            self._path, self._at, self._list, self._changed = [], {}, Listing(map(self.message, added)), set()
        for name in added:
            self._at[name] = len(self._path)
            self._path.append(name)
        if len(self._list) < len(self._path):
            self._list = self._list.added(self.message(self._path[-1]))

    def message(self, name: str) -> Message:
        """One message; the same object until something in it changes."""
        record = self._records[name]
        if record.made is None:
            record.made = Message(
                role=record.role,  # type: ignore[arg-type]
                parts=tuple(record.parts),
                id=name,
                metadata=record.metadata,
            )
        return record.made

    def ids(self) -> list[str]:
        """The ids of all messages of all branches, oldest first."""
        return list(self._records)

    def children(self, parent: str | None) -> list[str]:
        """The messages that follow one, oldest first: more than one where the conversation branches."""
        return [name for name, record in self._records.items() if record.parent == parent]

    def parent(self, name: str) -> str | None:
        """The message that one follows."""
        return self._records[name].parent

    def open_calls(self) -> list[Place]:
        """The calls without a final outcome, on every branch, in the order in which they were made."""
        return [place for call in self._open if (place := self.call(call)) is not None]

    def summary(self) -> Compacted | None:
        """The newest summary that stands for the beginning of the conversation; None where there is none."""
        self._follow()
        return next((found for found in reversed(self.summaries) if found.first_kept in self._at), None)

    def _upwards(self, leaf: str) -> Iterator[str]:
        at: str | None = leaf
        while at is not None:
            yield at
            at = self._records[at].parent

    # --- rows -------------------------------------------------------------------------------------------------------

    def has_message(self, message: str) -> bool:
        """See `Rows`."""
        return message in self._records

    def add_message(self, event: MessageAdded) -> None:
        """See `Rows`."""
        self._records[event.message] = _Record(event.role, event.parent, event.metadata, [])

    def length(self, message: str) -> int:
        """See `Rows`."""
        return len(self._records[message].parts)

    def set_part(self, message: str, index: int, part: Part) -> None:
        """See `Rows`."""
        record = self._records[message]
        record.parts[index : index + 1] = [part]
        record.made = None
        if message in self._at:
            self._changed.add(self._at[message])
        if isinstance(part, ToolPart):
            self._calls[part.call_id] = (message, index)
            if part.settled:
                self._open.pop(part.call_id, None)
            else:
                self._open[part.call_id] = None
        else:
            for call in [call for call in self._open if self._calls[call] == (message, index)]:
                del self._open[call]

    def call(self, call: str) -> Place | None:
        """See `Rows`."""
        if call not in self._calls:
            return None
        message, index = self._calls[call]
        return Place(message, index, self._records[message].parts[index])

    def add_input(self, event: Admitted) -> None:
        """See `Rows`."""
        self.inputs.setdefault(event.message, event)

    def drop_input(self, message: str) -> None:
        """See `Rows`."""
        self.inputs.pop(message, None)

    def set_client_tools(self, event: ClientToolsSet) -> None:
        """See `Rows`."""
        self.client_tools = event.tools

    def set_summary(self, event: Compacted) -> None:
        """See `Rows`."""
        self.summaries.append(event)

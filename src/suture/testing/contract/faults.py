"""What goes wrong on the way: faults that the server plays, and how they change what is sent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Final, Literal

import msgspec

__all__ = ["Cut", "Fault", "Kind", "spoiled", "take"]

Kind = Literal["status", "overflow", "hang", "cut", "garbage", "error", "slow", "delay"]


class Fault(msgspec.Struct, frozen=True):
    """Something that goes wrong with one request; a request takes the first fault that is meant for it.

    | kind | what happens |
    | --- | --- |
    | `status` | the answer is an error of that `status` in the provider's shape, with `retry-after` where it is given |
    | `overflow` | the provider's own refusal of a request that is too long for the model |
    | `hang` | nothing more is sent until the server stops |
    | `cut` | the connection is closed |
    | `garbage` | an event that is no JSON; in an answer that is not streamed, a body that is none |
    | `error` | the stream ends with the provider's error event; an answer that is not streamed is a 500 |
    | `slow` | every byte is a piece of its own, and each event waits `seconds` |
    | `delay` | a pause of `seconds` |

    `after` events of a stream are sent before it happens; where it is 0, `hang`, `cut` and `delay` happen before the
    status line. Of an answer that is not streamed, half is sent where `after` is not 0. An answer that does not arrive
    whole stays in the script: it is what the next request gets.
    """

    kind: Kind
    status: int = 500
    """The HTTP status of a `status`."""
    after: int = 0
    """How many events come before it."""
    seconds: float = 0.0
    """How long `delay` waits, and `slow` before each event."""
    retry_after: str = ""
    """The value of the header of that name."""
    message: str = ""
    """The text of a `status` or an `error`, where it is not to be the provider's own."""
    times: int = 1
    """How many requests it happens to."""
    format: str = ""
    """The format whose requests it is meant for; all where it is empty."""

    @property
    def breaks(self) -> bool:
        """Whether the answer does not arrive whole."""
        return self.kind not in ("slow", "delay")


class Cut(Exception):  # noqa: N818 - it is how a stream ends here, no error of the server
    """The connection is to be closed here."""


_GARBAGE: Final = b'event: content_block_delta\ndata: {"type": \n\n'


def take(faults: list[Fault], format: str) -> Fault | None:
    """The first fault that is meant for a request of a format, once less in the list; None where there is none."""
    for place, fault in enumerate(faults):
        if fault.format in ("", format):
            if fault.times > 1:
                faults[place] = msgspec.structs.replace(fault, times=fault.times - 1)
            else:
                del faults[place]
            return fault
    return None


def spoiled(sent: Iterator[bytes], fault: Fault | None, failed: bytes, over: threading.Event) -> Iterator[bytes]:
    """What is sent when a fault happens to it.

    Args:
        sent: The events as they would be sent.
        fault: What happens to them.
        failed: The provider's error event.
        over: Set when the server stops.

    Raises:
        Cut: the connection is to be closed.
    """
    if fault is None:
        yield from sent
        return
    for _, event in zip(range(fault.after), sent, strict=False):
        yield event
    if fault.kind == "hang":
        over.wait()
    if fault.kind in ("hang", "cut"):
        raise Cut
    if fault.kind == "error":
        yield failed
        return
    if fault.kind == "garbage":
        yield _GARBAGE
    if fault.kind == "delay":
        over.wait(fault.seconds)
    for event in sent:
        if fault.kind == "slow":
            over.wait(fault.seconds)
            yield from (event[place : place + 1] for place in range(len(event)))
        else:
            yield event

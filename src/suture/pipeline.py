"""`check` and `repair`: a fast look at the whole history, then decode, mend and encode what is broken.

A healthy history costs the look and comes back as the same object. In a broken one only the stretches around the
damage are rebuilt; everything else is passed on, object by object.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, get_args

import msgspec

from suture.errors import InputError, PolicyError, UnknownFormatError
from suture.repair.bench import Bench
from suture.repair.engine import mend
from suture.repair.report import Finding, Repaired
from suture.repair.rules import CODES
from suture.transcript import Entry, Message, Part, Result, ToolPart
from suture.wire import ADAPTERS, PROFILES, resolve
from suture.wire.base import DECISIVE, Adapter

__all__ = ["Policies", "adapter_of", "check", "detect", "plain", "repair", "run"]

OpenCalls = Literal["settle", "keep"]
Orphans = Literal["rebuild", "drop", "text"]
Hook = Callable[[ToolPart], Part]


class Policies(msgspec.Struct, frozen=True):
    """What the caller wants where a history leaves a choice; checked when it is made."""

    on_interrupted: Hook | None = None
    open_calls: OpenCalls = "settle"
    orphans: Orphans = "rebuild"

    def __post_init__(self) -> None:
        """Refuse a value that no policy has.

        Raises:
            PolicyError: says what was expected.
        """
        for argument, values in (("open_calls", get_args(OpenCalls)), ("orphans", get_args(Orphans))):
            if getattr(self, argument) not in values:
                raise PolicyError(argument, getattr(self, argument), values)


def check(messages: Any, format: str | None = None, *, request: Mapping[str, Any] | None = None) -> list[Finding]:
    """Find what the provider would refuse, or what would be lost on the way to it.

    Args:
        messages: A list of messages as parsed from JSON, or the SDKs' own objects. Not mutated.
        format: `openai_chat`, `openai_responses`, `anthropic`, `ai_sdk_ui`, or a profile such as `deepseek`;
            detected where it is None.
        request: The settings that the messages are sent with, as far as they are known: `model`, `thinking`, `tools`,
            `prefill`, `store`, … A rule that depends on a setting holds only where it is given. `next_role="user"` says
            that the user's next message follows, as it does after every stored session: the end is then not judged.

    Returns:
        The findings in the order of the messages; empty exactly where `repair` would change nothing.

    Raises:
        InputError: if `messages` is not a list of JSON objects, or they are those of another format; says where.
        UnknownFormatError: if there is no such format, or none is recognised.
    """
    return [done.finding for done in repair(messages, format, request=request).repairs]


def repair(
    messages: Any,
    format: str | None = None,
    *,
    request: Mapping[str, Any] | None = None,
    on_interrupted: Hook | None = None,
    open_calls: OpenCalls = "settle",
    orphans: Orphans = "rebuild",
) -> Repaired:
    """Make a history that its provider accepts, and keep everything real that is in it.

    A healthy list comes back as the same object. In a broken one, untouched messages are the same objects. What is
    repaired stays repaired: the result checks clean, and repairing it again changes nothing.

    Args:
        messages: See `check`.
        format: See `check`.
        request: See `check`.
        on_interrupted: Shapes the outcome of a call that has none: gets the open `ToolPart`, its input an object, and
            returns a settled one or any other part in its place. An exception or an unsettled return falls back to the
            default, and the report says so; it is never raised.
        open_calls: `keep` leaves the calls alone that end the history, which may be running still; `settle` is for a
            history about to be sent.
        orphans: What becomes of a result whose call is gone: `rebuild` puts the call back, arguments marked as lost, so
            that the tool's output stays where it belongs; `text` quotes it as user text; `drop` removes it.

    Returns:
        The messages, what was done, and the request settings to send with them.

    Raises:
        InputError: if `messages` is not a list of JSON objects, or they are those of another format; says where.
        UnknownFormatError: if there is no such format, or none is recognised.
        PolicyError: if `open_calls` or `orphans` has another value.
    """
    policies = Policies(on_interrupted, open_calls, orphans)
    settings = dict(request or {})
    return run(messages, adapter_of(messages, format, settings), settings, policies)


def run(
    messages: Any,
    adapter: Adapter,
    request: dict[str, Any],
    policies: Policies,
    *,
    rules: Collection[str] | None = None,
    suspects: set[int] | None = None,
) -> Repaired:
    """`repair` behind its arguments.

    `rules` limits which rules may act; `suspects` names the messages to read in full, instead of the fast look.
    """
    wire = _listed(messages)
    if suspects is None:
        suspects = adapter.scan(wire, request)
        if any(type(wire[index]) is not dict for index in suspects):
            wire = plain(messages)
            suspects = adapter.scan(wire, request)
    if not suspects:
        return Repaired(messages=messages, repairs=[], changed=False, request=request)
    _require_format(wire, suspects, adapter)
    stretches, entries = _broken(wire, suspects, adapter, adapter.limits(request).id_scope)
    bench = _bench(wire, adapter, request, stretches, policies=policies, rules=rules)
    mended = mend(entries, bench)
    if not bench.repairs:
        return Repaired(messages=messages, repairs=[], changed=False, request=request)
    result = _splice(wire, stretches, mended, adapter, bench)
    changed = len(result) != len(wire) or any(a is not b for a, b in zip(result, wire, strict=True))
    return Repaired(
        messages=result if changed else messages, repairs=bench.ordered(), changed=changed, request=bench.request
    )


def detect(messages: Any) -> str:
    """The format of a list of messages, by its shape.

    Raises:
        InputError: if `messages` is not a list of JSON objects; says where.
        UnknownFormatError: if no format is recognised.
    """
    wire = plain(messages)
    scores = {name: adapter.fits(wire) for name, adapter in ADAPTERS.items()}
    best = max(scores, key=lambda name: scores[name])
    if not scores[best]:
        raise UnknownFormatError(None, (*ADAPTERS, *PROFILES), "name it with `format`")
    return best


def plain(messages: Any) -> list[dict[str, Any]]:
    """The messages as plain JSON objects: SDK objects are dumped, a list of plain ones is given back.

    Raises:
        InputError: if `messages` is not a list of objects; says where.
    """
    listed = _listed(messages)
    if set(map(type, listed)) <= {dict}:
        return listed
    dumped = [_dumped(message) for message in listed]
    for index, message in enumerate(dumped):
        if not isinstance(message, dict):
            raise InputError(f"messages[{index}]", "an object", message)
    return dumped


def _listed(messages: Any) -> list[Any]:
    if isinstance(messages, list):
        return messages
    if isinstance(messages, tuple):
        return list(messages)
    hint = " (pass what is under its key `messages` or `input`)" if isinstance(messages, dict) else ""
    raise InputError("messages", f"a list of messages{hint}", messages)


def _dumped(message: Any) -> Any:
    if isinstance(message, dict):
        return {key: _dumped_value(value) for key, value in message.items()}
    dump = getattr(message, "model_dump", None)
    return dump(mode="json", exclude_none=True) if callable(dump) else message


def _dumped_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_dumped(item) for item in value]
    return _dumped(value) if hasattr(value, "model_dump") else value


def adapter_of(messages: Any, name: str | None, request: Mapping[str, Any] | None = None) -> Adapter:
    """The adapter of a format or profile; of the detected format where none is named."""
    if name is None:
        name = detect(messages) if _listed(messages) else next(iter(ADAPTERS))
    adapter = resolve(name, request or {})
    if adapter is None:
        raise UnknownFormatError(name, (*ADAPTERS, *PROFILES))
    return adapter


def _require_format(messages: list[Any], suspects: set[int], adapter: Adapter) -> None:
    """Refuse messages of another format: read as this one, their calls would be nothing, and lost.

    Raises:
        InputError: if suspects make calls the way another format does, and no message is plainly one of the adapter's.
    """
    own = getattr(adapter, "base", adapter)
    if own.fits([messages[min(suspects)]]) >= DECISIVE:
        return
    others = {name: other.makes_call for name, other in ADAPTERS.items() if name != own.NAME}
    foreign = ((index, name) for index in sorted(suspects) for name in others if others[name](messages[index]))
    where, named = next(foreign, (-1, ""))
    if named and own.fits(messages) < DECISIVE:
        raise InputError(f"{adapter.ROOT}[{where}]", f"a message of {adapter.NAME}", f"one of {named}")


def _broken(
    messages: list[Any], suspects: set[int], adapter: Adapter, id_scope: str
) -> tuple[list[tuple[int, int]], list[Entry]]:
    """What has to be rebuilt, as stretches and as entries: the rounds of the suspects, and those that they refer to.

    A healthy round is of interest only where a result elsewhere names one of its calls. Where an id has to be unique in
    the whole history, each that is not is suspect, and a call that is at hand is the only one of its id.
    """
    rounds = _rounds(messages, suspects, adapter)
    entries = _decode(messages, rounds, adapter)
    stray = _stray(entries, rounds)
    if stray and id_scope == "history":
        stray -= {call.call_id for entry in entries for call in entry.calls}
    related = adapter.mentions(messages, stray) if stray else set()
    inside = {index for start, stop in rounds for index in range(start, stop)}
    if related <= inside:
        return rounds, entries
    rounds = _rounds(messages, inside | related, adapter)
    return rounds, _decode(messages, rounds, adapter)


def _stray(entries: list[Entry], rounds: list[tuple[int, int]]) -> set[str]:
    """The calls that results name which neither their own round has made nor an earlier one left open."""
    stray: set[str] = set()
    left_open: Counter[str] = Counter()
    called: set[str] = set()
    bounds = iter(rounds)
    stop = -1
    for entry in entries:
        if entry.origin.at[0] >= stop:  # type: ignore[operator]
            called = set()
            stop = next(bounds)[1]
        for item in entry.items:
            if isinstance(item, ToolPart):
                called.add(item.call_id)
                left_open[item.call_id] += 1
            elif isinstance(item, Result):
                if left_open[item.call_id]:
                    left_open[item.call_id] -= 1
                elif item.call_id not in called:
                    stray.add(item.call_id)
    return stray


def _decode(messages: list[Any], rounds: list[tuple[int, int]], adapter: Adapter) -> list[Entry]:
    return adapter.decode((index, messages[index]) for start, stop in rounds for index in range(start, stop))


def _rounds(messages: list[Any], indexes: set[int], adapter: Adapter) -> list[tuple[int, int]]:
    """Whole rounds around these messages, as (start, stop): from what began them to the user's next message.

    That message is part of them, since results that are put behind a call may join it. The head of a history, up to its
    first message that is not the developer's, is one piece with what follows; and so is the first round with the next,
    which is the first if nothing of it is left.
    """
    count = len(messages)
    head = next((i for i, m in enumerate(messages) if m.get("role") not in ("system", "developer")), count)
    rounds: list[tuple[int, int]] = []

    def stop_of(last: int) -> int:
        stop = last + 1
        while stop < count and (adapter.continues(messages[stop], messages[stop - 1]) or stop <= head):
            stop += 1
        return stop + 1 if stop < count and _is_users(messages[stop]) else stop

    for index in sorted(indexes):
        if rounds and index < rounds[-1][1] - 1:
            continue
        start, stop = index, stop_of(index)
        while start > 0 and (adapter.continues(messages[start], messages[start - 1]) or start <= head):
            start -= 1
        if start == 0 and stop < count:
            stop = stop_of(stop)
        if rounds and start < rounds[-1][1]:
            rounds[-1] = (rounds[-1][0], max(stop, rounds[-1][1]))
        else:
            rounds.append((start, stop))
    return rounds


def _is_users(message: dict[str, Any]) -> bool:
    """Whether the user speaks in it; where messages have types, a call may say the same of itself."""
    return message.get("role") == "user" and message.get("type", "message") == "message"


def _bench(
    messages: list[Any],
    adapter: Adapter,
    request: dict[str, Any],
    stretches: list[tuple[int, int]],
    *,
    policies: Policies,
    rules: Collection[str] | None,
) -> Bench:
    contracts = adapter.RULES
    return Bench(
        limits=adapter.limits(request),
        contracts=contracts if rules is None else {name: contracts[name] for name in rules if name in contracts},
        codes=CODES,
        request=request,
        length=len(messages),
        root=adapter.ROOT,
        on_interrupted=policies.on_interrupted,
        open_calls=policies.open_calls,
        orphans=policies.orphans,
        at_start=stretches[0][0] == 0,
        at_end=stretches[-1][1] == len(messages),
        users_turn=messages[-1].get("role") in ("user", "tool"),
        spoken_between=lambda start, stop, roles: _spoken(messages, range(start, stop), roles, adapter),
        calls=lambda: [call for entry in adapter.decode(enumerate(messages)) for call in entry.calls],
    )


def _spoken(messages: list[Any], places: range, roles: frozenset[str], adapter: Adapter) -> bool:
    """Whether one of these messages is read as one of these roles'; what names a call and no role is nobody's."""
    if any(str(messages[index].get("role")) in roles for index in places):
        return True
    doubtful = ((index, m) for index in places if "role" in (m := messages[index]) or "call_id" not in m)
    return any(entry.role in roles for entry in adapter.decode(doubtful))


def _splice(
    messages: list[Any], stretches: list[tuple[int, int]], mended: list[Message], adapter: Adapter, bench: Bench
) -> list[Any]:
    """The whole history with its rebuilt stretches in place."""
    result: list[Any] = []
    rest = iter(_by_stretch(mended, stretches))
    done = 0
    for start, stop in stretches:
        result += messages[done:start]
        result += adapter.encode(next(rest), bench.limits)
        done = stop
    return result + messages[done:]


def _by_stretch(mended: list[Message], stretches: list[tuple[int, int]]) -> list[list[Message]]:
    """The messages of each stretch, by their places."""
    groups: list[list[Message]] = [[] for _ in stretches]
    starts = [start for start, _ in stretches]
    for message in mended:
        groups[bisect_right(starts, message.place) - 1].append(message)
    return groups

"""What happens to histories: each mutation breaks one thing, in place, as crashes, trims and converters do."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tests.generate.dice import Dice
from tests.generate.sites import KEYS, Site, body, calls, results

Mutation: TypeAlias = Callable[[list[Any], str, Dice], None]

IDS: tuple[Any, ...] = (
    "",
    None,
    "x" * 41,
    "x" * 65,
    "x" * 300,
    "no good!",
    "functions.Bash:0",
    "call|fc_1",
    "é",
    7,
    {},
)
NAMES: tuple[Any, ...] = ("", None, "a" * 65, "a" * 129, "a" * 201, "weather.get", "with space", "naïve", 5, [])
ARGUMENTS: tuple[Any, ...] = (
    None, 3, True, [1], {}, {"a": 1}, "", " ", "null", "[]", "3", "not json", '{"a": "tru', '{"a": NaN}', '{"a":1} {}',
    '{"a": 1, "a": 2}', '"{\\"a\\": 1}"', '"\\"{}\\""', '{"a": "\\ud800"}',
)  # fmt: skip
CONTENTS: tuple[Any, ...] = (
    "", " ", "\n\n", None, [], {}, 5, [None], ["text"], [{"type": "text", "text": ""}], [{"type": "text", "text": " "}],
    [{"type": "text"}], [{"type": "step-start"}], [{"text": "no type"}], "IN_PROGRESS",
)  # fmt: skip
UNSETTLED = ("input-streaming", "input-available", "approval-requested", "approval-responded", "call", "", None)
ROLES: tuple[Any, ...] = ("narrator", "function", "tool", "system", "developer", "model", "", None, 3)
KINDS: tuple[Any, ...] = ("tool_use", "tool_result", "thinking", "reasoning", "unheard_of", "tool-x", "", None, 4)


def delete_result(messages: list[Any], format: str, dice: Dice) -> None:
    """Lose a result: the process died before it was written."""
    site = _one(results(messages, format), dice)
    if site and format == "ai_sdk_ui":
        _unsettle(site.value, dice)
    elif site:
        site.remove()


def delete_call(messages: list[Any], format: str, dice: Dice) -> None:
    """Lose a call, and keep its result."""
    site = _one(calls(messages, format), dice)
    if site:
        site.remove()


def move_result(messages: list[Any], format: str, dice: Dice) -> None:
    """Write a result down elsewhere: later, earlier, in another message."""
    site = _one(results(messages, format), dice)
    if site:
        site.remove()
        _insert(messages, site, format, dice)


def duplicate_result(messages: list[Any], format: str, dice: Dice) -> None:
    """Write a result down twice, the second time perhaps with another text."""
    site = _one(results(messages, format), dice)
    if not site:
        return
    twin = copy.deepcopy(site.value)
    if dice.chance(0.6):
        twin[KEYS[format].result] = dice.text()
    if dice.chance(0.5):
        site.home.insert(site.place + 1, twin)
    else:
        _insert(messages, Site(site.home, site.place, twin), format, dice)


def duplicate_message(messages: list[Any], format: str, dice: Dice) -> None:
    """Write a message down twice."""
    if messages:
        messages.insert(dice.number(0, len(messages)), copy.deepcopy(dice.pick(messages)))


def swap_messages(messages: list[Any], format: str, dice: Dice) -> None:
    """Write two messages down in the wrong order."""
    if messages:
        one, other = dice.number(0, len(messages) - 1), dice.number(0, len(messages) - 1)
        messages[one], messages[other] = messages[other], messages[one]


def reuse_id(messages: list[Any], format: str, dice: Dice) -> None:
    """Give a call the id of another one, its result with it or not."""
    sites = calls(messages, format)
    if not sites:
        return
    key, source, target = KEYS[format].call_id, dice.pick(sites), dice.pick(sites)
    old = target.value.get(key)
    if dice.chance(0.6):
        _rename_results(messages, format, old, source.value.get(key))
    target.value[key] = source.value.get(key)


def spoil_id(messages: list[Any], format: str, dice: Dice) -> None:
    """Give a call, or its result, or both, an id that the format does not take."""
    site = _one(calls(messages, format), dice)
    if not site:
        return
    key, bad = KEYS[format].call_id, dice.fresh(IDS)
    old = site.value.get(key)
    if dice.chance(0.7):
        _rename_results(messages, format, old, bad)
    if dice.chance(0.8):
        site.value[key] = bad


def spoil_name(messages: list[Any], format: str, dice: Dice) -> None:
    """Give a call a name that the format does not take."""
    site = _one(calls(messages, format), dice)
    if site:
        bad = dice.fresh(NAMES)
        body(site.value)[KEYS[format].name] = f"tool-{bad}" if format == "ai_sdk_ui" and isinstance(bad, str) else bad


def spoil_arguments(messages: list[Any], format: str, dice: Dice) -> None:
    """Cut arguments off, encode them twice, or make them something else than an object."""
    site = _one(calls(messages, format), dice)
    if site:
        body(site.value)[KEYS[format].arguments] = dice.fresh(ARGUMENTS)


def empty_content(messages: list[Any], format: str, dice: Dice) -> None:
    """Leave a message or a result with nothing to say."""
    key = KEYS[format].content
    if dice.chance(0.3):
        site = _one(results(messages, format), dice)
        if site:
            site.value[KEYS[format].result] = dice.fresh(CONTENTS)
    else:
        site = _one([Site(messages, place, each) for place, each in enumerate(messages) if _has(each, key)], dice)
        if site:
            site.value[key] = dice.fresh(CONTENTS)


def drop_head(messages: list[Any], format: str, dice: Dice) -> None:
    """Trim the beginning away, wherever that cuts."""
    del messages[: dice.number(0, len(messages))]


def drop_tail(messages: list[Any], format: str, dice: Dice) -> None:
    """Lose the end, wherever that cuts."""
    del messages[dice.number(0, len(messages)) :]


def cut_key(messages: list[Any], format: str, dice: Dice) -> None:
    """Lose one key of a message, a part or a call."""
    found = _objects(messages)
    if found:
        chosen = dice.pick(found)
        if chosen:
            del chosen[dice.pick(list(chosen))]


def unknown_kind(messages: list[Any], format: str, dice: Dice) -> None:
    """Change a role or a type into one that is unknown, or that belongs elsewhere."""
    found = [each for each in _objects(messages) if "role" in each or "type" in each]
    if found:
        chosen = dice.pick(found)
        if "role" in chosen:
            chosen["role"] = dice.fresh(ROLES)
        else:
            chosen["type"] = dice.fresh(KINDS)


MUTATIONS: tuple[Mutation, ...] = (
    delete_result,
    delete_call,
    move_result,
    duplicate_result,
    duplicate_message,
    swap_messages,
    reuse_id,
    spoil_id,
    spoil_name,
    spoil_arguments,
    empty_content,
    drop_head,
    drop_tail,
    cut_key,
    unknown_kind,
)


def _one(sites: Sequence[Site], dice: Dice) -> Site | None:
    """Choose a site, if there is one."""
    return dice.pick(sites) if sites else None


def _has(value: object, key: str) -> bool:
    """Whether a value is an object with this key."""
    return isinstance(value, dict) and key in value


def _unsettle(part: dict[str, Any], dice: Dice) -> None:
    """Take the outcome of a UI tool part away, sometimes leaving traces of it."""
    part["state"] = dice.pick(UNSETTLED)
    for key in ("output", "errorText", "approval"):
        if dice.chance(0.8):
            part.pop(key, None)


def _insert(messages: list[Any], site: Site, format: str, dice: Dice) -> None:
    """Put a result anywhere: as a member of any message of its format, or as a message of its own."""
    nested = KEYS[format].content if format in {"anthropic", "ai_sdk_ui"} else ""
    homes = [each[nested] for each in messages if nested and _has(each, nested) and isinstance(each[nested], list)]
    if homes and dice.chance(0.7):
        home = dice.pick(homes)
        home.insert(dice.number(0, len(home)), site.value)
    elif format == "anthropic":
        messages.insert(dice.number(0, len(messages)), {"role": "user", "content": [site.value]})
    elif format == "ai_sdk_ui":
        messages.insert(dice.number(0, len(messages)), {"id": "new", "role": "assistant", "parts": [site.value]})
    else:
        messages.insert(dice.number(0, len(messages)), site.value)


def _rename_results(messages: list[Any], format: str, old: object, new: object) -> None:
    """Give the results of one id another id."""
    key = KEYS[format].result_id
    for site in results(messages, format):
        if site.value.get(key) == old:
            site.value[key] = new


def _objects(value: object) -> list[dict[str, Any]]:
    """Give all objects in a value, not looking into arguments."""
    if isinstance(value, list):
        return [found for each in value for found in _objects(each)]
    if not isinstance(value, dict):
        return []
    return [value, *(found for key, each in value.items() if key != "input" for found in _objects(each))]

"""Every way for a history to be broken that Suture knows: one topic, one file; the order of work is here.

Pairing comes first (`suture.repair.engine`): duplicates, ordering, orphans. Then each rule takes the messages and gives
them back mended.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from suture.repair.bench import Bench
from suture.repair.rule import Rule
from suture.repair.rules import (
    arguments,
    blocks,
    call_ids,
    content,
    duplicates,
    host_keys,
    item_approvals,
    item_reasoning,
    item_types,
    items,
    keys,
    names,
    ordering,
    orphans,
    provider_executed,
    reasoning,
    request,
    roles,
    steps,
    text,
    tool_states,
    unanswered,
)
from suture.transcript import Message

__all__ = ["CATALOGUE", "CODES", "MESSAGE_RULES"]

MESSAGE_RULES: Final[tuple[Callable[[list[Message], Bench], list[Message]], ...]] = (
    tool_states.apply,  # first: it says what state a call is in
    arguments.apply,  # before the hook: it gets an object
    unanswered.apply,
    provider_executed.apply,
    steps.apply,  # once it is known which calls are over
    item_types.apply,
    content.apply,
    reasoning.apply,  # what is left of an answer may be reasoning alone
    call_ids.apply,
    names.apply,
    text.apply,
    keys.apply,
    host_keys.apply,
    items.apply,
    item_approvals.apply,
    item_reasoning.apply,  # once it is known which records stay
    request.apply,
    roles.apply,  # last: the others drop and insert messages
)

CATALOGUE: Final[tuple[Rule, ...]] = tuple(
    sorted(
        (
            rule
            for module in (
                unanswered,
                orphans,
                ordering,
                duplicates,
                call_ids,
                names,
                arguments,
                content,
                roles,
                reasoning,
                provider_executed,
                blocks,
                keys,
                text,
                host_keys,
                item_types,
                items,
                item_approvals,
                item_reasoning,
                request,
                tool_states,
                steps,
            )
            for rule in module.RULES
        ),
        key=lambda rule: rule.code,
    )
)
"""Every rule, by its code."""

CODES: Final[dict[str, str]] = {rule.name: rule.code for rule in CATALOGUE}

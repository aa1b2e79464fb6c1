"""The request types of the official SDKs as judges: `openai` and `anthropic` TypedDicts, validated by pydantic.

They judge shapes, not conversations: no type knows which call a result answers. Pydantic's habits are undone here:

- an `Iterable[...]` becomes a lazy validator, which accepts all until somebody iterates; here it is read as a list;
- by default values are converted where they can be; here a type means itself (strict mode);
- half of a surrogate pair, which JSON can hold, is no text to it; here it is replaced before judging.

Extra keys are let through, as TypedDicts do. What else the types cannot judge is data below.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from anthropic.types import MessageParam
from anthropic.types.beta import BetaMessageParam
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter
from pydantic_core import ErrorDetails, SchemaValidator, ValidationError

from tests.oracles.strict import PROFILES

# Format -> its types; a message is right when one of them takes it. The profiles speak Chat Completions.
TYPES: dict[str, tuple[object, ...]] = {
    "openai_chat": (ChatCompletionMessageParam,),
    "openai_responses": (ResponseInputItemParam,),
    "anthropic": (MessageParam, BetaMessageParam),
    **dict.fromkeys(PROFILES, (ChatCompletionMessageParam,)),
}

# Where the types ask for more than the wire: keys filled in before judging, by the `type` of the object.
# The AI SDK replays assistant messages without id and status, and stored text rarely keeps empty annotations (ORS-12).
OPTIONAL_ON_THE_WIRE: dict[str, dict[str, Any]] = {
    "message": {"id": "msg_0", "status": "completed"},
    "output_text": {"annotations": []},
}

# Rules of the case file that the types see; all its other invalid cases pass them.
SEEN_BY_THE_TYPES = frozenset({"OCC-08", "OCC-11", "ANT-06"})


def sdk_errors(messages: Sequence[Any], format: str) -> list[str]:
    """List the messages that the official types refuse, each with a reason.

    Args:
        messages: the history, in the wire form of the format.
        format: a key of `TYPES`. Blocks, parts and items of a kind that no type knows are left out of the judgement.
    """
    judges = _judges(format)
    errors: list[str] = []
    for place, message in enumerate(messages):
        if _kind_is_foreign(message, judges):
            continue
        reasons = [_reason(judge, _prepared(message, judge)) for judge in judges]
        if all(reasons):
            errors.append(f"[{place}] {reasons[-1]}")
    return errors


class _Judge:
    """One SDK type, and the kinds of objects that it knows."""

    def __init__(self, wanted: Any) -> None:
        schema = TypeAdapter(wanted).core_schema
        self.validator = SchemaValidator(_rewritten(schema, _eager))
        self.kinds = frozenset(_kinds(schema))


@functools.cache
def _judges(format: str) -> tuple[_Judge, ...]:
    """Build the judges of a format once."""
    return tuple(_Judge(wanted) for wanted in TYPES[format])


def _rewritten(schema: Any, rewrite: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """Rewrite every object of a core schema."""
    if isinstance(schema, dict):
        return rewrite({key: _rewritten(value, rewrite) for key, value in schema.items()})
    if isinstance(schema, (list, tuple)):
        return type(schema)(_rewritten(each, rewrite) for each in schema)
    return schema


def _eager(schema: dict[str, Any]) -> dict[str, Any]:
    """Read an iterable as a list, so that its members are judged now."""
    if schema.get("type") != "generator":
        return schema
    return {"type": "list", "items_schema": schema["items_schema"]}


def _kinds(schema: Any) -> Iterator[str]:
    """Collect the values that the `type` of an object may have."""
    if isinstance(schema, dict):
        fields = schema.get("fields")
        field = fields.get("type") if isinstance(fields, dict) else None
        yield from _literals(field)
        for value in schema.values():
            yield from _kinds(value)
    elif isinstance(schema, (list, tuple)):
        for each in schema:
            yield from _kinds(each)


def _literals(schema: Any) -> Iterator[str]:
    """Collect the texts of the literals anywhere in a schema."""
    if isinstance(schema, dict):
        if schema.get("type") == "literal":
            yield from (each for each in schema["expected"] if isinstance(each, str))
        for value in schema.values():
            yield from _literals(value)


def _kind_is_foreign(message: Any, judges: Sequence[_Judge]) -> bool:
    """Whether a message is an item of a kind that no judge knows."""
    return isinstance(message, dict) and all(_foreign(message, judge) for judge in judges)


def _foreign(value: Any, judge: _Judge) -> bool:
    """Whether a value is an object of a kind that the judge does not know."""
    return isinstance(value, dict) and isinstance(value.get("type"), str) and value["type"] not in judge.kinds


def _prepared(value: Any, judge: _Judge) -> Any:
    """Copy a message without what the judge does not know, and with what the wire does not ask for."""
    if isinstance(value, list):
        return [_prepared(each, judge) for each in value if not _foreign(each, judge)]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if not isinstance(value, dict):
        return value
    kind = value.get("type")
    spoken = kind != "message" or value.get("role") == "assistant"
    filled = OPTIONAL_ON_THE_WIRE.get(kind, {}) if isinstance(kind, str) and spoken else {}
    return {**filled, **{key: _prepared(each, judge) for key, each in value.items()}}


def _reason(judge: _Judge, message: Any) -> str | None:
    """Give the reason against a message, if there is one."""
    try:
        judge.validator.validate_python(message, strict=True)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False, include_context=False)
        return _line(_telling(details))
    return None


def _telling(details: list[ErrorDetails]) -> ErrorDetails:
    """Choose the error that tells most: a union reports all its branches, also those of other roles and kinds."""
    foreign = {each["loc"][:-1] for each in details if each["type"] == "literal_error"}
    meant = [each for each in details if not any(each["loc"][: len(branch)] == branch for branch in foreign)]
    return max(meant or details, key=lambda each: len(each["loc"]))


def _line(error: ErrorDetails) -> str:
    """Write one error in a line, without the long names of unions."""
    place = ".".join(str(each) for each in error["loc"] if "[" not in str(each))
    return f"{place}: {error['msg']}"

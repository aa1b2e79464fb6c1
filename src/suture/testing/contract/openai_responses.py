"""OpenAI's Responses: what is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from suture.testing.contract import errors
from suture.testing.contract.base import KIND, Refusal, Rule, Stored, Wrong, first, objects, text_of
from suture.testing.contract.openai_responses_answer import events, whole
from suture.testing.contract.openai_shared import failed, name_is_wrong, refused, string_is_wrong, unauthorized
from suture.testing.contract.seals import intact

__all__ = [
    "NAME",
    "PATH",
    "RULES",
    "effective",
    "error",
    "events",
    "failed",
    "overflow",
    "refusal",
    "said",
    "unauthorized",
    "whole",
]

NAME: Final = "openai_responses"
PATH: Final = "/v1/responses"

_ID: Final = 64
_ID_SET: Final = re.compile(r"[A-Za-z0-9_-]+")
_PREFIXES: Final = {"message": "msg_", "function_call": "fc_", "reasoning": "rs_", "custom_tool_call": "ctc_"}
"""How the id of an item begins, for the types for which it is known."""

_ANSWERS: Final = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "computer_call": "computer_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "local_shell_call": "local_shell_call_output",
    "tool_search_call": "tool_search_output",
}
_ASKED_BY: Final = {output: call for call, output in _ANSWERS.items()}
_TYPES: Final = frozenset(
    {
        *_ANSWERS,
        *_ANSWERS.values(),
        "additional_tools",
        "code_interpreter_call",
        "compaction",
        "compaction_trigger",
        "configuration_update",
        "file_search_call",
        "image_generation_call",
        "item_reference",
        "mcp_approval_request",
        "mcp_approval_response",
        "mcp_call",
        "mcp_list_tools",
        "message",
        "program",
        "program_output",
        "reasoning",
        "web_search_call",
    }
)
_ROLES: Final = ("user", "assistant", "system", "developer")
_SAID_BY_MODEL: Final = ("output_text", "refusal")
_TOLD_TO_MODEL: Final = ("input_text", "input_image", "input_file", "input_audio", "computer_screenshot")
_WORDS: Final = {"refusal": "refusal", "output_text": "text", "input_text": "text"}
"""Where the words of a part stand."""
_NOT_THE_MODELS: Final = frozenset(
    {*_ANSWERS.values(), "mcp_approval_response", "compaction_trigger", "configuration_update", "additional_tools"}
)
"""Types of items that the model does not produce, and that no reasoning leads to."""


def refusal(body: Any, headers: Mapping[str, str], stored: Stored | None = None) -> Refusal | None:
    """The refusal of the first rule that the request breaks; None where it is taken."""
    keep = Stored() if stored is None else stored
    return unauthorized(headers) or refused(first(RULES, body, keep))


def effective(body: Any, stored: Stored) -> list[dict[str, Any]]:
    """The whole input of a request: what was stored before it, and its own items."""
    given = body.get("input")
    own = [{"role": "user", "content": given}] if isinstance(given, str) else given or []
    before = stored.conversations.get(str(body.get("previous_response_id")), [])
    return [*before, *own]


def _whole_is_known(body: Any, items: list[dict[str, Any]]) -> bool:
    """Whether nothing of the effective input lies where only the provider can look."""
    return body.get("conversation") is None and not any(_type(item) == "item_reference" for item in items)


def _type(item: dict[str, Any]) -> str:
    kind = item.get("type")
    if kind is None:
        return "message" if "role" in item else "item_reference"
    return str(kind)


def _own(body: Any) -> Iterator[tuple[str, Any]]:
    """Each item of the request, with its path."""
    given = body.get("input")
    yield from ((f"input[{place}]", item) for place, item in enumerate(given if isinstance(given, list) else []))


def _shape(body: Any, stored: Stored) -> Iterator[Wrong]:
    given = body.get("input")
    if not isinstance(body.get("model"), str) and body.get("prompt") is None:
        yield Wrong("Missing required parameter: 'model'.", "model", "missing_required_parameter")
    if given is not None and not isinstance(given, str | list):
        words = (
            "Invalid type for 'input': expected one of a string or array of input items, "
            f"but got {KIND[type(given)]} instead."
        )
        yield Wrong(words, "input", "invalid_type")
    for path, item in _own(body):
        if not isinstance(item, dict):
            words = f"Invalid type for '{path}': expected an input item, but got {KIND[type(item)]} instead."
            yield Wrong(words, path, "invalid_type")
        elif item.get("type") is None and "role" not in item and item.keys() - {"id", "type"}:
            yield Wrong(f"Missing required parameter: '{path}.type'.", f"{path}.type", "missing_required_parameter")
        elif _type(item) == "item_reference":
            yield from string_is_wrong(item.get("id"), f"{path}.id")
        elif _type(item) not in _TYPES:
            yield Wrong(f"Invalid value: '{item['type']}'.", path, "invalid_value")
    if body.get("previous_response_id") is not None and body.get("conversation") is not None:
        words = (
            "Mutually exclusive parameters. Ensure you are only providing one of: 'previous_response_id' or "
            "'conversation'."
        )
        yield Wrong(words, None, "mutually_exclusive_parameters")
    before = body.get("previous_response_id")
    if before is not None and (not isinstance(before, str) or before not in stored.conversations):
        words = f"Previous response with id '{before}' not found."
        yield Wrong(words, "previous_response_id", "previous_response_not_found")


def _messages(body: Any, _: Stored) -> Iterator[Wrong]:
    for path, item in _own(body):
        if _type(item) != "message":
            continue
        if item.get("role") not in _ROLES:
            words = (
                f"Invalid value: '{item.get('role')}'. "
                "Supported values are: 'assistant', 'system', 'developer', and 'user'."
            )
            yield Wrong(words, f"{path}.role", "invalid_value")
        content = item.get("content")
        if content is None:
            yield Wrong(
                f"Missing required parameter: '{path}.content'.", f"{path}.content", "missing_required_parameter"
            )
        elif not isinstance(content, str | list):
            words = (
                f"Invalid type for '{path}.content': expected one of an array of objects or string, "
                f"but got {KIND[type(content)]} instead."
            )
            yield Wrong(words, f"{path}.content", "invalid_type")
        elif isinstance(content, list):
            for place, part in enumerate(content):
                yield from _part(part, f"{path}.content[{place}]", model=item["role"] == "assistant")


def _part(part: Any, path: str, *, model: bool) -> Iterator[Wrong]:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in (_SAID_BY_MODEL if model else _TOLD_TO_MODEL):
        known = "'output_text' and 'refusal'" if model else "'input_text', 'input_image', and 'input_file'"
        yield Wrong(f"Invalid value: '{kind}'. Supported values are: {known}.", path, "invalid_value")
        return
    field = _WORDS.get(str(kind))
    if field is not None:
        yield from string_is_wrong(part.get(field), f"{path}.{field}")


_MAY_SAY_NOTHING: Final = frozenset({"apply_patch_call_output", "tool_search_output"})
"""The results that need no output: they have a status, or tools."""


def _fields(body: Any, _: Stored) -> Iterator[Wrong]:
    for path, item in _own(body):
        kind = _type(item)
        if kind in ("function_call", "custom_tool_call"):
            yield from name_is_wrong(item.get("name"), f"{path}.name")
            field = "arguments" if kind == "function_call" else "input"
            yield from string_is_wrong(item.get(field), f"{path}.{field}")
        if kind in _ASKED_BY and kind not in _MAY_SAY_NOTHING and item.get("output") is None:
            yield Wrong(f"Missing required parameter: '{path}.output'.", f"{path}.output", "missing_required_parameter")
        if kind in ("function_call_output", "custom_tool_call_output"):
            yield from _output(item["output"], f"{path}.output")
        if kind == "reasoning" and not isinstance(item.get("summary"), list):
            yield Wrong(
                f"Missing required parameter: '{path}.summary'.", f"{path}.summary", "missing_required_parameter"
            )
    for place, tool in enumerate(objects(body.get("tools"))):
        if tool.get("type") in ("function", "custom"):
            yield from name_is_wrong(tool.get("name"), f"tools[{place}].name")


def _output(output: Any, path: str) -> Iterator[Wrong]:
    if not isinstance(output, str | list):
        words = (
            f"Invalid type for '{path}': expected one of a string or array of objects, "
            f"but got {KIND[type(output)]} instead."
        )
        yield Wrong(words, path, "invalid_type")
    elif isinstance(output, list):
        for place, part in enumerate(output):
            yield from _part(part, f"{path}[{place}]", model=False)


def _call_ids(body: Any, _: Stored) -> Iterator[Wrong]:
    for path, item in _own(body):
        kind = _type(item)
        if (kind in _ANSWERS or kind in _ASKED_BY) and _must_pair(item):
            key = "call_id" if kind != "local_shell_call_output" or "call_id" in item else "id"
            yield from string_is_wrong(item.get(key), f"{path}.{key}", least=1, most=_ID)


def _must_pair(item: dict[str, Any]) -> bool:
    """Whether a call is the client's to answer: the provider answers its own searches for tools."""
    return not (item["type"].startswith("tool_search") and item.get("call_id") is None)


def _item_ids(body: Any, stored: Stored) -> Iterator[Wrong]:
    seen = {item["id"] for item in effective({**body, "input": []}, stored) if item.get("id") is not None}
    for path, item in _own(body):
        kind, given = _type(item), item.get("id")
        if given is None or kind in _ASKED_BY:
            continue
        yield from string_is_wrong(given, f"{path}.id", most=_ID)
        if not _ID_SET.fullmatch(given):
            words = (
                f"Invalid '{path}.id': '{given}'. Expected an ID that contains letters, numbers, underscores, or "
                "dashes, but this value contained additional characters."
            )
            yield Wrong(words, f"{path}.id", "invalid_value")
        if not given.startswith(_PREFIXES.get(kind, "")):
            words = f"Invalid '{path}.id': '{given}'. Expected an ID that begins with '{_PREFIXES[kind]}'."
            yield Wrong(words, f"{path}.id", "invalid_value")
        if given in seen and kind != "item_reference":
            words = f"Duplicate item found with id {given}. Remove duplicate items from your input and try again."
            yield Wrong(words, "input")
        seen.add(given)


def _persisted(body: Any, _: Stored) -> Iterator[Wrong]:
    for _path, item in _own(body):
        kind = _type(item)
        gone = kind == "item_reference" or (kind == "reasoning" and not item.get("encrypted_content"))
        if body.get("store") is False and gone:
            words = (
                f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is set to false. "
                "Try again with `store` set to true, or remove this item from your input."
            )
            yield Wrong(words, "input", status=404)


def _ciphertexts(body: Any, _: Stored) -> Iterator[Wrong]:
    for _path, item in _own(body):
        held = item.get("encrypted_content")
        if isinstance(held, str) and not intact(held):
            words = (
                f"The encrypted content {held[:8]}... could not be verified. "
                "Reason: Encrypted content could not be decrypted or parsed."
            )
            yield Wrong(words, None, "invalid_encrypted_content")


def _reasoning(body: Any, stored: Stored) -> Iterator[Wrong]:
    items = effective(body, stored)
    for place, item in enumerate(items):
        if _type(item) != "reasoning" or item.get("id") is None or body.get("store") is False:
            continue
        after = items[place + 1] if place + 1 < len(items) else {"type": "compaction_trigger"}
        if _type(after) in _NOT_THE_MODELS or (_type(after) == "message" and after["role"] != "assistant"):
            words = f"Item '{item['id']}' of type 'reasoning' was provided without its required following item."
            yield Wrong(words, "input")
    there: set[str] = set()
    for item in items:
        given = item.get("id")
        needed = stored.reasoning.get(given) if isinstance(given, str) else None
        if needed is not None and needed not in there and _type(item) != "item_reference":
            words = (
                f"Item '{given}' of type '{_type(item)}' was provided without its required 'reasoning' item: "
                f"'{needed}'."
            )
            yield Wrong(words, "input")
        if isinstance(given, str):
            there.add(given)


def _pairs(body: Any, stored: Stored) -> Iterator[Wrong]:
    """Each output has its call before it, each call its output behind it, of the type that fits, by `call_id`."""
    items = effective(body, stored)
    known = _whole_is_known(body, items)
    waiting: dict[tuple[str, str], None] = {}
    called: dict[tuple[str, str], tuple[str, str]] = {}
    for item in items:
        kind = _type(item)
        if kind in _ANSWERS and _must_pair(item):
            key = kind, item["call_id"]
            waiting[key] = None
            called[key] = key
            if kind == "local_shell_call" and isinstance(item.get("id"), str):
                called[kind, item["id"]] = key
        elif kind in _ASKED_BY and _must_pair(item):
            key = _ASKED_BY[kind], item.get("call_id") or item.get("id", "")
            waiting.pop(called.get(key, key), None)
            if key not in called and known:
                yield Wrong(f"No tool call found for {_spoken(kind)} with call_id {key[1]}.", "input")
    for kind, each in waiting:
        yield Wrong(f"No tool output found for {_spoken(kind)} {each}.", "input")


def _spoken(kind: str) -> str:
    return kind.replace("_", " ")


def _checks(body: Any, stored: Stored) -> Iterator[Wrong]:
    """Pending safety checks are acknowledged, with a screenshot."""
    pending: dict[str, set[str]] = {}
    for item in effective(body, stored):
        if _type(item) == "computer_call":
            pending[item["call_id"]] = {str(check.get("id")) for check in objects(item.get("pending_safety_checks"))}
        elif _type(item) == "computer_call_output":
            said = {str(check.get("id")) for check in objects(item.get("acknowledged_safety_checks"))}
            missing = pending.get(item["call_id"], set()) - said
            if missing:
                words = f"The pending safety checks {sorted(missing)} of {item['call_id']} have to be acknowledged."
                yield Wrong(words, "input", "invalid_value")
            output = item.get("output")
            if not isinstance(output, dict) or output.get("type") != "computer_screenshot":
                yield Wrong("Invalid value. Supported values are: 'computer_screenshot'.", "input", "invalid_value")


def _approvals(body: Any, stored: Stored) -> Iterator[Wrong]:
    items = effective(body, stored)
    asked: set[Any] = set()
    for item in items:
        if _type(item) == "mcp_approval_request":
            asked.add(str(item.get("id")))
        elif _type(item) == "mcp_approval_response":
            given = item.get("approval_request_id")
            if str(given) not in asked and _whole_is_known(body, items):
                yield Wrong(f"No approval request found for approval response with id {given}.", "input")


def _trigger(body: Any, _: Stored) -> Iterator[Wrong]:
    own = list(_own(body))
    for path, item in own[:-1]:
        if _type(item) == "compaction_trigger":
            yield Wrong(f"Invalid '{path}': 'compaction_trigger' must be the final input item.", path, "invalid_value")


RULES: Final = (
    Rule("shape, ORS-15", _shape),
    Rule("ORS-14", _messages),
    Rule("ORS-13", _call_ids),
    Rule("section 12", _fields),
    Rule("ORS-11, ORS-12", _item_ids),
    Rule("ORS-20", _trigger),
    Rule("ORS-09", _persisted),
    Rule("ORS-10", _ciphertexts),
    Rule("ORS-07, ORS-08", _reasoning),
    Rule("ORS-01 to ORS-06, ORS-16, ORS-22", _pairs),
    Rule("ORS-17", _checks),
    Rule("ORS-18", _approvals),
)
"""What is refused, in the order of looking; a rule may rely on what those before it let through."""


def error(status: int, message: str = "") -> dict[str, Any]:
    """The body of an error."""
    return errors.openai(status, message)


def overflow() -> Refusal:
    """The refusal of a request that is too long for the model."""
    words = "Your input exceeds the context window of this model. Please adjust your input and try again."
    return 400, errors.openai(400, words, param="input", code="context_length_exceeded")


def said(body: Any) -> str:
    """The last text of the user."""
    given = body.get("input")
    if isinstance(given, str):
        return given
    users = [item for item in objects(given) if item.get("role") == "user"]
    return text_of(users[-1].get("content")) if users else ""

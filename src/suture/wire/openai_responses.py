"""OpenAI Responses: the `input` items of `/v1/responses`.

Quirks handled here:
- every message, call, result and piece of reasoning is an item of its own; calls and results pair by `call_id`,
  wherever the result stands behind its call;
- an item has an `id` of its own beside that: the server may hold the item, and what it holds is bound to its reasoning;
- a dozen kinds of calls have results of their own types; what the server ran itself has no result at all;
- a list may go on from a response or a conversation that the server holds: then calls may be there and not here.

Reading and printing are files of their own, `openai_responses_read` and `openai_responses_print`. A request says what
this list does not: `store`, `previous_response_id`, `conversation`, `open_calls` (ids of calls open on the server),
`reasoning_model`, `stored_reasoning_for` (item id -> id of its reasoning).
"""

from __future__ import annotations

from typing import Final

import msgspec

from suture.transcript import Contract, Limits
from suture.wire.base import Request
from suture.wire.look.openai_responses import continues, fits, makes_call, mentions, scan
from suture.wire.openai_responses_print import encode
from suture.wire.openai_responses_read import decode

__all__ = ["NAME", "ROOT", "RULES", "continues", "decode", "encode", "fits", "limits", "makes_call", "mentions", "scan"]

NAME: Final = "openai_responses"
ROOT: Final = "input"

_LIMITS: Final = Limits(
    results="after",
    joins_roles=True,
    id_max=64,
    id_scope="turn",
    name_pattern=r"[a-zA-Z0-9_-]+",
    name_max=128,
    arguments="text",
)

_NO_OUTPUT = "No tool output found for function call call_…"
_NO_CALL = "No tool call found for function call output with call_id call_…"
_LONG_ID = (
    "Invalid 'input[149].call_id': string too long. Expected a string with maximum length 64, "
    "but got a string with length 86 instead."
)
_NAME = "Invalid 'tools[0].function.name': string does not match pattern. Expected … '^[a-zA-Z0-9_-]+$'"
_TEXT = Contract("OCC-08", "documented", source="openai SDK: arguments is a string")
_OBJECT = Contract("ORS-23", "inferred")

RULES: Final = {
    "lone-surrogate": Contract(
        "ORS-14",
        "seen",
        "The request body is not valid JSON: no low surrogate in string: line 1 column 129185 (char 129184)",
        "anthropics/claude-code#6273",
    ),
    "unanswered-call": Contract("ORS-01", "seen", _NO_OUTPUT, "openai/openai-agents-python#673"),
    "orphan-result": Contract("ORS-02", "seen", _NO_CALL, "continuedev/continue#10092"),
    "item-id-as-call-id": Contract("ORS-03", "documented", _NO_CALL, "AI SDK: `fc_` breaks call/output pairing"),
    "result-type": Contract("ORS-05", "documented", source="openai SDK: the union of input items"),
    "result-content": Contract("ORS-05", "documented", source="openai SDK: an output is text or a list of input parts"),
    "shell-result-keys": Contract("ORS-06", "documented", source="openai SDK and AI SDK: `id` here, `call_id` there"),
    "separated-reasoning": Contract(
        "ORS-07",
        "seen",
        "Item 'rs_…' of type 'reasoning' was provided without its required following item.",
        "vercel/ai#7099",
    ),
    "reasoning-of-an-id": Contract(
        "ORS-08",
        "seen",
        "Item 'fc_…' of type 'function_call' was provided without its required 'reasoning' item: 'rs_…'",
    ),
    "unstored-reference": Contract(
        "ORS-09", "seen", "Item with id 'rs_…' not found. Items are not persisted when `store` is set to false."
    ),
    "unstored-reasoning": Contract(
        "ORS-09",
        "seen",
        "Item with id 'rs_…' not found. Items are not persisted when `store` is set to false.",
        "openai/openai-agents-python#2020",
    ),
    "foreign-ciphertext": Contract(
        "ORS-10",
        "seen",
        "The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
    ),
    "duplicate-item": Contract("ORS-11", "seen", "Duplicate item found with id fc_…", "github/copilot-cli#3560"),
    "untyped-item": Contract("ORS-05", "documented", source="openai SDK: `type` and `role` are literals"),
    "malformed-item-id": Contract(
        "ORS-12",
        "seen",
        "Invalid 'input[2].id': ''. Expected an ID that contains letters, numbers, underscores, or dashes",
        "langchain-ai/langchainjs#11044",
    ),
    "malformed-call-id": Contract("ORS-13", "seen", _LONG_ID, "orchidfiles/ungate#26"),
    "missing-call-id": Contract("ORS-13", "documented", source="openai SDK: `call_id` is required"),
    "reused-call-id": Contract("ORS-01", "inferred"),
    "part-type": Contract(
        "ORS-14", "seen", "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'."
    ),
    "empty-message": Contract("ORS-14", "inferred"),
    "two-continuations": Contract(
        "ORS-15", "documented", source="openai SDK: cannot be used in conjunction with `conversation`"
    ),
    "unacknowledged-safety-check": Contract("ORS-17", "inferred", source="openai SDK: `acknowledged_safety_checks`"),
    "unanswered-item-approval": Contract("ORS-18", "inferred", source="openai SDK: `mcp_approval_response`"),
    "trigger-not-last": Contract("ORS-20", "documented", source="openai SDK: must be the final input item"),
    "result-before-call": Contract("ORS-22", "inferred", _NO_CALL),
    "misplaced-result": Contract("ORS-22", "inferred"),
    "duplicate-result": Contract("ORS-02", "inferred", _NO_CALL),
    "placeholder-result": Contract("ORS-01", "inferred"),
    "malformed-tool-name": Contract("OCC-09", "seen", _NAME),
    "arguments-encoding": _TEXT,
    "truncated-arguments": _OBJECT,
    "arguments-not-an-object": _OBJECT,
    "doubly-encoded-arguments": _OBJECT,
}


def limits(request: Request, /) -> Limits:
    """The same under every request, but where it says `adjacent_outputs`: then a result is the very next item."""
    return msgspec.structs.replace(_LIMITS, results="next") if request.get("adjacent_outputs") else _LIMITS

"""What the contract server refuses: every case of the case files, and the rules that no case shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

import suture
from suture.testing.contract.seals import seal
from tests.testing.contracts import FORMATS, HEADERS, refusal, said
from tests.wire.cases import CONTRACTS, Case

JUDGED: Final = [case for case in CONTRACTS if case.format in FORMATS]

WORDS: Final = {
    "OCC-01": "must be followed by tool messages responding to each 'tool_call_id'",
    "OCC-02": "must be a response to a preceeding message with 'tool_calls'",
    "OCC-04": "Duplicate value for 'tool_call_id' of 'call_1'",
    "OCC-05": "string too long. Expected a string with maximum length 40, but got a string with length 65 instead.",
    "OCC-06": "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1",
    "OCC-08": "expected a string, but got an object",
    "OCC-09": "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'",
    "OCC-11": "contains an image URL",
    "ORS-01": "No tool output found for function call call_1",
    "ORS-02": "No tool call found for function call output with call_id call_1",
    "ORS-03": "No tool call found for function call output with call_id fc_1",
    "ORS-05": "No tool call found for function call output with call_id call_c",
    "ORS-08": "was provided without its required 'reasoning' item: 'rs_1'",
    "ORS-09": "Items are not persisted when `store` is set to false.",
    "ORS-11": "Duplicate item found with id msg_1",
    "ORS-12": "Expected an ID that begins with 'fc_'",
    "ORS-14": "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
    "ORS-17": "have to be acknowledged",
    "ORS-20": "must be the final input item",
    "ANT-01": "`tool_use` ids were found without `tool_result` blocks immediately after",
    "ANT-02": "unexpected `tool_use_id` found in `tool_result` blocks: toolu_1",
    "ANT-04": "each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_1",
    "ANT-06": "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
    "ANT-09": "text content blocks must contain non-whitespace text",
    "ANT-11": 'first message must use the "user" role',
    "ANT-13": "final assistant content cannot end with trailing whitespace",
    "ANT-14": "This model does not support assistant message prefill. The conversation must end with a user message.",
    "ANT-16": "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled",
    "ANT-19": "When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`.",
    "ANT-21": "tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block",
    "ANT-22": "was found without a corresponding `web_search_tool_result` block",
    "ANT-23": "unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_9",
    "ANT-28": "all content must be type `text` if `is_error` is true",
}
"""What the refusal of each rule's cases says."""
FORMAT: Final = {"OCC": "openai_chat", "ORS": "openai_responses", "ANT": "anthropic"}
"""Whose rules they are."""
STATUS: Final = {"ORS-09": 404}
"""Where it is not 400."""


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case.format}:{case.id}") for case in JUDGED])
def test_every_case_is_judged_as_it_says(case: Case) -> None:
    """The valid are taken; the others are refused in the words of the rule that they break."""
    refused = refusal(case.format, case.messages, case.request)

    if case.valid:
        assert refused is None
    else:
        assert refused is not None
        assert STATUS.get(case.rule, 400) == refused[0]
        assert WORDS[case.rule] in refused[1]


def user(content: Any = "hi") -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": content}


def model(*content: Any) -> dict[str, Any]:
    """A message of the assistant."""
    return {"role": "assistant", "content": [*content]}


def chat_call(call_id: str = "call_1", name: str = "f") -> list[dict[str, Any]]:
    """A call of Chat Completions with its result."""
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}
    return [
        user(),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": "ok"},
    ]


def item(kind: str, **fields: Any) -> dict[str, Any]:
    """An item of Responses."""
    return {"type": kind, **fields}


def use(call_id: str = "toolu_1", name: str = "f", **more: Any) -> dict[str, Any]:
    """A call of Anthropic."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}, **more}


def result(call_id: str = "toolu_1", content: Any = "ok") -> dict[str, Any]:
    """A result of Anthropic."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def thought(text: str = "plan", signature: str = "c2ln") -> dict[str, Any]:
    """A thinking block."""
    return {"type": "thinking", "thinking": text, "signature": signature}


TEXT: Final = {"type": "text", "text": "hello"}
CALL: Final = item("function_call", call_id="call_1", name="f", arguments="{}")
OUTPUT: Final = item("function_call_output", call_id="call_1", output="ok")
MARK: Final = {"cache_control": {"type": "ephemeral"}}
SAID: Final = [user(), {"role": "assistant", "content": "hello"}, user("go on")]

TAKEN: Final[list[tuple[str, list[Any], dict[str, Any]]]] = [
    ("OCC-05 at the limit", chat_call("c" * 40), {}),
    ("OCC-10 as measured", chat_call(name="f" * 128), {}),
    ("OCC-15 unknown keys", [user(), {"role": "assistant", "content": "a", "reasoning_content": "b"}], {}),
    ("ORS-13 at the limit", [{**CALL, "call_id": "c" * 64}, {**OUTPUT, "call_id": "c" * 64}], {}),
    ("ORS-22 something between", [CALL, user(), OUTPUT], {}),
    (
        "ORS-09 with its ciphertext",
        [item("reasoning", summary=[], encrypted_content="x"), CALL, OUTPUT],
        {"store": False},
    ),
    (
        "ORS-06 the id of the item",
        [item("local_shell_call", id="lsh_1", call_id="c"), item("local_shell_call_output", id="lsh_1", output="x")],
        {},
    ),
    ("ANT-07 as measured", [user(), model(use(name="f" * 200)), user([result()])], {}),
    ("ANT-13 in the middle", [user(), model({"type": "text", "text": "It is "}), user()], {}),
    (
        "ANT-16 the first step thinks",
        [user(), model(thought(), use("a")), user([result("a")]), model(use("b")), user([result("b")])],
        {"thinking": True},
    ),
    ("ANT-16 not in the loop", [user(), model(use()), user([result()]), model(TEXT), user()], {"thinking": True}),
    ("ANT-17 of others", [user(), model(thought(signature="made elsewhere"), TEXT), user()], {}),
    ("ANT-19 in a turn that is over", [user(), model(thought(), TEXT), user()], {"thinking": False}),
    ("ANT-20 omitted", [user(), model(thought("", "c2ln"), TEXT), user()], {}),
    (
        "ANT-21 paused",
        [user(), model({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}})],
        {"tools": ["web_search"], "prefill": False},
    ),
    ("ANT-29 four", [user([{**TEXT, **MARK}] * 4)], {}),
]
"""Histories at the border of a rule, on its good side."""

REFUSED: Final[list[tuple[str, list[Any], dict[str, Any], str]]] = [
    (
        "OCC-02 another id",
        [*chat_call()[:2], {"role": "tool", "tool_call_id": "call_2", "content": ""}],
        {},
        "not found in 'tool_calls' of previous message",
    ),
    (
        "OCC-07",
        [user(), {"role": "assistant", "content": None}],
        {},
        "Invalid value for 'content': expected a string, got null.",
    ),
    ("OCC-10", chat_call(name="f" * 129), {}, "maximum length 128"),
    (
        "ORS-04",
        [item("custom_tool_call_output", call_id="call_1", output="x")],
        {},
        "No tool call found for custom tool call output with call_id call_1",
    ),
    (
        "ORS-07",
        [item("reasoning", id="rs_1", summary=[]), user()],
        {},
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ),
    (
        "ORS-09",
        [item("reasoning", id="rs_1", summary=[]), CALL, OUTPUT],
        {"store": False},
        "Item with id 'rs_1' not found.",
    ),
    (
        "ORS-10",
        [item("reasoning", summary=[], encrypted_content=seal("a")[:-4] + "AAAA"), CALL, OUTPUT],
        {},
        "could not be verified",
    ),
    (
        "ORS-12 charset",
        [{**CALL, "id": ""}, OUTPUT],
        {},
        "Expected an ID that contains letters, numbers, underscores, or dashes",
    ),
    ("ORS-13", [{**CALL, "call_id": "c" * 65}], {}, "maximum length 64, but got a string with length 65"),
    ("ORS-18", [item("mcp_approval_response", approval_request_id="x", approve=True)], {}, "No approval request found"),
    ("ORS-22", [OUTPUT, CALL], {}, "No tool call found"),
    (
        "ANT-03",
        [user(), model(use()), user([result()]), model(use()), user([result()])],
        {},
        "messages.3.content.0: `tool_use` ids must be unique",
    ),
    (
        "ANT-05",
        [user(), model(use("f.x:0")), user([result("f.x:0")])],
        {},
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ),
    (
        "ANT-07",
        [user(), model(use(name="f" * 201)), user([result()])],
        {},
        "tool_use.name: String should have at most 200 characters",
    ),
    ("ANT-08", [user([{"type": "text", "text": ""}, TEXT])], {}, "text content blocks must be non-empty"),
    ("ANT-10 user", [user("")], {}, "user messages must have non-empty content"),
    (
        "ANT-10 assistant",
        [user(), model(), user()],
        {},
        "all messages must have non-empty content except for the optional final assistant message",
    ),
    ("ANT-15", [user(), model(thought())], {}, "The final block in an assistant message cannot be `thinking`."),
    (
        "ANT-17",
        [user(), model(thought("other", seal("plan")), TEXT), user()],
        {},
        "Invalid `signature` in `thinking` block",
    ),
    (
        "ANT-24",
        [user(), model({"type": "server_tool_use", "id": "toolu_1", "name": "web_search", "input": {}})],
        {},
        "server_tool_use.id: String should match pattern '^srvtoolu_",
    ),
    (
        "ANT-25",
        [user(), model({"type": "mcp_tool_use", "id": "m", "name": "f", "input": {}})],
        {},
        "mcp_tool_use.server_name: Field required",
    ),
    (
        "ANT-26",
        [user(), model(use(caller={"type": "code_execution_20250825", "tool_id": "srvtoolu_1"})), user([result()])],
        {},
        "caller.tool_id",
    ),
    ("ANT-27", [user([use()])], {}, "`tool_use` blocks can only be in `assistant` messages"),
    (
        "ANT-29",
        [user([{**TEXT, **MARK}] * 5)],
        {},
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    (
        "ANT-30 model",
        [user(), {"role": "system", "content": "x"}, model(TEXT), user()],
        {},
        "role 'system' is not supported on this model",
    ),
    ("ANT-30 place", [{"role": "system", "content": "x"}, user()], {"prefill": False}, "role 'system' must follow"),
]
"""Histories that break a rule of which there is no case."""


@pytest.mark.parametrize("row", TAKEN, ids=lambda row: row[0])
def test_what_a_rule_allows_is_taken(row: tuple[str, list[Any], dict[str, Any]]) -> None:
    """A rule stops where its contract says, not before."""
    rule, messages, request = row

    assert refusal(FORMAT[rule[:3]], messages, request) is None


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row[0])
def test_what_a_rule_forbids_is_refused(row: tuple[str, list[Any], dict[str, Any], str]) -> None:
    """The refusal is in the provider's words."""
    rule, messages, request, words = row
    refused = refusal(FORMAT[rule[:3]], messages, request)

    assert refused is not None
    assert STATUS.get(rule, 400) == refused[0]
    assert words in refused[1]


@pytest.mark.parametrize(
    ("format", "body", "words"),
    [
        ("openai_chat", {}, "you must provide a model parameter"),
        ("openai_chat", {"model": "m"}, "Missing required parameter: 'messages'."),
        ("openai_chat", {"model": "m", "messages": []}, "Invalid 'messages': empty array."),
        ("openai_chat", {"model": "m", "messages": [{"role": "tol"}]}, "Invalid value: 'tol'."),
        ("openai_responses", {"input": "hi"}, "Missing required parameter: 'model'."),
        ("openai_responses", {"model": "m", "input": 3}, "Invalid type for 'input'"),
        ("openai_responses", {"model": "m", "previous_response_id": "a", "conversation": "b"}, "Mutually exclusive"),
        ("openai_responses", {"model": "m", "previous_response_id": "resp_9"}, "'resp_9' not found."),
        ("anthropic", {"model": "m", "messages": SAID}, "max_tokens: Field required"),
        ("anthropic", {"model": "m", "max_tokens": 1, "messages": []}, "messages: at least one message is required"),
        ("anthropic", {"model": "m", "max_tokens": 1, "messages": [user(), None]}, "messages.1: Input should be"),
    ],
)
def test_what_is_no_request_is_refused(format: str, body: dict[str, Any], words: str) -> None:
    """What a request needs at all is asked for first."""
    refused = FORMATS[format].refusal(body, HEADERS)

    assert refused is not None
    assert words in said(refused[1])


ODD: Final[list[Any]] = [None, 3, "x", True, [], [None], ["x"], {}, {"x": 1}, [{"type": []}], [{"role": [], "id": {}}]]
KEYS: Final = (
    "model",
    "messages",
    "input",
    "tools",
    "system",
    "thinking",
    "max_tokens",
    "previous_response_id",
    "store",
)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("key", KEYS)
def test_odd_values_are_judged(format: str, key: str) -> None:
    """Whatever stands in a field is refused or taken; the server never fails over it."""
    body = {"model": "claude-opus-5", "max_tokens": 9, "messages": [user()], "input": "hi"}
    for value in ODD:
        refused = FORMATS[format].refusal({**body, key: value}, HEADERS)
        assert refused is None or 400 == refused[0]


DISPUTED: dict[str, Any] = json.loads(Path(__file__).parents[1].joinpath("cases/judged.json").read_text("utf-8"))


@pytest.mark.parametrize("name", DISPUTED)
def test_what_our_two_readings_once_disagreed_about(name: str) -> None:
    """Now both say the same of it, and what is repaired is taken."""
    case = DISPUTED[name]
    done = suture.repair(case["messages"], case["format"], request=case["request"])
    assert case["findings"] == [repair.finding.rule for repair in done.repairs]
    assert bool(case["findings"]) == (refusal(case["format"], case["messages"], case["request"]) is not None)
    assert refusal(case["format"], done.messages, {**case["request"], **done.request}) is None

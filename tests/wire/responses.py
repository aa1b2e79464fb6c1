"""Inputs of the Responses format: each kind of damage once, with the rules that find it, and lists that are healthy."""

from __future__ import annotations

from typing import Any

Item = dict[str, Any]

__all__ = ["BROKEN", "HEALTHY", "USER", "call", "output", "thought"]

USER: Item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}]}
LATER: Item = {"role": "user", "content": "and now?"}
SHOT: Item = {"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBORw0KGgo="}
CHECK = {"id": "sc_1", "code": "malicious_instructions", "message": "The page gives instructions."}


def call(call_id: str, **keys: Any) -> dict[str, Any]:
    """A function call."""
    return {"type": "function_call", "call_id": call_id, "name": "look_up", "arguments": "{}", **keys}


def output(call_id: str, said: Any = "it is 4 C", **keys: Any) -> dict[str, Any]:
    """A function's result."""
    return {"type": "function_call_output", "call_id": call_id, "output": said, **keys}


def thought(number: int = 1, **keys: Any) -> dict[str, Any]:
    """A piece of reasoning."""
    summary = [{"type": "summary_text", "text": f"[thought {number}]"}]
    return {"type": "reasoning", "id": f"rs_{number}", "summary": summary, **keys}


def said(text: str = "Done.", **keys: Any) -> dict[str, Any]:
    """An answer of the model as it came."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed", "content": content, **keys}


ACTION: Item = {"type": "exec", "command": ["ls"], "env": {}}
COMPUTER: Item = {
    "type": "computer_call",
    "id": "cu_1",
    "call_id": "c",
    "status": "completed",
    "action": {"type": "wait"},
}
COMPUTER |= {"pending_safety_checks": []}
CHECKED: Item = {**COMPUTER, "pending_safety_checks": [CHECK]}
LOCAL: Item = {"type": "local_shell_call", "id": "lsh_1", "call_id": "c", "status": "completed", "action": ACTION}
SHELL: Item = {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}}
PATCH: Item = {
    "type": "apply_patch_call",
    "call_id": "c",
    "status": "completed",
    "operation": {"type": "delete_file", "path": "a"},
}
SEARCH: Item = {"type": "tool_search_call", "call_id": "c", "execution": "client", "arguments": {"query": "x"}}
CUSTOM: Item = {"type": "custom_tool_call", "call_id": "c", "name": "sh", "input": "ls"}
LOCAL_SAID: Item = {"type": "local_shell_call_output", "id": "lsh_1", "call_id": "c", "output": "a.txt"}
SEEN: Item = {"type": "computer_call_output", "call_id": "c", "output": SHOT}
RAN: Item = {"stdout": "a.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
SHELL_SAID: Item = {"type": "shell_call_output", "call_id": "c", "output": [RAN]}
PATCHED: Item = {"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "no such file"}
FOUND: Item = {"type": "tool_search_output", "call_id": "c", "execution": "client", "tools": []}
ASKED = {"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "docs", "name": "find", "arguments": "{}"}
AGREED = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
MADE = {"type": "mcp_call", "id": "mcp_1", "server_label": "docs", "name": "find", "arguments": "{}", "output": "x"}
PROGRAM = {"type": "program", "id": "prog_1", "call_id": "p", "code": "x()", "fingerprint": "f"}
BY_PROGRAM = {"type": "program", "caller_id": "p"}
TRIGGER = {"type": "compaction_trigger"}
IMAGE = {"type": "input_image", "detail": "auto", "image_url": "data:,"}
CITED = {"type": "output_text", "text": "4 C", "annotations": [{"type": "file_path", "file_id": "f", "index": 0}]}

Input = tuple[list[Any], dict[str, Any]]

HEALTHY: dict[str, Input] = {
    "no items": ([], {}),
    "easy messages": ([LATER, {"role": "assistant", "content": "Hi."}, LATER], {}),
    "null fields of a dump": (
        [
            {**USER, "id": None, "status": None},
            call("a", id=None, status=None, namespace=None),
            output("a", id=None, status=None),
            {"role": "assistant", "content": "Hi.", "type": None},
        ],
        {},
    ),
    "result far behind its call": (
        [USER, call("a"), call("b"), output("b"), said(), call("c"), output("c"), output("a")],
        {},
    ),
    "calls and reasoning interleaved": ([USER, call("a"), thought(), call("b"), output("b"), output("a")], {}),
    "an id again in a later turn": ([USER, call("a"), output("a"), LATER, call("a"), output("a")], {}),
    "reasoning in its turn": ([USER, thought(), call("a", id="fc_1"), output("a"), said()], {"reasoning_model": True}),
    "reasoning of each id": (
        [USER, thought(), call("a", id="fc_1"), output("a")],
        {"stored_reasoning_for": {"fc_1": "rs_1"}},
    ),
    "encrypted reasoning, unstored": ([USER, thought(encrypted_content="gAAA"), said()], {"store": False}),
    "encrypted by a sibling": (
        [USER, thought(encrypted_content="gAAA", model="gpt-5"), said()],
        {"model": "openai/gpt-5.1-mini"},
    ),
    "results of the response before": ([output("a"), USER], {"previous_response_id": "resp_1"}),
    "results of the conversation": ([SEEN, LATER], {"conversation": "conv_1"}),
    "open calls answered": ([output("b"), LATER, output("a")], {"open_calls": ["a", "b"]}),
    "a reference may be the call": ([USER, {"type": "item_reference", "id": "fc_1"}, output("a")], {"store": True}),
    "approval pending at the end": ([USER, ASKED], {}),
    "approval given": ([USER, ASKED, AGREED, MADE, LATER], {}),
    "a rich result": ([USER, call("a"), output("a", [{"type": "input_text", "text": "x"}, IMAGE])], {}),
    "every kind of pair": (
        [
            USER,
            *(
                {**item, "call_id": f"{item['call_id']}{number}"}
                for number, pair in enumerate(
                    ((COMPUTER, SEEN), (LOCAL, LOCAL_SAID), (SHELL, SHELL_SAID), (PATCH, PATCHED), (SEARCH, FOUND))
                )
                for item in pair
            ),
        ],
        {},
    ),
    "the server's own search": (
        [
            USER,
            {"type": "tool_search_call", "id": "ts_1", "call_id": None, "execution": "server", "arguments": {}},
            {"type": "tool_search_output", "id": "ts_2", "call_id": None, "execution": "server", "tools": []},
        ],
        {},
    ),
    "a program's calls": (
        [USER, PROGRAM, call("a", caller=BY_PROGRAM), output("a", caller=BY_PROGRAM), said()],
        {},
    ),
    "unknown items": ([USER, {"type": "future_item", "id": "future.1", "call_id": 7} | {"id": "fut_1"}, said()], {}),
    "the trigger at the end": ([USER, said(), TRIGGER], {}),
    "a refusal": ([USER, said(content=[{"type": "refusal", "refusal": "No."}])], {}),
}

BROKEN: dict[str, tuple[list[Any], dict[str, Any], set[str]]] = {
    "unanswered function": ([USER, call("a"), LATER], {}, {"unanswered-call"}),
    "unanswered custom": ([USER, CUSTOM, LATER], {}, {"unanswered-call"}),
    "unanswered computer": ([USER, COMPUTER, LATER], {}, {"unanswered-call"}),
    "unanswered local shell": ([USER, LOCAL, LATER], {}, {"unanswered-call"}),
    "unanswered shell": ([USER, SHELL, LATER], {}, {"unanswered-call"}),
    "unanswered patch": ([USER, PATCH, LATER], {}, {"unanswered-call"}),
    "unanswered search": ([USER, SEARCH, LATER], {}, {"unanswered-call"}),
    "unanswered by a program": ([USER, PROGRAM, call("a", caller=BY_PROGRAM), LATER], {}, {"unanswered-call"}),
    "orphan": ([USER, output("a"), LATER], {}, {"orphan-result"}),
    "orphans of every kind": (
        [
            USER,
            *({**item, "call_id": f"c{n}"} for n, item in enumerate((SEEN, LOCAL_SAID, SHELL_SAID, PATCHED, FOUND))),
        ],
        {},
        {"orphan-result"},
    ),
    "one reference, two orphans": (
        [USER, {"type": "item_reference", "id": "fc_1"}, output("a"), output("b")],
        {"previous_response_id": None, "store": False},
        {"unstored-reference", "orphan-result"},
    ),
    "named by the item": ([USER, call("a", id="fc_1"), output("fc_1")], {}, {"item-id-as-call-id"}),
    "before its call": ([USER, output("a"), call("a"), LATER], {}, {"result-before-call"}),
    "two results": ([USER, call("a"), output("a"), output("a", "or 5 C"), LATER], {}, {"duplicate-result"}),
    "two screenshots": (
        [USER, COMPUTER, SEEN, {**SEEN, "output": {**SHOT, "image_url": "data:,2"}}],
        {},
        {"duplicate-result", "result-type"},
    ),
    "two shell results": (
        [USER, SHELL, SHELL_SAID, {**SHELL_SAID, "output": [{**RAN, "stdout": "b.txt"}]}],
        {},
        {"duplicate-result"},
    ),
    "a placeholder": ([USER, call("a"), output("a", "IN_PROGRESS"), LATER], {}, {"placeholder-result"}),
    "one id, both open": (
        [USER, call("a"), LATER, call("a"), output("a", "first"), output("a", "second")],
        {},
        {"misplaced-result"},
    ),
    "one id in a turn": ([USER, call("a"), output("a"), call("a"), output("a"), LATER], {}, {"reused-call-id"}),
    "a long id": ([USER, call("x" * 65), output("x" * 65)], {}, {"malformed-call-id"}),
    "no id": ([USER, call(""), output("")], {}, {"missing-call-id"}),
    "function result of a custom call": ([USER, CUSTOM, output("c")], {}, {"result-type"}),
    "function result of a shell call": ([USER, SHELL, output("c")], {}, {"result-type"}),
    "function result of a local shell call": ([USER, LOCAL, output("c")], {}, {"result-type"}),
    "function result of a patch": ([USER, PATCH, output("c")], {}, {"result-type"}),
    "function result of a search": ([USER, SEARCH, output("c")], {}, {"result-type"}),
    "function result of a computer call": ([USER, COMPUTER, output("c")], {}, {"result-type"}),
    "an image for a computer call": ([USER, COMPUTER, output("c", [IMAGE])], {}, {"result-type"}),
    "an image for a custom call": ([USER, CUSTOM, output("c", [{**IMAGE, "detail": None}])], {}, {"result-type"}),
    "shell result of a function": ([USER, call("c"), SHELL_SAID], {}, {"result-type"}),
    "a failed patch of a function": ([USER, call("c"), PATCHED], {}, {"result-type"}),
    "a text for a screenshot": ([USER, COMPUTER, {**SEEN, "output": "blank"}], {}, {"result-type"}),
    "a result without content": (
        [USER, call("a"), output("a", None), LATER],
        {},
        {"result-content", "unanswered-call"},
    ),
    "an orphan without content": ([USER, output("a", None), LATER], {}, {"orphan-result"}),
    "a result that is no text": ([USER, call("a"), output("a", {"t": 4})], {}, {"result-content"}),
    "a result of another format's parts": (
        [USER, call("a"), output("a", [{"type": "text", "text": "4 C"}, "5 C"])],
        {},
        {"part-type"},
    ),
    "a local shell result without call_id": (
        [USER, LOCAL, {key: value for key, value in LOCAL_SAID.items() if key != "call_id"}],
        {},
        {"shell-result-keys"},
    ),
    "a local shell result without id": (
        [USER, LOCAL, {key: value for key, value in LOCAL_SAID.items() if key != "id"}],
        {},
        {"shell-result-keys"},
    ),
    "reasoning without follower": ([USER, thought(), LATER], {}, {"separated-reasoning"}),
    "reasoning at the end": ([USER, thought(), thought(2)], {}, {"separated-reasoning"}),
    "a result behind reasoning": (
        [USER, call("a"), thought(), output("a"), call("b"), output("b")],
        {},
        {"separated-reasoning"},
    ),
    "reasoning before an empty answer": (
        [USER, thought(), {"role": "assistant", "content": []}, LATER],
        {},
        {"empty-message", "separated-reasoning"},
    ),
    "an id without reasoning": (
        [USER, call("a", id="fc_1"), output("a")],
        {"reasoning_model": True},
        {"reasoning-of-an-id"},
    ),
    "an answer without its reasoning": (
        [USER, said(), LATER],
        {"stored_reasoning_for": {"msg_1": "rs_1"}},
        {"reasoning-of-an-id"},
    ),
    "a search without its reasoning": (
        [USER, {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}, said()],
        {"stored_reasoning_for": {"ws_1": "rs_1"}},
        {"reasoning-of-an-id"},
    ),
    "unstored reasoning": (
        [USER, thought(), call("a", id="fc_1"), output("a")],
        {"store": False},
        {"unstored-reasoning", "reasoning-of-an-id"},
    ),
    "another family's ciphertext": (
        [USER, thought(encrypted_content="gAAA", provider_data={"model": "grok-4"}), said(), LATER],
        {"model": "gpt-5"},
        {"foreign-ciphertext", "reasoning-of-an-id"},
    ),
    "one item twice": ([USER, said(), said(), LATER], {}, {"duplicate-item"}),
    "one id for two items": ([USER, said(), said("Or not."), LATER], {}, {"duplicate-item"}),
    "a pair twice": (
        [USER, call("a", id="fc_1"), call("a", id="fc_1"), output("a"), output("a")],
        {},
        {"duplicate-item", "duplicate-result"},
    ),
    "a result with its call's item id": ([USER, call("a", id="fc_1"), output("a", id="fc_1")], {}, {"duplicate-item"}),
    "the call's id as item id": ([USER, call("a", id="a"), output("a")], {}, {"malformed-item-id"}),
    "an empty item id": ([USER, call("a", id=""), output("a", id="")], {}, {"malformed-item-id"}),
    "a foreign message id": ([USER, said(id="chatcmpl-1"), LATER], {}, {"malformed-item-id"}),
    "a foreign message id, with sources": ([USER, said(id="run.1", content=[CITED]), LATER], {}, {"malformed-item-id"}),
    "an id that has to be there": (
        [USER, thought(id="think 1"), {**COMPUTER, "id": 7}, SEEN, said()],
        {},
        {"malformed-item-id"},
    ),
    "an approval's id": (
        [USER, {**ASKED, "id": "a b"}, {**AGREED, "approval_request_id": "a b"}, LATER],
        {},
        {"malformed-item-id"},
    ),
    "parts of the other side": (
        [
            {"role": "user", "content": [{"type": "output_text", "text": "4 C?", "annotations": []}]},
            {"role": "assistant", "content": [{"type": "input_text", "text": "4 C."}]},
            said(content=[{"type": "input_text", "text": "4 C."}, IMAGE]),
        ],
        {},
        {"part-type"},
    ),
    "empty messages": (
        [USER, {"role": "assistant", "content": ""}, {"role": "user", "content": []}, said(content=None)],
        {},
        {"empty-message"},
    ),
    "unacknowledged checks": ([USER, CHECKED, SEEN, LATER], {}, {"unacknowledged-safety-check"}),
    "an approval that nobody gave": ([USER, ASKED, LATER], {}, {"unanswered-item-approval"}),
    "an approval that was given": (
        [USER, ASKED, {**MADE, "approval_request_id": "mcpr_1"}, said()],
        {},
        {"unanswered-item-approval"},
    ),
    "an approval of nothing": ([USER, {**AGREED, "reason": "fine"}, LATER], {}, {"unanswered-item-approval"}),
    "an approval too early": ([USER, AGREED, ASKED, LATER], {}, {"unanswered-item-approval"}),
    "an approval twice": ([USER, ASKED, AGREED, {**AGREED, "approve": False}], {}, {"unanswered-item-approval"}),
    "a trigger in the middle": (
        [TRIGGER, USER, call("a"), TRIGGER, LATER],
        {},
        {"trigger-not-last", "unanswered-call"},
    ),
    "a result behind the trigger": ([USER, call("a"), TRIGGER, output("a")], {}, {"trigger-not-last"}),
    "reasoning before an empty question": (
        [thought(), {"role": "user", "content": ""}],
        {},
        {"separated-reasoning", "empty-message"},
    ),
    "open calls on the server": (
        [output("b"), LATER],
        {"previous_response_id": "resp_1", "open_calls": ["a", "b"]},
        {"unanswered-call"},
    ),
    "an orphan beside open calls": (
        [LATER, output("a"), output("z")],
        {"previous_response_id": "resp_1", "open_calls": ["a"]},
        {"orphan-result"},
    ),
    "cut arguments": (
        [USER, call("a", arguments='{"q": "tru', status="incomplete"), LATER],
        {},
        {"truncated-arguments"},
    ),
    "arguments as an object": ([USER, call("a", arguments={"q": 1}), output("a")], {}, {"arguments-encoding"}),
    "custom input as an object": ([USER, {**CUSTOM, "input": {"q": 1}}, LATER], {}, {"arguments-encoding"}),
    "a name that is not taken": ([USER, call("a", name="weather.get"), output("a")], {}, {"malformed-tool-name"}),
    "half characters": (
        [
            {"role": "user", "content": "\ud83d"},
            call("a", arguments='{"q": "\\ud83d"}'),
            output("a", [{"type": "input_text", "text": "x\udc00"}]),
            {**CUSTOM, "input": "\ud83d"},
            {"type": "custom_tool_call_output", "call_id": "c", "output": "é \ud83d"},
            {**SHELL, "call_id": "d", "action": {"commands": ["\ud83d"]}},
            {**SHELL_SAID, "call_id": "d"},
            said("\ud83d"),
        ],
        {},
        {"lone-surrogate"},
    ),
    "items that say nothing": (
        [
            USER,
            {**call("a"), "type": ""},
            {**output("a"), "type": None},
            {"type": 4, "x": 1},
            {"role": "me", "content": "x"},
        ],
        {},
        {"untyped-item"},
    ),
    "a result of Chat Completions": (
        [USER, call("a"), {"role": "tool", "tool_call_id": "a", "content": "4 C"}, LATER],
        {},
        {"untyped-item"},
    ),
}

"""Valid Anthropic histories, for a request that says nothing about thinking, tools or prefill."""

from __future__ import annotations

from typing import Any

from tests.generate.dice import PIXEL, Dice

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
DOCUMENT = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "the file"}}


def history(dice: Dice, turns: int) -> list[dict[str, Any]]:
    """Build a history of so many user turns."""
    messages: list[dict[str, Any]] = []
    for turn in range(turns):
        messages += [_user(dice) for _ in range(2 if dice.chance(0.15) else 1)]
        for _ in range(dice.number(0, 2)):
            messages += _exchange(dice)
        if dice.chance(0.5 if turn == turns - 1 else 0.85):
            messages += [_answer(dice) for _ in range(2 if dice.chance(0.1) else 1)]
    if dice.chance(0.1):
        _mark_for_cache(dice, messages)
    return messages


def _user(dice: Dice) -> dict[str, Any]:
    """Build a user's message: a text, or blocks, one of them perhaps of a kind nobody knows yet."""
    if dice.chance(0.7):
        return {"role": "user", "content": dice.text()}
    others: tuple[dict[str, Any], ...] = (IMAGE, DOCUMENT, {"type": "future_block", "payload": [1]}, _text(dice))
    return {"role": "user", "content": dice.shuffled([_text(dice), {**dice.pick(others)}])}


def _text(dice: Dice) -> dict[str, Any]:
    """Build a text block."""
    return {"type": "text", "text": dice.text()}


def _thinking(dice: Dice) -> list[dict[str, Any]]:
    """Build what a model thinks before it speaks: nothing, something, or something nobody may read."""
    if dice.chance(0.7):
        return []
    if dice.chance(0.3):
        return [{"type": "redacted_thinking", "data": "ZGF0YQ=="}]
    return [{"type": "thinking", "thinking": dice.pick(("", dice.text())), "signature": "c2ln"}]


def _exchange(dice: Dice) -> list[dict[str, Any]]:
    """Build one assistant message with calls, and the results that follow it."""
    ids = [dice.call_id(dots=False) for _ in range(dice.pick((1, 1, 1, 2, 3, 4)))]
    content = [*_thinking(dice), *([_text(dice)] if dice.chance(0.5) else []), *_server(dice)]
    content += [{"type": "tool_use", "id": each, "name": dice.name(), "input": dice.arguments()} for each in ids]
    results = [_result(dice, call_id) for call_id in dice.shuffled(ids)]
    # The run of results may cross user messages; text may follow it.
    cut = dice.number(1, len(results)) if dice.chance(0.15) else len(results)
    groups = [group for group in (results[:cut], results[cut:]) if group]
    groups[-1] += [_text(dice)] if dice.chance(0.2) else []
    return [{"role": "assistant", "content": content}, *({"role": "user", "content": group} for group in groups)]


def _result(dice: Dice, call_id: str) -> dict[str, Any]:
    """Build one result: text, blocks, an error, or nothing to say."""
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id}
    if dice.chance(0.9):
        result["content"] = dice.pick((dice.text(), dice.text(), "", [_text(dice)], [_text(dice), {**IMAGE}], []))
    texts = all(block["type"] == "text" for block in result.get("content", ()) if isinstance(block, dict))
    if dice.chance(0.25):
        result["is_error"] = dice.chance(0.6) and texts
    return result


def _server(dice: Dice) -> list[dict[str, Any]]:
    """Build a pair that the server or a connected MCP server ran, or nothing."""
    if dice.chance(0.85):
        return []
    if dice.chance(0.3):
        call_id = f"mcptoolu_{dice.serial()}"
        call = {"type": "mcp_tool_use", "id": call_id, "name": "find", "server_name": "docs", "input": dice.arguments()}
        return [call, {"type": "mcp_tool_result", "tool_use_id": call_id, "is_error": False, "content": [_text(dice)]}]
    call_id = f"srvtoolu_{dice.serial()}"
    failed = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
    found = {"type": "web_search_result", "title": "t", "url": "u", "encrypted_content": "ZGF0YQ=="}
    return [
        {"type": "server_tool_use", "id": call_id, "name": "web_search", "input": {"query": dice.text()}},
        {"type": "web_search_tool_result", "tool_use_id": call_id, "content": dice.pick((failed, [found], []))},
    ]


def _answer(dice: Dice) -> dict[str, Any]:
    """Build an assistant's answer."""
    if dice.chance(0.4):
        return {"role": "assistant", "content": dice.text()}
    content = [*_thinking(dice), *_server(dice), _text(dice)]
    # Whitespace beside real text passed when probed (ANT-09); an unknown block is carried through.
    if dice.chance(0.1):
        content.insert(-1, dice.pick(({"type": "text", "text": " "}, {"type": "future_block", "payload": {"a": 1}})))
    return {"role": "assistant", "content": content}


def _mark_for_cache(dice: Dice, messages: list[dict[str, Any]]) -> None:
    """Set up to four cache markers on blocks that may have one."""
    blocks = [block for message in messages if isinstance(message["content"], list) for block in message["content"]]
    able = [block for block in blocks if block["type"] in {"tool_use", "tool_result", "image", "document"}]
    for block in dice.shuffled(able)[: dice.number(1, 4)]:
        block["cache_control"] = {"type": "ephemeral"}

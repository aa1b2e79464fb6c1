"""Valid Chat Completions histories."""

from __future__ import annotations

from typing import Any

from tests.generate.dice import PIXEL, Dice


def history(dice: Dice, turns: int) -> list[dict[str, Any]]:
    """Build a history of so many user turns."""
    messages: list[dict[str, Any]] = []
    if dice.chance(0.4):
        messages.append({"role": dice.pick(("system", "developer")), "content": dice.text()})
    for turn in range(turns):
        messages += [_user(dice) for _ in range(2 if dice.chance(0.15) else 1)]
        for _ in range(dice.number(0, 2)):
            messages += _exchange(dice)
        # The last turn may end in a result, in the user's text or in the answer; an earlier one mostly has its answer.
        if dice.chance(0.5 if turn == turns - 1 else 0.85):
            messages.append(_answer(dice))
    return messages


def _user(dice: Dice) -> dict[str, Any]:
    """Build a user's message: a text, or parts, one of them perhaps of a kind nobody knows yet."""
    message: dict[str, Any] = {"role": "user", "content": dice.text()}
    if dice.chance(0.2):
        others: tuple[dict[str, Any], ...] = (
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}", "detail": "low"}},
            {"type": "input_audio", "input_audio": {"data": PIXEL, "format": "wav"}},
            {"type": "file", "file": {"file_id": "file_1"}},
            {"type": "future_part", "payload": {"any": [1]}},
        )
        message["content"] = dice.shuffled([{"type": "text", "text": dice.text()}, dice.pick(others)])
    if dice.chance(0.1):
        message["name"] = "ada"
    return message


def _exchange(dice: Dice) -> list[dict[str, Any]]:
    """Build one assistant message with calls and its results, in any order."""
    # Ids that start anew in every message, as some servers write them, are legal here.
    restart = dice.chance(0.15)
    ids = [f"call_{place}" if restart else dice.call_id() for place in range(dice.pick((1, 1, 1, 2, 3, 4)))]
    message: dict[str, Any] = {"role": "assistant", "tool_calls": [_call(dice, call_id) for call_id in ids]}
    if dice.chance(0.8):
        message["content"] = dice.pick((None, None, "", dice.text(), [{"type": "text", "text": dice.text()}]))
    if dice.chance(0.15):
        message["reasoning_content"] = dice.pick(("", dice.text()))
    if dice.chance(0.2):
        message |= {"refusal": None, "annotations": []}
    return [message, *(_result(dice, call_id) for call_id in dice.shuffled(ids))]


def _call(dice: Dice, call_id: str) -> dict[str, Any]:
    """Build one call, of a function or of a custom tool."""
    if dice.chance(0.08):
        return {"id": call_id, "type": "custom", "custom": {"name": dice.name(), "input": dice.text()}}
    call = {"id": call_id, "type": "function", "function": {"name": dice.name(), "arguments": dice.arguments_text()}}
    return {"index": 0, **call} if dice.chance(0.1) else call


def _result(dice: Dice, call_id: str) -> dict[str, Any]:
    """Build one result: text, parts of text, or nothing to say."""
    content: Any = dice.pick((dice.text(), dice.text(), dice.text(), "", f"Error: {dice.text()}"))
    if dice.chance(0.15):
        content = [{"type": "text", "text": dice.text()} for _ in range(dice.number(1, 2))]
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def _answer(dice: Dice) -> dict[str, Any]:
    """Build an assistant's answer: a text, parts, or a refusal."""
    content: Any = dice.text()
    if dice.chance(0.15):
        content = [{"type": "text", "text": dice.text()}]
    elif dice.chance(0.05):
        content = [{"type": "refusal", "refusal": "I will not."}]
    return {"role": "assistant", "content": content}

"""Valid UIMessage histories."""

from __future__ import annotations

from typing import Any

from tests.generate.dice import PIXEL, Dice


def history(dice: Dice, turns: int) -> list[dict[str, Any]]:
    """Build a history of so many user turns."""
    messages: list[dict[str, Any]] = []
    if dice.chance(0.1):
        messages.append({"id": "s", "role": "system", "parts": [_text(dice)]})
    for turn in range(turns):
        messages += [_message(dice, "user", _said(dice)) for _ in range(2 if dice.chance(0.15) else 1)]
        if dice.chance(0.7 if turn == turns - 1 else 0.9):
            messages.append(_message(dice, "assistant", _steps(dice)))
    return messages


def _message(dice: Dice, role: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Build a message."""
    message: dict[str, Any] = {"id": f"m{dice.serial()}", "role": role, "parts": parts}
    if dice.chance(0.1):
        message["metadata"] = dice.pick(({"model": "m"}, {}, [1]))
    return message


def _text(dice: Dice) -> dict[str, Any]:
    """Build a text part, streamed or not."""
    return {"type": "text", "text": dice.text(), **({"state": "done"} if dice.chance(0.3) else {})}


def _said(dice: Dice) -> list[dict[str, Any]]:
    """Build the parts of a user's message."""
    others: tuple[dict[str, Any], ...] = (
        {"type": "file", "mediaType": "image/png", "url": f"data:image/png;base64,{PIXEL}", "filename": "a.png"},
        {"type": "data-place", "data": {"lat": 59.9}},
        _text(dice),
    )
    return [_text(dice), dice.pick(others)] if dice.chance(0.25) else [_text(dice)]


def _steps(dice: Dice) -> list[dict[str, Any]]:
    """Build an assistant's message: steps that call, and mostly a last one that answers."""
    parts: list[dict[str, Any]] = []
    for _ in range(dice.number(0, 2)):
        parts += [{"type": "step-start"}, *_aside(dice), *(_tool(dice) for _ in range(dice.pick((1, 1, 2, 3))))]
    if not parts or dice.chance(0.7):
        parts += [{"type": "step-start"}, *_aside(dice), _text(dice)]
    return parts


def _aside(dice: Dice) -> list[dict[str, Any]]:
    """Build what may stand before the calls or the answer of a step."""
    choices: tuple[list[dict[str, Any]], ...] = (
        [{"type": "reasoning", "text": dice.text(), "providerMetadata": {"anthropic": {"signature": "c2ln"}}}],
        [_text(dice)],
        [{"type": "source-url", "sourceId": "1", "url": "u", "title": "t"}],
        [{"type": "source-document", "sourceId": "2", "mediaType": "text/plain", "title": "t"}],
        [{"type": "file", "mediaType": "image/png", "url": f"data:image/png;base64,{PIXEL}"}],
        [{"type": "data-progress", "id": "p", "data": 1}],
    )
    return dice.pick(choices) if dice.chance(0.4) else []


def _tool(dice: Dice) -> dict[str, Any]:
    """Build a settled call: an output, an error or a denial; ours or the provider's, static or dynamic."""
    name = dice.name()
    part: dict[str, Any] = {"type": f"tool-{name}", "toolCallId": dice.call_id(), "input": dice.arguments()}
    if dice.chance(0.15):
        part |= {"type": "dynamic-tool", "toolName": name}
    approval = {"id": f"ap{dice.serial()}"}
    which = dice.pick(("output", "output", "output", "error", "denied"))
    if which == "denied":
        reason = {"reason": dice.text()} if dice.chance(0.5) else {}
        return {**part, "state": "output-denied", "approval": {**approval, "approved": False, **reason}}
    if dice.chance(0.1):
        part["approval"] = {**approval, "approved": True}
    elif dice.chance(0.15):
        part["providerExecuted"] = True
    if which == "error":
        return {**part, "state": "output-error", "errorText": dice.text()}
    outputs: tuple[Any, ...] = (dice.text(), "", {"temperature": 4}, [1, 2], None, 0, False)
    return {**part, "state": "output-available", "output": dice.pick(outputs)}

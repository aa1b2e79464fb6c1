"""Valid Responses inputs, for a request that stores nothing and continues nothing."""

from __future__ import annotations

from typing import Any

from tests.generate.dice import PIXEL, Dice

SCREENSHOT = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PIXEL}"}


def history(dice: Dice, turns: int) -> list[dict[str, Any]]:
    """Build an input of so many user turns."""
    items: list[dict[str, Any]] = []
    for turn in range(turns):
        if dice.chance(0.15):
            items.append({"role": dice.pick(("system", "developer")), "content": dice.text()})
        items += [_user(dice) for _ in range(2 if dice.chance(0.15) else 1)]
        for _ in range(dice.number(0, 2)):
            items += _exchange(dice)
        if dice.chance(0.15):
            items += [*_reasoning(dice), _hosted(dice)]
        if dice.chance(0.5 if turn == turns - 1 else 0.85):
            items += [*_reasoning(dice), _answer(dice)]
    if dice.chance(0.03):
        items.append({"type": "compaction_trigger"})
    return items


def _user(dice: Dice) -> dict[str, Any]:
    """Build a user's message in one of its three spellings, or an item of a kind nobody knows yet."""
    text = {"type": "input_text", "text": dice.text()}
    image = {"type": "input_image", "detail": "auto", "image_url": SCREENSHOT["image_url"]}
    file = {"type": "input_file", "file_id": "file_1"}
    if dice.chance(0.03):
        return {"type": "future_item", "id": f"fut_{dice.serial()}", "payload": {"any": [1]}}
    if dice.chance(0.4):
        return {"role": "user", "content": dice.text()}
    content = [text, dice.pick((image, file))] if dice.chance(0.2) else [text]
    return {"type": "message", "role": "user", "content": content}


def _reasoning(dice: Dice) -> list[dict[str, Any]]:
    """Build what a model thinks before the item that must follow, or nothing."""
    if dice.chance(0.75):
        return []
    item: dict[str, Any] = {"type": "reasoning", "id": f"rs_{dice.serial()}", "summary": []}
    if dice.chance(0.5):
        item |= {"summary": [{"type": "summary_text", "text": dice.text()}], "encrypted_content": "ZGF0YQ=="}
    return [item]


def _exchange(dice: Dice) -> list[dict[str, Any]]:
    """Build calls and outputs: outputs after all calls in any order, or each after its call."""
    pairs = [_pair(dice) for _ in range(dice.pick((1, 1, 1, 2, 3, 4)))]
    if dice.chance(0.3):
        return [*_reasoning(dice), *(item for pair in pairs for item in pair)]
    return [*_reasoning(dice), *(call for call, _ in pairs), *(output for _, output in dice.shuffled(pairs))]


def _pair(dice: Dice) -> tuple[dict[str, Any], dict[str, Any]]:
    """Build a call and the output that fits it."""
    call_id = dice.call_id()
    if dice.chance(0.8):
        return _function(dice, call_id)
    build = dice.pick((_custom, _local_shell, _shell, _apply_patch, _computer))
    return build(dice, call_id)


def _function(dice: Dice, call_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Build a call of a function, with or without the id of its item."""
    call = {"type": "function_call", "call_id": call_id, "name": dice.name(), "arguments": dice.arguments_text()}
    if dice.chance(0.4):
        call |= {"id": f"fc_{dice.serial()}", "status": "completed"}
    image = [{"type": "input_text", "text": dice.text()}, {"type": "input_image", "image_url": SCREENSHOT["image_url"]}]
    output: Any = dice.pick((dice.text(), dice.text(), "", f"Error: {dice.text()}", image))
    return call, {"type": "function_call_output", "call_id": call_id, "output": output}


def _custom(dice: Dice, call_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Build a call of a custom tool."""
    call = {"type": "custom_tool_call", "call_id": call_id, "name": dice.name(), "input": dice.text()}
    return call, {"type": "custom_tool_call_output", "call_id": call_id, "output": dice.text()}


def _local_shell(dice: Dice, call_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Build a local shell call; its output carries both keys (ORS-06)."""
    action = {"type": "exec", "command": ["ls"], "env": {}}
    item_id = f"lsh_{dice.serial()}"
    call = {"type": "local_shell_call", "id": item_id, "call_id": call_id, "status": "completed", "action": action}
    return call, {"type": "local_shell_call_output", "id": item_id, "call_id": call_id, "output": dice.text()}


def _shell(dice: Dice, call_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Build a shell call."""
    call = {"type": "shell_call", "call_id": call_id, "action": {"commands": ["ls"]}}
    ran = {"stdout": dice.text(), "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
    return call, {"type": "shell_call_output", "call_id": call_id, "output": [ran]}


def _apply_patch(dice: Dice, call_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Build a patch."""
    operation = {"type": "delete_file", "path": "a.txt"}
    call = {"type": "apply_patch_call", "call_id": call_id, "status": "completed", "operation": operation}
    status = dice.pick(("completed", "failed"))
    return call, {"type": "apply_patch_call_output", "call_id": call_id, "status": status, "output": dice.text()}


def _computer(dice: Dice, call_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Build a computer call, its safety checks acknowledged."""
    checks = [{"id": "sc_1", "code": "malicious", "message": "check"}] if dice.chance(0.3) else []
    call: dict[str, Any] = {"type": "computer_call", "id": f"cu_{dice.serial()}", "call_id": call_id}
    call |= {"status": "completed", "action": {"type": "screenshot"}, "pending_safety_checks": checks}
    output = {"type": "computer_call_output", "call_id": call_id, "output": {**SCREENSHOT}}
    return call, {**output, "acknowledged_safety_checks": [{**check} for check in checks]} if checks else output


def _hosted(dice: Dice) -> dict[str, Any]:
    """Build an item that the server ran itself and that needs no output."""
    serial = dice.serial()
    search = {"type": "search", "query": dice.text()}
    return dice.pick(
        (
            {"type": "web_search_call", "id": f"ws_{serial}", "status": "completed", "action": search},
            {"type": "file_search_call", "id": f"fs_{serial}", "status": "completed", "queries": ["q"]},
            {"type": "mcp_call", "id": f"mcp_{serial}", "server_label": "docs", "name": "find", "arguments": "{}"},
        )
    )


def _answer(dice: Dice) -> dict[str, Any]:
    """Build an assistant's answer, as it was received or by its text alone."""
    if dice.chance(0.4):
        return {"role": "assistant", "content": dice.text()}
    content: list[dict[str, Any]] = [{"type": "output_text", "text": dice.text(), "annotations": []}]
    if dice.chance(0.05):
        content = [{"type": "refusal", "refusal": "I will not."}]
    item_id = f"msg_{dice.serial()}"
    return {"type": "message", "role": "assistant", "id": item_id, "status": "completed", "content": content}

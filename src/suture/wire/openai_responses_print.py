"""Printing the `input` of OpenAI Responses: each call where it stood, each result where it stood or behind its call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from suture.transcript import (
    FilePart,
    Limits,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolPart,
    output_text,
)
from suture.transcript.codec import dumps
from suture.wire.base import ABSENT, patch, patch_list
from suture.wire.openai_responses_read import ASKED, CALLS, OUTPUTS, has_role, is_typed, kind_of

__all__ = ["encode"]

_CALL_TYPES: Final = {kind: item for item, kind in CALLS.items()}
_OUTPUT_TYPES: Final = {kind: item for item, kind in OUTPUTS.items()}
_ELSEWHERE: Final = "elsewhere"

_UNKNOWN_EXIT: Final = -1
"""The exit code of a shell command whose end nobody saw: the field is required, and no real one has this value."""


def encode(messages: Sequence[Message], limits: Limits, /) -> list[Any]:
    """Each record, and each result at its old place where that was a good one."""
    printer = _Printer(at_once=limits.results == "next")
    for message in messages:
        printer.add(message)
    return printer.finish()


class _Printer:
    """The items so far, and the results that wait for their place."""

    def __init__(self, *, at_once: bool) -> None:
        """`at_once`: a result is the very next item behind its call."""
        self.at_once = at_once
        self.items: list[Any] = []
        self.waiting: list[tuple[int, Any]] = []
        self.owed: list[Any] = []
        self.thoughts = 0

    def add(self, message: Message) -> None:
        """Print a message; results that stood before it come first, and so do new ones unless it goes on calling."""
        calls = ToolPart in map(type, message.parts)
        last = not calls and _whole_kind(message) == "compaction_trigger"
        if (self.waiting and self._release(None if last else message.place)) or not calls:
            self._pay()
        spoken: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolPart):
                self._speak(message, spoken)
                self._call(part)
            elif isinstance(part, ReasoningPart):
                wire = _wire(part) or _new_reasoning(part)
                self.items.append(patch(wire, type="reasoning", id=_id(wire, part.item_id)))
                self.thoughts += 1
            elif _whole(part):
                self._print(_print_whole(part, message))
            else:
                spoken.append(part)
        if spoken or not message.parts:
            self._print(_print_message(message, spoken))

    def finish(self) -> list[Any]:
        """All items."""
        self._release(None)
        self._pay()
        return self.items

    def _print(self, item: Any) -> None:
        self.items.append(item)
        self.thoughts = 0

    def _speak(self, message: Message, spoken: list[Part]) -> None:
        if spoken:
            self._print(_print_message(message, spoken))
            spoken.clear()

    def _call(self, part: ToolPart) -> None:
        if not part.kind.startswith(_ELSEWHERE):
            self._print(_print_call(part))
        if not part.settled and not (part.preliminary and part.outcome_origin):
            return
        item = _print_result(part)
        if self.at_once:
            self._print(item)
        elif part.outcome_origin and part.outcome_origin.at:
            self.waiting.append((int(part.outcome_origin.at[0]), item))
        else:
            self.owed.append(item)

    def _release(self, before: int | None) -> bool:
        """Print the results that stood before this index, in their old order; whether there were any."""
        due = [pair for pair in self.waiting if before is None or pair[0] < before]
        if due:
            self.waiting = [] if len(due) == len(self.waiting) else [pair for pair in self.waiting if pair not in due]
            due.sort(key=lambda pair: pair[0])
            self._insert(item for _, item in due)
        return bool(due)

    def _pay(self) -> None:
        """Print the results that never had a place."""
        if self.owed:
            self._insert(self.owed)
            self.owed = []

    def _insert(self, items: Iterable[Any]) -> None:
        """Put results behind what is printed, but never between reasoning and what it led to."""
        at = len(self.items) - self.thoughts
        self.items[at:at] = items


def _new_reasoning(part: ReasoningPart) -> dict[str, Any]:
    """Reasoning that was on no wire of this format yet: of the provider's own making, encrypted."""
    summary = [{"type": "summary_text", "text": part.text}] if part.text else []
    return {"type": "reasoning", "summary": summary, "encrypted_content": part.payload}


def _whole_kind(message: Message) -> str:
    """The type of a record that is carried as it stands; empty for all others."""
    part = message.parts[0] if message.parts else None
    return part.kind if isinstance(part, OpaquePart) and _whole(part) else ""


def _whole(part: Part) -> bool:
    return isinstance(part, OpaquePart) and (part.origin is None or len(part.origin.at) == 1)


def _wire(part: Part) -> Any:
    return part.origin.wire if part.origin else None


def _id(wire: Any, item_id: str | None) -> Any:
    """The `id` to print: a null stays a null, and what was no text stays what it was."""
    if item_id:
        return item_id
    old = wire.get("id", ABSENT) if wire is not None else ABSENT
    return old if old is None or item_id is not None else ABSENT


# --- messages and other records -------------------------------------------------------------------------------------


def _print_whole(part: Part, message: Message) -> Any:
    value = part.value if isinstance(part, OpaquePart) else None
    if not isinstance(value, dict) or part.origin is None or message.role == "user":
        return value
    return patch(value, id=_id(value, message.id))


def _print_message(message: Message, parts: list[Part]) -> Any:
    """A message item: in the shape it had, an assistant's whose id is gone as its text alone."""
    wire = message.origin.wire if message.origin else None
    if not isinstance(wire, dict) or kind_of(wire) != "message":
        return _new_message(message.role, parts)
    if not is_typed(wire):
        role = {} if has_role(wire) else {"role": message.role}
        wire = patch(wire, type="message", **role)
    old = wire.get("content", ABSENT)
    content = _content(parts, message.role, old)
    if message.role != "assistant" or not isinstance(content, list):
        return patch(wire, id=_id(wire, message.id), content=content)
    if message.id is not None or (content is old and wire.get("id") is None):
        return patch(wire, id=_id(wire, message.id), content=content)
    if not _only_text(parts):
        return patch(wire, type="message", id=_id(wire, None), content=content)
    text = "\n\n".join(part.text for part in parts if isinstance(part, TextPart))
    return patch(wire, id=_id(wire, None), status=ABSENT, content=text)


def _new_message(role: str, parts: list[Part]) -> dict[str, Any]:
    if role == "assistant":
        if _only_text(parts):
            return {"role": role, "content": "\n\n".join(part.text for part in parts if isinstance(part, TextPart))}
        return {"type": "message", "role": role, "content": [_block(part, role) for part in parts]}
    return {"type": "message", "role": role, "content": [_block(part, role) for part in parts]}


def _only_text(parts: list[Part]) -> bool:
    """Whether these parts are text and nothing else that a reader would miss."""
    wires = [_wire(part) for part in parts]
    bare = not any(isinstance(wire, dict) and (wire.get("annotations") or wire.get("logprobs")) for wire in wires)
    return bare and all(isinstance(part, TextPart) for part in parts)


def _content(parts: list[Part], role: str, old: Any) -> Any:
    if not parts:
        return old
    first = parts[0]
    if len(parts) == 1 and _wire(first) is old and (not isinstance(first, TextPart) or first.text == old):
        return old
    if isinstance(old, list):
        return patch_list(old, [_block(part, role) for part in parts])
    if _only_text(parts):
        return "\n\n".join(part.text for part in parts if isinstance(part, TextPart))
    return [_block(part, role) for part in parts]


def _block(part: Part, role: str) -> Any:
    wire = _wire(part)
    if isinstance(part, TextPart):
        wanted = "output_text" if role == "assistant" else "input_text"
        if isinstance(wire, dict) and wire.get("type") == wanted:
            return patch(wire, text=part.text)
        return {"type": wanted, "text": part.text, **({"annotations": []} if role == "assistant" else {})}
    if isinstance(part, FilePart):
        return _image(part)
    return part.value if isinstance(part, OpaquePart) else wire


def _image(part: FilePart) -> Any:
    """An image as input, from whatever it was: a screenshot may be in an uploaded file."""
    wire = _wire(part)
    if isinstance(wire, dict) and wire.get("type") == "input_image":
        return wire
    file_id = wire.get("file_id") if isinstance(wire, dict) else None
    source = {"image_url": part.url} if part.url is not None or file_id is None else {"file_id": file_id}
    return {"type": "input_image", "detail": "auto", **source}


# --- calls ----------------------------------------------------------------------------------------------------------


def _print_call(part: ToolPart) -> Any:
    wire = _wire(part)
    kind = part.kind if part.kind in _CALL_TYPES else "function"
    fields: dict[str, Any] = {"type": _CALL_TYPES[kind], "id": _id(wire, part.item_id), "call_id": part.call_id}
    if kind == "function":
        fields["name"] = part.name
        fields["arguments"] = part.raw_input if part.raw_input is not None else dumps(part.input)
    elif kind == "custom":
        fields["name"] = part.name
        fields["input"] = part.input if isinstance(part.input, str) else dumps(part.input)
    elif wire is not None and ASKED[kind] in wire:
        fields[ASKED[kind]] = part.input
    elif kind == "tool_search" and wire is None:
        fields |= {"arguments": part.input, "execution": "client", "status": "completed"}
    answered = part.outcome_origin.wire if part.outcome_origin else None
    if wire is None and answered is not None and answered.get("caller") is not None:
        fields["caller"] = answered["caller"]
    return patch(wire, **fields)


# --- results --------------------------------------------------------------------------------------------------------


def _print_result(part: ToolPart) -> Any:
    wire = part.outcome_origin.wire if part.outcome_origin else None
    kind = part.kind.removeprefix(f"{_ELSEWHERE}:")
    if kind not in _OUTPUT_TYPES:
        kind = "function"
    fields: dict[str, Any] = {"type": _OUTPUT_TYPES[kind], "call_id": part.call_id}
    if kind == "local_shell":
        fields["id"] = _shell_id(part, wire)
    call = _wire(part)
    if wire is None and isinstance(call, dict) and call.get("caller") is not None:
        fields["caller"] = call["caller"]
    return patch(wire, **fields, **_SAID.get(kind, _said_freely)(part, wire))


def _shell_id(part: ToolPart, wire: Any) -> str:
    """The id in a local shell result: the call's, but for one that its client chose to write otherwise."""
    own = wire.get("id") if wire is not None else None
    call = _wire(part)
    before = call.get("id") if isinstance(call, dict) else None
    return own if isinstance(own, str) and own and own != before else part.item_id or part.call_id


def _said_freely(part: ToolPart, wire: Any) -> dict[str, Any]:
    """Text, or a list of input parts."""
    old = wire.get("output") if wire is not None else None
    if isinstance(part.output, tuple):
        pieces = [_block(piece, "user") for piece in part.output]
        if part.kind == "custom" and wire is not None and wire.get("type") == "function_call_output":
            pieces = [
                patch(p, detail=p.get("detail") or "auto") if p.get("type") == "input_image" else p for p in pieces
            ]
        return {"output": patch_list(old, pieces)}
    if part.output is old and wire is not None:
        return {"output": wire.get("output", ABSENT)}
    return {"output": output_text(part.output)}


def _said_by_patch(part: ToolPart, wire: Any) -> dict[str, Any]:
    """A text, and whether the patch was applied: there is no third value for what nobody knows."""
    if wire is not None and wire.get("type") == _OUTPUT_TYPES["apply_patch"]:
        status, silent = wire.get("status", ABSENT), wire.get("output", ABSENT)
    else:
        status, silent = "completed" if part.state == "output-available" else "failed", ABSENT
    return {"status": status, "output": silent if part.output is None else output_text(part.output)}


def _said_by_shell(part: ToolPart, wire: Any) -> dict[str, Any]:
    """The chunks of a shell's output; a text that nobody printed goes to stderr, with an exit code that none has."""
    old = wire.get("output") if wire is not None else None
    if isinstance(part.output, tuple):
        return {"output": patch_list(old, [_chunk(piece) for piece in part.output])}
    text = output_text(part.output)
    return {"output": [_chunk(TextPart(text))], **({"status": "incomplete"} if wire is None else {})}


def _chunk(piece: Part) -> Any:
    if isinstance(piece, OpaquePart):
        return piece.value
    text = piece.text if isinstance(piece, TextPart) else ""
    return {"stdout": "", "stderr": text, "outcome": {"type": "exit", "exit_code": _UNKNOWN_EXIT}}


def _said_by_search(part: ToolPart, wire: Any) -> dict[str, Any]:
    """The tools that were found; none where the search has no result, which its status says."""
    if isinstance(part.output, tuple):
        tools = [piece.value for piece in part.output if isinstance(piece, OpaquePart)]
        return {"tools": patch_list(wire.get("tools") if wire is not None else None, tools)}
    return {"execution": "client", "status": "incomplete", "tools": []}


def _seen(part: ToolPart, wire: Any) -> dict[str, Any]:
    """A screenshot."""
    shot = part.output[0] if isinstance(part.output, tuple) and part.output else None
    if not isinstance(shot, FilePart):
        return {"output": wire.get("output", ABSENT) if wire is not None else ABSENT}
    old = _wire(shot)
    if isinstance(old, dict) and old.get("type") == "computer_screenshot":
        return {"output": old}
    return {"output": {"type": "computer_screenshot", "image_url": shot.url}}


_SAID: Final = {
    "apply_patch": _said_by_patch,
    "shell": _said_by_shell,
    "tool_search": _said_by_search,
    "computer": _seen,
}
"""How an outcome is written, by the kind of its call."""

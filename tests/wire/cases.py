"""The contract cases and the wild ones, and how a repair is compared with the one that a case expects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from suture.transcript import CAUSES

__all__ = ["CONTRACTS", "DIFFERENCES", "PENDING", "WILD", "Case", "canonical"]

FOLDER = Path(__file__).parent.parent / "cases"

FORMATS = {"anthropic_messages": "anthropic", "ai_sdk_ui_v4": "ai_sdk_ui", "agents_sdk_session": "openai_responses"}
"""Names that the wild rows use for a format, or for a kind of it."""

PENDING = {"aisdk-approval-34"}
"""Reports of histories that look broken and are not: the SDK goes on with a call that was approved last."""

SETTINGS: dict[str, dict[str, Any]] = {"mastra-reason-39": {"reasoning_model": True}}
"""What a wild row says in words about its request."""


class Case(msgspec.Struct, frozen=True):
    """One history of the case files."""

    id: str
    format: str
    messages: list[Any]
    request: dict[str, Any] = {}
    rule: str = ""
    valid: bool = False
    expected: list[Any] | None = None


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines() if line.strip()]


def _contract(row: dict[str, Any]) -> Case:
    return Case(
        row["id"],
        row["format"],
        row["input"],
        row.get("context", {}),
        row["rule"],
        row["valid"],
        row["expected_repair"],
    )


def _wild(row: dict[str, Any]) -> Case:
    body = row["input"]
    messages = next(body[key] for key in ("messages", "input", "items") if key in body)
    request = {"model": body["target_model"]} if "target_model" in body else SETTINGS.get(row["id"], {})
    return Case(row["id"], FORMATS.get(row["format"], row["format"]), messages, request)


CONTRACTS = [_contract(row) for row in _rows("contracts.jsonl")]
WILD = [_wild(row) for row in _rows("wild.jsonl")]
DIFFERENCES: dict[str, dict[str, str]] = json.loads((FOLDER / "differences.json").read_text(encoding="utf-8"))
"""Where our repair is another than the expected one: why, and the rule that finds the fault where that is another."""

_ID_KEYS = ("id", "tool_call_id", "tool_use_id", "call_id", "toolCallId")
_WORDINGS = (*CAUSES.values(),)


def canonical(messages: Any) -> Any:
    """The messages up to a renaming of ids and the wording of what stands in for something."""
    names: dict[str, str] = {}

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {k: walk(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(item) for item in value]
        if key in _ID_KEYS and isinstance(value, str):
            return names.setdefault(value, f"id{len(names)}")
        if isinstance(value, str) and (value.startswith("[") or value in _WORDINGS):
            return "[…]"
        return value

    return walk(messages)

"""The public API, used the way a user would. Nothing here runs: mypy and pyright read it."""

from __future__ import annotations

from typing import Any, Literal, assert_type

import suture
from suture import (
    ChangedFileError,
    Finding,
    InputError,
    PolicyError,
    Repair,
    Repaired,
    SessionError,
    SutureError,
    UnknownFormatError,
    UsageError,
    check,
    close_unanswered_tool_calls,
    detect,
    drop_leading_orphan_tools,
    normalize_tool_input,
    repair,
)
from suture.transcript import Part, TextPart, ToolPart

history: list[dict[str, Any]] = [
    {"role": "user", "content": "Which files are here?"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "list", "input": {}}]},
]


def checking() -> None:
    assert_type(detect(history), str)
    assert_type(check(history), list[Finding])
    for finding in check(history, "anthropic", request={"tools": []}):
        assert_type(finding.code, str)
        assert_type(finding.rule, str)
        assert_type(finding.path, str)
        assert_type(finding.call_id, str | None)
        assert_type(finding.message, str)
        assert_type(finding.confidence, Literal["documented", "seen", "inferred"])
        assert_type(finding.contract, str)


def ask_again(part: ToolPart) -> Part:
    if part.name == "ask_user":
        return TextPart(text=str(part.input["question"]))
    return part.settle("The user closed the window.")


def repairing() -> None:
    done = repair(
        history,
        "anthropic",
        request={"thinking": None},
        on_interrupted=ask_again,
        open_calls="keep",
        orphans="text",
    )
    assert_type(done, Repaired)
    assert_type(done.changed, bool)
    assert_type(done.repairs, list[Repair])
    assert_type(done.request, dict[str, Any])
    for each in done.repairs:
        assert_type(each.finding, Finding)
        assert_type(each.action, str)
        assert_type(each.lost, str | None)
    assert_type(suture.repair(history), Repaired)
    assert_type(suture.__version__, str)


def steps() -> None:
    for step in (close_unanswered_tool_calls, drop_leading_orphan_tools, normalize_tool_input):
        assert callable(step)


def failing() -> str:
    try:
        suture.repair(history, "antropic")
    except UnknownFormatError as error:
        assert_type(error.name, str | None)
        assert_type(error.known, tuple[str, ...])
    except PolicyError as error:
        assert_type(error.argument, str)
        assert_type(error.expected, tuple[str, ...])
    except UsageError as error:
        return str(error)
    except InputError as error:
        return f"{error.path}: {error.expected}"
    except ChangedFileError as error:
        return error.path
    except SessionError as error:
        return error.problem
    except SutureError as error:
        return str(error)
    return ""

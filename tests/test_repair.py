"""`check`, `repair` and `detect` as their users call them: the compared faults, the policies, the hook, bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from openai.types.chat import ChatCompletionMessage

import suture
from suture import InputError, PolicyError, UnknownFormatError
from suture.repair.rules import CATALOGUE
from suture.transcript import CAUSES, Part, TextPart, ToolPart
from suture.wire import ADAPTERS, PROFILES
from tests.faults import FAULTS, FORMATS, judge, render
from tests.oracles.sdk import TYPES, sdk_errors
from tests.oracles.strict import violations
from tests.test_invariants import leaves

RENDERED = [(name, wire) for name in FAULTS for wire in FORMATS if render(name, wire) is not None]
SOUND = {"valid", "split_results"}
"""Not broken: the valid one, and results in two messages, which are read as one run."""

CALL: dict[str, Any] = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "ask_user", "arguments": '{"question": "Which?"}'},
}
ASKED: list[dict[str, Any]] = [
    {"role": "user", "content": "deploy"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
]
INTERRUPTED = [*ASKED, {"role": "user", "content": "the second one"}]


@pytest.mark.parametrize(("name", "format"), RENDERED)
def test_sixteen_faults_are_sendable_and_lose_nothing(name: str, format: str) -> None:
    """Each compared fault comes out sendable, by three judges, with every real result, text and call still there."""
    messages = render(name, format)
    assert messages is not None
    done = suture.repair(messages, format)
    verdict = judge(messages, done.messages, format)

    assert verdict.sendable, verdict.problems
    assert () == verdict.lost
    assert [] == violations(done.messages, format)
    assert format not in TYPES or [] == sdk_errors(done.messages, format)
    assert (name in SOUND) == (done.messages is messages)


@pytest.mark.parametrize(("name", "format"), RENDERED)
def test_tool_output_stays_a_tools(name: str, format: str) -> None:
    """No result moves into the role of the user, the system or the assistant."""
    messages = render(name, format)
    done = suture.repair(messages, format)

    for message in done.messages:
        spoken = message.get("content") if message.get("role") in ("user", "system", "assistant") else None
        blocks = spoken if isinstance(spoken, list) else [spoken]
        texts = [block.get("text") if isinstance(block, dict) else block for block in blocks]
        assert not [text for text in texts if isinstance(text, str) and text.startswith("[R")]


def test_the_hook_gets_an_open_call_with_an_object_as_input() -> None:
    """The hook sees the call before it is settled, arguments parsed and made an object."""
    seen: list[ToolPart] = []

    def hook(part: ToolPart) -> Part:
        seen.append(part)
        return part.settle("The user closed the window.")

    broken_call = {**CALL, "function": {"name": "ask_user", "arguments": '{"question": "Whi'}}
    messages = [ASKED[0], {**ASKED[1], "tool_calls": [broken_call]}, INTERRUPTED[2]]
    done = suture.repair(messages, "openai_chat", on_interrupted=hook)

    assert ["call_1"] == [part.call_id for part in seen]
    assert {"_raw": '{"question": "Whi'} == seen[0].input
    assert ("input-available", "malformed") == (seen[0].state, seen[0].cause)
    assert "The user closed the window." == done.messages[2]["content"]


def test_the_hook_may_put_text_in_place_of_the_call() -> None:
    """A question that the user's next message answers becomes the assistant's text."""
    done = suture.repair(INTERRUPTED, on_interrupted=lambda part: TextPart(part.input["question"]))

    assert [INTERRUPTED[0], {"role": "assistant", "content": "Which?"}, INTERRUPTED[2]] == done.messages
    assert "replaced by the hook" == done.repairs[0].action


def _raises(part: ToolPart) -> Part:
    raise ValueError("no")


BAD_HOOKS: dict[str, tuple[Callable[[ToolPart], Any], str]] = {
    "raises": (_raises, "the hook raised ValueError: no"),
    "returns nothing": (lambda _: None, "the hook returned NoneType, expected a part"),
    "leaves it open": (lambda part: part, "the hook returned a call in the state 'input-available'"),
    "settles another call": (
        lambda part: msgspec.structs.replace(part.settle("x"), call_id="call_2"),
        "the hook returned the call 'call_2', expected 'call_1'",
    ),
}


@pytest.mark.parametrize("name", BAD_HOOKS)
def test_a_bad_hook_falls_back_and_is_reported(name: str) -> None:
    """An exception or an unsettled return is never raised: the default stands, and the report says why."""
    hook, said = BAD_HOOKS[name]
    done = suture.repair(INTERRUPTED, "openai_chat", on_interrupted=hook)

    assert CAUSES["unknown"] == done.messages[2]["content"]
    assert said in done.repairs[0].action


def test_open_calls_at_the_end_may_be_kept() -> None:
    """`keep` leaves a running tail alone, and settles what cannot be running."""
    assert ASKED == suture.repair(ASKED, open_calls="keep").messages
    assert suture.repair(ASKED, open_calls="keep").messages is ASKED
    assert [] == suture.repair(ASKED, open_calls="keep").repairs
    assert suture.repair(INTERRUPTED, open_calls="keep").changed


def test_orphans_by_policy() -> None:
    """An orphan's call is rebuilt by default; on request its result becomes text, or is dropped and reported."""
    orphan = [{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "Bash:3", "content": "42"}]
    rebuilt = suture.repair(orphan)
    text = suture.repair(orphan, orphans="text")
    dropped = suture.repair(orphan, orphans="drop")

    assert "Bash" == rebuilt.messages[1]["tool_calls"][0]["function"]["name"]
    assert "42" == rebuilt.messages[2]["content"]
    assert {"role": "user", "content": "[result of Bash Bash:3] 42"} == text.messages[1]
    assert ([orphan[0]], "42") == (dropped.messages, dropped.repairs[0].lost)


def test_a_real_result_beats_a_synthetic_one_of_any_program() -> None:
    """In either order, and whoever wrote the substitute."""
    real = {"role": "tool", "tool_call_id": "call_1", "content": "42 files"}
    for text in ("aborted", "[Tool execution was interrupted]", "No result provided", CAUSES["started"]):
        synthetic = {"role": "tool", "tool_call_id": "call_1", "content": text}
        for results in ([synthetic, real], [real, synthetic]):
            assert [*ASKED, real] == suture.repair([*ASKED, *results]).messages


def test_repair_is_deterministic() -> None:
    """The same input gives the same bytes: prompt caches survive."""
    messages = render("dup_call_one_message", "anthropic")

    assert suture.repair(messages).messages == suture.repair(messages).messages


@pytest.mark.parametrize(("name", "format"), [case for case in RENDERED if case[0] != "empty_assistant"])
def test_the_format_is_detected(name: str, format: str) -> None:
    """A history with calls says by its shape which format it is in."""
    assert format == suture.detect(render(name, format))


def test_sdk_objects_are_taken() -> None:
    """Pydantic models are dumped; what comes back are plain messages."""
    message = ChatCompletionMessage.model_validate({"role": "assistant", "content": None, "tool_calls": [CALL]})
    done = suture.repair([ASKED[0], message])

    assert ["user", "assistant", "tool"] == [message["role"] for message in done.messages]


BAD_INPUT: dict[str, tuple[Any, str, type[suture.SutureError], str]] = {
    "a dict": ({"messages": []}, "anthropic", InputError, "messages: expected a list of messages (pass what is under"),
    "a string": ("hi", "anthropic", InputError, "messages: expected a list of messages, got hi"),
    "another format": (
        INTERRUPTED,
        "anthropic",
        InputError,
        "messages[1]: expected a message of anthropic, got one of",
    ),
    "a list of strings": (["hi"], "anthropic", InputError, "messages[0]: expected an object, got hi"),
    "a number inside": (
        [{"role": "user", "content": "x"}, 3],
        "openai_chat",
        InputError,
        "messages[1]: expected an object",
    ),
    "an unknown format": (
        [],
        "anthropics",
        UnknownFormatError,
        "unknown format 'anthropics'; expected one of openai_chat",
    ),
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_says_what_was_expected_and_where(name: str) -> None:
    """A clear error, never a crash, and never a guess."""
    messages, wire, error, said = BAD_INPUT[name]
    with pytest.raises(error) as caught:
        suture.repair(messages, wire)

    assert str(caught.value).startswith(said)


def test_an_unrecognised_list_asks_for_its_format() -> None:
    """Detection does not guess."""
    with pytest.raises(UnknownFormatError, match="name it with `format`"):
        suture.detect([{"nothing": "known"}])


def test_an_unknown_policy_names_the_known_ones() -> None:
    """A misspelt policy is an error, not a default."""
    with pytest.raises(PolicyError, match="orphans='quote': expected one of 'rebuild', 'drop', 'text'"):
        suture.repair([], orphans="quote")  # type: ignore[arg-type]


def test_named_steps() -> None:
    """The single steps do what they are known for, and nothing else."""
    late = {"role": "tool", "tool_call_id": "call_0", "content": "late"}
    closed = suture.close_unanswered_tool_calls([late, *INTERRUPTED])

    assert [late, *INTERRUPTED[:2]] == closed[:3]
    assert CAUSES["unknown"] == closed[3]["content"]
    assert INTERRUPTED == suture.drop_leading_orphan_tools([late, *INTERRUPTED])
    assert suture.drop_leading_orphan_tools(INTERRUPTED) is INTERRUPTED
    assert {"a": 1} == suture.normalize_tool_input('"{\\"a\\": 1}"')
    assert {} == suture.normalize_tool_input(None)
    assert {"_raw": "{"} == suture.normalize_tool_input("{")


@pytest.mark.parametrize("rule", CATALOGUE, ids=lambda rule: rule.code)
def test_each_rule_has_an_example_that_shows_it(rule: Any) -> None:
    """The example of a rule's page breaks that rule, and its repair is settled and says something."""
    example = rule.example
    done = suture.repair(example.messages, example.format, request=example.request)

    assert rule.code in {repair.finding.code for repair in done.repairs}
    assert [] == suture.check(done.messages, example.format, request=done.request)
    assert all(text.strip() for text in (rule.summary, rule.why, rule.fix))


def test_each_rule_is_one_of_a_formats() -> None:
    """No rule without a provider that has it, none of a provider's without a page; codes and names are unique."""
    named = {rule.name for rule in CATALOGUE}
    demanded = {name for adapter in (*ADAPTERS.values(), *PROFILES.values()) for name in adapter.RULES}

    assert named == demanded
    assert len(named) == len({rule.code for rule in CATALOGUE}) == len(CATALOGUE)


def test_lone_surrogates_are_made_writable() -> None:
    """Half a character, which JSON can say and UTF-8 cannot hold, is replaced, and the report says so."""
    done = suture.repair([{"role": "user", "content": "half \ud83d of it"}], "openai_chat")

    assert [{"role": "user", "content": "half \ufffd of it"}] == done.messages
    assert ["SU416"] == [repair.finding.code for repair in done.repairs]
    assert not [text for _, text in leaves(done.messages) if "\ud83d" in text]

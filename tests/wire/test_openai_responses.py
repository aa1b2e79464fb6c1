"""The Responses format: what is broken is found and mended for good, what is well stays where and what it is."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import suture
from suture.pipeline import Policies, adapter_of, run
from suture.repair.report import Repaired
from suture.transcript import CAUSES, Part, TextPart, ToolPart
from suture.wire.look.openai_responses import scan
from suture.wire.look.openai_responses_closely import look_closely
from tests.faults import FAULTS, judge, render
from tests.oracles import sdk, strict
from tests.strategies import broken, histories
from tests.wire.cases import CONTRACTS, WILD
from tests.wire.responses import BROKEN, HEALTHY, USER, call, output, thought

FORMAT = "openai_responses"
CASES = [case for case in (*CONTRACTS, *WILD) if case.format == FORMAT]
INPUTS = {
    **{case.id: (case.messages, case.request) for case in CASES},
    **{name: (messages, request) for name, (messages, request, _) in BROKEN.items()},
    **HEALTHY,
}
REQUESTS: list[dict[str, Any]] = [
    {},
    {"store": False},
    {"reasoning_model": True},
    {"stored_reasoning_for": {f"{kind}_{n}": f"rs_{n - 1}" for kind in ("fc", "msg") for n in range(40)}},
    {"previous_response_id": "resp_1"},
    {"conversation": "conv_1", "previous_response_id": "resp_1"},
    {"open_calls": ["call_1", "call_99"], "previous_response_id": "resp_1"},
]
SOUND = {"valid", "split_results"}
"""Not broken here: a result may stand anywhere behind its call."""
LENIENT = "OCC-10"
"""Names of 65 to 128 characters: accepted where they stand, never written."""


def repaired(messages: list[Any], request: dict[str, Any] | None = None, format: str = FORMAT) -> Repaired:
    """The repair, after making sure that it mutates nothing, is enough and is final."""
    before = copy.deepcopy(messages)
    done = suture.repair(messages, format, request=request)
    again = suture.repair(done.messages, format, request=done.request)

    assert before == messages
    assert [] == again.repairs
    assert done.messages is again.messages
    return done


def refused(done: Repaired, format: str = FORMAT) -> Iterator[str]:
    """What the independent judge says against a repair."""
    for violation in strict.violations(done.messages, format, done.request):
        if not violation.startswith(LENIENT):
            yield violation


def findings(done: Repaired) -> Counter[tuple[str, str]]:
    """What was found, and where."""
    return Counter((repair.finding.rule, repair.finding.path) for repair in done.repairs)


def in_full(messages: list[Any], request: dict[str, Any], format: str = FORMAT) -> Repaired:
    """The repair without the fast look: every item is read in full."""
    adapter = adapter_of(messages, format, request)
    return run(messages, adapter, dict(request), Policies(), suspects=set(range(len(messages))))


# --- what is healthy, what is broken ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_list_is_the_same_object(name: str) -> None:
    """Nothing is found in it, and it is given back, not copied."""
    messages, request = HEALTHY[name]
    done = repaired(messages, request)

    assert [] == done.repairs
    assert messages is done.messages


@pytest.mark.parametrize("name", BROKEN)
def test_each_kind_of_damage_is_found_and_mended(name: str) -> None:
    """The named rules find it; the repair is final, and independent judges accept it."""
    messages, request, rules = BROKEN[name]
    done = repaired(messages, request)

    assert rules <= {repair.finding.rule for repair in done.repairs}
    assert [] == list(refused(done))
    assert [] == sdk.sdk_errors(done.messages, FORMAT)


@pytest.mark.parametrize("name", INPUTS)
def test_untouched_items_are_the_same_objects(name: str) -> None:
    """An item that is equal to one that was there is that very item."""
    messages, request = INPUTS[name]
    done = repaired(messages, request)

    before = {id(item) for item in messages}
    assert not [item for item in done.messages if item in messages and id(item) not in before]


@pytest.mark.parametrize("name", FAULTS)
def test_the_compared_faults(name: str) -> None:
    """Each comes out sendable, with every real result, text and call still there."""
    messages = render(name, FORMAT)
    assert messages is not None
    done = repaired(messages)
    verdict = judge(messages, done.messages, FORMAT)

    assert verdict.sendable, verdict.problems
    assert () == verdict.lost
    assert [] == list(refused(done))
    assert (name in SOUND) == (done.messages is messages)


# --- the fast look misses nothing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INPUTS)
def test_the_fast_look_misses_nothing(name: str) -> None:
    """Reading every item in full finds and does the same."""
    messages, request = INPUTS[name]
    quick, full = suture.repair(messages, FORMAT, request=request), in_full(messages, request)

    assert findings(full) == findings(quick)
    assert full.messages == quick.messages


LONG = "a result that is no placeholder"
ODD_ITEMS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            ["function_call", "function_call_output", "message", "reasoning", "custom_tool_call", 4]
        ),
        "role": st.sampled_from(["user", "assistant", "system", "tool"]),
        "content": st.sampled_from(
            ["hi", "", None, [], [{"type": "input_text", "text": "hi"}], [{"type": "output_text"}]]
        ),
        "id": st.sampled_from(["fc_1", "fc_2", "rs_1", "msg_1", "a b", "", None, 5, "x" * 65]),
        "call_id": st.sampled_from(["c1", "c2", "c3", "", None, "x" * 65]),
        "name": st.sampled_from(["look", "a b", "", None, "x" * 129]),
        "arguments": st.sampled_from(["{}", "", "[1]", {}, None]),
        "output": st.sampled_from([LONG, "IN_PROGRESS", "", None, [], [{"type": "input_text", "text": LONG}]]),
        "summary": st.just([]),
        "encrypted_content": st.sampled_from(["c2ln", None, 5]),
        "status": st.just("completed"),
    },
)
USUAL_ITEMS = st.sampled_from(
    [
        {"role": "user", "content": "hi"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {
            "type": "function_call",
            "call_id": "c2",
            "name": "look",
            "arguments": "{}",
            "id": "fc_1",
            "status": "completed",
        },
        {"type": "function_call_output", "call_id": "c1", "output": LONG},
        {"type": "function_call_output", "call_id": "c2", "output": LONG},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"role": "assistant", "content": "done", "id": "msg_1"},
    ]
)


@given(st.lists(ODD_ITEMS | USUAL_ITEMS | USUAL_ITEMS, max_size=10), st.sampled_from(REQUESTS))
def test_the_fast_look_names_what_a_close_look_names(items: list[Any], request: dict[str, Any]) -> None:
    """Whatever stands in an item, and whatever it stands beside."""
    found, whole = look_closely(items, request)
    wanted = set(range(len(items))) if whole else found

    assert wanted <= scan(items, request)


@given(broken(FORMAT), st.sampled_from(REQUESTS))
def test_the_fast_look_misses_nothing_in_what_is_broken_by_chance(messages: list[Any], request: dict[str, Any]) -> None:
    """… under any request, whatever was lost, doubled, moved, renamed or cut."""
    if not all(isinstance(message, dict) for message in messages):
        return
    quick, full = suture.repair(messages, FORMAT, request=request), in_full(messages, request)

    assert findings(full) == findings(quick)
    assert full.messages == quick.messages


@given(broken(FORMAT))
def test_what_is_broken_by_chance_is_mended(messages: list[Any]) -> None:
    """The repair is final, and the independent judge accepts it."""
    if all(isinstance(message, dict) for message in messages):
        assert [] == list(refused(repaired(messages)))


@given(broken(FORMAT))
def test_results_right_behind_their_calls(messages: list[Any]) -> None:
    """On DeepSeek's surface every result is the very next item, and the repair is final."""
    if all(isinstance(message, dict) for message in messages):
        done = repaired(messages, {"surface": "responses"}, "deepseek")
        assert [] == list(refused(done, "deepseek"))


@given(histories(FORMAT))
def test_a_history_is_healthy(messages: list[Any]) -> None:
    """What a client writes without damage is the same object."""
    assert messages is suture.repair(messages, FORMAT).messages


# --- where things stand ----------------------------------------------------------------------------------------------


def places(messages: list[Any]) -> str:
    """The order of calls, results and reasoning in a word each."""
    short = {"function_call": "call", "function_call_output": "out", "reasoning": "think", "message": "said"}
    return " ".join(short[item.get("type", "message")] + item.get("call_id", "") for item in messages)


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ("call1 think call2 out1 out2 call3", "call1 think call2 out1 out2 call3 out3"),
        ("call1 said out1 call2 said", "call1 said out1 call2 out2 said"),
        ("call1 call2 out2 said", "call1 call2 out2 out1 said"),
        ("call1 call2 said out2", "call1 call2 out1 said out2"),
        ("call1 think said", "call1 out1 think said"),
        ("call1 think out1 call2 out2", "call1 out1 think call2 out2"),
        ("out1 said call1 said", "said call1 out1 said"),
    ],
)
def test_results_keep_their_places(items: str, expected: str) -> None:
    """A result that stands behind its call stays there; a new one comes behind the run of calls that it belongs to."""
    made: dict[str, Callable[[str], Any]] = {
        "call": call,
        "out": output,
        "think": lambda _: thought(),
        "said": lambda _: {"role": "assistant", "content": "x"},
    }
    messages = [USER, *(made[word.rstrip("123")](word[-1]) for word in items.split())]
    done = repaired(messages)

    assert expected == places(done.messages[1:])


def test_calls_and_results_interleaved_for_deepseek() -> None:
    """The results move to their calls, and reasoning stays before the call that it led to (DSK-06)."""
    messages = [USER, call("1"), thought(), call("2"), output("1"), output("2"), call("3"), USER]
    done = repaired(messages, {"surface": "responses"}, "deepseek")

    assert "call1 out1 think call2 out2 call3 out3 said" == places(done.messages[1:])
    assert {"DSK-06", "ORS-01"} == {repair.finding.contract for repair in done.repairs}
    assert [] == strict.violations(done.messages, "deepseek", {"surface": "responses"})


# --- what is written -------------------------------------------------------------------------------------------------


def written(name: str) -> list[Any]:
    """The items of a repair that were not there before."""
    messages, request, _ = BROKEN[name]
    return [item for item in repaired(messages, request).messages if not any(item is other for other in messages)]


UNKNOWN = CAUSES["unknown"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("unanswered function", {"type": "function_call_output", "call_id": "a", "output": UNKNOWN}),
        ("unanswered custom", {"type": "custom_tool_call_output", "call_id": "c", "output": UNKNOWN}),
        (
            "unanswered local shell",
            {"type": "local_shell_call_output", "call_id": "c", "id": "lsh_1", "output": UNKNOWN},
        ),
        (
            "unanswered shell",
            {
                "type": "shell_call_output",
                "call_id": "c",
                "output": [{"stdout": "", "stderr": UNKNOWN, "outcome": {"type": "exit", "exit_code": -1}}],
                "status": "incomplete",
            },
        ),
        (
            "unanswered patch",
            {"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": UNKNOWN},
        ),
        (
            "unanswered search",
            {"type": "tool_search_output", "call_id": "c", "execution": "client", "status": "incomplete", "tools": []},
        ),
        (
            "unanswered by a program",
            {
                "type": "function_call_output",
                "call_id": "a",
                "caller": {"type": "program", "caller_id": "p"},
                "output": UNKNOWN,
            },
        ),
    ],
)
def test_an_honest_outcome_of_the_right_type(name: str, expected: dict[str, Any]) -> None:
    """Each kind of call is answered in its own type, by a failure that claims nothing."""
    assert [expected] == written(name)


def test_a_screenshot_is_not_forged() -> None:
    """An unanswered computer call becomes a function call with the action as its arguments, answered in words."""
    asked, answer = written("unanswered computer")

    assert ("function_call", "computer", '{"type":"wait"}') == (asked["type"], asked["name"], asked["arguments"])
    assert {"type": "function_call_output", "call_id": "c", "output": UNKNOWN} == answer


def test_consent_is_not_forged_and_the_screenshot_stays() -> None:
    """Unacknowledged checks make a plain call of the pair; the report has the checks."""
    messages, request, _ = BROKEN["unacknowledged checks"]
    done = repaired(messages, request)
    asked, answer = written("unacknowledged checks")

    assert "computer" == asked["name"]
    assert ["input_image"] == [part["type"] for part in answer["output"]]
    assert messages[2]["output"]["image_url"] == answer["output"][0]["image_url"]
    assert "acknowledged_safety_checks" not in json.dumps(done.messages)
    assert "malicious_instructions" in (done.repairs[0].lost or "")


@pytest.mark.parametrize("name", [name for name in BROKEN if "approval" in name])
def test_approvals_are_never_given(name: str) -> None:
    """No repair agrees to anything that nobody agreed to."""
    messages, request, _ = BROKEN[name]
    done = repaired(messages, request)

    agreed, before = ([item.get("approve") for item in items].count(True) for items in (done.messages, messages))
    assert agreed <= before


def test_a_removed_message_id_leaves_the_text() -> None:
    """An assistant's message without id is its text; one with sources keeps its parts."""
    assert [{"type": "message", "role": "assistant", "content": "Done."}] == written("a foreign message id")
    (with_sources,) = written("a foreign message id, with sources")
    assert "id" not in with_sources
    assert with_sources["content"][0]["annotations"]


def test_what_is_dropped_is_in_the_report() -> None:
    """References, reasoning, images of an assistant and items that say nothing are quoted where they are gone."""
    for name in ("one reference, two orphans", "unstored reasoning", "reasoning without follower"):
        messages, request, _ = BROKEN[name]
        assert [repair for repair in repaired(messages, request).repairs if repair.lost], name


# --- the request -----------------------------------------------------------------------------------------------------


def test_one_continuation_of_two() -> None:
    """Of a conversation and a response the conversation stays, and the list is the same object (ORS-15)."""
    messages = [USER]
    done = repaired(messages, {"previous_response_id": "resp_1", "conversation": "conv_1"})

    assert {"conversation": "conv_1"} == done.request
    assert ["SU802"] == [repair.finding.code for repair in done.repairs]
    assert messages is done.messages


def test_open_calls_are_answered_at_the_head() -> None:
    """Calls that only the server holds are answered before anything else is said (ORS-16)."""
    messages = [USER]
    done = repaired(messages, {"previous_response_id": "resp_1", "open_calls": ["a", "b"]})

    assert [output("a", UNKNOWN), output("b", UNKNOWN), USER] == done.messages


def test_the_hook_answers_for_the_server() -> None:
    """A call that only the server holds is answered whatever the hook makes of it: it cannot become a text."""
    request = {"previous_response_id": "resp_1", "open_calls": ["a"]}
    done = suture.repair([USER], FORMAT, request=request, on_interrupted=lambda _: TextPart("The user said no."))

    assert [output("a", "The user said no."), USER] == done.messages


def test_the_hook_may_put_text_in_place_of_a_call() -> None:
    """A call of this list may become the assistant's text."""

    def ask(part: ToolPart) -> Part:
        return TextPart(f"Which {part.input['what']}?")

    done = suture.repair([USER, call("a", arguments='{"what": "one"}'), USER], FORMAT, on_interrupted=ask)

    assert [USER, {"role": "assistant", "content": "Which one?"}, USER] == done.messages


def test_open_calls_at_the_end_may_be_kept() -> None:
    """`keep` leaves the run of calls alone that ends the list, and answers what stands before it."""
    messages = [USER, call("a"), thought(), call("b"), call("c"), output("b")]
    done = suture.repair(messages, FORMAT, open_calls="keep")
    assert messages is done.messages

    done = suture.repair([USER, call("z"), USER, *messages[1:]], FORMAT, open_calls="keep")
    assert ["z"] == [repair.finding.call_id for repair in done.repairs]

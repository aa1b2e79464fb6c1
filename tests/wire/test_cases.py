"""Every case of the case files: valid ones come back as the same object, broken ones are found and mended for good."""

from __future__ import annotations

import copy

import pytest

import suture
from suture.repair.report import Repaired
from tests.oracles import sdk, strict
from tests.wire.cases import CONTRACTS, DIFFERENCES, PENDING, WILD, Case, canonical

VALID = [case for case in CONTRACTS if case.valid]
BROKEN = [case for case in CONTRACTS if not case.valid]
REPORTED = [case for case in WILD if case.id not in PENDING]

cases = pytest.mark.parametrize


def named(cases: list[Case]) -> list[object]:
    """Each case as a parameter, under its name."""
    return [pytest.param(case, id=f"{case.format}:{case.id}") for case in cases]


def repaired(case: Case) -> Repaired:
    """The repair of a case, after making sure that it mutates nothing."""
    before = copy.deepcopy(case.messages)
    done = suture.repair(case.messages, case.format, request=case.request)
    assert before == case.messages
    return done


@cases("case", named(VALID))
def test_valid_is_the_same_object(case: Case) -> None:
    """A history that its provider takes has no finding and is given back, not copied."""
    done = repaired(case)

    assert [] == done.repairs
    assert case.messages is done.messages
    assert not done.changed
    assert [] == suture.check(case.messages, case.format, request=case.request)


@cases("case", named(BROKEN))
def test_broken_is_found_by_its_rule(case: Case) -> None:
    """`check` names the provider's rule that the case breaks."""
    found = {finding.contract for finding in suture.check(case.messages, case.format, request=case.request)}

    assert DIFFERENCES.get(case.id, {}).get("found_as", case.rule) in found


@cases("case", named(BROKEN + REPORTED))
def test_repair_is_accepted_and_final(case: Case) -> None:
    """The repair checks clean, is the same when repaired again, and independent judges accept it."""
    done = repaired(case)

    assert done.repairs
    assert [] == suture.check(done.messages, case.format, request=done.request)
    assert done.messages is suture.repair(done.messages, case.format, request=done.request).messages
    assert [] == strict.violations(done.messages, case.format, done.request)
    # The AI SDK is asked in `test_ai_sdk_ui`, about all of its cases at once.
    assert [] == (sdk.sdk_errors(done.messages, _wire(case)) if _wire(case) in sdk.TYPES else [])


@cases("case", named(BROKEN))
def test_repair_is_the_expected_one(case: Case) -> None:
    """It is the expected one up to ids and wording; where it is another, the test data say why."""
    same = canonical(case.expected) == canonical(repaired(case).messages)

    assert same != (case.id in DIFFERENCES), DIFFERENCES.get(case.id, "differs, and no reason is recorded")


def _wire(case: Case) -> str:
    """The format whose types a history of this case has."""
    if case.request.get("surface") == "responses":
        return "openai_responses"
    return case.format

"""`suture rules`: the catalogue and the pages."""

from __future__ import annotations

from collections import Counter

import pytest

from suture.cli.pages import CONFIDENCES, GROUPS, RULES, contracts, group_of, index, page, record
from suture.cli.rules import rules
from suture.repair.rule import Rule
from tests.cli.running import suture, suture_json

CODES = [rule.code for rule in RULES]
MESSAGE_RULES = [rule for rule in RULES if isinstance(rule, Rule)]


def test_every_code_and_every_name_is_given_once() -> None:
    """A page is found by either; codes are in order and in a group."""
    assert [] == [name for name, count in Counter([*CODES, *(rule.name for rule in RULES)]).items() if count > 1]
    assert sorted(CODES) == CODES
    assert set(GROUPS) == {code[:3] for code in CODES}


def test_the_catalogue_is_one_line_a_rule() -> None:
    """Under headings, with the sentence that says what must hold."""
    lines = suture("rules").stdout.splitlines()

    assert CODES == [line.split()[0] for line in lines if line.startswith("  ")]
    assert list(GROUPS.values()) == [line for line in lines if line and not line.startswith(" ")]
    assert "  SU101  unanswered-call" in suture("rules").stdout


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.code))
def test_a_page_says_what_is_known_of_a_rule(rule: Rule) -> None:
    """What must hold, where it holds, with the errors of providers word for word, and an example."""
    text = suture("rules", rule.code).stdout

    assert text == page(rule)
    assert text.startswith(f"# {rule.code}: {rule.name}\n\n{rule.summary}\n")
    for name, contract in contracts(rule).items():
        assert f"- `{name}`: {contract.id}, {contract.confidence}" in text
        assert contract.error in text
        assert contract.confidence in CONFIDENCES


@pytest.mark.parametrize("rule", MESSAGE_RULES, ids=lambda rule: rule.code)
def test_the_example_shows_the_rule(rule: Rule) -> None:
    """What a check finds in it is the rule's own code, in a format that the rule holds for."""
    assert rule.example is not None
    found = page(rule).partition("`suture check` finds:")[2].partition("`suture repair`")[0]

    assert f" {rule.code} " in found
    assert rule.example.format in contracts(rule)


@pytest.mark.parametrize("name", ["SU101", "su101", "unanswered-call", "Unanswered-Call"])
def test_a_rule_is_named_by_code_or_name(name: str) -> None:
    """In capitals or not."""
    assert suture("rules", name).stdout.startswith("# SU101: unanswered-call\n")


@pytest.mark.parametrize(("name", "hint"), [("unansered", "did you mean SU101 unanswered-call"), ("zzz", "lists them")])
def test_an_unknown_rule(name: str, hint: str) -> None:
    """The sentence offers what was perhaps meant."""
    done = suture("rules", name, code=2)

    assert f"there is no rule '{name}'" in done.stderr
    assert hint in done.stderr


def test_json_has_every_rule_with_stable_keys() -> None:
    """The keys are those that `--help` names."""
    document = suture_json("rules")

    assert CODES == [rule["code"] for rule in document["rules"]]
    assert [group_of(rule) for rule in RULES] == [rule["group"] for rule in document["rules"]]
    (one,) = suture_json("rules", "SU101")["rules"]
    assert one == record(RULES[CODES.index("SU101")])
    assert {"id": "toolu_1"}.items() <= one["example"]["before"][1]["content"][0].items()
    named = set((rules.epilog or "").replace(",", " ").split())
    assert {*one, *one["formats"]["anthropic"], *one["example"]} <= named


def test_on_a_terminal_a_page_is_laid_out() -> None:
    """With colour; as Markdown where it goes to a file."""
    text = suture("rules", "--color", "always", "SU101").stdout

    assert "\x1b[" in text
    assert "```" not in text
    assert "No tool output found for function call" in text


def test_the_list_of_pages_links_to_each() -> None:
    """In groups."""
    assert [] == [code for code in CODES if f"[{code}]({code}.md)" not in index()]
    assert [] == [group for group in GROUPS.values() if f"## {group}" not in index()]

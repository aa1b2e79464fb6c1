"""The page of each rule, in Markdown: `suture rules CODE` prints it, `docs/rules/` holds it.

Everything on it comes from the rules themselves; the example's outcome is what `repair` makes of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from suture.cli.output import json_text
from suture.pipeline import repair
from suture.repair.report import Repaired
from suture.repair.rule import Example, Rule
from suture.repair.rules import CATALOGUE
from suture.sessions import DAMAGES, DamageRule
from suture.transcript import Contract
from suture.wire import ADAPTERS, PROFILES

__all__ = ["CONFIDENCES", "GROUPS", "RULES", "contracts", "group_of", "index", "page", "record"]

RULES: Final[tuple[Rule | DamageRule, ...]] = (*CATALOGUE, *DAMAGES.values())
"""Every rule, by its code."""

GROUPS: Final = {
    "SU1": "Calls and results",
    "SU2": "Ids and names",
    "SU3": "Arguments",
    "SU4": "Content",
    "SU5": "Roles and order",
    "SU6": "Reasoning",
    "SU7": "Tools that the provider runs",
    "SU8": "The request",
    "SU9": "Damaged session files",
}
"""What the first digit of a code says."""

CONFIDENCES: Final = {
    "documented": "the provider's documentation or its SDK says so",
    "seen": "the provider answered with an error",
    "inferred": "it follows from the provider's other rules; where sources disagree, repair writes what both accept",
}
"""How a provider's rule can be known."""

_WIDTH: Final = 100
_ISSUE: Final = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)")


def group_of(rule: Rule | DamageRule) -> str:
    """The heading that a rule stands under."""
    return GROUPS[rule.code[:3]]


def contracts(rule: Rule | DamageRule) -> dict[str, Contract]:
    """The formats and hosts that a rule holds for, with the provider's own rule; a host only where it differs."""
    held = {name: adapter.RULES for name, adapter in ADAPTERS.items()}
    held |= {name: profile.rules for name, profile in PROFILES.items()}
    return {name: rules[rule.name] for name, rules in held.items() if rule.name in rules}


def page(rule: Rule | DamageRule) -> str:
    """The page of a rule."""
    return re.sub("\n{3,}", "\n\n", "\n".join(_lines(rule))).rstrip() + "\n"


def _lines(rule: Rule | DamageRule) -> Iterator[str]:
    yield f"# {rule.code}: {rule.name}"
    yield from ("", rule.summary)
    if isinstance(rule, DamageRule):
        yield from ("", rule.page)
        mended = "Writing the file again mends it." if rule.mended else "It is reported as a note, and left as it is."
        yield from ("", mended)
        return
    yield from ("", "## Why", "", rule.why, "", "## What a repair does", "", rule.fix)
    found = contracts(rule)
    if found:
        yield from ("", "## Where it holds", "")
    for name, contract in found.items():
        yield from _contract(name, contract)
    for confidence in (known for known in CONFIDENCES if any(one.confidence == known for one in found.values())):
        yield from ("", f"*{confidence.capitalize()}*: {CONFIDENCES[confidence]}.")
    if rule.example is not None:
        yield from _example(rule.example)


def _contract(name: str, contract: Contract) -> Iterator[str]:
    """A format's line, and the provider's error under it."""
    source = _ISSUE.sub(r"[\1#\2](https://github.com/\1/issues/\2)", contract.source)
    yield f"- `{name}`: {contract.id}, {contract.confidence}" + (f" ({source})" if source else "")
    if contract.error:
        yield from ("", "  ```text", f"  {contract.error}", "  ```", "")


def _example(example: Example) -> Iterator[str]:
    done = _repaired(example)
    with_request = f", sent with `{json_text(example.request)}`" if example.request else ""
    yield from ("", "## Example", "", f"In the format `{example.format}`{with_request}:")
    yield from ("", "```json", _printed(example.messages), "```")
    yield from ("", "`suture check` finds:", "", "```text")
    yield from (f"{each.finding.path}: {each.finding.code} {each.finding.message}" for each in done.repairs)
    yield from ("```", "", "`suture repair` makes of it:", "")
    yield from (f"- {each.finding.code}: {each.action}" for each in done.repairs)
    yield from ("", "```json", _printed(done.messages), "```")
    asked = {key: value for key, value in done.request.items() if example.request.get(key) != value}
    if asked:
        yield from ("", f"and asks for the request settings `{json_text(asked)}`.")


def _repaired(example: Example) -> Repaired:
    return repair(example.messages, example.format, request=example.request)


def _printed(value: Any, depth: int = 0) -> str:
    """JSON in which everything that fits on a line stands on one."""
    flat = json_text(value)
    if 2 * depth + len(flat) <= _WIDTH or not isinstance(value, dict | list) or not value:
        return flat
    inner = "  " * (depth + 1)
    if isinstance(value, list):
        lines = [inner + _printed(item, depth + 1) for item in value]
    else:
        lines = [f"{inner}{json_text(key)}: {_printed(item, depth + 1)}" for key, item in value.items()]
    begin, end = "[]" if isinstance(value, list) else "{}"
    return begin + "\n" + ",\n".join(lines) + "\n" + "  " * depth + end


def record(rule: Rule | DamageRule) -> dict[str, Any]:
    """A rule as `--json` prints it; what a rule does not have is null."""
    known = {"code": rule.code, "name": rule.name, "group": group_of(rule), "summary": rule.summary}
    if isinstance(rule, DamageRule):
        return known | {"why": rule.page, "fix": None, "formats": {}, "example": None}
    formats = {
        name: {"rule": one.id, "confidence": one.confidence, "error": one.error or None, "source": one.source or None}
        for name, one in contracts(rule).items()
    }
    example = None
    if rule.example is not None:
        example = {
            "format": rule.example.format,
            "request": rule.example.request,
            "before": rule.example.messages,
            "after": _repaired(rule.example).messages,
        }
    return known | {"why": rule.why, "fix": rule.fix, "formats": formats, "example": example}


def index() -> str:
    """The list of all pages, in Markdown."""
    lines = [
        "# The rules",
        "",
        "One page a rule: what must hold, how histories come to break it, what a repair does, and the providers' own",
        "error texts. `suture rules` prints this list, `suture rules SU101` prints a page. The pages are written from",
        "the rules themselves: `python -m tests.docs.rules`.",
    ]
    for start, group in GROUPS.items():
        lines += ["", f"## {group}", "", "| code | name | what must hold |", "| --- | --- | --- |"]
        lines += [
            f"| [{rule.code}]({rule.code}.md) | `{rule.name}` | {rule.summary} |"
            for rule in RULES
            if rule.code.startswith(start)
        ]
    return "\n".join(lines) + "\n"

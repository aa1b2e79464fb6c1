"""The work of `suture check`: every path, whatever happens to the others."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from suture import pipeline
from suture.cli.inputs import Target, is_other_file, kind_of, require_known, targets
from suture.cli.output import CLEAN, FAILED, FOUND, Printer, counted, finding_line, paint
from suture.cli.problems import Problem, problems_of
from suture.repair.report import Finding

__all__ = ["Checking"]


class Checking:
    """One run of the command."""

    def __init__(
        self, format: str | None, request: Mapping[str, Any], printer: Printer, *, as_json: bool, quiet: bool
    ) -> None:
        """The command's options."""
        self.format = format
        self.request = request
        self.printer = printer
        self.as_json = as_json
        self.quiet = quiet
        self.files: int = 0
        self.skipped: int = 0
        self.found: list[tuple[str, Problem]] = []
        self.errors: list[tuple[str, str]] = []

    @property
    def count(self) -> int:
        """How many problems there are that the exit code speaks of."""
        return sum(not problem.note for _, problem in self.found)

    def run(self, paths: Sequence[str]) -> int:
        """Check all paths and print what was found; gives back the exit code."""
        require_known(self.format)
        with tempfile.TemporaryDirectory(prefix="suture-") as folder:
            for target in targets(paths, Path(folder)):
                self._one(target)
        if not self.files and not self.errors:
            self._fail(", ".join(paths), FileNotFoundError(0, "there are no session files here"))
        if self.as_json:
            self.printer.json(self._document())
        elif not self.quiet:
            self.printer.lines(self._summary())
        if self.errors:
            return FAILED
        return FOUND if self.count else CLEAN

    def _one(self, target: Target) -> None:
        try:
            kind = kind_of(target, self.format)
            problems = problems_of(target.path, kind, self.request, _judge)
        except Exception as error:  # noqa: BLE001 (one bad file must not keep the others from being checked)
            if is_other_file(target, error):
                self.skipped += 1
            else:
                self._fail(target.shown, error)
            return
        self.files += 1
        self.found += [(target.shown, problem) for problem in problems]
        if not self.as_json:
            self.printer.lines(finding_line(target.shown, problem) for problem in problems)

    def _fail(self, shown: str, error: Exception) -> None:
        self.errors.append((shown, self.printer.error(shown, error)))

    def _summary(self) -> list[str]:
        lines = []
        if self.count:
            bad = len({shown for shown, problem in self.found if not problem.note})
            where = f"{bad:,} of {counted(self.files, 'file')}" if self.files > 1 else "1 file"
            lines.append(paint("Found " + counted(self.count, "problem"), bold=True) + f" in {where}.")
            lines.append("`suture repair PATH` shows what a repair would change, `suture rules CODE` explains a code.")
        elif self.files:
            lines.append(paint("No problems", "green", bold=True) + f" in {counted(self.files, 'file')}.")
        if self.skipped:
            lines.append(f"Skipped {counted(self.skipped, 'file')} without a session.")
        return lines

    def _document(self) -> dict[str, Any]:
        return {
            "findings": [{"file": shown, **msgspec.structs.asdict(problem)} for shown, problem in self.found],
            "errors": [{"file": shown, "message": message} for shown, message in self.errors],
            "summary": {
                "files": self.files,
                "findings": self.count,
                "skipped": self.skipped,
                "errors": len(self.errors),
            },
        }


def _judge(messages: Any, wire: str | None, settings: Mapping[str, Any]) -> list[Finding]:
    return pipeline.check(messages, wire, request=settings)

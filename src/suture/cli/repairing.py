"""The work of `suture repair`: every path, whatever happens to the others; and the way back."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from suture.cli.diff import Hunk, hunks_of_lines, hunks_of_messages, unified
from suture.cli.inputs import STDIN, Target, is_other_file, kind_of, require_known, targets
from suture.cli.output import CLEAN, FAILED, FOUND, Printer, counted, finding_line, paint
from suture.cli.plan import Plan, plan
from suture.pipeline import Policies
from suture.sessions import replace, undo

__all__ = ["Repairing", "bring_back"]

_STEP = 2**20
_COLORS = {"-": "red", "+": "green", "@": "cyan"}


class _Done(msgspec.Struct, frozen=True):
    """What became of a file."""

    plan: Plan
    written: str | None = None
    """Where to."""
    backup: Path | None = None


class Repairing:
    """One run of the command."""

    def __init__(
        self,
        format: str | None,
        request: Mapping[str, Any],
        policies: Policies,
        printer: Printer,
        *,
        as_json: bool,
        write: bool,
        output: str | None,
    ) -> None:
        """The command's options."""
        self.format = format
        self.request = request
        self.policies = policies
        self.printer = printer
        self.as_json = as_json
        self.write = write
        self.output = output
        self.done: list[dict[str, Any]] = []
        self.skipped: int = 0
        self.errors: list[tuple[str, str]] = []
        self.pending: list[str] = []
        """Files with something that was not written."""

    def run(self, paths: Sequence[str]) -> int:
        """Repair all paths and print what happens; gives back the exit code."""
        require_known(self.format)
        with tempfile.TemporaryDirectory(prefix="suture-") as folder:
            for target in targets(paths, Path(folder)):
                self._one(target, Path(folder) / "repaired")
        if not self.done and not self.errors:
            self._fail(", ".join(paths), FileNotFoundError(0, "there are no session files here"))
        if self.as_json:
            self.printer.json(self._document())
        else:
            self.printer.lines(self._summary(paths))
        if self.errors:
            return FAILED
        return FOUND if self.pending else CLEAN

    def _one(self, target: Target, content: Path) -> None:
        try:
            planned = plan(target, kind_of(target, self.format), self.request, self.policies, content)
            if not self.as_json:
                self.printer.lines(_explained(planned))
            done = self._written(planned)
        except Exception as error:  # noqa: BLE001 (one bad file must not keep the others from being repaired)
            if is_other_file(target, error):
                self.skipped += 1
            else:
                self._fail(target.shown, error)
            return
        self.done.append(_document_of(done))
        if (planned.changed and not done.written) or planned.left or planned.request:
            self.pending.append(target.shown)
        if not self.as_json:
            self.printer.lines(_aftermath(done))

    def _fail(self, shown: str, error: Exception) -> None:
        self.errors.append((shown, self.printer.error(shown, error)))

    def _written(self, planned: Plan) -> _Done:
        """Write what was planned where the user wants it."""
        if self.output is not None:
            _copy(planned.content, self.output)
            return _Done(planned, written=self.output)
        if not self.write or not planned.changed:
            return _Done(planned)
        with planned.content.open("rb") as stream:
            chunks = iter(lambda: stream.read(_STEP), b"")
            backup = replace(planned.target.path, chunks, planned.session.fingerprint)
        return _Done(planned, written=planned.target.shown, backup=backup)

    def _summary(self, paths: Sequence[str]) -> Iterator[str]:
        repairs = sum(len(one["repairs"]) for one in self.done)
        lost = sum(repair["lost"] is not None for one in self.done for repair in one["repairs"])
        files = counted(len(self.done), "file")
        if repairs:
            kept = "no result, text or call is lost"
            if lost:
                kept = f"what {counted(lost, 'repair')} cannot keep is named above"
            yield paint(counted(repairs, "repair"), bold=True) + f" in {files}; {kept}."
        elif self.done:
            yield paint("Nothing to repair", "green", bold=True) + f" in {files}."
        if any(one["changed"] and one["written"] is None for one in self.done):
            yield "Nothing is written yet. To write it, and keep a backup:"
            yield paint(f"    suture repair --write {shlex.join(paths)}", bold=True)
        if self.skipped:
            yield f"Skipped {counted(self.skipped, 'file')} without a session."

    def _document(self) -> dict[str, Any]:
        return {
            "files": self.done,
            "errors": [{"file": shown, "message": message} for shown, message in self.errors],
            "summary": {
                "files": len(self.done),
                "repairs": sum(len(one["repairs"]) for one in self.done),
                "written": sum(one["written"] is not None for one in self.done),
                "skipped": self.skipped,
                "errors": len(self.errors),
            },
        }


def _copy(content: Path, output: str) -> None:
    """Put the content where `--output` says: into a file in one step, or on standard output."""
    if output == STDIN:
        with content.open("rb") as stream:
            shutil.copyfileobj(stream, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    target = Path(output).resolve()
    if target.exists() and not target.is_file():
        shutil.copyfile(content, target)  # a device or a pipe
        return
    beside = target.with_name(f"{target.name}.suture-new")
    try:
        shutil.copyfile(content, beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _explained(planned: Plan) -> Iterator[str]:
    """What is wrong with a file and what is done about it, then before and after."""
    shown = planned.target.shown
    for fix in planned.fixes:
        yield finding_line(shown, fix.problem)
        yield "    " + paint("salvaged: " if fix.problem.salvaged else "repair: ", "green") + paint(fix.action)
        if fix.lost is not None:
            yield "    " + paint("lost: ", "red") + paint(fix.lost)
    for key, value in planned.request.items():
        yield f"{paint(shown, bold=True)}: send it with {paint(f'{key} = {value!r}', bold=True)}"
    if planned.changed:
        yield ""
        for line in unified(*_hunks(planned), shown):
            yield paint(line, _COLORS.get(line[0]), bold=line.startswith(("---", "+++")))
        yield ""


def _hunks(planned: Plan) -> tuple[list[Hunk], Callable[[int], str]]:
    """What changes, by lines or by messages, and what a place is called."""
    threads = [one.thread for one in planned.mended]
    by_lines = any(lines for thread in threads for lines in thread.lines)
    if by_lines or all(one.messages is one.thread.messages for one in planned.mended):
        old, new = planned.target.path.read_bytes(), planned.content.read_bytes()
        return hunks_of_lines(old, new), lambda place: f"line {place + 1}"
    root = next((fix.problem.path.partition("[")[0] for fix in planned.fixes if fix.problem.path), "messages")
    hunks = [hunk for one in planned.mended for hunk in hunks_of_messages(one.thread.messages, one.messages)]
    return hunks, lambda place: f"{root}[{place}]"


def _aftermath(done: _Done) -> Iterator[str]:
    """What was written, and what is left."""
    shown = done.plan.target.shown
    if done.written:
        where = "standard output" if done.written == STDIN else done.written
        backup = f"; the backup is {_beside(shown, done.backup)}" if done.backup else ""
        yield paint(f"Written: {where}{backup}", "green")
    for problem in done.plan.left:
        yield finding_line(shown, problem)
    if done.plan.left:
        left = counted(len(done.plan.left), "problem")
        yield paint(f"Warning: {left} of {shown} would still be found after the repair, see above", "red", bold=True)


def _beside(shown: str, backup: Path) -> str:
    """A backup's path, in the words in which the user named the file."""
    beside = Path(shown).with_name(backup.name)
    return str(beside if beside.exists() else backup)


def _document_of(done: _Done) -> dict[str, Any]:
    """What `--json` prints of a file."""
    planned = done.plan
    return {
        "file": planned.target.shown,
        "changed": planned.changed,
        "written": done.written,
        "backup": _beside(planned.target.shown, done.backup) if done.backup else None,
        "repairs": [
            {**msgspec.structs.asdict(fix.problem), "action": fix.action, "lost": fix.lost} for fix in planned.fixes
        ],
        "request": planned.request,
        "left": [msgspec.structs.asdict(problem) for problem in planned.left],
    }


def bring_back(paths: Sequence[str], printer: Printer, *, as_json: bool, force: bool) -> int:
    """Bring the newest backup of each file back, with `force` over what was written since; gives back the exit code."""
    done: list[dict[str, str]] = []
    errors: list[dict[str, str]] = []
    for shown in paths:
        try:
            backup = undo(Path(shown), force=force)
        except Exception as error:  # noqa: BLE001 (one bad file must not keep the others from being brought back)
            errors.append({"file": shown, "message": printer.error(shown, error)})
            continue
        done.append({"file": shown, "backup": str(backup)})
        if not as_json:
            printer.line(paint(f"Brought back: {shown}, from {backup.name}", "green"))
    if as_json:
        printer.json({"files": done, "errors": errors})
    return FAILED if errors else CLEAN

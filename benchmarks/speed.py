"""How long `check` and `repair` take, as ratios to decoding the same bytes, side by side in one run.

    uv run --group bench python -m benchmarks.speed [COUNT ...]

Each figure is the best of several runs in CPU time, taken in turns, so that a busy machine disturbs all alike. Next to
ours: `tool-call-repair`, the one other Python library for the job, where it knows the format.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import time
from collections.abc import Callable
from typing import Any

import msgspec

import suture
from benchmarks.histories import FORMATS, broken, healthy

Job = Callable[[], Any]
COUNTS = (1_000, 10_000, 100_000)
LIMITS = {"check": 0.6, "repair 1 %": 1.0}
OTHERS = {"openai_chat": "openai", "anthropic": "anthropic"}


def best(jobs: dict[str, Job], rounds: int) -> dict[str, float]:
    """The shortest CPU time of each job in seconds, over rounds in which all take their turn."""
    times = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds):
        for name, job in jobs.items():
            gc.collect()
            start = time.process_time_ns()
            job()
            times[name] = min(times[name], (time.process_time_ns() - start) / 1e9)
    return times


def jobs_for(format: str, count: int) -> tuple[dict[str, Job], int, int]:
    """The jobs on one history, its bytes per message, and how many repairs its broken form needs."""
    sound, cut = healthy(format, count), broken(format, count)
    whole, partial = msgspec.json.encode(sound), msgspec.json.encode(cut)
    assert suture.check(sound, format) == []
    done = suture.repair(cut, format)
    assert suture.check(done.messages, format) == []
    jobs: dict[str, Job] = {
        "decode": lambda: msgspec.json.decode(whole),
        "check": lambda: suture.check(sound, format),
        "decode 1 %": lambda: msgspec.json.decode(partial),
        "repair 1 %": lambda: suture.repair(cut, format),
    }
    if format in OTHERS:
        with contextlib.suppress(ImportError):
            import toolrepair

            other = OTHERS[format]
            jobs["other check"] = lambda: toolrepair.validate(sound, format=other)
            jobs["other repair"] = lambda: toolrepair.repair(cut, format=other)
    return jobs, len(whole) // len(sound), len(done.repairs)


def main() -> int:
    """Print the table; 1 where a figure is over its limit."""
    counts = [int(argument) for argument in sys.argv[1:]] or list(COUNTS)
    print("ratios to msgspec.json.decode of the same bytes; `other` is tool-call-repair 0.1.0")
    print(
        f"{'format':18}{'messages':>9}{'bytes':>7}{'check':>8}{'repair 1 %':>12}{'other check':>13}{'other repair':>14}"
    )
    over = []
    for wire in FORMATS:
        for count in counts:
            jobs, size, _ = jobs_for(wire, count)
            times = best(jobs, max(5, min(60, 200_000 // count)))
            ratios = {
                "check": times["check"] / times["decode"],
                "repair 1 %": times["repair 1 %"] / times["decode 1 %"],
                "other check": times.get("other check", 0) / times["decode"],
                "other repair": times.get("other repair", 0) / times["decode 1 %"],
            }
            cells = [f"{ratio:.2f}" if ratio else "-" for ratio in ratios.values()]
            print(f"{wire:18}{count:>9}{size:>7}{cells[0]:>8}{cells[1]:>12}{cells[2]:>13}{cells[3]:>14}", flush=True)
            over += [f"{wire} {count}: {name}" for name, limit in LIMITS.items() if ratios[name] > limit]
    print("\n".join(["over the limit:", *over]) if over else "all within the limits: check 0.6, repair 1.0")
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())

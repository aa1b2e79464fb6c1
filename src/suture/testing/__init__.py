"""For your own tests: kill an agent at every instant, and see whether its conversation goes on."""

from suture.testing.crash import Crash, Killed, Report, crash_matrix

__all__ = ["Crash", "Killed", "Report", "crash_matrix"]

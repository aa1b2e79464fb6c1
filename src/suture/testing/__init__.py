"""For your own tests: kill an agent at every instant, and let its requests be judged as a provider would."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from suture.testing.contract import Answer, ContractServer, Fault
    from suture.testing.crash import Crash, Killed, Report, crash_matrix

__all__ = ["Answer", "ContractServer", "Crash", "Fault", "Killed", "Report", "crash_matrix"]

_HOME = {
    **dict.fromkeys(("Answer", "ContractServer", "Fault"), "suture.testing.contract"),
    **dict.fromkeys(("Crash", "Killed", "Report", "crash_matrix"), "suture.testing.crash"),
}
"""Where each name lives: the server needs no agent, the agent's tests no server."""


def __getattr__(name: str) -> object:
    """A public name, loaded when it is first used.

    Raises:
        AttributeError: there is no such name.
    """
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - for the first use of a name

    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

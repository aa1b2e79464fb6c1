"""Suture keeps LLM conversations whole: it finds and repairs interrupted tool calls in any message history.

>>> import suture
>>> suture.check(messages)      # what is wrong, as findings
>>> suture.repair(messages)     # the messages to send, and what was changed
>>> suture.Agent(model=...)     # a durable turn loop that can be killed at any instant

The public names are loaded when they are first used; `import suture` itself loads nothing.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from suture.errors import (
        BusyError,
        Cancelled,
        ChangedFileError,
        ContextOverflow,
        EventError,
        FencedError,
        InputError,
        ModelError,
        PairingRefused,
        PolicyError,
        ProviderFatal,
        SessionError,
        StoreError,
        SutureError,
        ToolDefinitionError,
        Transient,
        UnknownFormatError,
        UsageError,
    )
    from suture.harness import Agent, Allow, Ask, Block, Reply, Session, Substitute, Tool, ToolContext, tool
    from suture.models import model
    from suture.pipeline import check, detect, repair
    from suture.repair.report import Finding, Repair, Repaired
    from suture.steps import close_unanswered_tool_calls, drop_leading_orphan_tools, normalize_tool_input

    __version__: str

__all__ = [
    "Agent",
    "Allow",
    "Ask",
    "Block",
    "BusyError",
    "Cancelled",
    "ChangedFileError",
    "ContextOverflow",
    "EventError",
    "FencedError",
    "Finding",
    "InputError",
    "ModelError",
    "PairingRefused",
    "PolicyError",
    "ProviderFatal",
    "Repair",
    "Repaired",
    "Reply",
    "Session",
    "SessionError",
    "StoreError",
    "Substitute",
    "SutureError",
    "Tool",
    "ToolContext",
    "ToolDefinitionError",
    "Transient",
    "UnknownFormatError",
    "UsageError",
    "__version__",
    "check",
    "close_unanswered_tool_calls",
    "detect",
    "drop_leading_orphan_tools",
    "model",
    "normalize_tool_input",
    "repair",
    "tool",
]

_HOME = {
    "Agent": "suture.harness",
    "Allow": "suture.harness",
    "Ask": "suture.harness",
    "Block": "suture.harness",
    "BusyError": "suture.errors",
    "Cancelled": "suture.errors",
    "ChangedFileError": "suture.errors",
    "ContextOverflow": "suture.errors",
    "EventError": "suture.errors",
    "FencedError": "suture.errors",
    "Finding": "suture.repair.report",
    "InputError": "suture.errors",
    "ModelError": "suture.errors",
    "PairingRefused": "suture.errors",
    "PolicyError": "suture.errors",
    "ProviderFatal": "suture.errors",
    "Repair": "suture.repair.report",
    "Repaired": "suture.repair.report",
    "Reply": "suture.harness",
    "Session": "suture.harness",
    "SessionError": "suture.errors",
    "StoreError": "suture.errors",
    "Substitute": "suture.harness",
    "SutureError": "suture.errors",
    "Tool": "suture.harness",
    "ToolContext": "suture.harness",
    "ToolDefinitionError": "suture.errors",
    "Transient": "suture.errors",
    "UnknownFormatError": "suture.errors",
    "UsageError": "suture.errors",
    "check": "suture.pipeline",
    "close_unanswered_tool_calls": "suture.steps",
    "detect": "suture.pipeline",
    "drop_leading_orphan_tools": "suture.steps",
    "model": "suture.models",
    "normalize_tool_input": "suture.steps",
    "repair": "suture.pipeline",
    "tool": "suture.harness",
}
"""Where each public name is defined."""


if not TYPE_CHECKING:  # a type checker knows the names above, and no others

    def __getattr__(name: str) -> object:
        """Load a public name from where it is defined, once."""
        import importlib  # noqa: PLC0415 - part of being lazy

        if name == "__version__":
            from importlib.metadata import version  # noqa: PLC0415 - as slow as all the rest together

            value: object = version("suture")
        elif name in _HOME:
            value = getattr(importlib.import_module(_HOME[name]), name)
        else:
            msg = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(msg)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """Name what is public, loaded or not."""
    return sorted({*globals(), *__all__})


class _Package(type(sys)):  # type: ignore[misc] # `types.ModuleType`, without importing `types`
    """A module whose public names are not replaced by submodules of the same name.

    Once `suture.repair.<anything>` is imported, the import system binds the package `suture.repair` here, where the
    function `suture.repair` lives. The function keeps the name; the package is reached by `from suture.repair… import`.
    """

    def __setattr__(self, name: str, value: object) -> None:
        """Bind `name`, unless the import system binds a submodule over a public name."""
        if not (name in _HOME and isinstance(value, type(sys))):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package

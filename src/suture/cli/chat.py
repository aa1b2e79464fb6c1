"""`suture chat`: talk to an agent in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from suture.cli.options import color_option, home, store_option

if TYPE_CHECKING:
    from suture.harness import Agent

__all__ = ["chat"]

_MORE: Final = """\b
Examples:
  suture chat
  suture chat --model anthropic:claude-sonnet-4-5
  suture chat --agent my_agents:Concierge --session customer-42
  suture sessions list
"""
"""What `--help` prints below the options."""


@click.command(epilog=_MORE)
@click.option("--session", "-s", metavar="NAME", default="default", show_default=True, help="The conversation's name.")
@click.option(
    "--model",
    "-m",
    metavar="PROVIDER:MODEL",
    help="Who answers, such as openai:gpt-5 or ollama:qwen3. The key is read where the provider's SDK reads it.",
)
@click.option(
    "--agent",
    "-a",
    metavar="MODULE:NAME",
    help="Your own agent: a class, an object, or a function that makes one. It keeps its own store, if it names one.",
)
@click.option("--instructions", metavar="TEXT", default="", help="What the model is told before everything else.")
@click.option("--reasoning", is_flag=True, help="Show what the model thinks in full, not just its beginning.")
@store_option
@color_option
def chat(
    *, session: str, model: str | None, agent: str | None, instructions: str, reasoning: bool, store: str, color: str
) -> None:
    """Talk to an agent. The conversation is on disk before anything happens, and goes on after whatever stops it.

    Without --model and --agent a demonstration answers: a scripted model with real tools, which needs no key.

    Ctrl-C stops the turn that runs, and once more leaves. Escape and then Enter begins another line.
    """
    import asyncio

    if model and agent:
        raise click.UsageError("--model and --agent: an agent has its own model; name one of the two")
    made = _agent(agent, store) if agent else _modelled(model, instructions, store)
    asyncio.run(_talk(made, session, reasoning=reasoning, color=color))


def _modelled(model: str | None, instructions: str, store: str) -> Agent:
    """An agent of a model alone, or the demonstration."""
    from suture.harness import Agent

    if model:
        return Agent(model=model, instructions=instructions, store=store)
    from suture.cli.chat_demo import demo_agent

    return demo_agent(home() / "demo", store)


def _agent(name: str, store: str) -> Agent:
    """The user's agent."""
    import importlib
    import sys

    from suture.harness import Agent

    module, colon, attribute = name.partition(":")
    if not colon or not attribute:
        raise click.BadParameter(f"expected MODULE:NAME, got {name!r}", param_hint="--agent")
    sys.path.insert(0, "")  # as `python -m` does
    try:
        found: Any = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise click.BadParameter(f"there is no module {module!r}", param_hint="--agent") from error
    except AttributeError:
        raise click.BadParameter(f"{module!r} has no {attribute!r}", param_hint="--agent") from None
    if isinstance(found, type) and issubclass(found, Agent):
        return found() if found.store != Agent.store else found(store=store)
    made = found if isinstance(found, Agent) else found()
    if not isinstance(made, Agent):
        raise click.BadParameter(f"expected an agent, got {type(made).__name__}", param_hint="--agent")
    return made


async def _talk(agent: Agent, session: str, *, reasoning: bool, color: str) -> None:
    """The conversation, and a clean end."""
    from rich.console import Console
    from rich.text import Text

    from suture.cli.chat_input import reader
    from suture.cli.chat_screen import Screen
    from suture.cli.chat_talk import Talk
    from suture.cli.output import safe

    terminal = {"always": True, "never": False}.get(color)
    console = Console(force_terminal=terminal, no_color=color == "never" or None, highlight=False)
    title = f"session {session} · {getattr(agent.model, 'name', '')} · /help"
    console.print(Text(safe(title), style="dim"))
    try:
        await Talk(agent.session(session), Screen(console, reasoning=reasoning), reader(home() / "history")).hold()
    finally:
        await agent.disconnect()
        await agent.opened.close()

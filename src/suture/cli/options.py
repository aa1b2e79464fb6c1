"""The options that commands share."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

__all__ = [
    "COLORS",
    "Decorator",
    "color_option",
    "format_option",
    "home",
    "json_option",
    "request_option",
    "store_option",
]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

COLORS = ("auto", "always", "never")


def home() -> Path:
    """Where the command keeps what is its own: `SUTURE_HOME`, or the place that the system has for such things."""
    return Path(os.environ.get("SUTURE_HOME") or click.get_app_dir("suture"))


def _stored(_ctx: click.Context, _parameter: click.Parameter, url: str | None) -> str:
    """The address in `--store`, or the usual one, whose folder is made."""
    if url:
        return url
    home().mkdir(parents=True, exist_ok=True)
    return f"sqlite:{home() / 'chats.db'}"


def _parsed(_ctx: click.Context, _parameter: click.Parameter, text: str | None) -> dict[str, Any]:
    """The settings in `--request`."""
    if text is None:
        return {}
    try:
        settings = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"not JSON: {error}") from error
    if not isinstance(settings, dict):
        raise click.BadParameter(f"expected a JSON object, got {text}")
    return settings


format_option: Decorator = click.option(
    "--format",
    "-f",
    metavar="NAME",
    help="What the files hold; detected where it is not named. Session formats: claude_code, codex, messages. Formats "
    "of messages: openai_chat, openai_responses, anthropic, ai_sdk_ui; hosts: deepseek, moonshot, qwen, xai, groq, "
    "openrouter.",
)

request_option: Decorator = click.option(
    "--request",
    "-r",
    metavar="JSON",
    callback=_parsed,
    help="Settings that the messages are sent with, as far as they are known: '{\"thinking\": true}'. Rules that "
    "depend on a setting hold only where it is given. Sessions of agents are judged as if the user's next message "
    'followed, which is {"next_role": "user"}.',
)

json_option: Decorator = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document; its keys are below."
)

color_option: Decorator = click.option(
    "--color",
    type=click.Choice(COLORS),
    default="auto",
    show_default=True,
    help="`auto` is colour on a terminal, unless NO_COLOR is set.",
)

store_option: Decorator = click.option(
    "--store",
    metavar="URL",
    envvar="SUTURE_STORE",
    callback=_stored,
    help="Where the conversations are: sqlite:FILE or jsonl:FOLDER; a file of the command's own where it is not given. "
    "SUTURE_STORE says the same.",
)

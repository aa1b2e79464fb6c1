"""What a request asks for."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from anthropic.types.message_create_params import MessageCreateParamsStreaming as Messages
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming as Completions
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming as Responses
from pydantic import TypeAdapter

from suture.transcript.tools import ToolSpec
from suture.wire import ADAPTERS
from suture.wire.exchange import EXCHANGES
from tests.oracles.sdk import _Judge

SCHEMA = {"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"]}
TIDE = ToolSpec("tide", "When the water is high.", SCHEMA)
MESSAGES = [{"role": "user", "content": "When do we sail?"}]

BODIES: dict[str, dict[str, Any]] = {
    "openai_chat": {
        "model": "tide-2",
        "messages": MESSAGES,
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {"name": "tide", "description": "When the water is high.", "parameters": SCHEMA},
            }
        ],
    },
    "openai_responses": {
        "model": "tide-2",
        "input": MESSAGES,
        "stream": True,
        "store": False,
        "instructions": "You know the sea.",
        "tools": [
            {
                "type": "function",
                "name": "tide",
                "description": "When the water is high.",
                "parameters": SCHEMA,
                "strict": False,
            }
        ],
    },
    "anthropic": {
        "model": "tide-2",
        "max_tokens": 8192,
        "messages": MESSAGES,
        "stream": True,
        "system": "You know the sea.",
        "tools": [{"name": "tide", "description": "When the water is high.", "input_schema": SCHEMA}],
    },
}

TYPES: dict[str, Any] = {"openai_chat": Completions, "openai_responses": Responses, "anthropic": Messages}


def asked(format: str, **changes: Any) -> dict[str, Any]:
    """A request's body."""
    given: dict[str, Any] = {"instructions": "You know the sea.", "messages": MESSAGES, "tools": [TIDE], "settings": {}}
    return EXCHANGES[format].body("tide-2", **given | changes)


def test_reasoning_comes_in_a_form_to_send_back() -> None:
    """Where it is asked for; a model that does not reason would refuse to be asked."""
    assert ["reasoning.encrypted_content"] == asked("openai_responses", settings={"reasoning": {"effort": "low"}})[
        "include"
    ]
    assert "include" not in asked("openai_responses")


@pytest.mark.parametrize("format", EXCHANGES)
def test_a_body_asks_for_a_stream_with_its_usage(format: str) -> None:
    """Model, messages, instructions and tools stand where the provider looks for them."""
    assert BODIES[format] == asked(format)


@pytest.mark.parametrize("format", EXCHANGES)
def test_the_official_types_take_a_body(format: str) -> None:
    """The provider's own SDK has a type for the request, and finds nothing wrong, nor any key that it does not know."""
    body = asked(format)

    _Judge(TYPES[format]).validator.validate_python(body)

    assert set() == body.keys() - TypeAdapter(TYPES[format]).json_schema()["properties"].keys()


@pytest.mark.parametrize("format", EXCHANGES)
def test_what_is_not_there_is_not_sent(format: str) -> None:
    """Without tools and instructions there is no key for them: some hosts refuse empty lists."""
    body = asked(format, instructions="", tools=[])

    assert set() == body.keys() & {"tools", "instructions", "system"}
    assert [] == EXCHANGES[format].opening("")


@pytest.mark.parametrize("format", EXCHANGES)
def test_settings_come_last(format: str) -> None:
    """A provider's own key is sent as it is, in place of what would be sent else; the settings are left alone."""
    settings = {"temperature": 0.5, "stream": False, "model": "tide-3", "tools": [], "max_tokens": 7}

    body = asked(format, settings=settings)

    assert settings == {key: body[key] for key in settings}
    assert {"temperature": 0.5, "stream": False, "model": "tide-3", "tools": [], "max_tokens": 7} == settings


@pytest.mark.parametrize("format", EXCHANGES)
def test_raw_messages_are_passed_through(format: str) -> None:
    """Messages that are JSON already are put into the body as they stand, byte for byte."""
    raw = msgspec.Raw(b'[{"role":"user",  "content":"When?"}]')

    body = asked(format, messages=raw)

    assert raw is body[ADAPTERS[format].ROOT]
    assert bytes(raw) in msgspec.json.encode(body)


def test_instructions_are_sent_once() -> None:
    """Chat Completions has no key for them: they are the first message; the others have one, and no such message."""
    openings = {name: exchange.opening("You know the sea.") for name, exchange in EXCHANGES.items()}

    assert {
        "openai_chat": [{"role": "system", "content": "You know the sea."}],
        "openai_responses": [],
        "anthropic": [],
    } == openings


@pytest.mark.parametrize("format", EXCHANGES)
def test_an_exchange_has_the_name_of_its_adapter(format: str) -> None:
    """Formats are named alike wherever they are named."""
    assert format == EXCHANGES[format].NAME == ADAPTERS[format].NAME


def test_paths_are_the_providers() -> None:
    """Requests go to the paths behind the base address that the providers document."""
    assert {
        "openai_chat": "/chat/completions",
        "openai_responses": "/responses",
        "anthropic": "/messages",
    } == {name: exchange.PATH for name, exchange in EXCHANGES.items()}

"""The contracts tables as code: an independent reading of what each provider accepts.

`violations` never raises, whatever JSON it is given. Each finding begins with the id of the rule in the contracts.
An id ending in `-00` is the envelope that a table takes for granted (members are objects, roles exist).

Where sources disagree (section 16), only what all of them accept passes; the rules of `DISPUTED` are those, for tests
that want to tell a certain refusal from a possible one. An empty history is never judged: no repair can invent one.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.oracles.strict import profiles
from tests.oracles.strict.ai_sdk_ui import violations as ai_sdk_ui
from tests.oracles.strict.anthropic import violations as anthropic
from tests.oracles.strict.openai_chat import violations as openai_chat
from tests.oracles.strict.openai_responses import violations as openai_responses
from tests.oracles.strict.shape import Messages, Request

__all__ = ["CHECKERS", "DISPUTED", "FORMATS", "PROFILES", "violations"]

FORMATS = ("openai_chat", "openai_responses", "anthropic", "ai_sdk_ui")
PROFILES = ("deepseek", "moonshot", "qwen", "xai", "groq", "openrouter")

CHECKERS: dict[str, Callable[[Messages, Request], list[str]]] = {
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "anthropic": anthropic,
    "ai_sdk_ui": ai_sdk_ui,
    "deepseek": profiles.deepseek,
    "moonshot": profiles.moonshot,
    "qwen": profiles.qwen,
    "xai": profiles.xai,
    "groq": profiles.groq,
    "openrouter": profiles.openrouter,
}

# Rule -> what the more lenient source accepts.
DISPUTED = {
    "OCC-05": "ids over 40 characters could not be shown to fail in July 2026",
    "OCC-10": "names up to 128 characters were accepted when measured",
    "ORS-06": "the SDK type has `id` only, the AI SDK sends `call_id` only; both keys satisfy both",
    "ORS-22": "OpenAI is said to pair by call_id alone; an output before its call was never shown to pass",
    "ANT-07": "newer models accept names of up to 200 characters",
    "ANT-10": "an empty assistant message in mid-history passed a probe in July 2026",
    "ANT-13": "only models with prefill refuse it; without `prefill: false` the model is taken to have it",
    "ANT-30": "newer models accept a system message after a user message",
    "DSK-05": "the AI SDK sends an empty string beside calls",
    "AIU-02": "nothing fails, but the call vanishes from what the model sees",
}


def violations(messages: Messages, format: str, request: Request | None = None) -> list[str]:
    """List everything in a history that its format does not allow.

    Args:
        messages: the history, in the wire form of the format.
        format: one of `FORMATS` or `PROFILES`.
        request: what a rule needs to know of the request, in the case file's words (`thinking`, `tools`, `prefill`,
            `model`, `model_family`, `surface`, `store`, `stored_reasoning_for`, `previous_response_id`, `open_calls`).
    """
    return CHECKERS[format](messages, request or {})

"""What a streamed piece of an answer costs: `python -m benchmarks.deltas`.

An answer of 2,000 words is streamed by a server in another process, which sends it as fast as it is read. The figure is
the CPU time of this process for each delta, from the socket to the piece, beside the provider's own SDK on the same
bytes.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

from suture import model
from suture.models import ModelRequest, TextPiece
from suture.transcript import Message, TextPart

DELTAS = 2_000
ROUNDS = 9

SERVER = """
import socket, sys, threading
body = sys.stdin.buffer.read()
head = b"HTTP/1.1 200 OK\\r\\ncontent-type: text/event-stream\\r\\ncontent-length: %d\\r\\n\\r\\n" % len(body)
def serve(connection):
    held = b""
    while more := connection.recv(65536):
        held += more
        if b"\\r\\n\\r\\n" in held:
            start = held.index(b"\\r\\n\\r\\n") + 4
            length = int(held[:start].lower().split(b"content-length:")[1].split(b"\\r\\n")[0])
            if len(held) >= start + length:
                held = held[start + length:]
                connection.sendall(head + body)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""


def event(data: dict[str, Any], kind: str = "") -> str:
    """One server-sent event."""
    return f"{f'event: {kind}' + chr(10) if kind else ''}data: {json.dumps(data)}\n\n"


def chat() -> str:
    """The answer as OpenAI's Chat Completions stream it."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        return event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    words = "".join(chunk({"content": f"word{number} "}) for number in range(DELTAS))
    return f"{chunk({'role': 'assistant', 'content': ''})}{words}{chunk({}, 'stop')}data: [DONE]\n\n"


def responses() -> str:
    """As its Responses do."""
    response = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": [],
        "status": "completed",
    }
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0, "logprobs": []}
    words = [
        {"type": "response.output_text.delta", "sequence_number": number, "delta": f"word{number} ", **place}
        for number in range(DELTAS)
    ]
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    done = {
        "type": "response.completed",
        "sequence_number": DELTAS,
        "response": {**response, "status": "completed", "usage": usage},
    }
    created = {"type": "response.created", "sequence_number": 0, "response": {**response, "status": "in_progress"}}
    return "".join(event(each, str(each["type"])) for each in (created, *words, done))


def anthropic() -> str:
    """As Anthropic's Messages do."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    words = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": f"word{number} "}}
        for number in range(DELTAS)
    ]
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *words,
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
    return "".join(event(each, each["type"]) for each in events)


async def ours(name: str, url: str, stack: AsyncExitStack) -> Callable[[], Awaitable[int]]:
    """How many deltas our model gives."""
    made = model(name, base_url=url, api_key="none")
    stack.push_async_callback(made.close)
    request = ModelRequest(messages=[Message(role="user", parts=(TextPart("go"),))])

    async def run() -> int:
        return sum([isinstance(piece, TextPiece) async for piece in made.stream(request)])

    return run


async def sdk(name: str, url: str, stack: AsyncExitStack) -> Callable[[], Awaitable[int]]:
    """How many deltas the provider's SDK gives."""
    from anthropic import AsyncAnthropic
    from openai import AsyncOpenAI

    said: Any = [{"role": "user", "content": "go"}]
    if name.startswith("anthropic"):
        client: Any = await stack.enter_async_context(AsyncAnthropic(base_url=url.removesuffix("/v1"), api_key="none"))

        async def begun() -> AsyncIterator[Any]:
            stream: AsyncIterator[Any] = await client.messages.create(
                model="m", max_tokens=9, messages=said, stream=True
            )
            return stream

        kind = "content_block_delta"
        return _counting(begun, lambda each: each.type == kind)
    client = await stack.enter_async_context(AsyncOpenAI(base_url=url, api_key="none"))
    if name.startswith("openai_responses"):

        async def begun() -> AsyncIterator[Any]:
            stream: AsyncIterator[Any] = await client.responses.create(model="m", input=said, stream=True)
            return stream

        return _counting(begun, lambda each: each.type == "response.output_text.delta")

    async def begun() -> AsyncIterator[Any]:
        stream: AsyncIterator[Any] = await client.chat.completions.create(model="m", messages=said, stream=True)
        return stream

    return _counting(begun, lambda each: bool(each.choices and each.choices[0].delta.content))


def _counting(
    begun: Callable[[], Awaitable[AsyncIterator[Any]]], counts: Callable[[Any], bool]
) -> Callable[[], Awaitable[int]]:
    async def run() -> int:
        return sum([counts(each) async for each in await begun()])

    return run


async def measured(runs: list[Callable[[], Awaitable[int]]]) -> list[float]:
    """The CPU time of each for a delta, in microseconds, in turns."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(ROUNDS):
        for run, spent in zip(runs, times, strict=True):
            start = time.process_time()
            if await run() != DELTAS:
                raise RuntimeError("a delta was lost")
            spent.append(time.process_time() - start)
    return [statistics.median(spent[1:]) / DELTAS * 1e6 for spent in times]


async def row(name: str, url: str) -> list[float]:
    """Ours and the SDK's."""
    async with AsyncExitStack() as stack:
        return await measured([await ours(name, url, stack), await sdk(name, url, stack)])


def main() -> int:
    """Print the table."""
    print(f"{'wire':>20}{'ours us':>10}{'sdk us':>10}")
    for name, stream in (("openai:m", chat()), ("openai_responses:m", responses()), ("anthropic:m", anthropic())):
        command = [sys.executable, "-c", SERVER]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            try:
                assert server.stdin is not None and server.stdout is not None  # noqa: PT018 - both are pipes
                server.stdin.write(stream.encode())
                server.stdin.close()
                url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
                mine, theirs = asyncio.run(row(name, url))
                print(f"{name.removesuffix(':m'):>20}{mine:>10.1f}{theirs:>10.1f}")
            finally:
                server.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main())

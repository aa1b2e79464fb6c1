"""One whole durable turn, side by side with LangGraph and the OpenAI Agents SDK.

    uv run --with langchain --with langchain-openai --with langgraph-checkpoint-sqlite --with openai-agents \
        python -m benchmarks.rivals [COUNT ...]

A turn is a user's text, a request with all of the history, one call, a tool that does nothing, a second request, an
answer, all of it in a SQLite file. The model is `benchmarks.echo_server`, in a process of its own. Each system has a
process of its own, too, with one agent and one history, and they take turns, so that a busy machine disturbs all alike.
All settings are each system's defaults, except that nothing is traced. What is missing is left out, loudly. At a short
history each turn that is timed is the second one in a session of its own, since others would make the history longer.

*Encode* is how long `msgspec.json.encode` takes for both bodies of a turn; *wire* is the time of sending them as bytes,
which none of them can go below; *written* is what the process has had written, *growth* that of the file, per turn.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import msgspec

from benchmarks.histories import healthy
from benchmarks.turns import written

Turn = Callable[[str, str], Awaitable[str]]
History = list[dict[str, Any]]
Seeds = dict[str, History]
"""What is in which session before the first turn."""
COUNTS = (10, 1_000, 10_000)
WARM = 3
INSTRUCTIONS = "You are a careful engineer."
ran = 0
"""How often the tool ran in this process."""


def planned(count: int) -> list[tuple[str, bool]]:
    """The turns at this length: in which session, and whether it counts."""
    if count < 1_000:
        return [(f"s{number}", number >= WARM and second) for number in range(WARM + 20) for second in (False, True)]
    return [("s0", number >= WARM) for number in range(WARM + (20 if count < 10_000 else 10))]


async def nothing() -> str:
    """Do nothing."""
    global ran  # noqa: PLW0603 - the tool has nothing else to hold on to
    ran += 1
    return "ok"


# --- the systems ------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def langgraph_turn(path: str, url: str, seeds: Seeds) -> AsyncIterator[Turn]:
    """LangChain's `create_agent` (which was LangGraph's `create_react_agent`), checkpointed in SQLite."""
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    model = ChatOpenAI(model="local", base_url=url, api_key="x")
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        agent = create_agent(model, [nothing], system_prompt=INSTRUCTIONS, checkpointer=saver)
        for name, history in seeds.items():
            config: Any = {"configurable": {"thread_id": name}}
            await agent.aupdate_state(config, {"messages": history}, as_node="model")

        async def turn(name: str, text: str) -> str:
            config: Any = {"configurable": {"thread_id": name}}
            state = await agent.ainvoke({"messages": [{"role": "user", "content": text}]}, config)
            return str(state["messages"][-1].content)

        yield turn


@asynccontextmanager
async def openai_turn(path: str, url: str, seeds: Seeds) -> AsyncIterator[Turn]:
    """The OpenAI Agents SDK on chat completions, with its session in SQLite."""
    import agents
    from openai import AsyncOpenAI

    agents.set_tracing_disabled(disabled=True)
    model = agents.OpenAIChatCompletionsModel("local", AsyncOpenAI(base_url=url, api_key="x"))
    agent = agents.Agent("local", instructions=INSTRUCTIONS, model=model, tools=[agents.function_tool(nothing)])
    sessions = {name: agents.SQLiteSession(name, path) for name in seeds}
    for name, history in seeds.items():
        await sessions[name].add_items(as_items(history))

    async def turn(name: str, text: str) -> str:
        if name not in sessions:
            sessions[name] = agents.SQLiteSession(name, path)
        return str((await agents.Runner.run(agent, text, session=sessions[name])).final_output)

    yield turn
    for session in sessions.values():
        session.close()


def as_items(history: History) -> list[Any]:
    """The same history as the items of a session, in the forms that the SDK itself gives them."""
    items: list[Any] = []
    for message in history:
        if message["role"] == "user":
            items.append({"content": message["content"], "role": "user"})
        elif message["role"] == "tool":
            output = {"call_id": message["tool_call_id"], "output": message["content"]}
            items.append({**output, "type": "function_call_output"})
        items += [
            {**call["function"], "call_id": call["id"], "type": "function_call", "id": "__fake_id__"}
            for call in message.get("tool_calls", ())
        ]
        if message["role"] == "assistant" and message["content"]:
            text = {"annotations": [], "text": message["content"], "type": "output_text", "logprobs": []}
            answer = {"id": "__fake_id__", "content": [text], "role": "assistant", "status": "completed"}
            items.append({**answer, "type": "message"})
    return items


@asynccontextmanager
async def suture_turn(path: str, url: str, seeds: Seeds) -> AsyncIterator[Turn]:
    """Ours."""
    import suture
    from suture.models import model as make_model
    from suture.store import open_store

    store = open_store(f"sqlite:{path}")
    for name, history in seeds.items():
        events = list(as_events(history))
        for start in range(0, len(events), 6_000):
            await store.append(name, events[start : start + 6_000])
    await store.close()
    model = make_model("openai:local", base_url=url, api_key="x")
    tool = suture.tool(effect="pure")(nothing)
    agent = suture.Agent(model=model, instructions=INSTRUCTIONS, tools=[tool], store=f"sqlite:{path}")

    async def turn(name: str, text: str) -> str:
        session = agent.session(name)
        return (await session.reply(session.run(text))).text

    yield turn
    await agent.close()


def as_events(history: History) -> Iterator[Any]:
    """The same history as the events of a session."""
    from suture.transcript import TextPart, ToolPart
    from suture.transcript.events import MessageAdded, StepAdded, TurnBegan, TurnEnded

    outputs = {message["tool_call_id"]: message["content"] for message in history if message["role"] == "tool"}
    parent, turn = None, 0
    for message in history:
        answer = f"a{turn}"
        if message["role"] == "user":
            yield TurnBegan(turn=f"t{turn}")
            parts = (TextPart(message["content"]),)
            yield MessageAdded(message=f"u{turn}", role="user", parent=parent, parts=parts)
            yield MessageAdded(message=answer, role="assistant", parent=f"u{turn}")
        elif message.get("tool_calls"):
            calls = [(call["id"], call["function"]) for call in message["tool_calls"]]
            settled = tuple(
                ToolPart(
                    call_id=name,
                    name=function["name"],
                    input=msgspec.json.decode(function["arguments"]),
                    state="output-available",
                    output=outputs[name],
                )
                for name, function in calls
            )
            yield StepAdded(message=answer, parts=settled)
        elif message["role"] == "assistant":
            yield StepAdded(message=answer, parts=(TextPart(message["content"]),))
            yield TurnEnded(turn=f"t{turn}", outcome="completed")
            parent, turn = answer, turn + 1


SYSTEMS: dict[str, Callable[[str, str, Seeds], AbstractAsyncContextManager[Turn]]] = {
    "langgraph": langgraph_turn,
    "openai-agents": openai_turn,
    "suture": suture_turn,
}
PACKAGES = {
    "langgraph": ("langchain", "langchain-openai", "langgraph", "langgraph-checkpoint-sqlite"),
    "openai-agents": ("openai-agents", "openai"),
    "suture": ("suture", "apsw"),
}
DURABILITY = {
    "langgraph": "it sets WAL and no `synchronous`: {default}; checkpoints are written while the next step runs",
    "openai-agents": "it sets WAL and no `synchronous`: {default}; a turn's items in a few commits",
    "suture": "it sets WAL and synchronous = FULL: a sync for each commit, before it goes on",
}
LEVELS = ("OFF", "NORMAL", "FULL: a sync for each commit", "EXTRA")


def durability(name: str) -> str:
    """What the system's settings are: what SQLite does on its own is asked of the one that Python has."""
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        level = LEVELS[database.execute("PRAGMA synchronous").fetchone()[0]]
    return DURABILITY[name].format(default=f"this Python's SQLite makes it {level}")


# --- a system's process -----------------------------------------------------------------------------------------------


class Server:
    """The server, past the system that is measured."""

    def __init__(self, url: str) -> None:
        self.path = urlsplit(url).path + "/chat/completions"
        self.connection = http.client.HTTPConnection(urlsplit(url).netloc)

    def ask(self, path: str, body: bytes | None = None) -> bytes:
        """A request and its answer."""
        self.connection.request("GET" if body is None else "POST", path, body)
        return self.connection.getresponse().read()

    def requests(self) -> list[dict[str, Any]]:
        """What came since the last time."""
        found: list[dict[str, Any]] = msgspec.json.decode(self.ask("/log"))["requests"]
        return found

    def bodies(self) -> list[Any]:
        """The bodies of the last turn."""
        found: list[Any] = msgspec.json.decode(self.ask("/bodies"))["bodies"]
        return found


def size(path: str) -> int:
    """A database's size on disk."""
    return sum(each.stat().st_size for each in Path(path).parent.glob(f"{Path(path).name}*"))


def fastest(job: Callable[[], Any], rounds: int = 9) -> float:
    """The shortest time of some, in milliseconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


async def timed(turn: Turn, name: str, server: Server) -> dict[str, Any]:
    """One turn, and whether it was one: two requests, the tool between them, an answer."""
    before, wrote, cpu, start = ran, written(), time.process_time(), time.perf_counter()
    answer = await turn(name, "go")
    took, cpu, wrote = time.perf_counter() - start, time.process_time() - cpu, written() - wrote
    requests = server.requests()
    assert [request["result"] for request in requests] == [False, True], requests
    assert (answer, ran - before) == ("done", 1), (answer, ran - before)
    sent = sum(request["bytes"] for request in requests)
    return {"ms": took * 1e3, "cpu": cpu * 1e3, "sent": sent, "stream": requests[0]["stream"], "written": wrote}


def whole(bodies: list[Any], history: History, turns: int) -> None:
    """Whether the turn sent the history, all turns before it, and its own messages."""
    said = ["user", "assistant", "tool", "assistant"] * turns
    for body, left in zip(bodies, (3, 1), strict=True):
        roles = [message["role"] for message in body["messages"]]
        assert roles == ["system", *(message["role"] for message in history), *said[:-left]], (roles, turns)
        for message, sent in zip(history, body["messages"][1:], strict=False):
            assert (message["content"] or "") == (sent.get("content") or ""), (message, sent)


async def alone(name: str, count: int, path: str, url: str, out: IO[str]) -> None:
    """A system's process: a turn for each session that is named, and what is to be said at the end."""

    def say(found: dict[str, Any]) -> None:
        print(msgspec.json.encode(found).decode(), file=out, flush=True)

    system, server, history = SYSTEMS[name], Server(url), healthy("openai_chat", count)[1:]
    try:
        async with system(path, url, dict.fromkeys((session for session, _ in planned(count)), history)):
            pass
    except ImportError as error:
        return say({"missing": str(error)})
    before, turns, last = size(path), Counter[str](), list[Any]()
    async with system(path, url, {}) as turn:
        say({"messages": len(history)})
        while session := sys.stdin.readline().strip():
            turns[session] += 1
            found = await timed(turn, session, server)
            if turns.total() in (1, len(planned(count))):
                last = server.bodies()
                whole(last, history, turns[session])
            say(found)
    kept = Path(path).with_suffix(".bodies")
    kept.write_bytes(msgspec.json.encode(last))
    return say({"growth": (size(path) - before) / turns.total(), "bodies": str(kept)})


# --- the process that has them take turns -----------------------------------------------------------------------------


class Child:
    """A system's process, as seen from outside."""

    def __init__(self, name: str, count: int, folder: str, url: str) -> None:
        self.name = name
        command = [sys.executable, "-m", "benchmarks.rivals", "--alone", name, str(count), f"{folder}/{name}.db", url]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def told(self) -> dict[str, Any]:
        """What it says next."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, f"{self.name} broke down: see above"
        found: dict[str, Any] = msgspec.json.decode(line)
        return found

    def turn(self, session: str) -> dict[str, Any]:
        """Have it do a turn."""
        assert self.process.stdin
        print(session, file=self.process.stdin, flush=True)
        return self.told()

    def close(self) -> dict[str, Any]:
        """Have it end, and say the rest."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.told()

    def end(self) -> None:
        """Leave nothing running."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()


def yardsticks(kept: str, url: str) -> dict[str, float]:
    """What encoding and sending the bodies of a turn takes, measured here for all systems: their heaps differ."""
    server, bodies = Server(url), msgspec.json.decode(Path(kept).read_bytes())
    raw = [msgspec.json.encode(body) for body in bodies]
    encode = fastest(lambda: [msgspec.json.encode(body) for body in bodies])
    wire = fastest(lambda: [server.ask(server.path, body) for body in raw])
    server.requests()  # these were nobody's turn
    return {"encode": encode, "wire": wire}


def side_by_side(names: Iterable[str], count: int, url: str) -> dict[str, dict[str, Any]]:
    """A row for each system that is there."""
    children: list[Child] = []
    rows: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            for name in names:
                child = Child(name, count, folder, url)
                children.append(child)
                rows[name] = child.told()
            there = [child for child in children if "missing" not in rows[child.name]]
            taken: dict[str, list[dict[str, Any]]] = {child.name: [] for child in there}
            for session, counts in planned(count):
                for child in there:
                    found = child.turn(session)
                    if counts:
                        taken[child.name].append(found)
            for child in there:
                timed = taken[child.name]
                row = {key: statistics.median(turn[key] for turn in timed) for key in ("ms", "cpu", "sent")}
                row["written"] = statistics.fmean(turn["written"] for turn in timed)
                rows[child.name] |= {**row, "stream": timed[-1]["stream"], **child.close()}
                rows[child.name] |= yardsticks(rows[child.name]["bodies"], url)
        finally:
            for child in children:
                child.end()
    return rows


HEAD = (
    "system",
    "messages",
    "turn ms",
    "CPU ms",
    "x encode",
    "wire ms",
    "written kB",
    "growth kB",
    "sent kB",
    "stream",
)


def printed(name: str, row: dict[str, Any]) -> str:
    """A line of the table."""
    times = f"{row['ms']:>11.1f}{row['cpu']:>11.1f}{row['ms'] / row['encode']:>11.1f}{row['wire']:>11.1f}"
    sizes = "".join(f"{row[key] / 1e3:>11.1f}" for key in ("written", "growth", "sent"))
    return f"{name:<14}{row['messages']:>11}{times}{sizes}{'yes' if row['stream'] else 'no':>11}"


def main() -> int:
    """Print the table."""
    counts = [int(argument) for argument in sys.argv[1:]] or list(COUNTS)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # whoever ends this ends the server, too
    server = subprocess.Popen([sys.executable, "-m", "benchmarks.echo_server"], stdout=subprocess.PIPE, text=True)
    names = list(SYSTEMS)
    try:
        assert server.stdout
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        print(f"{HEAD[0]:<14}" + "".join(f"{title:>11}" for title in HEAD[1:]), flush=True)
        for count in counts:
            for name, row in side_by_side(names, count, url).items():
                if "missing" in row:
                    print(f"!!! {name} IS LEFT OUT: {row['missing']}", file=sys.stderr, flush=True)
                    names.remove(name)
                else:
                    print(printed(name, row), flush=True)
    finally:
        server.terminate()
        server.wait()
    for name in names:
        print(f"{name}: {', '.join(f'{each} {version(each)}' for each in PACKAGES[name])}; {durability(name)}")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--alone"]:
        # What a library prints must not be taken for a figure.
        with contextlib.redirect_stdout(sys.stderr):
            asyncio.run(alone(sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5], sys.__stdout__ or sys.stderr))
        sys.exit(0)
    sys.exit(main())

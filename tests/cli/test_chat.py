"""`suture chat` and `suture sessions`: in a real terminal, through a pipe, and after a kill."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import program, suture, suture_json
from tests.cli.terminal import Terminal


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The command's own folder is one of the test's."""
    monkeypatch.setenv("SUTURE_HOME", str(tmp_path))
    monkeypatch.delenv("SUTURE_STORE", raising=False)
    return tmp_path


@pytest.fixture
def start() -> Iterator[Callable[..., Terminal]]:
    """Starts `suture chat` in terminals; none outlives the test."""
    started: list[Terminal] = []

    def begin(*arguments: str) -> Terminal:
        started.append(Terminal("chat", *arguments))
        return started[-1]

    yield begin
    for each in started:
        each.close()


# --- a terminal -----------------------------------------------------------------------------------------------------


def test_a_chat_with_an_approval_and_a_question(start: Callable[..., Terminal], home: Path) -> None:
    """What a newcomer does first, up to leaving."""
    (home / "demo").mkdir()
    (home / "demo" / "build.txt").write_text("a note")
    chat = start()
    chat.say("hello")
    chat.sees("This is a demonstration")
    chat.say("ask me")
    chat.sees("Which colour shall it be")
    chat.press("blue\r")
    chat.sees("blue, then.")
    chat.say("delete it")
    chat.sees("Allow delete_note")
    chat.press("y\r")
    chat.sees("Done: deleted build.txt")
    assert not (home / "demo" / "build.txt").exists()
    chat.leave()


def test_ctrl_c_stops_the_turn_and_keeps_the_session(start: Callable[..., Terminal]) -> None:
    """In mid-tool; the next message is answered, and nothing old runs."""
    chat = start()
    chat.say("build it")
    chat.sees("step 1 of 20")
    chat.press("\x03")
    chat.sees("stopped")
    chat.say("hello")
    chat.sees("This is a demonstration")
    chat.leave()
    outcome = tools("default")[-1]
    assert ("output-error", True) == (outcome["state"], outcome["synthetic"])
    assert "stopped while this tool call was running" in outcome["output"]


def test_killed_in_mid_tool_it_goes_on(start: Callable[..., Terminal], home: Path) -> None:
    """`kill -9`, and start again: the note is there, the build says what is known, and did not run again."""
    chat = start()
    chat.say("build it")
    chat.sees("step 2 of 20")
    chat.kill()
    steps = (home / "demo" / "build.log").read_text().splitlines()
    chat = start()
    chat.sees("the last turn was cut off; it goes on")
    chat.sees("mended 1 interrupted call: build")
    chat.sees("did not come to its end")
    chat.leave()
    note, build = tools("default")
    assert ("output-available", "wrote build.txt") == (note["state"], note["output"])
    assert ("output-error", True) == (build["state"], build["synthetic"])
    assert "it may have taken effect" in build["output"]
    assert steps == (home / "demo" / "build.log").read_text().splitlines()


def test_several_lines_and_what_there_is_not(start: Callable[..., Terminal]) -> None:
    """Escape and Enter begins another line; a command that there is not is said so."""
    chat = start()
    chat.ready()
    chat.press("hello\x1b\rthere\r")
    chat.sees("This is a demonstration")
    chat.say("/nothing")
    chat.sees("there is no /nothing; /help lists what there is")
    chat.leave()
    messages = suture_json("sessions", "show", "default")["messages"]
    assert "hello\nthere" == messages[0]["parts"][0]["text"]


def tools(session: str) -> list[Any]:
    """The calls of a session, as they are stored."""
    messages = suture_json("sessions", "show", session)["messages"]
    return [part for message in messages for part in message["parts"] if part["type"] == "tool"]


# --- a pipe ---------------------------------------------------------------------------------------------------------


def chatted(*arguments: str, lines: str = "", code: int = 0) -> str:
    """What `suture chat` prints to a pipe."""
    done = program("chat", *arguments, input=lines.encode())
    assert code == done.returncode, done.stderr.decode()
    return (done.stdout if code == 0 else done.stderr).decode()


def test_a_pipe_is_answered_line_by_line() -> None:
    """Without a terminal there is no colour and nothing that moves; another run goes on with the same session."""
    said = chatted("-s", "piped", lines="ask\nred\n")
    assert "\x1b" not in said
    assert "red, then." in said
    again = chatted("-s", "piped", lines="delete\ntoo dear\n")
    assert "red, then." in again
    assert "Then it stays." in again
    assert "too dear" in tools("piped")[-1]["output"]


def test_a_question_that_is_left_open_is_asked_again() -> None:
    """The pipe ends before the answer; the next one brings it."""
    chatted(lines="ask\n")
    assert "green, then." in chatted(lines="green\n")


def test_an_agent_of_one_s_own(tmp_path: Path) -> None:
    """A class, an object, or a function that makes one."""
    (tmp_path / "mine.py").write_text(
        "from suture import Agent\n"
        "from suture.models import scripted\n"
        "class Kind(Agent):\n"
        "    model = scripted(lambda request: 'kindly')\n"
        "made = Kind()\n"
        "def make():\n"
        "    return Kind()\n"
        "nothing = 5\n"
    )
    for name in ("Kind", "made", "make"):
        done = program("chat", "--agent", f"mine:{name}", input=b"hi\n", cwd=tmp_path)
        assert (0, True) == (done.returncode, b"kindly" in done.stdout), done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--agent", "nothing"], "expected MODULE:NAME, got 'nothing'"),
        (["--agent", "no_such_module:Agent"], "there is no module 'no_such_module'"),
        (["--agent", "json:Agent"], "'json' has no 'Agent'"),
        (["--agent", "json:JSONDecoder"], "expected an agent, got JSONDecoder"),
        (["--model", "gpt-5"], "expected PROVIDER:MODEL"),
        (["--model", "openai:gpt-5"], "expected a key in OPENAI_API_KEY"),
        (["--model", "a:b", "--agent", "c:d"], "name one of the two"),
        (["--store", "mysql:x"], "expected memory:, sqlite:FILE or jsonl:FOLDER"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_input_is_said(arguments: list[str], message: str) -> None:
    """In a sentence, with exit code 2."""
    said = " ".join(chatted(*arguments, code=2).split())
    assert message in said
    assert "Traceback" not in said


# --- sessions -------------------------------------------------------------------------------------------------------


def test_sessions_are_listed_shown_found_and_deleted(tmp_path: Path) -> None:
    """All that is in the store, and no more than was asked for."""
    chatted("-s", "one", lines="ask\nblue\n")
    chatted("-s", "two", lines="hello\n")
    listed = suture_json("sessions", "list")["sessions"]
    assert {"one", "two"} == {each["name"] for each in listed}
    assert "one" in suture("sessions", "list").stdout
    assert "> ask" in suture("sessions", "show", "one").stdout
    assert ["one"] == [hit["session"] for hit in suture_json("sessions", "search", "blue")["found"]]
    assert "one: " in suture("sessions", "search", "BLUE").stdout
    assert "Nothing was found." in suture("sessions", "search", "purple").stdout
    suture("sessions", "export", "one", "-o", tmp_path / "one.jsonl")
    lines = (tmp_path / "one.jsonl").read_text().splitlines()
    assert {"format": "suture-session", "version": 1, "session": "one"} == json.loads(lines[0])
    suture("sessions", "delete", "one", given=b"n\n", code=130)
    suture("sessions", "delete", "one", given=b"y\n")
    suture("sessions", "delete", "two", "--yes")
    assert [] == suture_json("sessions", "list")["sessions"]
    assert "There are no conversations" in suture("sessions", "list").stdout


@pytest.mark.parametrize("command", ["show", "export", "delete"])
def test_a_session_that_there_is_not(command: str) -> None:
    """Its like is named."""
    chatted("-s", "customer-42", lines="hello\n")
    said = suture("sessions", command, "customer-24", code=2).stderr
    assert "there is no conversation 'customer-24'; did you mean 'customer-42'?" in " ".join(said.split())


def test_sessions_of_another_store(tmp_path: Path) -> None:
    """A folder of text files."""
    store = f"jsonl:{tmp_path / 'chats'}"
    chatted("--store", store, lines="hello\n")
    assert ["default"] == [each["name"] for each in suture_json("sessions", "list", "--store", store)["sessions"]]
    assert [] == suture_json("sessions", "list")["sessions"]

"""`suture.store.jsonl_lines`: what is read from a file that was written by hand, by others, or damaged."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suture.errors import BusyError
from suture.store.jsonl import JsonlStore
from suture.transcript import TextPart
from suture.transcript.conversation import Conversation
from suture.transcript.events import Admitted, Event, LeafMoved, MessageAdded, StepAdded, TurnBegan
from tests.store.contract import said
from tests.store.folders import damages_of, events_of, files_in, loaded
from tests.store.strategies import logs

HEADER = '{"format":"suture-session","version":1,"session":"s"}'
LATER = Admitted(message="later", parts=(TextPart("still there?"),))


def moved(number: int, more: int = 0) -> str:
    """A line of a log in which nothing happens."""
    return f'{{"number":{number},"at":5.5,"epoch":0,"more":{more},"event":"leaf-moved","leaf":null}}'


def settled(number: int) -> str:
    """A line with an event that cannot follow."""
    return f'{{"number":{number},"event":"call-settled","call":"c9","state":"output-available"}}'


NOT_FOLLOWING = "cannot follow: CallSettled cannot be recorded: there is no call 'c9'"
CASES: dict[str, tuple[list[str | bytes], list[int], list[tuple[int, str]]]] = {
    # name: the lines behind a header, the numbers of the events that count, the damages
    "nothing": ([], [], []),
    "whole": ([moved(1), moved(2, 1), moved(3)], [1, 2, 3], []),
    "blank lines": (["", moved(1), " \t", moved(2), ""], [1, 2], []),
    "without numbers": (['{"event":"leaf-moved","leaf":null}'] * 3, [1, 2, 3], []),
    "numbers in some": ([moved(1), '{"event":"leaf-moved","leaf":null}', moved(3)], [1, 2, 3], []),
    "unknown keys": (['{"number":1,"color":"red","event":"leaf-moved","leaf":null,"why":[1]}'], [1], []),
    "text": ([moved(1), "Segmentation fault", moved(2)], [1, 2], [(3, "no readable JSON: 'Segmentation fault'")]),
    "two on a line": (
        [moved(1), '{"event":"x"}{"event":"y"}', moved(2)],
        [1, 2],
        [(3, 'no readable JSON: \'{"event":"x"}{"event":"y"}\'')],
    ),
    "an array": ([moved(1), "[1,2]", moved(2)], [1, 2], [(3, "no record of a session: '[1,2]'")]),
    "another object": ([moved(1), '{"role":"user"}'], [1], [(3, 'no record of a session: \'{"role":"user"}\'')]),
    "another type": (['{"number":"one"}'], [], [(2, 'no record of a session: \'{"number":"one"}\'')]),
    "half an event": (['{"event":"admitted"}'], [], [(2, 'no record of a session: \'{"event":"admitted"}\'')]),
    "another note": (['{"note":"hello"}'], [], [(2, 'no record of a session: \'{"note":"hello"}\'')]),
    "bytes": ([moved(1), b"\xff\xfe{}", moved(2)], [1, 2], [(3, "no readable JSON: '��{}'")]),
    "a cut character": (
        [moved(1), b'{"event":"leaf-moved","leaf":"\xc3"}'],
        [1],
        [(3, 'no readable JSON: \'{"event":"leaf-moved","leaf":"�"}\'')],
    ),
    "half a pair": (
        [moved(1), r'{"event":"leaf-moved","leaf":"\ud83d"}'],
        [1],
        [(3, r"""no readable JSON: '{"event":"leaf-moved","leaf":"\\ud83d"}'""")],
    ),
    "deep": ([moved(1), '{"x":' + "[" * 9999], [1], [(3, f"no readable JSON: '{{\"x\":{'[' * 55}'")]),
    "only NUL": ([moved(1), b"\0" * 99, moved(2)], [1, 2], [(3, "NUL bytes")]),
    "NUL before": ([moved(1), b"\0" * 99 + moved(2).encode()], [1, 2], [(3, "NUL bytes")]),
    "NUL within": ([moved(1), b'{"x":\0}'], [1], [(3, "no readable JSON: '{\"x\":\\x00}'")]),
    "a newer event": (
        [moved(1), '{"number":2,"event":"sung"}', moved(3)],
        [1, 3],
        [(3, "an event of a kind that this version does not know: 'sung'")],
    ),
    "a newer header": (
        ['{"format":"suture-session","version":2,"session":"s"}', moved(1)],
        [1],
        [(2, "the header of a format of version 2, of which this version knows 1")],
    ),
    "a gap": ([moved(1), moved(4)], [1, 4], [(3, "event 4 behind event 1: some are missing")]),
    "no beginning": ([moved(4), moved(5)], [4, 5], [(2, "event 4 behind event 0: some are missing")]),
    "twice": ([moved(1), moved(2), moved(1), moved(3)], [1, 2, 3], [(4, "event 1 once more")]),
    "not following": ([moved(1), settled(2), moved(3)], [1, 3], [(3, f"event 2 {NOT_FOLLOWING}")]),
    "not following in a batch": (
        [moved(1, 2), settled(2).replace('"event"', '"more":1,"event"'), moved(3)],
        [1, 3],
        [(3, f"event 2 {NOT_FOLLOWING}")],
    ),
    "a batch cut off": (
        [moved(1), moved(2, 2), moved(3, 1)],
        [1],
        [(3, "event 2 of a batch that was cut off"), (4, "event 3 of a batch that was cut off")],
    ),
    "a batch cut off, and on": (
        [moved(1), moved(2, 1), moved(2, 2), moved(3, 1), moved(4)],
        [1, 2, 3, 4],
        [(3, "event 2 of a batch that was cut off")],
    ),
    "a batch with a hole": (
        [moved(1, 2), "lost", moved(3)],
        [1, 3],
        [(3, "no readable JSON: 'lost'"), (4, "event 3 behind event 1: some are missing")],
    ),
    "a batch without its end, and on": (
        [moved(1, 1), "lost", moved(3, 1), moved(4)],
        [1, 3, 4],
        [(3, "no readable JSON: 'lost'"), (4, "event 3 behind event 1: some are missing")],
    ),
}


@pytest.fixture
def anyio_backend() -> str:
    """Plain asyncio."""
    return "asyncio"


def write(folder: Path, lines: list[str | bytes], *, end: bytes = b"\n", last: bytes = b"\n") -> Path:
    """The file of a session with these lines."""
    path = folder / "s.jsonl"
    path.write_bytes(end.join(line.encode() if isinstance(line, str) else line for line in lines) + last)
    return path


@pytest.mark.anyio
@pytest.mark.parametrize("ending", ["lf", "crlf", "bom", "none"])
@pytest.mark.parametrize("case", CASES)
async def test_what_is_damaged_costs_itself_alone(tmp_path: Path, case: str, ending: str) -> None:
    """It is skipped and told of, the file is left as it is, what is appended comes behind it, and all that stays so."""
    lines, numbers, damages = CASES[case]
    header = HEADER.encode()
    end = b"\r\n" if ending == "crlf" else b"\n"
    path = write(
        tmp_path,
        [b"\xef\xbb\xbf" + header if ending == "bom" else header, *lines],
        end=end,
        last=b"" if ending == "none" else end,
    )
    before = path.read_bytes()
    store = JsonlStore(tmp_path)
    assert numbers == [one.number async for one in store.events("s")]
    assert damages == await store.damages("s")
    found = await events_of(store)
    assert said(Conversation(found)) == said((await store.load("s")).conversation)
    assert before == path.read_bytes()

    number = (await store.load("s")).number
    assert number >= max(numbers, default=0)
    assert number + 1 == await store.append("s", [LATER])
    assert path.read_bytes().startswith(before)
    for _ in range(2):
        assert [*found, LATER] == await events_of(store)
        assert damages == await store.damages("s")
        await store.close()
        store = JsonlStore(tmp_path)
    assert number + 1 == (await store.load("s")).number
    await store.close()


@pytest.mark.anyio
async def test_a_file_written_by_hand(tmp_path: Path) -> None:
    """Only the events have to be there, in their order."""
    parts = '[{"type": "text", "text": "hello"}]'
    path = write(
        tmp_path,
        [
            '{"format": "suture-session", "version": 1, "session": "s"}',
            '{"event": "turn-began", "turn": "t1"}',
            f'{{"event": "message-added", "message": "u1", "role": "user", "parent": null, "parts": {parts}}}',
            '{"event": "message-added", "message": "a1", "role": "assistant", "parent": "u1", "at": 12.5}',
            '{"event": "step-added", "message": "a1", "parts": [{"type": "text", "text": "hello to you"}]}',
        ],
        last=b"",
    )
    store = JsonlStore(tmp_path)
    assert [
        (1, 0.0, TurnBegan(turn="t1")),
        (2, 0.0, MessageAdded(message="u1", role="user", parent=None, parts=(TextPart("hello"),))),
        (3, 12.5, MessageAdded(message="a1", role="assistant", parent="u1")),
        (4, 12.5, StepAdded(message="a1", parts=(TextPart("hello to you"),))),
    ] == [(one.number, one.at, one.event) async for one in store.events("s")]
    assert [] == await store.damages("s")
    assert 5 == await store.append("s", [LATER])
    assert b'hello to you"}]}\n{"number":5,' in path.read_bytes()
    assert [(5, "t1")] == [(info.number, info.turn) for info in await store.sessions()]
    await store.close()


@pytest.mark.anyio
@pytest.mark.parametrize("first", [b"", b"\n", b"\xef\xbb\xbf", b"\0\0\0", b'{"form', b'{"format":"suture-session"}\n'])
async def test_a_file_without_its_header_gets_one(tmp_path: Path, first: bytes) -> None:
    """With the next append, so that the name of the session, which may be too long for the file's, is known again."""
    name = "x" * 200
    store = JsonlStore(tmp_path)
    await store.append(name, [LATER])
    write_all(tmp_path / files_in(tmp_path)[0], first)
    assert 1 == await store.append(name, [LATER])
    assert 1 == (await loaded(tmp_path, name)).number
    listed = [info.session for info in await store.sessions()]
    assert listed == ([] if first.endswith(b"}\n") else [name])
    await store.close()


@pytest.mark.anyio
async def test_the_first_header_counts(tmp_path: Path) -> None:
    """A second one, as two files make that were put one behind the other, changes nothing."""
    name = "x" * 200
    store = JsonlStore(tmp_path)
    await store.append(name, [LATER])
    file = tmp_path / files_in(tmp_path)[0]
    write_all(file, read(file).replace(b"\n", b"\n" + HEADER.encode() + b"\n", 1))
    assert [name] == [info.session for info in await store.sessions()]
    assert [] == await store.damages(name)
    await store.close()


@pytest.mark.anyio
@pytest.mark.parametrize("older", ['"released"', '"renewed","until":0', '"taken","owner":"you","until":9e9'])
async def test_a_note_of_an_older_epoch_counts_for_nothing(tmp_path: Path, older: str) -> None:
    """Whoever has the session now keeps it."""
    taken = '{"note":"taken","at":1,"epoch":2,"owner":"me","until":9e9}'
    write(tmp_path, [HEADER, taken, f'{{"epoch":1,"note":{older}}}'])
    store = JsonlStore(tmp_path)
    with pytest.raises(BusyError, match="answered by me"):
        await store.take("s", "you")
    assert 3 == (await store.take("s", "me")).epoch
    await store.close()


@pytest.mark.anyio
async def test_a_repair_with_an_impossible_place(tmp_path: Path) -> None:
    """A digit that became a sign is an event that cannot follow."""
    write(
        tmp_path,
        [
            HEADER,
            '{"event":"turn-began","turn":"t1"}',
            '{"event":"message-added","message":"a1","role":"assistant","parent":null}',
            '{"event":"part-replaced","message":"a1","index":-2,"part":{"type":"text","text":"x"},"rule":"r"}',
        ],
    )
    assert [(4, "event 3 cannot follow: PartReplaced cannot be recorded: message 'a1' has no part -2")] == (
        await damages_of(tmp_path)
    )


# --- anywhere -------------------------------------------------------------------------------------------------------

CHANGES: dict[str, Callable[[bytes, int, bytes], bytes]] = {
    "cut": lambda data, at, _: data[:at],
    "lost": lambda data, at, junk: data[:at] + data[at + len(junk) + 1 :],
    "overwritten": lambda data, at, junk: data[:at] + junk + data[at + len(junk) :],
    "inserted": lambda data, at, junk: data[:at] + junk + data[at:],
}
JUNK = st.binary(max_size=20) | st.sampled_from(
    [b"\0" * 50, b"\n", b'"', b"-", b"9", b"}\n{", b"\xf0\x9f", b"\r\n\r\n"]
)


@settings(max_examples=min(settings().max_examples, 1000))  # each writes to a disk
@given(
    events=logs(max_events=12).filter(bool),
    size=st.integers(1, 4),
    change=st.sampled_from(sorted(CHANGES)),
    where=st.floats(0, 1, exclude_max=True),
    junk=JUNK,
)
def test_damage_anywhere(events: list[Event], size: int, change: str, where: float, junk: bytes) -> None:
    """Loading never fails, what lies before the damage is all there, and what is appended behind it stays."""
    batches = [events[start : start + size] for start in range(0, len(events), size)]

    async def scenario(folder: Path) -> None:
        path = folder / "s.jsonl"
        ends = []
        store = JsonlStore(folder)
        for number, batch in enumerate(batches):
            await store.append("s", batch, key=str(number))
            ends.append(size_of(path))
        await store.close()

        data = CHANGES[change](read(path), at := int(where * ends[-1]), junk)
        write_all(path, data)
        intact = [event for batch, end in zip(batches, ends, strict=True) if end <= at for event in batch]
        before = await check(folder, intact)
        store = JsonlStore(folder)
        number = await store.append("s", [LATER, LeafMoved(leaf=None)], key="later")
        assert number == await store.append("s", [LATER], key="later")
        await store.close()
        assert read(path).startswith(data)
        assert [*before, LATER, LeafMoved(leaf=None)] == await check(folder, intact)
        assert number == (await loaded(folder)).number

    with TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder)))


async def check(folder: Path, intact: list[Event]) -> list[Event]:
    """The events of a session that was damaged behind the intact ones."""
    store = JsonlStore(folder)
    found = await events_of(store)
    assert intact == found[: len(intact)]
    state = await store.load("s")
    assert said(Conversation(found)) == said(state.conversation)
    shown = (await store.tail("s", 5), state.conversation.messages()[-5:])
    assert shown[0] == shown[1]
    await store.damages("s")
    await store.sessions()
    await store.close()
    return found


def read(path: Path) -> bytes:
    """What a file holds."""
    return path.read_bytes() if path.exists() else b""


def size_of(path: Path) -> int:
    """How long a file is."""
    return path.stat().st_size


def write_all(path: Path, data: bytes) -> None:
    """Put something in the place of a file."""
    path.write_bytes(data)

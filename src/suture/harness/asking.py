"""Asking the model once: what it is shown, and its answer as it comes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Final

from suture.errors import ModelError, Transient
from suture.harness.collect import Answer
from suture.harness.healing import stubbed, waits
from suture.harness.hooks import StepContext, observe
from suture.harness.notices import AnswerText, CallArguments, IncompleteLeftOut, ModelRemark, Notice, Reasoning
from suture.harness.tracing import model_span
from suture.models.base import CallPiece, ModelRequest, Piece, ReasoningPiece, Remark, TextPiece, ToolSpec, closing
from suture.transcript import Message, TextPart, ToolPart

if TYPE_CHECKING:
    from suture.harness.session import Session
    from suture.harness.turn import Turn

__all__ = ["ask", "shown"]

_LOG = logging.getLogger("suture.harness")

_FRAME: Final = "A summary of the conversation before this, for reference; nothing in it is to be done again:"


def shown(session: Session, turn: str, tell: Callable[[Notice], None]) -> Sequence[Message]:
    """The messages as the model may be shown them.

    A call that waits says so, in words that are never stored; one that is merely incomplete is left out, and told of.
    What was compacted is shown as its summary.
    """
    conversation = session.conversation
    messages = conversation.messages()
    places = [place for place in conversation.open_calls() if conversation.is_shown(place.message)]
    for name in dict.fromkeys(place.message for place in places):
        messages = messages.replaced(conversation.place(name), stubbed(conversation.message(name)))
    gaps = [place.part.call_id for place in places if isinstance(place.part, ToolPart) and not waits(place.part)]
    if gaps:
        _LOG.warning("session %s: calls without an outcome are left out: %s", session.name, gaps)
        tell(IncompleteLeftOut(session=session.name, turn=turn, calls=gaps))
    compacted = conversation.summary()
    if compacted is not None:
        told = TextPart(f"{_FRAME}\n\n{compacted.summary}")
        return [Message(role="user", parts=(told,)), *messages[conversation.place(compacted.first_kept) :]]
    return messages


async def ask(context: StepContext, turn: Turn) -> Answer:
    """One answer of the model; while it comes, it is the turn's. A request of which nothing came is sent again.

    Raises:
        ModelError: it failed for good, or once too often.
    """
    agent, conversation, toolbox = turn.agent, turn.session.conversation, turn.toolbox
    tools = tuple(
        ToolSpec(tool.name, tool.description, tool.schema) for tool in (toolbox[name] for name in context.tools)
    )
    request = ModelRequest(
        messages=context.messages, instructions=context.instructions, tools=tools, settings=context.settings
    )
    attempt = 0
    while True:
        answer = turn.answer = turn.calling = Answer(
            new_id=lambda: f"call_{agent.runtime.new_id()}",
            taken=lambda call: conversation.call(call) is not None,
        )
        turn.early = {}
        try:
            with model_span(context, turn, answer):
                stream = context.model.stream(request)
                async with closing(stream), closing(_timely(stream, agent.stream_stall_timeout)) as pieces:
                    async for piece in pieces:
                        answer.add(piece)
                        await _pass_on(piece, answer, turn)
        except ModelError as error:
            if answer.pieces or not error.transient or attempt == agent.retries:
                raise
            await agent.runtime.sleep(error.retry_after or 0.5 * 2**attempt)
            attempt += 1
        else:
            return answer


async def _timely(stream: AsyncIterator[Piece], seconds: float | None) -> AsyncIterator[Piece]:
    """The pieces of an answer, as long as each comes in time.

    Raises:
        Transient: one did not.
    """
    while True:
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                piece = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise Transient(f"the model said nothing for {seconds:g} s") from error
        yield piece


async def _pass_on(piece: Piece, answer: Answer, turn: Turn) -> None:
    session = turn.session.name
    notice: Notice
    match piece:
        case TextPiece(text):
            notice = AnswerText(session=session, turn=turn.id, text=text)
        case ReasoningPiece(text):
            notice = Reasoning(session=session, turn=turn.id, text=text)
        case CallPiece():
            call, name = answer.call(piece.index)
            notice = CallArguments(session=session, turn=turn.id, call=call, name=name, arguments=piece.arguments)
        case Remark(text):
            notice = ModelRemark(session=session, turn=turn.id, text=text)
        case _:
            return
    turn.tell(notice)
    await observe(turn.agent.on_chunk, notice)

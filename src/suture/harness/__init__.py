"""The agent: a durable turn loop that can be killed at any instant and goes on."""

from suture.harness.agent import Agent
from suture.harness.hooks import Allow, Ask, Block, CallDecision, StepContext, Substitute, TurnContext
from suture.harness.outputs import Outcome
from suture.harness.running import run
from suture.harness.runtime import Runtime
from suture.harness.session import Reply, Session
from suture.harness.tools import AnyTool, ArgumentsError, Tool, ToolContext, tool

__all__ = [
    "Agent",
    "Allow",
    "AnyTool",
    "ArgumentsError",
    "Ask",
    "Block",
    "CallDecision",
    "Outcome",
    "Reply",
    "Runtime",
    "Session",
    "StepContext",
    "Substitute",
    "Tool",
    "ToolContext",
    "TurnContext",
    "run",
    "tool",
]

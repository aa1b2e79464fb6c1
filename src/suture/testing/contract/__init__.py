"""A local server that speaks three providers' formats and refuses what they refuse.

It is read from the providers' contracts alone: nothing here imports what the rest of Suture knows of a format, so that
each can prove the other wrong.
"""

from suture.testing.contract.faults import Fault
from suture.testing.contract.script import Answer, Script
from suture.testing.contract.server import ContractServer, Recorded

__all__ = ["Answer", "ContractServer", "Fault", "Recorded", "Script"]

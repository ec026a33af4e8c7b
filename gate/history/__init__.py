"""The history at the edge: the file or branch it lives in. What records mean is said in ``gate.cycles``."""

from gate.cycles.chain import History
from gate.cycles.record import Record
from gate.history.checks import head_line, join, require_head
from gate.history.files import init, load, locked

__all__ = ["History", "Record", "head_line", "init", "join", "load", "locked", "require_head"]

"""One reading of a trace: the tools it goes by, how strict it is, and the faults of the session at hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from judged.errors import BadInput, Fault
from judged.formats.traces.skipped import Skipped
from judged.formats.traces.tools import Tools

__all__ = ["Reading", "TurnChoice"]

TurnChoice: TypeAlias = Literal["last", "last-with-search"]


@dataclass
class Reading:
    """What formats are given beside the trace, and where they leave their faults."""

    label: str
    """What messages call the source."""
    name: str
    """What a system is called if the trace does not say."""
    tools: Tools
    lenient: bool = False
    turn: TurnChoice = "last"
    skipped: Skipped = field(default_factory=Skipped)
    searches: Counter[str] = field(default_factory=Counter)
    """Calls by tool that were taken as searches."""
    others: Counter[str] = field(default_factory=Counter)
    """Calls by tool that are known to be no searches."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Calls by tool of which it is not known what they do."""
    met: dict[str, str] = field(default_factory=dict)
    """Where each unknown tool was met first."""
    _faults: list[Fault] = field(default_factory=list)

    def fault(self, kind: str, where: str, what: str) -> None:
        """Note a fault of the session at hand; the caller leaves out what has it."""
        self._faults.append(Fault(kind, where, what))

    def settle(self) -> None:
        """End a session: refuse it for its faults, or count them if the reading is lenient."""
        if not self._faults:
            return
        faults, self._faults = self._faults, []
        if not self.lenient:
            raise BadInput(self.label, faults, hint="leave out what is faulty with `lenient` (`--lenient`)")
        self.skipped.add(faults)

    def note_tool(self, tool: str, *, search: bool | None, where: str) -> None:
        """Count a call of a tool by what the tool is known to do; None is unknown."""
        counter = self.unknown if search is None else self.searches if search else self.others
        counter[tool] += 1
        if search is None:
            self.met.setdefault(tool, where)

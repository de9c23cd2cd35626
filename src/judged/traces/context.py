"""The state of one reading: the tools and options it uses, what it counts, and its problems."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from judged.errors import BadInput
from judged.problem import Problem
from judged.traces.conversation import TurnChoice
from judged.traces.results.tools import Tools
from judged.wording import counted

__all__ = ["FOREIGN", "UNREAD", "ReadContext", "TraceProblems"]


class TraceProblems:
    """What was left out of traces, and what was noticed on the way; made by whoever wants to know, to be filled."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        """How many results, searches or sessions were left out, by the kind of their fault."""
        self.first: dict[str, Problem] = {}
        """The first fault of each kind."""
        self.notes: list[str] = []
        """Sentences on what is no fault and yet should be known."""

    def add(self, faults: Iterable[Problem]) -> None:
        """Count faults whose results, searches or sessions were left out."""
        for fault in faults:
            self.counts[fault.code] += 1
            self.first.setdefault(fault.code, fault)

    def note(self, sentence: str) -> None:
        """Keep a sentence, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def sentences(self) -> tuple[str, ...]:
        """All that was left out, the most frequent kind first, then the notes."""
        kinds = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))
        return (
            *(f"left out: {kind} ({count:,}); first {self.first[kind]}" for kind, count in kinds),
            *self.notes,
        )

    def __len__(self) -> int:
        return sum(self.counts.values())


NO_SEARCH = "no-search"
FOREIGN = "foreign-call"
OPENTELEMETRY = frozenset(("otlp", "openinference", "openllmetry"))
"""Formats in which contents are recorded only if asked for."""
UNREAD = "unread-output"
NO_OUTPUT = "no-search-output"
EARLIER_ONLY = "no-search-in-last-turn"
_PLAIN_NAME = re.compile(r"[\w.-]+")


@dataclass
class ReadContext:
    """What formats are given beside the trace, and where they leave their faults."""

    label: str
    """What messages call the source."""
    name: str
    """What a system is called if the trace does not say."""
    tools: Tools = field(default_factory=Tools)
    lenient: bool = False
    turn: TurnChoice = "last"
    problems: TraceProblems = field(default_factory=TraceProblems)
    searches: Counter[str] = field(default_factory=Counter)
    """Searches by tool, in the turns that were taken."""
    others: Counter[str] = field(default_factory=Counter)
    """Calls by tool that are known to be no searches."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Calls by tool of which it is not known what they do."""
    formats: Counter[str] = field(default_factory=Counter)
    """How many files are written in each format."""
    unanswered: int = 0
    """Searches whose output the trace does not hold."""
    earlier: int = 0
    """Sessions that searched in an earlier turn and not in the last."""
    _met: dict[str, str] = field(default_factory=dict)
    """Where each tool that is no search was met first."""
    _faults: list[Problem] = field(default_factory=list)

    def fault(self, kind: str, where: str, what: str) -> None:
        """Note a fault of the session at hand; the caller leaves out what has it."""
        self._faults.append(Problem.error(kind, where, what))

    def settle(self) -> None:
        """End a session: refuse it for its faults, or count them if the reading is lenient."""
        if not self._faults:
            return
        faults, self._faults = self._faults, []
        if not self.lenient:
            raise BadInput(self.label, faults, hint=_hint(faults))
        self.problems.add(faults)

    def broken(self, place: str, what: str) -> None:
        """Note a document that is no JSON, and with it a session that cannot be used."""
        self.fault("broken-json", place, what)
        self.settle()

    def count_call(self, tool: str, *, search: bool | None, where: str) -> None:
        """Count a call of a tool by what the tool is known to do; None is unknown."""
        counter = self.unknown if search is None else self.searches if search else self.others
        counter[tool] += 1
        if not search:
            self._met.setdefault(tool, where)

    def finish(self, sessions: int) -> None:
        """End the trace: refuse it if nothing in it searches, and note what should be known of it."""
        self.settle()
        if not self.searches:
            self._without_search(sessions)
        elif self.unknown:
            first = self._met[next(iter(self.unknown))]
            self.problems.note(
                f"{self.label}: not known to be searches and left aside: {_named(self.unknown)}, first at {first}; {_mapping(next(iter(self.unknown)))}"
            )
        if self.unanswered:
            self._without_outputs()
        if self.earlier:
            self.problems.note(
                f"{self.label}: {self.earlier:,} sessions searched in an earlier turn and not in the last, which alone counts"
            )

    def _without_outputs(self) -> None:
        """Note searches without an output, which may have been stopped; refuse a trace that holds no output at all."""
        told = counted(self.unanswered, "search")
        if self.unanswered < self.searches.total():
            self.problems.note(f"{self.label}: {told} without an output in the trace: counted as empty")
            return
        what = f"no output of its {told} is in the trace, expected what they found"
        self.fault(NO_OUTPUT, self.label, what)
        self.settle()

    def _without_search(self, sessions: int) -> None:
        """Refuse a trace in which no session searches; a reading that is lenient notes it."""
        if not sessions:
            self.fault("empty", self.label, "holds no session")
        elif self.earlier:
            self.fault(
                EARLIER_ONLY,
                self.label,
                f"{self.earlier:,} sessions searched in an earlier turn, none in its last",
            )
        elif self.unknown:
            tool = next(iter(self.unknown))
            known = f"; others that are no searches: {_named(self.others)}" if self.others else ""
            what = f"no tool is known to be a search; the trace calls {_named(self.unknown)}{known}"
            self.fault("unknown-tool", self._met[tool], what)
        elif self.others:
            tool = next(iter(self.others))
            self.fault(NO_SEARCH, self._met[tool], f"calls {_named(self.others)}, none of which is a search")
        else:
            count = (
                "its one session calls no tool"
                if sessions == 1
                else f"none of its {sessions:,} sessions searches"
            )
            if not OPENTELEMETRY.isdisjoint(self.formats):
                count += "; its spans tell of no tool, as is so where contents are not recorded"
            self.fault(NO_SEARCH, self.label, count)
        self.settle()


def _named(tools: Counter[str]) -> str:
    """Tools with how often they were called, the most frequent first."""
    shown = ", ".join(f"`{tool}` ({count:,})" for tool, count in tools.most_common(10))
    return shown if len(tools) <= 10 else f"{shown} and {len(tools) - 10:,} more"


def _mapping(tool: str) -> str:
    """What to write for a tool to be known as a search."""
    return (
        f"say which tools are searches with a mapping (`--tools FILE`): `tools: {{{_quoted(tool)}: search}}`"
    )


def _tool(fault: Problem) -> str | None:
    """The tool that a fault is about: told last of where it is, else first of what it is."""
    found = re.search(r", `([^`]+)`$", str(fault.place)) or re.search(r"`([^`]+)`", fault.message)
    return found[1] if found else None


def _quoted(tool: str) -> str:
    """A tool's name as YAML has it."""
    return tool if _PLAIN_NAME.fullmatch(tool) else f'"{tool}"'


def _hint(faults: list[Problem]) -> str | None:
    first = {fault.code: fault for fault in reversed(faults)}
    unsearched = first.get("unknown-tool") or first.get(NO_SEARCH)
    if unsearched:
        tool = _tool(unsearched)
        return _mapping(tool) if tool else None
    known = next((kind for kind in _HINTS if kind in first), None)
    if known is not None:
        return _HINTS[known]
    if UNREAD in first:
        return _paths(_quoted(_tool(first[UNREAD]) or "NAME"))
    return "leave out what is faulty, and count it, with `--lenient` (`lenient=True`)"


_HINTS = {
    "empty": None,
    FOREIGN: "say how the traces are written (`--trace-format`)",
    EARLIER_ONLY: 'take the last turn that searched: `turn="last-with-search"` (`--turn last-with-search`)',
    NO_OUTPUT: "have contents recorded: capture of messages in OpenTelemetry, `include` of sources in OpenAI Responses",
}
"""What to do about a kind of fault, the gravest first; None: nothing that is known here."""


def _paths(tool: str) -> str:
    """What to write for the results of a tool to be found."""
    written = (
        f'`tools: {{{tool}: {{results: "$.PATH[*]"}}}}`, or `{{{tool}: {{whole: true}}}}` if it is one result'
    )
    return f"say where the results lie with a mapping (`--tools FILE`): {written}; `--lenient` leaves such searches out"

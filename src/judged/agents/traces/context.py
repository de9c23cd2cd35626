"""The state of reading one source: the tools and options used, what is counted, and the problems found."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from judged.agents.tables import Session
from judged.agents.traces import TurnChoice
from judged.agents.traces.json_values import Json
from judged.agents.traces.results.fields import BOTH_IDS, OUTSIDE
from judged.agents.traces.results.tools import Tools
from judged.agents.traces.unread import find_unread
from judged.errors import BadInput
from judged.problem import Problem
from judged.wording import counted


class TraceProblems:
    """Problems of traces whose parts were left out, and notes on the rest; created by the caller, filled by the reader."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        """Number of results, searches or sessions left out, by the code of the problem."""
        self.first: dict[str, Problem] = {}
        """The first problem of each code."""
        self.notes: list[str] = []
        """Sentences on what is not a problem, but worth knowing."""

    def add(self, problems: Iterable[Problem]) -> None:
        """Count problems whose results, searches or sessions were left out."""
        for problem in problems:
            self.counts[problem.code] += 1
            self.first.setdefault(problem.code, problem)

    def note(self, sentence: str) -> None:
        """Add a sentence unless it is there."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def sentences(self) -> tuple[str, ...]:
        """Return what was left out, the most frequent code first, then the notes."""
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
"""Formats in which contents are recorded only on request."""
UNREAD = "unread-output"
CUT = "cut-output"
NO_OUTPUT = "no-search-output"
UNREAD_FIELD = "unread-field"
ALWAYS = frozenset((OUTSIDE, BOTH_IDS))
"""Problems that are never left out, because only the author of the label or the ids knows what they mean."""
EARLIER_ONLY = "no-search-in-last-turn"
_PLAIN_NAME = re.compile(r"[\w.-]+")


def describe_repeat(session: Session, before: str) -> Problem:
    """Return the problem of a session that appears twice, first in the place `before`."""
    message = f"appears twice for the system `{session.system}`, first in {before or 'this source'}"
    return Problem.error("repeated-session", f"session `{session.conversation}`", message)


REPEATED = "give each its own `conversation`, or a `system` that distinguishes them"
"""Hint for a session that appears twice."""


@dataclass
class ReadContext:
    """Options of the formats, and the place where they record problems."""

    label: str
    """The name of the source in messages."""
    name: str
    """The name of the system if the trace does not give one."""
    tools: Tools = field(default_factory=Tools)
    lenient: bool = True
    """Whether malformed parts are left out and counted, rather than refused."""
    turn: TurnChoice = "last"
    problems: TraceProblems = field(default_factory=TraceProblems)
    searches: Counter[str] = field(default_factory=Counter)
    """Searches by tool, in the turns that count."""
    others: Counter[str] = field(default_factory=Counter)
    """Calls of tools that are known not to search."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Calls of tools that may or may not search."""
    formats: Counter[str] = field(default_factory=Counter)
    """Number of files in each format."""
    ranked: Counter[str] = field(default_factory=Counter)
    """Results whose id was set aside because it is only a rank, by tool."""
    truncated: int = 0
    """Searches whose output ends in a remark that it was truncated."""
    begins: tuple[Json, ...] = ()
    """The first documents of the source, or the last events of a stream, to name what in them was not read if nothing searched."""
    undetected: BadInput | None = None
    """Why the first file whose format is unknown was left out."""
    unread: int = 0
    """Searches whose output cannot be read."""
    unread_tools: dict[str, str] = field(default_factory=dict)
    """The tool of the first of them, by the code of the problem."""
    failed: Counter[str] = field(default_factory=Counter)
    """Searches that failed or were blocked, as their outputs say, by tool."""
    first_failure: str = ""
    """The beginning of what the first of them said."""
    unanswered: int = 0
    """Searches whose output the trace does not hold."""
    queries: int = 0
    """Queries of all searches; a call may have several and no results that say which query found them."""
    cited: int = 0
    """Searches whose results are the citations of the answer."""
    earlier: int = 0
    """Sessions that searched in an earlier turn and not in the last."""
    answers: dict[tuple[str, str], str | None] | None = None
    """Final answers by system and conversation; None if nobody asks for them."""
    answered: int = 0
    """Sessions whose final answer was kept."""
    _first_places: dict[str, str] = field(default_factory=dict)
    """The first place of each tool that is not known to search."""
    _problems: list[Problem] = field(default_factory=list)
    _tools: dict[str, str] = field(default_factory=dict)
    """The tool that the first problem of a code is about."""

    def report(self, code: str, where: str, what: str, *, tool: str | None = None) -> None:
        """Record a problem of the current session, perhaps about a tool; the caller leaves out what has it."""
        self._problems.append(Problem.error(code, where, what))
        if tool is not None:
            self._tools.setdefault(code, tool)

    def settle(self, *, refuse: bool = False) -> None:
        """End a session: raise its problems, or count them if lenient and not to be refused."""
        if not self._problems:
            return
        problems, self._problems = self._problems, []
        tools, self._tools = self._tools, {}
        if refuse or not self.lenient or any(problem.code in ALWAYS for problem in problems):
            raise BadInput(
                self.label, problems, hint=_choose_hint({problem.code for problem in problems}, tools)
            )
        self.problems.add(problems)

    def report_broken(self, place: str, what: str) -> None:
        """Record a document that is not JSON, and therefore an unusable session."""
        self.report("broken-json", place, what)
        self.settle()

    def keep_answer(self, system: str | None, conversation: str, answer: str | None) -> None:
        """Keep the final answer of a session if somebody asks for answers."""
        if self.answers is not None:
            self.answers[system or self.name, str(conversation)] = answer
            self.answered += answer is not None

    def count_call(self, tool: str, *, search: bool | None, where: str) -> None:
        """Count a call of a tool that searches, does not search, or is unknown (None)."""
        counter = self.unknown if search is None else self.searches if search else self.others
        counter[tool] += 1
        if not search:
            self._first_places.setdefault(tool, where)

    def finish(self, sessions: int) -> None:
        """End the source: refuse it if nothing in it searches, and add notes on the rest."""
        self.settle()
        if not self.searches:
            self._refuse(sessions)
        elif self.unknown:
            first = self._first_places[next(iter(self.unknown))]
            self.problems.note(
                f"{self.label}: ignored calls of tools that may or may not search: {_list_tools(self.unknown)}, first at {first}; {_advise_mapping(next(iter(self.unknown)))}"
            )
        if self.ranked:
            self.problems.note(
                f"{self.label}: ids of {_list_tools(self.ranked)} are only ranks, the same for different results, and were set aside"
            )
        if self.cited:
            self.problems.note(
                f"{self.label}: the trace has no results of {counted(self.cited, 'search')}; what the answer cites stands in for them"
            )
        if self.failed:
            count = counted(self.failed.total(), "search")
            self.problems.note(
                f"{self.label}: {count} failed, or found nothing because of an error: {_list_tools(self.failed)}; the first says {self.first_failure}"
            )
        if self.truncated:
            self.problems.note(
                f"{self.label}: the output of {counted(self.truncated, 'search')} was cut off, as it says itself; results may be missing"
            )
        if self.unanswered:
            self._check_outputs()
        elif self.unread == self.searches.total():
            self._refuse_unread()
        if self.earlier:
            self.problems.note(
                f"{self.label}: {self.earlier:,} sessions searched in an earlier turn but not in the last, which alone counts"
            )

    def _refuse_unread(self) -> None:
        """Refuse a trace of whose searches no output can be read: its numbers would all be 0."""
        first = next(problem for code, problem in self.problems.first.items() if code in {UNREAD, CUT})
        hint = _choose_hint({first.code}, self.unread_tools)
        raise BadInput(self.label, [first], hint=hint)

    def _check_outputs(self) -> None:
        """Note searches without an output, which may have been interrupted; refuse a trace without any output."""
        count = counted(self.unanswered, "search")
        if self.unanswered < self.searches.total():
            self.problems.note(f"{self.label}: {count} without an output in the trace: counted as empty")
            return
        message = f"the trace has no output of its {count}"
        self.report(NO_OUTPUT, self.label, message)
        self.settle(refuse=True)

    def _refuse(self, sessions: int) -> None:
        """Refuse a trace in which no session searches."""
        if not sessions and self.undetected is not None and "broken-json" not in self.problems.first:
            raise self.undetected
        if not sessions and self.problems.first:
            found = [problem for code, problem in self.problems.first.items() if code != "unknown-format"]
            raise BadInput(self.label, found, hint=_choose_hint(set(self.problems.first), {}))
        if not sessions:
            self.report("empty", self.label, "holds no session")
        elif self.earlier:
            self.report(
                EARLIER_ONLY,
                self.label,
                f"{self.earlier:,} sessions searched in an earlier turn, none in its last",
            )
        elif self.unknown:
            tool = next(iter(self.unknown))
            known = f"; others that are not searches: {_list_tools(self.others)}" if self.others else ""
            message = f"no tool is known to be a search; the trace calls {_list_tools(self.unknown)}{known}"
            self.report("unknown-tool", self._first_places[tool], message, tool=tool)
        elif self.others:
            tool = next(iter(self.others))
            message = f"calls {_list_tools(self.others)}, none of which is a search"
            self.report(NO_SEARCH, self._first_places[tool], message, tool=tool)
        else:
            count = (
                "its one session calls no tool"
                if sessions == 1
                else f"none of its {sessions:,} sessions searches"
            )
            unread = find_unread(self.begins)
            if unread is not None:
                count += f" in what is read as {_list_formats(self.formats)}; {unread}, and is not read"
            elif not OPENTELEMETRY.isdisjoint(self.formats):
                count += "; its spans record no tool calls, perhaps because contents were not captured"
            self.report(NO_SEARCH if unread is None else UNREAD_FIELD, self.label, count)
        self.settle(refuse=True)


def _list_formats(formats: Counter[str]) -> str:
    return " and ".join(f"`{name}`" for name in formats) or "this format"


def _list_tools(tools: Counter[str]) -> str:
    """List tools with the number of their calls, the most frequent first."""
    shown = ", ".join(f"`{tool}` ({count:,})" for tool, count in tools.most_common(10))
    return shown if len(tools) <= 10 else f"{shown} and {len(tools) - 10:,} more"


def _advise_mapping(tool: str) -> str:
    """Return advice on how to declare a tool as a search."""
    return f"declare search tools in a mapping (`--tools FILE`): `tools: {{{_quote(tool)}: search}}`"


def _quote(tool: str) -> str:
    """Quote a tool's name for YAML if necessary."""
    return tool if _PLAIN_NAME.fullmatch(tool) else f'"{tool}"'


def _choose_hint(codes: set[str], tools: dict[str, str]) -> str | None:
    """Return what to do about problems, by their codes and the tools that they are about."""
    searchless = next((code for code in ("unknown-tool", NO_SEARCH) if code in codes), None)
    if searchless is not None:
        return _advise_mapping(tools[searchless]) if searchless in tools else None
    known = next((code for code in _HINTS if code in codes), None)
    if known is not None:
        return _HINTS[known]
    if UNREAD in codes:
        return _advise_paths(_quote(tools.get(UNREAD, "NAME")))
    return "without `--strict` (`strict=True`), malformed parts are left out and counted"


_HINTS = {
    "empty": None,
    CUT: "raise the limit of what recorded the trace (`OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT` and the like); without `--strict` such searches are left out",
    UNREAD_FIELD: "name another format (`--trace-format`), or convert the searches to the plain form (`plain`)",
    FOREIGN: "name the format of the traces (`--trace-format`)",
    EARLIER_ONLY: 'use the last turn that searched: `turn="last-with-search"` (`--turn last-with-search`)',
    NO_OUTPUT: "record contents: message capture in OpenTelemetry, `include` of sources in OpenAI Responses",
}
"""Hints by the code of a problem, most severe first; None: no advice."""


def _advise_paths(tool: str) -> str:
    """Return advice on how to declare where the results of a tool are."""
    written = (
        f'`tools: {{{tool}: {{results: "$.PATH[*]"}}}}`, `{{{tool}: {{separator: "\\n\\n"}}}}` if it is a text with blank lines'
        f" between results, or `{{{tool}: {{whole: true}}}}` if it is one result"
    )
    return f"declare where the results are in a mapping (`--tools FILE`): {written}; without `--strict` such searches are left out, if others can be read"

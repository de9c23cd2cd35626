"""Use of retrieved results: those that agents opened, and those that their answers cite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from judged.agents.dedup.rules import Rules
from judged.agents.dedup.url import loosen, strict_key
from judged.agents.kernels import SessionView
from judged.agents.tables import Hit, Session
from judged.blocks import Table, Value
from judged.errors import BadSample


@dataclass(frozen=True, slots=True)
class UseRecord:
    """Results that one session opened and cited: the numbers of its distinct results, and how many others."""

    session: int
    opened: frozenset[int]
    cited: frozenset[int]
    opened_others: int
    """Pages that no search had returned."""
    cited_others: int


class UseWatch:
    """Finds the results that sessions opened and cited, as results come in; costs nothing where a trace has neither."""

    def __init__(self, rules: Rules) -> None:
        self.records: list[UseRecord] = []
        self._rules = rules
        self.wanted = False
        """Whether the session opened or cited anything."""
        self._places: dict[tuple[str, str], int] = {}

    def begin(self, session: Session) -> None:
        """Begin a session."""
        self.wanted = bool(session.opened or session.cited)
        self._places = {}

    def add(self, result: Hit, cluster: int) -> None:
        """Add a result of a session that is wanted, with the number of the distinct result that it is."""
        for key in self._keys(result.url, result.id or result.domain_id):
            self._places.setdefault(key, cluster)

    def end(self, number: int, session: Session) -> None:
        """End a session."""
        if self.wanted:
            opened, cited = (
                [self._find(name) for name in names] for names in (session.opened, session.cited)
            )
            self.records.append(
                UseRecord(
                    number,
                    frozenset(place for place in opened if place is not None),
                    frozenset(place for place in cited if place is not None),
                    opened.count(None),
                    cited.count(None),
                )
            )

    def _find(self, name: str) -> int | None:
        return next(
            (place for key in self._keys(name, name) if (place := self._places.get(key)) is not None), None
        )

    def _keys(self, url: str | None, identity: str | None) -> Iterator[tuple[str, str]]:
        """Yield what a result is found by, the most exact first: URLs as deduplication compares them, and ids."""
        strict = strict_key(url, self._rules) if url else None
        if strict:
            yield "url", strict
            yield "loose", loosen(strict, self._rules)
        if identity:
            yield "id", identity


@dataclass(frozen=True, slots=True)
class SystemUse:
    """Results that the sessions of one system opened and cited."""

    system: str
    retrieved: int
    opened: int
    cited: int
    opened_and_cited: int
    opened_others: int
    """Pages that were opened and that no search had returned."""
    cited_others: int
    good: int
    """Of those retrieved, how many are good; likewise below."""
    good_opened: int
    good_cited: int


@dataclass(frozen=True, slots=True)
class Use:
    """Retrieved results that each system opened and cited."""

    systems: tuple[SystemUse, ...]

    def rows(self) -> Iterator[dict[str, Value]]:
        """Yield a row for each system."""
        for row in self.systems:
            yield {name: getattr(row, name) for name in SystemUse.__dataclass_fields__}

    def tables(self) -> Iterator[Table]:
        """Yield a row for each system, the results by whether they are good below."""
        columns = (
            "system",
            "retrieved",
            "opened",
            "cited",
            "both",
            "opened, not retrieved",
            "cited, not retrieved",
        )
        rows = tuple(
            (
                *(row.system, row.retrieved, row.opened, row.cited, row.opened_and_cited),
                *(row.opened_others, row.cited_others),
            )
            for row in self.systems
        )
        yield Table(columns, rows, title="What was opened and cited of what was retrieved")
        if any(row.good for row in self.systems):
            good = tuple((row.system, row.good, row.good_opened, row.good_cited) for row in self.systems)
            yield Table(("system", "retrieved", "opened", "cited"), good, title="The same of good results")


def summarise_use(
    records: Sequence[UseRecord], view: SessionView, systems: Mapping[str, Sequence[int]], *, good: int = 2
) -> Use:
    """Return what each system opened and cited; `systems` are the numbers of their sessions."""
    if not records:
        msg = "the traces say neither what was opened nor what an answer cites"
        raise BadSample(
            msg, hint="tools that open pages are calls such as `visit` or `fetch` with a URL or an id"
        )
    by_session = {record.session: record for record in records}
    return Use(
        tuple(_summarise(system, numbers, by_session, view, good) for system, numbers in systems.items())
    )


def _summarise(
    system: str, sessions: Sequence[int], records: Mapping[int, UseRecord], view: SessionView, good: int
) -> SystemUse:
    counts = dict.fromkeys(list(SystemUse.__dataclass_fields__)[1:], 0)
    for session in sessions:
        start, end = (int(view.cut[view.offset[number]]) for number in (session, session + 1))
        gains = view.gains[start:end]
        counts["retrieved"] += len(gains)
        counts["good"] += int((gains >= good).sum())
        record = records.get(session)
        if record is not None:
            counts["opened"] += len(record.opened)
            counts["cited"] += len(record.cited)
            counts["opened_and_cited"] += len(record.opened & record.cited)
            counts["opened_others"] += record.opened_others
            counts["cited_others"] += record.cited_others
            counts["good_opened"] += sum(bool(gains[at] >= good) for at in record.opened)
            counts["good_cited"] += sum(bool(gains[at] >= good) for at in record.cited)
    return SystemUse(system, **counts)

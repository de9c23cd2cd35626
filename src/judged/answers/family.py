"""The answer family: answers of a system with their labels, as the view that measures of answers use."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

import numpy as np

from judged.answers.kernels import STATES, SUPPORT, AnswerView, CitationArrays, ClaimArrays, NuggetArrays
from judged.answers.needs import (
    CITATIONS,
    FIRST,
    NUGGETS,
    PAIRS,
    REFERENCES,
    SAID_FOUND,
    SAID_TRUE,
    SETS,
    TRUTH_FOUND,
    TRUTH_SAID,
    list_needs,
)
from judged.answers.protocol import AnswerProtocol
from judged.answers.sentences import count_words
from judged.answers.tables import Claim, Nugget
from judged.arrays import Ints
from judged.errors import BadInput
from judged.measures.measure import Measure
from judged.measures.parse import parse_measures
from judged.problem import Note, Problem, Severity
from judged.scoring.alignment import Alignment
from judged.scoring.family import Family, Measures
from judged.tables.columns import to_strings
from judged.tables.responses import Part
from judged.wording import counted

ABSTENTIONS = (
    *("don't know", "do not know", "cannot answer", "can't answer", "can not answer", "unable to answer"),
    *("cannot be answered", "can't be answered", "not enough information", "insufficient information"),
    *(
        "no relevant information",
        "does not contain the answer",
        "do not contain the answer",
        "cannot determine",
    ),
)
"""Phrases of which a short answer that has one abstains."""
MOST_WORDS = 30
"""Words beyond which an answer with such a phrase is an answer all the same."""
_ABSTAINS = re.compile("|".join(map(re.escape, ABSTENTIONS)), re.IGNORECASE)

Unit: TypeAlias = tuple[str, str | None]
"""A query, and the attempt of its answer."""
Cited: TypeAlias = tuple[int, tuple[str, ...]]
"""The number of a sentence, and one or several documents in order."""


@dataclass(frozen=True, eq=False)
class Truth:
    """What answers are scored against, the same for all systems."""

    queries: tuple[str, ...]
    """Every query that is asked, answered or has nuggets or references."""
    nuggets: Mapping[str, Mapping[str, Nugget]] = field(default_factory=dict)
    """Nuggets of each query by id."""
    references: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    """True answers of each query, each with its spellings."""
    answerable: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class LabelledAnswers:
    """The answers of one system with their labels."""

    family: ClassVar[str] = "answer"

    name: str
    answers: Mapping[Unit, tuple[Part, ...]]
    nuggets: Mapping[Unit, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """For each answer the labels of nuggets by id, all of them in order."""
    support: Mapping[Unit, Mapping[Cited, Sequence[str]]] = field(default_factory=dict)
    """For each answer the labels of sentences and documents, all of them in order."""
    claims: Mapping[Unit, Sequence[Claim]] = field(default_factory=dict)
    """For each answer whose claims were extracted, the labels of claims."""
    labels: int = 0
    unused: int = 0
    """Labels that belong to no answer of the system."""
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerCounts:
    """Counts taken while answers were aligned with their labels."""

    queries: int
    unanswered: int = 0
    without: Mapping[str, int] = field(default_factory=dict)
    """Number of queries that lack what a measure needs: no nuggets, no vital ones, no references, no claims."""
    pairs: Mapping[str, int] = field(default_factory=dict)
    """Number of pairs of each kind."""
    unlabelled: Mapping[str, int] = field(default_factory=dict)
    conflicts: int = 0
    labels: int = 0
    unused: int = 0
    input_notes: tuple[Note, ...] = ()

    def notes(self, protocol: AnswerProtocol) -> tuple[Note, ...]:
        """Return a note for everything notable, most severe first."""
        return tuple(self._list(protocol, frozenset(self.pairs), frozenset(self.without)))

    def notes_on(self, protocol: AnswerProtocol, measures: Sequence[Measure]) -> tuple[Note, ...]:
        """Return the notes that concern some measures."""
        needs = frozenset(need for measure in measures for need in list_needs(measure))
        words = {
            *needs,
            *("vital" for measure in measures if measure.parameters.get("importance") == "vital"),
        }
        return tuple(self._list(protocol, needs, frozenset(words)))

    def _list(
        self, protocol: AnswerProtocol, kinds: frozenset[str], lacking: frozenset[str]
    ) -> Iterator[Note]:
        for kind, count in self.unlabelled.items():
            if kind in kinds and count:
                share = f"{100 * count / self.pairs[kind]:.1f} %"
                outcome = protocol.outcome("unlabelled")
                message = f"{count:,} of {self.pairs[kind]:,} {PAIRS[kind]} unlabelled ({share}): {outcome}"
                yield Note("unlabelled", "warning", message, f"unlabelled {PAIRS[kind]} ({outcome})", share)
        if self.unanswered:
            message = f"{counted(self.unanswered, 'query')} not answered: {protocol.outcome('missing')}"
            fact = f"queries not answered ({protocol.outcome('missing')})"
            yield Note("unanswered", "warning", message, fact, f"{self.unanswered:,}")
        for kind, count in self.without.items():
            if kind in lacking and count:
                yield self._note_without(protocol, kind, count)
        if self.conflicts:
            outcome = protocol.outcome("conflict")
            message = f"{counted(self.conflicts, 'pair')} labelled differently: {outcome}"
            yield Note(
                "label-conflicts",
                "warning",
                message,
                f"pairs labelled differently ({outcome})",
                f"{self.conflicts:,}",
            )
        if self.unused and kinds:
            severity: Severity = "warning" if 2 * self.unused > self.labels else "info"
            verb = "matches" if self.unused == 1 else "match"
            message = f"{self.unused:,} of {counted(self.labels, 'label')} {verb} no answer or citation"
            yield Note(
                "unused-labels",
                severity,
                message,
                "labels that match no answer or citation",
                f"{self.unused:,}",
            )
        yield from self.input_notes

    def _note_without(self, protocol: AnswerProtocol, kind: str, count: int) -> Note:
        words = {
            "vital": ("without vital nuggets", protocol.outcome("no_vital")),
            NUGGETS: ("without nuggets", "left out of the means of nuggets"),
            REFERENCES: ("without reference answers", "left out of the means of texts"),
            "said-none": ("whose answer makes no claim", protocol.outcome("no_statements")),
        }
        what, outcome = words.get(
            kind, ("whose answer has no labelled claims", "left out of the means of claims")
        )
        subject = counted(count, "query")
        return Note(
            f"without-{kind}",
            "warning",
            f"{subject} {what}: {outcome}",
            f"queries {what} ({outcome})",
            f"{count:,}",
        )


@dataclass(frozen=True, eq=False)
class AnswerAlignment(Alignment):
    """The answers of one system with their labels."""

    view: AnswerView
    protocol: AnswerProtocol
    counts: AnswerCounts
    keys: tuple[Unit, ...] = ()
    """The query and the attempt of each unit."""

    def notes_on(self, measures: Sequence[Measure]) -> tuple[Note, ...]:
        """Return notes on the values of some measures."""
        return self.counts.notes_on(self.protocol, measures)

    def restrict(self, measures: Sequence[Measure]) -> AnswerAlignment:  # noqa: ARG002 - one view for all
        """Return the same alignment."""
        return self


class _Labels:
    """Looks up labels, fills in those that are missing, and counts them."""

    def __init__(self, fill: float, conflict: str) -> None:
        self.fill = fill
        self._conflict = conflict
        self.conflicts: dict[str, tuple[str, ...]] = {}
        """Labels that differ, by pair."""
        self.pairs: Counter[str] = Counter()
        self.unlabelled: Counter[str] = Counter()
        self.first: dict[str, str] = {}

    def choose(self, labels: Sequence[str] | None, pair: str) -> str | None:
        """Return the label of a pair that counts; None if it has none."""
        if not labels:
            return None
        if len(labels) > 1 and len(set(labels)) > 1:
            self.conflicts[pair] = tuple(dict.fromkeys(labels))
        return labels[-1 if self._conflict == "last" else 0]

    def find(self, kind: str, labels: Sequence[str] | None, worth: Mapping[str, float], pair: str) -> float:
        """Return the worth of the label of a pair, or that of an unlabelled one."""
        self.pairs[kind] += 1
        label = self.choose(labels, pair)
        if label is not None:
            return worth[label]
        self.unlabelled[kind] += 1
        self.first.setdefault(kind, pair)
        return self.fill

    def count_again(self, kind: str, labels: Sequence[str] | None, pair: str) -> None:
        """Count a pair that was looked up as one of another kind, too."""
        self.pairs[kind] += 1
        if not labels:
            self.unlabelled[kind] += 1
            self.first.setdefault(kind, pair)


def align_answers(
    truth: Truth,
    system: LabelledAnswers,
    protocol: AnswerProtocol,
    measures: Sequence[Measure] = (),
    *,
    fill: float = 0.0,
) -> AnswerAlignment:
    """Return the labels of the answers of one system as flat arrays; `fill` is the worth of an unlabelled pair."""
    units = _list_units(truth, system, protocol)
    labels = _Labels(fill, protocol.conflict)
    nuggets = _align_nuggets(truth, system, units, labels)
    citations = _align_citations(system, units, labels)
    claims = _align_claims(system, units, labels)
    _refuse_labels(labels, protocol, measures, system.name)
    answered = np.array([unit in system.answers for unit in units], dtype=bool)
    texts = tuple(" ".join(part.text for part in system.answers.get(unit, ())).strip() for unit in units)
    abstained = np.array([abstains(text) for text in texts], dtype=bool)
    view = AnswerView(
        answered,
        abstained,
        np.array([count_words(text) for text in texts], dtype=np.int64),
        nuggets,
        citations,
        claims,
        texts,
        tuple(truth.references.get(query, ()) for query, _ in units),
        np.array([float(truth.answerable.get(query, math.nan)) for query, _ in units]),
        no_vital=0.0 if protocol.no_vital == "zero" else math.nan,
        no_statements=0.0 if protocol.no_statements == "zero" else math.nan,
        unsupported=protocol.no_passages == "unsupported",
    )
    counts = AnswerCounts(
        len(units),
        int((~answered).sum()),
        _count_without(truth, view),
        dict(labels.pairs),
        dict(labels.unlabelled),
        len(labels.conflicts),
        system.labels,
        system.unused,
        system.notes,
    )
    names = (query if attempt is None else f"{query} (attempt {attempt})" for query, attempt in units)
    return AnswerAlignment(
        view, to_strings(names), protocol, counts, answered, system.name, keys=tuple(units)
    )


def abstains(text: str) -> bool:
    """Return whether an answer says that it is none: it is empty, or short with one of the phrases.

    >>> abstains("I don’t know."), abstains("Paris.")
    (True, False)
    """
    return not text or (count_words(text) <= MOST_WORDS and bool(_ABSTAINS.search(text.replace("’", "'"))))


def _list_units(truth: Truth, system: LabelledAnswers, protocol: AnswerProtocol) -> list[Unit]:
    """Return every query, each attempt by itself; without those that were not answered, if the protocol says so."""
    attempts: dict[str, list[Unit]] = {}
    for unit in system.answers:
        attempts.setdefault(unit[0], []).append(unit)
    units: list[Unit] = []
    for query in truth.queries:
        absent: list[Unit] = [] if protocol.missing == "skip" else [(query, None)]
        units += attempts.get(query, absent)
    return units


def _refuse_labels(
    labels: _Labels, protocol: AnswerProtocol, measures: Sequence[Measure], system: str
) -> None:
    """Raise `BadInput` for pairs without a label, or with several, where the protocol refuses them."""
    problems, hints = [], []
    if protocol.unlabelled == "error":
        kinds = {need for measure in measures for need in list_needs(measure)}
        hints.append('`unlabelled="zero"` counts pairs without a label as no support')
        problems += [
            Problem.error(
                "unlabelled",
                labels.first[kind],
                f"no label; {count:,} of {labels.pairs[kind]:,} {PAIRS[kind]} have none",
            )
            for kind, count in labels.unlabelled.items()
            if kind in kinds
        ]
    if protocol.conflict == "error":
        hints.append('`conflict="first"` takes the first of several labels')
        problems += [
            Problem.error(
                "label-conflict", pair, f"is labelled {' and '.join(f'`{word}`' for word in words)}"
            )
            for pair, words in labels.conflicts.items()
        ]
    if problems:
        subject = f"the labels of {system}"
        raise BadInput(subject, problems, hint="; ".join(hints))


def _count_without(truth: Truth, view: AnswerView) -> dict[str, int]:
    """Count the queries that lack what some measures need, of those that were answered."""
    vital = (
        np.add.reduceat(np.append(view.nuggets.vital, False), view.nuggets.offset[:-1])
        if len(view)
        else np.zeros(0)
    )
    vital = np.where(np.diff(view.nuggets.offset) > 0, vital, 0)
    said = np.diff(view.claims.said_offset)
    listed = view.claims.listed & view.answered
    return {
        NUGGETS: int((~view.nuggets.listed).sum()) if truth.nuggets else 0,
        "vital": int((view.nuggets.listed & (vital == 0)).sum()),
        REFERENCES: sum(not groups for groups in view.references) if truth.references else 0,
        SAID_TRUE: int((view.answered & ~view.claims.listed).sum()) if listed.any() else 0,
        "said-none": int((listed & (said == 0)).sum()),
    }


def _align_nuggets(
    truth: Truth, system: LabelledAnswers, units: Sequence[Unit], labels: _Labels
) -> NuggetArrays:
    states: list[float] = []
    vital: list[bool] = []
    offset = [0]
    for unit in units:
        known = system.nuggets.get(unit, {})
        for nugget in truth.nuggets.get(unit[0], {}).values():
            vital.append(nugget.importance == "vital")
            if unit not in system.answers:
                states.append(0.0)
                continue
            pair = f"nugget `{nugget.nugget}` of query `{unit[0]}`"
            states.append(labels.find(NUGGETS, known.get(nugget.nugget), STATES, pair))
        offset.append(len(states))
    listed = np.array([query in truth.nuggets for query, _ in units], dtype=bool)
    return NuggetArrays(_ints(offset), np.array(vital, dtype=bool), np.array(states, dtype=float), listed)


def _align_citations(system: LabelledAnswers, units: Sequence[Unit], labels: _Labels) -> CitationArrays:
    offset, sentence_offset = [0], [0]
    sentence: list[int] = []
    passage: list[int] = []
    state: list[float] = []
    rest: list[float] = []
    joint: list[float] = []
    numbers: dict[str, int] = {}
    for unit in units:
        known = system.support.get(unit, {})
        for part in system.answers.get(unit, ()):
            if not part.text and not part.citations:
                continue
            find = _Sets(part, known, labels, f"part {part.part} of query `{unit[0]}`")
            for at, document in enumerate(part.citations):
                sentence.append(len(joint))
                passage.append(numbers.setdefault(document, len(numbers)))
                state.append(find.single(document, first=at == 0))
            joint.append(find.together(part.citations))
            rest += [
                find.together(part.citations[:at] + part.citations[at + 1 :])
                for at in range(len(part.citations))
            ]
        offset.append(len(state))
        sentence_offset.append(len(joint))
    return CitationArrays(
        _ints(offset),
        _ints(sentence),
        _ints(passage),
        np.array(state, dtype=float),
        np.array(rest, dtype=float),
        _ints(sentence_offset),
        np.array(joint, dtype=float),
    )


class _Sets:
    """Support of one sentence by documents and by sets of them."""

    def __init__(self, part: Part, known: Mapping[Cited, Sequence[str]], labels: _Labels, place: str) -> None:
        self._part, self._known, self._labels, self._place = part.part, known, labels, place

    def single(self, document: str, *, first: bool) -> float:
        """Return the support by one document, which may be the first that the sentence cites."""
        labels, pair = self._known.get((self._part, (document,))), f"{self._place}, document `{document}`"
        if first:
            self._labels.count_again(FIRST, labels, pair)
        return self._labels.find(CITATIONS, labels, SUPPORT, pair)

    def together(self, documents: tuple[str, ...]) -> float:
        """Return the support by several documents together: a set with a full supporter supports, labelled or not."""
        distinct = tuple(sorted(set(documents)))
        if not distinct:
            return 0.0
        labels = self._known.get((self._part, distinct))
        place = f"{self._place}, documents {', '.join(distinct)} together"
        if len(distinct) == 1:  # counted by `single`
            label = self._labels.choose(labels, f"{self._place}, document `{distinct[0]}`")
            return self._labels.fill if label is None else SUPPORT[label]
        if labels is None and any(self._is_full(document) for document in distinct):
            labels = ("full",)
        return self._labels.find(SETS, labels, SUPPORT, place)

    def _is_full(self, document: str) -> bool:
        labels = self._known.get((self._part, (document,)))
        return self._labels.choose(labels, f"{self._place}, document `{document}`") == "full"


def _align_claims(system: LabelledAnswers, units: Sequence[Unit], labels: _Labels) -> ClaimArrays:
    columns: dict[str, list[bool]] = {
        name: [] for name in ("true", "grounded", "relevant", "said", "found", "useful")
    }
    offsets: dict[str, list[int]] = {name: [0] for name in ("said", "truth", "passage")}
    kinds = frozenset(name_kind(row) for rows in system.claims.values() for row in rows if row.source)
    for unit in units:
        rows = system.claims.get(unit, ()) if unit in system.answers else ()
        table = _ClaimTable(rows, labels, unit[0], kinds)
        useful = [any(column) for column in zip(*table.truth_found, strict=True)] or [False] * len(
            table.documents
        )
        columns["useful"] += useful
        columns["true"] += table.said_true
        columns["grounded"] += [any(row) for row in table.said_found]
        columns["relevant"] += [
            any(entailed and good for entailed, good in zip(row, useful, strict=True))
            for row in table.said_found
        ]
        columns["said"] += table.truth_said
        columns["found"] += [any(row) for row in table.truth_found]
        offsets["said"].append(len(columns["true"]))
        offsets["truth"].append(len(columns["said"]))
        offsets["passage"].append(len(columns["useful"]))
    flags = {name: np.array(values, dtype=bool) for name, values in columns.items()}
    cuts = {name: _ints(values) for name, values in offsets.items()}
    return ClaimArrays(
        cuts["said"],
        flags["true"],
        flags["grounded"],
        flags["relevant"],
        cuts["truth"],
        flags["said"],
        flags["found"],
        cuts["passage"],
        flags["useful"],
        np.array([unit in system.claims for unit in units], dtype=bool),
    )


def name_kind(row: Claim) -> str:
    """Return which of the four tables a label of a claim belongs to."""
    alone = row.source in {"answer", "response"}
    if row.side == "response":
        return SAID_TRUE if alone else SAID_FOUND
    return TRUTH_SAID if alone else TRUTH_FOUND


_ENTAILED = {"entailed": 1.0, "neutral": 0.0, "contradicted": 0.0}


class _ClaimTable:
    """Labels of the claims of one answer and of its true answer, by claim and passage."""

    def __init__(self, rows: Iterable[Claim], labels: _Labels, query: str, kinds: frozenset[str]) -> None:
        known: dict[tuple[str, str, str], list[str]] = {}
        claims: dict[str, dict[str, None]] = {"response": {}, "truth": {}}
        documents: dict[str, None] = {}
        for row in rows:
            claims[row.side].setdefault(row.claim)
            if row.source:
                known.setdefault((row.side, row.claim, row.source), []).append(row.label)
            if row.source not in {"", "answer", "response"}:
                documents.setdefault(row.source)
        self.documents = tuple(documents)

        def entails(kind: str, side: str, claim: str, source: str) -> bool:
            # a file may label only some of the four tables; those without any label count no pairs
            if kind not in kinds:
                return False
            pair = f"claim `{claim}` of query `{query}`, source `{source}`"
            return labels.find(kind, known.get((side, claim, source)), _ENTAILED, pair) == 1.0

        said, true = claims["response"], claims["truth"]
        self.said_true = [entails(SAID_TRUE, "response", claim, "answer") for claim in said]
        self.truth_said = [entails(TRUTH_SAID, "truth", claim, "response") for claim in true]
        self.said_found = [
            [entails(SAID_FOUND, "response", claim, name) for name in documents] for claim in said
        ]
        self.truth_found = [
            [entails(TRUTH_FOUND, "truth", claim, name) for name in documents] for claim in true
        ]


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def parse_answer_measures(measures: Measures) -> list[Measure]:
    """Return the measures of answers that were named."""
    return parse_measures(measures, family="answer")


ANSWER = Family(
    name="answer",
    unit="query",
    protocol=AnswerProtocol,
    view=AnswerView,
    align=align_answers,
    default_measures=("NuggetRecall", "CitationPrecision", "CitationRecall", "Cited", "Words"),
    input_roles=("nuggets", "responses"),
)
"""Generated answers, scored by labels of their nuggets, citations and claims."""

"""`evaluate_answers`: answers and their labels in; scores of systems, with their protocol and notes, out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from judged.answers.family import (
    ANSWER,
    AnswerAlignment,
    LabelledAnswers,
    Truth,
    Unit,
    align_answers,
    name_kind,
    parse_answer_measures,
)
from judged.answers.needs import (
    ANSWERABLE,
    CITATIONS,
    FIRST,
    IMPORTANCE,
    NUGGETS,
    REFERENCES,
    SETS,
    check_needs,
    choose_defaults,
    list_companions,
    list_defaults,
)
from judged.answers.protocol import AnswerProtocol
from judged.answers.reading.labels import list_texts, merge, read_labels
from judged.answers.reading.responses import ResponsesLike, is_named, read_responses
from judged.answers.reading.rows import LISTS
from judged.answers.reading.truth import read_nuggets, read_references
from judged.answers.result import AnswerReport, make_details
from judged.answers.tables import UNLABELLED, Assignment, Claim, Labels, Nugget, Reference, Rows, Support
from judged.errors import BadInput, check_kind
from judged.measures.measure import Measure
from judged.problem import Note, Problem
from judged.result import InputFile, observe_files
from judged.scoring.evaluation import Evaluation
from judged.scoring.evaluations import Evaluations
from judged.scoring.evaluator import Plan, Truth as PlanTruth, evaluate_table
from judged.scoring.family import Measures
from judged.tables.responses import Part, Responses
from judged.wording import counted, name_some

LabelsLike: TypeAlias = Any
"""A file of labels, rows, or a list of several of these."""


def evaluate_answers(
    responses: ResponsesLike,
    *,
    nuggets: Any = None,
    labels: LabelsLike = None,
    references: Any = None,
    human: LabelsLike = None,
    measures: Measures | None = None,
    protocol: AnswerProtocol | str | None = None,
    name: str | None = None,
) -> AnswerReport:
    """Score generated answers: the nuggets that they have, the support of what they cite, the sources of their claims.

    `responses` is a file of the TREC RAG track or of ALCE, a table with `query`, `answer` and perhaps `system` and
    `citations`, or a dict from the names of systems to such files, or to answers by query. `nuggets` lists what an answer
    should say, with its importance; without it the labels say so. `labels` has labels of nuggets, citations or claims, as
    nuggetizer and RAGChecker write them, or as tables; several sources in a list, or in a dict from the system they are for. `references` has short true answers,
    `query` and `answer`, several rows a query. `human` has labels by people of all pairs of a random sample of the queries:
    then the report says how far `labels` agree with them, and has means corrected by them.

    By default the measures are those for which there are labels, always with the number of words. `protocol` says how
    pairs without a label count, or the name of a profile (`nuggetizer`, `ragchecker`, `alce`, `open-rag-eval`) does;
    `name` is that of a system that the responses do not name.

    >>> labels = [{"query": "q1", "nugget": "n1", "label": "support"}, {"query": "q1", "nugget": "n2", "label": "not_support"}]
    >>> evaluate_answers({"bot": {"q1": "Cats purr."}}, labels=labels)["bot"].mean()
    {'NuggetRecall': 0.5, 'Answered': 1.0, 'Words': 2.0}
    """
    check_kind(
        "protocol",
        protocol,
        (AnswerProtocol, str, type(None)),
        "an `AnswerProtocol`, the name of a profile, or None",
    )
    inputs = observe_files(
        [
            *(("responses", source) for source in _list_files(responses)),
            ("nuggets", nuggets),
            *(("labels", source) for _, source in list_label_sources(labels)),
            ("references", references),
            *(("human", source) for _, source in list_label_sources(human)),
        ]
    )
    answers = LabelledInputs.read(responses, nuggets=nuggets, labels=labels, references=references, name=name)
    convention, chosen = answers.choose(measures, protocol)
    report = evaluate_inputs(answers, chosen, convention, inputs)
    return report if human is None else add_human_sample(report, answers, human)


def add_human_sample(
    report: AnswerReport, answers: LabelledInputs, human: LabelsLike, *, level: float = 0.95
) -> AnswerReport:
    """Return the report with the agreement of its labels with those of people, and means corrected by them."""
    from judged.answers.corrected import compare_with_people

    sample = compare_with_people(answers, answers.relabel(human), report.systems, level=level)
    return replace(report, human=sample)


def evaluate_inputs(
    answers: LabelledInputs,
    chosen: Sequence[Measure],
    protocol: AnswerProtocol,
    inputs: tuple[InputFile, ...] = (),
) -> AnswerReport:
    """Score answers that were read."""
    plan = Plan.of_family(ANSWER, chosen, protocol)
    evaluations: dict[str, Evaluation] = {}
    upper: dict[str, dict[str, float]] = {}
    for system in answers.systems:
        evaluation = evaluate_table(plan, PlanTruth(answers.truth, ()), system, system.name, (), {})
        alignment = evaluation.alignments[protocol]
        assert isinstance(alignment, AnswerAlignment)  # noqa: S101 - the family makes no other
        evaluation = replace(evaluation, provenance=replace(evaluation.provenance, inputs=inputs))
        evaluations[system.name] = average_attempts(evaluation)
        if any(alignment.counts.unlabelled.values()):
            full = align_answers(answers.truth, system, protocol, chosen, fill=1.0)
            best = replace(evaluation, alignments={protocol: full})
            scored = best.measure(chosen)
            upper[system.name] = {str(measure): average_attempts(scored)[measure] for measure in chosen}
    return AnswerReport(Evaluations(evaluations), upper=upper, details=make_details(answers))


def average_attempts(evaluation: Evaluation) -> Evaluation:
    """Return the evaluation with a row for each query, which is the mean of its attempts."""
    alignment = next(iter(evaluation.alignments.values()))
    assert isinstance(alignment, AnswerAlignment)  # noqa: S101 - the family makes no other
    if all(attempt is None for _, attempt in alignment.keys):
        return evaluation
    return evaluation.average_by([query for query, _ in alignment.keys], "query")


@dataclass(frozen=True, eq=False)
class LabelledInputs:
    """Answers of all systems with their labels, and what they are scored against."""

    responses: Responses
    truth: Truth
    systems: tuple[LabelledAnswers, ...]
    given: frozenset[str]
    """The kinds of labels that are there, by which measures are chosen."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Texts of documents that came with labels."""

    @classmethod
    def read(
        cls,
        responses: ResponsesLike,
        *,
        nuggets: Any,
        labels: LabelsLike,
        references: Any,
        name: str | None = None,
    ) -> LabelledInputs:
        """Read every input, and match labels with answers; raise an error for labels of something that is not there."""
        answers = read_responses(responses, name=name)
        sources = _read_all_labels(labels)
        listed = None if nuggets is None else read_nuggets(nuggets)
        known = None if references is None else read_references(references)
        truth = _make_truth(answers, listed, sources, known)
        matched = _Matching(answers, truth, sources, given_nuggets=listed is not None)
        systems = tuple(matched.label(system) for system in answers.systems)
        given = frozenset(matched.given | _list_given(truth))
        return cls(answers, truth, systems, given, list_texts(sources))

    def choose(
        self, measures: Measures | None, protocol: AnswerProtocol | str | None
    ) -> tuple[AnswerProtocol, list[Measure]]:
        """Return the protocol and the measures that were named, with their companions; by default all that labels allow."""
        from judged.answers.profiles import as_protocol, read_measures

        convention = as_protocol(protocol)
        if measures is None and not isinstance(protocol, str):
            chosen = choose_defaults(self.given, parse_answer_measures(list_defaults()))
            return convention, [measure for measure in chosen if measure.name != "Cited" or self._cites]
        chosen = list(read_measures(measures, protocol))
        if measures is None:
            chosen = choose_defaults(self.given, chosen) or chosen
        check_needs(chosen, self.given)
        return convention, parse_answer_measures([*chosen, *list_companions(chosen, self.given)])

    def relabel(self, labels: LabelsLike) -> LabelledInputs:
        """Return the same answers, scored against the same truth, with other labels, such as those of people."""
        sources = _read_all_labels(labels)
        matched = _Matching(self.responses, self.truth, sources, given_nuggets=bool(self.truth.nuggets))
        systems = tuple(matched.label(system) for system in self.responses.systems)
        given = frozenset(matched.given | _list_given(self.truth))
        return LabelledInputs(self.responses, self.truth, systems, given)

    @property
    def _cites(self) -> bool:
        return CITATIONS in self.given or any(part.citations for part in self.responses)


def _list_files(responses: ResponsesLike) -> list[Any]:
    if isinstance(responses, Mapping):
        return list(responses.values())
    return list(responses) if isinstance(responses, list | tuple) else [responses]


def list_label_sources(labels: LabelsLike) -> list[tuple[str | None, Any]]:
    """Return the sources of labels, each with the system that it is for, if one was named; rows as dicts are one source."""
    if labels is None:
        return []
    if isinstance(labels, Mapping) and "query" not in labels and not labels.keys() & set(LISTS):
        return list(labels.items())
    if not isinstance(labels, list | tuple) or isinstance(labels, Rows) or is_named(labels):
        return [labels if is_named(labels) else (None, labels)]
    if all(isinstance(item, Mapping) and "query" in item for item in labels):
        return [(None, labels)]
    return [item if is_named(item) else (None, item) for item in labels]


def _read_all_labels(labels: LabelsLike) -> list[Labels]:
    return [
        found if system is None else _name_system(found, system)
        for system, source in list_label_sources(labels)
        for found in read_labels(source)
    ]


def _name_system(labels: Labels, system: str) -> Labels:
    """Return labels of one system under another name."""
    known = list(dict.fromkeys(row.system for row in labels.rows if row.system is not None))
    if len(known) > 1:
        message = f"holds labels of {len(known)} systems ({name_some(known, 2)}), expected one, to be called `{system}`"
        raise BadInput(labels.name, [Problem.error("several-systems", labels.name, message)])
    rows = tuple(row._replace(system=system) for row in labels.rows)
    return replace(labels, rows=rows, listed=tuple((query, system) for query, _ in labels.listed))  # type: ignore[arg-type]


def _list_given(truth: Truth) -> set[str]:
    given = set()
    if any(nugget.importance for known in truth.nuggets.values() for nugget in known.values()):
        given.add(IMPORTANCE)
    if truth.references:
        given.add(REFERENCES)
    if truth.answerable:
        given.add(ANSWERABLE)
    return given


def _make_truth(
    answers: Responses,
    nuggets: Rows[Nugget] | None,
    labels: Sequence[Labels],
    references: Rows[Reference] | None,
) -> Truth:
    """Return every query, its nuggets, and its true answers."""
    listed: dict[str, dict[str, Nugget]] = {}
    if nuggets is not None:
        for query, _ in nuggets.listed:
            listed.setdefault(query, {})
        for nugget in nuggets.rows:
            listed[nugget.query][nugget.nugget] = nugget
    else:
        for _, _, row in merge(Assignment, labels):
            known = listed.setdefault(row.query, {})
            first = known.setdefault(row.nugget, Nugget(row.query, row.nugget, row.importance, row.nugget))
            if row.importance and not first.importance:
                known[row.nugget] = first._replace(importance=row.importance)
        _refuse_two_importances(listed, labels)
    groups: dict[str, dict[str, list[str]]] = {}
    answerable: dict[str, bool] = {}
    for known_answer in () if references is None else references.rows:
        query = known_answer.query
        if known_answer.answer is not None:
            groups.setdefault(query, {}).setdefault(known_answer.group, []).append(known_answer.answer)
        if known_answer.answerable is not None:
            answerable[query] = known_answer.answerable
    queries = {part.query for part in answers} | listed.keys() | groups.keys() | answerable.keys()
    true = {query: tuple(map(tuple, own.values())) for query, own in groups.items()}
    return Truth(tuple(sorted(queries, key=str.encode)), listed, true, answerable)


def _refuse_two_importances(listed: Mapping[str, Mapping[str, Nugget]], labels: Iterable[Labels]) -> None:
    """Raise `BadInput` if a nugget is vital in one row and not in another, where no list of nuggets says which."""
    for source, number, row in merge(Assignment, labels):
        known = listed[row.query][row.nugget].importance
        if row.importance and row.importance != known:
            message = (
                f"nugget `{row.nugget}` of query `{row.query}` is {row.importance} here and {known} elsewhere"
            )
            source.problems.add("two-importances", number, message)
    for source in labels:
        source.problems.raise_if_any(hint="give the list of nuggets: `nuggets=` (`--nuggets FILE`)")


class _Matching:
    """Labels by system and answer; those of something that is not there are errors or counted."""

    def __init__(
        self, answers: Responses, truth: Truth, labels: Sequence[Labels], *, given_nuggets: bool
    ) -> None:
        self._answers = answers
        self._only = answers.systems[0] if len(answers.systems) == 1 else None
        self._by_system: dict[str, dict[Unit, tuple[Part, ...]]] = {name: {} for name in answers.systems}
        for (query, system, attempt), parts in answers.answers.items():
            self._by_system[system][query, attempt] = parts
        self._units: dict[tuple[str, str], list[Unit]] = {}
        for query, system, attempt in answers.answers:
            self._units.setdefault((system, query), []).append((query, attempt))
        self.given: set[str] = set()
        self._nuggets: dict[str, dict[Unit, dict[str, list[str]]]] = {}
        self._support: dict[str, dict[Unit, dict[tuple[int, tuple[str, ...]], list[str]]]] = {}
        self._claims: dict[str, dict[Unit, list[Claim]]] = {}
        self._labels: dict[str, int] = dict.fromkeys(answers.systems, 0)
        self._unused: dict[str, int] = dict.fromkeys(answers.systems, 0)
        self._elsewhere: dict[str, None] = {}
        self._matched: set[str] = set()
        """Kinds of labels of which one belongs to an answer."""
        self._said: dict[str, list[str]] = {}
        """Queries of each system whose answer is empty and has nuggets that are labelled as said."""
        self._listed = given_nuggets
        names = _NuggetNames(truth) if given_nuggets else None
        self._add_nuggets(labels, names)
        self._add_support(labels)
        self._add_claims(labels)
        for source in labels:
            source.problems.raise_if_any()
        self._refuse_strangers(labels)

    def _refuse_strangers(self, labels: Sequence[Labels]) -> None:
        """Raise `BadInput` if all labels of a kind belong to something else: every pair would count as unlabelled."""
        kinds: tuple[type[Assignment | Support | Claim], ...] = (Assignment, Support, Claim)
        for kind in kinds:
            first: tuple[Rows[Any], int, Any] | None = next(merge(kind, labels), None)
            cites = kind is not Support or any(part.citations for part in self._answers)
            if first is None or kind.__name__ in self._matched or not cites:
                continue
            source, number, row = first
            source.problems.add("no-label-matches", number, f"no label belongs to {_describe_label(row)}")
            names, queries = (
                name_some([f"`{name}`" for name in dict.fromkeys(self._answers.table[column].to_pylist())], 3)
                for column in ("system", "query")
            )
            source.problems.raise_if_any(
                hint=f"the answers are of {names} to {queries}; `NAME=FILE` names the system of a file"
            )

    def _find(self, source: Rows[Any], number: int, row: Any) -> tuple[str, Unit] | None:
        """Return the answer that a label belongs to; None if there is none."""
        system = row.system or self._only or self._find_own(source)
        if system is None:
            message = (
                f"names no system, expected one of {', '.join(f'`{name}`' for name in self._answers.systems)}"
            )
            if not source.problems.counts["no-system"]:
                source.problems.add("no-system", number, message)
            source.problems.hint = (
                "`NAME=FILE` names the system of a file of labels, and a dict does in Python"
            )
            return None
        if system not in self._by_system:
            self._elsewhere[system] = None
            return None
        self._labels[system] += 1
        unit = (row.query, row.attempt)
        if unit in self._by_system[system]:
            return system, unit
        # a label without an attempt belongs to the only one
        units = self._units.get((system, row.query), []) if row.attempt is None else []
        if len(units) == 1:
            return system, units[0]
        self._unused[system] += 1
        return None

    def _find_own(self, source: Rows[Any]) -> str | None:
        """Return the system whose answers a file of the same name has; None if there is none."""
        name = Path(source.name).stem
        return name if name in self._by_system else None

    def _add_nuggets(self, labels: Sequence[Labels], names: _NuggetNames | None) -> None:
        for source, number, row in merge(Assignment, labels):
            self.given.add(NUGGETS)
            nugget = row.nugget if names is None else names.find(row.query, row.nugget)
            if nugget is None:
                message = (
                    f"nugget `{_shorten(row.nugget)}` of query `{row.query}` is not in the list of nuggets"
                )
                source.problems.add("unknown-nugget", number, message)
                continue
            found = self._find(source, number, row)
            if found is None:
                continue
            self._matched.add("Assignment")
            self._check_text(*found, row)
            if row.label != UNLABELLED:
                known = self._nuggets.setdefault(found[0], {}).setdefault(found[1], {})
                known.setdefault(nugget, []).append(row.label)

    def _add_support(self, labels: Sequence[Labels]) -> None:
        for source, number, row in merge(Support, labels):
            self.given.update((CITATIONS, FIRST, SETS))
            found = self._find(source, number, row)
            if found is None:
                continue
            system, unit = found
            parts = self._by_system[system][unit]
            part = next((part for part in parts if part.part == row.part), None)
            if part is None:
                message = f"the answer of `{system}` to `{row.query}` has no part {row.part}, expected 1 to {len(parts)}"
                source.problems.add("unknown-part", number, message)
                continue
            if set(row.documents) <= set(part.citations):
                self._matched.add("Support")
            else:
                self._unused[system] += 1
            key = (row.part, tuple(sorted(set(row.documents))))
            self._support.setdefault(system, {}).setdefault(unit, {}).setdefault(key, []).append(row.label)

    def _add_claims(self, labels: Sequence[Labels]) -> None:
        for source in labels:
            for query, system in source.listed:
                row = Claim(query, system, "response", "", "", "")
                if source.texts or any(isinstance(known, Claim) for known in source.rows[:1]):
                    found = self._find(source, 0, row)
                    if found is not None:
                        self._labels[found[0]] -= 1  # an entry, not a label
                        self._claims.setdefault(found[0], {}).setdefault(found[1], [])
        for source, number, row in merge(Claim, labels):
            if row.source:
                self.given.add(name_kind(row))
            found = self._find(source, number, row)
            if found is not None:
                self._matched.add("Claim")
                self._claims.setdefault(found[0], {}).setdefault(found[1], []).append(row)

    def _check_text(self, system: str, unit: Unit, row: Assignment) -> None:
        """Remember an empty answer that is said to state a nugget."""
        empty = row.label in {"support", "partial_support"} and not any(
            part.text for part in self._by_system[system][unit]
        )
        if empty and unit[0] not in (known := self._said.setdefault(system, [])):
            known.append(unit[0])

    def label(self, system: str) -> LabelledAnswers:
        """Return the answers of a system with their labels; of several that differ, all in their order."""
        notes = [Note("responses", "info", note) for note in self._answers.notes]
        if self._elsewhere:
            names = ", ".join(f"`{name}`" for name in list(self._elsewhere)[:3])
            message = f"labels of systems without answers here are not used: {names}{', …' if len(self._elsewhere) > 3 else ''}"
            notes.append(Note("other-systems", "info", message))
        if self._listed and NUGGETS not in self.given:
            message = "nuggets are listed, and no label says which answers have them: no recall of nuggets"
            notes.append(Note("nuggets-without-labels", "warning", message))
        if self._said.get(system):
            queries = name_some([f"`{query}`" for query in self._said[system]], 3)
            message = f"{counted(len(self._said[system]), 'empty answer')} of `{system}` labelled as stating nuggets: {queries}; the labels may be those of other answers"
            notes.insert(0, Note("empty-answers", "warning", message))
        return LabelledAnswers(
            system,
            self._by_system[system],
            self._nuggets.get(system, {}),
            self._support.get(system, {}),
            {unit: tuple(rows) for unit, rows in self._claims.get(system, {}).items()},
            self._labels[system],
            self._unused[system],
            tuple(notes),
        )


class _NuggetNames:
    """Finds nuggets of a list by id, or by text."""

    def __init__(self, truth: Truth) -> None:
        self._by_query = {
            query: {**{nugget.text: key for key, nugget in known.items()}, **{key: key for key in known}}
            for query, known in truth.nuggets.items()
        }

    def find(self, query: str, name: str) -> str | None:
        """Return the id of a nugget; None if the query has none of that name."""
        return self._by_query.get(query, {}).get(name)


def _describe_label(row: Assignment | Support | Claim) -> str:
    """Return what the first label that belongs to nothing is about."""
    of = "" if row.system is None else f" of `{row.system}`"
    if not isinstance(row, Support):
        return f"an answer: the first is for the answer{of} to `{row.query}`"
    cited = name_some([f"`{name}`" for name in row.documents], 3)
    return (
        f"a citation: the first is for the answer{of} to `{row.query}`, part {row.part} of it citing {cited}"
    )


def _shorten(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"

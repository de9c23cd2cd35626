"""Entries of a report: results, each with the texts and the inputs that its pages show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from judged.errors import JudgedError
from judged.measures.parse import parse_measures
from judged.measures.written import list_names, restore_spellings
from judged.problem import Note
from judged.protocol import Protocol
from judged.scoring.align import read_judgments_for
from judged.scoring.evaluate import evaluate_many
from judged.scoring.evaluations import Evaluations
from judged.tables.mapping import MappedPath

if TYPE_CHECKING:
    from judged.comparison.result import Comparison
    from judged.io.texts import TextSource
    from judged.measures.measure import Measure
    from judged.result import InputFile, Result
    from judged.tables.judgments import Judgments


@dataclass(frozen=True, eq=False)
class Sources:
    """The judgments and runs that a result was made from, kept or read again, and the systems scored with them."""

    judgments: Judgments
    runs: Mapping[str, Any]
    """The run of each system, as it was given."""
    by_protocol: Mapping[Protocol, Evaluations]
    """The measures of each protocol, scored."""

    @property
    def first(self) -> tuple[Protocol, Evaluations]:
        """The protocol of the first measure, and what was scored under it."""
        return next(iter(self.by_protocol.items()))


@dataclass(frozen=True, eq=False)
class Entry:
    """A result of the report."""

    key: str
    """Name in addresses."""
    title: str
    result: Result
    queries: Mapping[str, str] = field(default_factory=dict)
    """The texts of queries by id."""
    documents: TextSource | None = None
    inputs: tuple[Any, Mapping[str, Any]] | None = None
    """Judgments and runs, where the result was not made from files."""
    verified: bool = False
    """Whether only files are read again whose hash the result records, as those of results from elsewhere must be."""

    @property
    def comparison(self) -> Comparison | None:
        """The comparison of systems, if there is one."""
        comparison: Comparison | None = self.result.comparison
        return comparison

    @cached_property
    def evaluations(self) -> Evaluations:
        """The evaluations of the systems where they are not compared."""
        evaluations: Evaluations = self.result.leaderboard()
        return evaluations

    @cached_property
    def systems(self) -> list[str]:
        """The systems that the result has scores of, in the order of the leaderboard."""
        if self.comparison is not None:
            return self.comparison.ranked()
        return list(self.evaluations or ())

    @property
    def unit(self) -> str:
        """The unit of the values of systems; empty if there are none."""
        if self.comparison is not None:
            return self.comparison.unit
        return self.evaluations.first.unit if self.systems else ""

    @cached_property
    def sources(self) -> Sources | str:
        """Files of the result, or the reason why they are not known."""
        records = self.result.provenance.protocols
        # `ties` is a convention of every protocol of ranked lists, and of no other
        if not self.systems or not records or not all("ties" in record.conventions for record in records):
            return "there are no ranked lists in this result"
        try:
            return self._keep_sources() or self._read_sources()
        except (JudgedError, OSError) as error:
            return f"the inputs could not be read again: {str(error).splitlines()[0]}"

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """The notes of the result, and those on the runs that it was made from if it lacks them."""
        own = self.result.notes
        if isinstance(self.sources, str):
            return own
        known = {note.message for note in own}
        others = (note for evaluations in self.sources.by_protocol.values() for note in evaluations.notes)
        return tuple(dict.fromkeys((*own, *(note for note in others if note.message not in known))))

    def _keep_sources(self) -> Sources | None:
        """Return the tables and evaluations that the result was made from; None if it has not kept them."""
        known = {evaluation.system: evaluation for evaluation in self.result.evaluations()}
        chosen = [known[name] for name in self.systems if name in known]
        if len(chosen) < len(self.systems) or not all(
            evaluation.inputs and evaluation.family == "ranked" for evaluation in chosen
        ):
            return None
        by_protocol = {
            cast("Protocol", part.protocol): Evaluations(
                {
                    evaluation.system: evaluation.under(part.protocol, self._list_measures(part.measures))
                    for evaluation in chosen
                }
            )
            for part in chosen[0].parts
            if self._list_measures(part.measures)
        }
        return Sources(
            chosen[0].inputs[0],
            {evaluation.system: evaluation.inputs[1] for evaluation in chosen},
            by_protocol,
        )

    def _read_sources(self) -> Sources | str:
        inputs: tuple[Any, Mapping[str, Any]] | str | None = self.inputs
        if inputs is None:
            inputs = _find_files(self.result.provenance.inputs, self.systems, verified=self.verified)
        if isinstance(inputs, str):
            return inputs
        qrels, runs = inputs
        parsed = {
            Protocol.from_dict(record.conventions): self._parse(record.measures)
            for record in self.result.provenance.protocols
        }
        judgments = read_judgments_for(qrels, [measure for some in parsed.values() for measure in some])
        chosen = {name: runs[name] for name in self.systems}
        by_protocol = {
            protocol: evaluate_many(judgments, chosen, measures, protocol=protocol)
            for protocol, measures in parsed.items()
        }
        return Sources(judgments, runs, by_protocol)

    def _parse(self, names: Sequence[str]) -> list[Measure]:
        """Return the measures of canonical names, by default of all that are shown, under the names shown."""
        shown = self._names()
        return list(restore_spellings(parse_measures(list(names or shown.values())), shown))

    def _list_measures(self, measures: Sequence[Measure]) -> list[Measure]:
        """Return those of some measures that the result shows."""
        shown = self._names()
        return list(
            restore_spellings([measure for measure in measures if str(measure) in shown.values()], shown)
        )

    def _names(self) -> dict[str, str]:
        """Return the canonical name of each measure, by the name that is shown."""
        return self.comparison.names if self.comparison is not None else list_names(self.evaluations.measures)


def _find_files(
    inputs: Sequence[InputFile], systems: Sequence[str], *, verified: bool
) -> tuple[str, dict[str, str]] | str:
    """Return the paths of the judgments and of each system's run, or say which of them is not there."""
    judgments = [file for file in inputs if file.role == "judgments"]
    runs = {file.system: file for file in inputs if file.role == "run" and file.system is not None}
    if len(judgments) != 1 or set(systems) - set(runs):
        return "judgments and runs were not read from files"
    for file in (*judgments, *(runs[name] for name in systems)):
        if file.path == "-":
            return f"{file.role} {file.system or ''} was read from standard input".replace("  ", " ")
        if verified and file.digest is None:
            return f"`{file.path}` was recorded without its hash"
        if not Path(file.path).exists():
            return f"`{file.path}` is no longer there"
        if file.changed or (file.digest is not None and _hash_now(file) != file.digest):
            return f"`{file.path}` has changed since it was scored"
    return _to_path(judgments[0]), {name: _to_path(runs[name]) for name in systems}


def _to_path(file: InputFile) -> str:
    """Return the path of a file, with the columns that were named when it was scored."""
    return MappedPath(file.path, file.columns) if file.columns else file.path


def _hash_now(file: InputFile) -> str | None:
    from judged.result import observe_files

    (now,) = observe_files([(file.role, file.path)])
    return now.sha256


def make_entries(
    results: Sequence[Result],
    *,
    titles: Sequence[str] = (),
    queries: TextSource | None = None,
    documents: TextSource | None = None,
    inputs: tuple[Any, Mapping[str, Any]] | None = None,
    verified: bool = False,
) -> list[Entry]:
    """Return an entry for each result, under the title given or one made of its inputs."""
    from judged.io.texts import find_texts, read_queries

    texts = {} if queries is None else read_queries(find_texts(queries, "queries"), lenient=True)
    corpus = None if documents is None else find_texts(documents, "corpus")
    named = list(titles) or [result.title() for result in results]
    several = {name for name in named if named.count(name) > 1}
    return [
        Entry(
            str(number),
            f"{name} ({number})" if name in several else name,
            result,
            texts or result.query_texts,
            corpus if corpus is not None else (dict(result.document_texts) or None),
            inputs,
            verified=verified,
        )
        for number, (name, result) in enumerate(zip(named, results, strict=True), 1)
    ]

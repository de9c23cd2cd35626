"""The exposure family: every ranked document of a run, over the rankings of each query, with groups and grades.

Unlike measures against judgments alone, these look at unjudged documents: `align` looks for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from judged.arrays import Flags, Ints
from judged.errors import BadMeasure, MissingQueries
from judged.io.read import read_judgments
from judged.kernels.exposure import ExposureView, GroupShares
from judged.kernels.segments import segment_ids
from judged.measures.exposure import GROUPS_HINT
from judged.measures.measure import Measure
from judged.measures.parse import parse_measures
from judged.problem import Note
from judged.progress import Progress
from judged.protocol import Protocol
from judged.scoring.align import RANKED
from judged.scoring.alignment import Alignment
from judged.scoring.counts import RunCounts, to_notes
from judged.scoring.family import Family
from judged.scoring.locate import Located, locate_judged
from judged.tables.columns import one_array, to_arrow, to_numpy, to_strings
from judged.tables.groups import Groups
from judged.tables.judgments import Judgments
from judged.tables.run import Run
from judged.wording import counted

_PLAIN = {
    "ties": ("document-descending", "document-ascending", "input-order"),
    "unjudged": ("nonrelevant",),
    "no_relevant": ("zero",),
    "negative": ("unjudged", "nonrelevant"),
    "unjudged_queries": ("ignored",),
}
"""The conventions that these measures can follow; the others need grades where all documents count."""


def align_exposure(
    truth: Groups | Judgments,
    run: Run,
    protocol: Protocol,
    measures: Sequence[Measure] = (),
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> Alignment:
    """Return the rank of every document in the rankings of the judged queries, under the protocol."""
    _check(truth, protocol, measures)
    groups = truth if isinstance(truth, Groups) else None
    judgments = truth.judgments if isinstance(truth, Groups) else truth
    every = _list_documents(run)
    located = locate_judged(every, run, protocol, threads=threads, progress=progress)
    names = every.query_names if judgments is None else judgments.query_names
    owner = _find_owners(every.query_names, names)
    if not names:
        msg = f"{run.name} is empty: it has no results for any query"
        raise MissingQueries(msg)
    rankings = np.bincount(owner[owner >= 0], minlength=len(names))
    present = rankings > 0
    missing = tuple(names[query] for query in np.flatnonzero(~present).tolist())
    if missing and protocol.missing == "error":
        msg = f"{run.name} has no results for {len(missing):,} judged queries: {', '.join(missing[:5])}"
        raise MissingQueries(msg, hint="`missing` of the protocol may also be `zero` or `skip`")
    keep = present if protocol.missing == "skip" else np.ones(len(names), dtype=bool)
    view = _make_view(groups, judgments, every, located, owner, rankings, keep, protocol)
    ranks = located.ranks
    counts = RunCounts(
        queries=int(keep.sum()),
        rows=ranks.rows,
        missing=missing,
        judged_queries=len(names),
        unjudged_queries=tuple(
            name for name, query in zip(every.query_names, owner.tolist(), strict=True) if query < 0
        ),
        infinite=ranks.infinite,
        interleaved=ranks.interleaved,
        input_notes=to_notes((*(judgments.notes if judgments else ()), *located.notes)),
    )
    notes = tuple(_describe(groups, view, rankings[keep], located, owner, protocol))
    units = to_strings(names).take(to_arrow(np.flatnonzero(keep)))
    return ExposureAlignment(view, units, protocol, counts, present[keep], groups_notes=notes)


@dataclass(frozen=True, eq=False)
class ExposureAlignment(Alignment):
    """The rankings of a run, with notes on groups and on several rankings of a query."""

    groups_notes: tuple[Note, ...] = ()

    def notes_on(self, measures: Sequence[Measure]) -> tuple[Note, ...]:
        """Return the notes; on groups only where a measure looks at them."""
        grouped = any(measure.needs == "groups" for measure in measures)
        notes = [
            note for note in self.groups_notes if grouped or note.code not in {"target", "unknown-group"}
        ]
        if not self.present.all() and any(not measure.zero_if_missing for measure in measures):
            message = "EEL of a query without results is the sum of its squared targets, not 0"
            notes.append(Note("missing-loss", "info", message))
        return (*self.notes, *notes)


def _check(truth: Groups | Judgments, protocol: Protocol, measures: Sequence[Measure]) -> None:
    for measure in measures:
        if measure.needs == "groups" and not isinstance(truth, Groups):
            msg = f"{measure} needs the groups of documents, and was given judgments alone"
            raise BadMeasure(msg, hint=GROUPS_HINT)
        if measure.needs != "groups" and isinstance(truth, Groups) and truth.judgments is None:
            msg = f"{measure} looks at grades, and was given groups alone"
            raise BadMeasure(msg, hint="`judged.read_groups(…, judgments=…)` says both")
    for name, allowed in _PLAIN.items():
        value = getattr(protocol, name)
        if value not in allowed:
            msg = f"measures of exposure cannot follow the convention `{name}` {value}"
            raise BadMeasure(msg, hint=f"`{name}` may be {' or '.join(f'`{word}`' for word in allowed)}")


def _list_documents(run: Run) -> Judgments:
    """Return every document of the run, once for each query, as if it were judged."""
    columns = run.to_columns()
    pairs = pa.table({"query": columns.query, "document": columns.document})
    distinct = pairs.group_by(["query", "document"]).aggregate([])
    ones = np.ones(len(distinct))
    return Judgments.from_columns(
        one_array(distinct["query"]), one_array(distinct["document"]), ones, name=run.name, distinct=True
    )


def _find_owners(rankings: Sequence[str], queries: Sequence[str]) -> Ints:
    """Return the query of each ranking: that of its id, or of the part before a last number; −1 if there is none.

    A query that is there itself has no other rankings: `2.1` is a query of its own then.

    >>> _find_owners(["q1", "q1.1", "q2.1", "q2.12", "q3.x"], ["q1", "q2", "q3"]).tolist()
    [0, -1, 1, 1, -1]
    """
    place = {query: number for number, query in enumerate(queries)}
    whole = set(rankings)

    def find(name: str) -> int:
        if name in place:
            return place[name]
        query, _, number = name.rpartition(".")
        return place.get(query, -1) if number.isascii() and number.isdecimal() and query not in whole else -1

    return np.array([find(name) for name in rankings], dtype=np.int64)


def _make_view(
    groups: Groups | None,
    judgments: Judgments | None,
    every: Judgments,
    located: Located,
    owner: Ints,
    rankings: Ints,
    keep: Flags,
    protocol: Protocol,
) -> ExposureView:
    ranks = located.ranks
    number = np.where(keep, np.cumsum(keep) - 1, -1)
    query = owner[segment_ids(ranks.offset)]
    used = (query >= 0) if protocol.depth is None else (query >= 0) & (ranks.rank <= protocol.depth)
    judged = judgments.column("document") if judgments is not None else to_strings([])
    ids = pa.concat_arrays([every.column("document"), judged]).dictionary_encode()
    code = to_numpy(ids.indices).astype(np.int64)
    judged_query = np.zeros(0, dtype=np.int64) if judgments is None else segment_ids(judgments.offset)
    kept = keep[judged_query]
    grades = np.zeros(0) if judgments is None else np.maximum(judgments.grades, 0.0)
    return ExposureView(
        rankings=rankings[keep],
        query=number[query[used]],
        document=code[: len(every.documents)][ranks.row[used]],
        rank=ranks.rank[used],
        judged_query=number[judged_query[kept]],
        judged_document=code[len(every.documents) :][kept],
        grade=grades[kept],
        shares=None if groups is None else _share(groups, ids.dictionary),
    )


def _share(groups: Groups, documents: pa.Array) -> GroupShares:
    """Return the shares of groups in the documents of a view."""
    import pyarrow.compute as pc

    place = to_numpy(pc.index_in(documents, value_set=groups.documents).fill_null(-1)).astype(np.int64)
    known = place >= 0
    many = np.where(known, np.diff(groups.offset)[place], 0)
    offset = np.concatenate(([0], np.cumsum(many))).astype(np.int64)
    first = np.repeat(groups.offset[place] - offset[:-1], many)
    at = first + np.arange(int(offset[-1]))
    return GroupShares(offset, groups.group[at], groups.share[at], groups.target, groups.target_with_unknown)


def _describe(
    groups: Groups | None,
    view: ExposureView,
    rankings: Ints,
    located: Located,
    owner: Ints,
    protocol: Protocol,
) -> Iterator[Note]:
    if groups is not None:
        yield from groups.notes
    if groups is not None and view.shares is not None and len(view.document):
        shares = view.shares
        of_unknown = np.bincount(
            np.repeat(np.arange(len(shares.offset) - 1), np.diff(shares.offset)),
            weights=shares.share * (shares.group == len(shares.target)),
            minlength=len(shares.offset) - 1,
        )
        unknown = np.where(np.diff(shares.offset) == 0, 1.0, of_unknown)[view.document]
        if unknown.any():
            part = f"{100 * unknown.mean():.1f} %"
            yield Note("unknown-group", "warning", f"{part} of the ranked documents are of unknown group")
    if rankings.max(initial=0) > 1:
        several = int((rankings > 1).sum())
        least, most = int(rankings[rankings > 1].min()), int(rankings.max())
        many = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        verb = "has" if several == 1 else "have"
        message = f"{counted(several, 'query')} {verb} {many} rankings, whose mean exposure counts"
        yield Note("several-rankings", "info", message)
    ranks = located.ranks
    tied = int(((ranks.tied > 1) & (owner[segment_ids(ranks.offset)] >= 0)).sum())
    if tied:
        message = f"{counted(tied, 'document')} tied with another: {protocol.outcome('ties')}"
        yield Note("tied-documents", "info", message)


def _read_truth(source: Any, measures: Sequence[Measure]) -> Groups | Judgments:
    """Return groups as they are, and anything else as judgments."""
    if isinstance(source, Groups):
        return source
    needing = next((measure for measure in measures if measure.needs == "groups"), None)
    if needing is not None:
        msg = f"{needing} needs the groups of documents, and was given judgments alone"
        raise BadMeasure(msg, hint=GROUPS_HINT)
    return read_judgments(source)


EXPOSURE = Family(
    name="exposure",
    unit="query",
    protocol=Protocol,
    view=ExposureView,
    align=align_exposure,
    default_measures=("EEL", "EED", "EER"),
    parse=parse_measures,
    read_truth=_read_truth,
    read_system=RANKED.read_system,
    read_systems=RANKED.read_systems,
    of_runs=True,
    threaded=True,
    empty=0.0,
)
"""Rankings scored by what readers get to see, against groups of documents or judgments."""

"""Another ranking: a run, or a table with the probability of each document, matched with what a log shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import pyarrow as pa

from judged.arrays import Flags, Floats, Ints
from judged.clicks.columns import encode_names, parse_numbers, parse_ranks
from judged.clicks.kernels import add_up
from judged.clicks.tables import Clicks, Names
from judged.errors import BadInput, BadSample
from judged.io.open import is_file
from judged.io.read import read_run
from judged.io.table import RawTable, is_frame, open_path, read_file, read_raw
from judged.problem import Note, Problem
from judged.tables.columns import one_array, to_numpy
from judged.tables.schema import QUERY_COLUMNS, Field, Schema
from judged.wording import counted

if TYPE_CHECKING:
    from judged.tables.inputs import RunLike

_DOCUMENT = (
    "document",
    "doc",
    "docno",
    "doc_id",
    "document_id",
    "docid",
    "object_id",
    "item_id",
    "ad_id",
    "url",
)
PROBABILITIES = Schema(
    "probabilities",
    (
        Field("query", QUERY_COLUMNS, required=False),
        Field("document", _DOCUMENT),
        Field("rank", ("rank", "position"), "text", required=False),
        Field("probability", ("probability", "action_prob", "pscore"), "text"),
    ),
)
"""The probability with which a system shows each document, of a query and at a rank if these are named."""
REWARDS = Schema(
    "rewards",
    (
        *PROBABILITIES.fields[:3],
        Field("reward", ("reward", "prediction", "click"), "text"),
    ),
)
"""Predicted clicks on each document, of a query and at a rank if these are named."""
SEEN_ENOUGH = 0.05
"""Share of the new ranking that may be missing from the log before IPS, which counts nothing for it, says nothing."""
TOLERANCE = 1e-6
"""How far the probabilities of a query may be from a sum of 1."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predicted clicks of every row, and those expected there under the new ranking."""

    of_rows: Floats
    expected: Floats


@dataclass(frozen=True, eq=False)
class Policy:
    """Entries of a table, matched with a log: context and document of each, and what the log's rows have."""

    context: Ints
    """The query and rank of each entry, as those of rows are numbered; −1 for one that the log does not have."""
    document: Ints
    value: Floats
    of_rows: Floats
    """The value of each row of the log; 0 where the table has none."""
    row_context: Ints
    by_rank: bool = False
    rank_of: Ints | None = None
    """Of a run: the new rank of each row's document, 0 if it is not ranked; None: a table of probabilities."""
    lists: tuple[Ints, Ints, Ints] | None = None
    """Of a run: the query, document and rank of every entry, by the numbers of the log."""
    notes: tuple[Note, ...] = field(default=())
    unseen: float = 0.0
    """Of probabilities: the share that is of documents that the log never shows there."""

    def predict(self, log: Clicks, rewards: Policy | None, *, train: Flags) -> Predictions:
        """Return predictions for every row, from a table or from the rates of clicks of the rows to train on."""
        width = len(log.document.names) + 1
        if rewards is not None:
            known = dict(
                zip(
                    (rewards.context * width + rewards.document).tolist(), rewards.value.tolist(), strict=True
                )
            )
            entry = np.array(
                [known.get(key, np.nan) for key in (self.context * width + self.document).tolist()]
            )
            used = (self.context >= 0) & (self.value > 0)
            if np.isnan(entry[used]).any():
                msg = f"{int(np.isnan(entry[used]).sum())} documents with a probability have no reward"
                raise BadSample(msg)
            return Predictions(rewards.of_rows, self._expect(np.nan_to_num(entry)))
        key = self.row_context * width + log.document.codes
        keys, at = np.unique(np.concatenate((key, self.context * width + self.document)), return_inverse=True)
        at = at.reshape(-1)
        rows, entries = at[: len(key)], at[len(key) :]
        shown = np.bincount(rows[train], minlength=len(keys))
        clicks = add_up(rows[train], log.click[train].astype(np.float64), len(keys))
        mean = float(log.click[train].mean()) if train.any() else float(log.click.mean())
        rate = (clicks + 2 * mean) / (shown + 2)
        return Predictions(rate[rows], self._expect(rate[entries]))

    def _expect(self, entry: Floats) -> Floats:
        """Return, for each row, the sum of the probabilities in its context times the values of the entries."""
        known = self.context >= 0
        count = int(self.row_context.max(initial=0)) + 1
        sums = add_up(self.context[known], (self.value * entry)[known], count)
        expected: Floats = sums[self.row_context]
        return expected

    def value_lists(self, log: Clicks, gamma: Floats, alpha: Floats) -> tuple[Floats, Floats, float]:
        """Return of each impression the examination and the predicted clicks of its new list, and the share never shown."""
        assert self.lists is not None  # noqa: S101 - of a run
        query, document, rank = self.lists
        within = (rank <= len(gamma)) & (query >= 0)
        query, document, rank = query[within], document[within], rank[within]
        seen = gamma[rank - 1]
        _, pair_query, pair_document = log.pairs
        width = len(log.document.names) + 1
        keys = pair_query * width + pair_document  # ascending, as pairs are numbered
        key = query * width + np.where(document < 0, width - 1, document)
        at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        found = (document >= 0) & (keys[at] == key)
        count = len(log.query.names)
        whole = add_up(query, seen, count)
        direct = add_up(query, seen * np.where(found, alpha[at], 0.0), count)
        missing = add_up(query, np.where(found, 0.0, seen), count)
        codes = log.query.codes
        total = float(whole[codes].sum())
        return whole[codes], direct[codes], float(missing[codes].sum()) / total if total else 1.0


def read_policy(new: object, log: Clicks) -> Policy:
    """Return another ranking, matched with the log: a table with `probability`, or a run."""
    if _has_column(new, "probability", PROBABILITIES):
        policy = _match(_read(new, PROBABILITIES), PROBABILITIES, "probability", log)
        return _check_probabilities(policy, log)
    return _match_run(new, log)


def read_rewards(rewards: object, log: Clicks) -> Policy | None:
    """Return predicted clicks, matched with the log; None without any."""
    if rewards is None:
        return None
    return _match(_read(rewards, REWARDS), REWARDS, "reward", log)


def _has_column(source: object, name: str, schema: Schema) -> bool:
    """Return whether a source names a column of probabilities."""
    wanted = set(schema[name].names)
    if is_file(source):
        opened = open_path(source, schema)
        if not isinstance(opened, tuple):
            return False
        file, written = opened
        if written.name in {"json", "jsonl"}:
            return any(f'"{one}"'.encode() in file.head() for one in wanted)
        names = [] if written.columns is None else written.columns(file)
        return bool(wanted & {one.strip().lower() for one in names})
    if is_frame(source):
        return bool(
            wanted
            & {str(one).lower() for one in getattr(source, "column_names", getattr(source, "columns", []))}
        )
    return (
        isinstance(source, list)
        and bool(source)
        and isinstance(source[0], Mapping)
        and bool(wanted & source[0].keys())
    )


def _read(source: object, schema: Schema) -> RawTable:
    if is_file(source):
        opened = open_path(source, schema)
        assert isinstance(opened, tuple)  # noqa: S101 - its columns were seen
        file, written = opened
        raw = read_file(file, written, schema)
    else:
        raw = read_raw(source, schema, name=schema.name)
    if not isinstance(raw, RawTable):
        message = "holds nested objects, expected rows"
        raise BadInput(schema.name, [Problem.error("not-rows", schema.name, message)])
    return raw


def _match(raw: RawTable, schema: Schema, value: str, log: Clicks) -> Policy:
    """Return the entries of a table under the numbers that the log has for queries, ranks and documents."""
    columns, problems = raw.columns, raw.problems
    count = len(columns["document"])
    values = parse_numbers(columns[value], value, problems)
    problems.add_rows(
        "missing-value", np.flatnonzero(np.isnan(values)), lambda _: f"{value} is missing, expected a number"
    )
    document = _renumber(
        *encode_names(columns["document"], "document", problems, required=True), log.document.names
    )
    query = np.zeros(count, dtype=np.int64)
    by_query, by_rank = "query" in columns, "rank" in columns
    if by_query:
        query = _renumber(*encode_names(columns["query"], "query", problems, required=True), log.query.names)
    rank = parse_ranks(columns["rank"], problems) if by_rank else np.zeros(count, dtype=np.int64)
    problems.raise_if_any()
    if by_rank and log.rank is None:
        msg = f"{schema.name} are by rank, and `{log.name}` has no ranks"
        raise BadSample(msg)
    if by_rank and rank.min() == 0:
        rank = rank + 1  # as the ranks of a log that begin at 0
    ranks = (
        (int(max(log.rank.max() if log.rank is not None else 0, rank.max(initial=0))) + 1) if by_rank else 1
    )
    row_query = log.query.codes[log.owner] if by_query else np.zeros(len(log.click), dtype=np.int64)
    row_rank = log.rank if by_rank and log.rank is not None else np.zeros(len(log.click), dtype=np.int64)
    context = np.where(query < 0, -1, query * ranks + rank)
    row_context = row_query * ranks + row_rank
    width = len(log.document.names) + 1
    place = np.where(document < 0, width - 1, document)
    key = context * width + place
    known = (context >= 0) & (document >= 0)
    distinct, first, times = np.unique(key[known], return_index=True, return_counts=True)
    if len(distinct) and times.max() > 1:
        row = int(np.flatnonzero(known)[first[int(times.argmax())]])
        problems.add(
            "repeated-document", row, f"the same document has several rows of {schema.name}, expected one"
        )
        problems.raise_if_any()
    row_key = row_context * width + log.document.codes
    at = np.minimum(np.searchsorted(distinct, row_key), max(len(distinct) - 1, 0))
    found = distinct[at] == row_key if len(distinct) else np.zeros(len(row_key), dtype=bool)
    of_rows = np.where(found, values[known][first][at] if len(distinct) else 0.0, 0.0)
    return Policy(context, place, values, of_rows, row_context, by_rank=by_rank)


def _renumber(codes: Ints, names: pa.Array, known: pa.Array) -> Ints:
    """Return the numbers that the log has for names; −1 for names that it does not have."""
    import pyarrow.compute as pc

    found = pc.index_in(names, value_set=known).fill_null(-1)
    numbers: Ints = np.asarray(found.to_numpy(zero_copy_only=False)).astype(np.int64)[codes]
    return numbers


def _check_probabilities(policy: Policy, log: Clicks) -> Policy:
    from dataclasses import replace

    value = policy.value
    if (value < 0).any() or (value > 1).any():
        wrong = float(value[(value < 0) | (value > 1)][0])
        msg = f"a probability is {wrong:g}, expected a number from 0 to 1"
        raise BadSample(msg)
    count = int(policy.row_context.max(initial=0)) + 1
    known = policy.context >= 0
    sums = add_up(policy.context[known], value[known], count)[:count]
    used = np.unique(policy.row_context)
    notes = []
    lacking = used[sums[used] == 0] if len(used) else used
    off = used[(np.abs(sums[used] - 1) > TOLERANCE) & (sums[used] > 0)]
    if len(lacking):
        share = float(np.isin(policy.row_context, lacking).mean())
        message = f"{100 * share:.1f} % of the log is of queries or ranks without probabilities: worth nothing under the new ranking"
        notes.append(Note("no-probabilities", "warning", message))
    if len(off):
        message = f"the probabilities of {counted(len(off), 'query' if not policy.by_rank else 'place')} do not add up to 1, but for example to {sums[off[0]]:.4g}"
        notes.append(Note("unequal-sums", "warning", message))
    unseen = _find_unseen(policy, log, sums, used)
    if unseen:
        message = (
            f"{100 * unseen:.1f} % of the probability is of documents that the log never shows there: IPS counts nothing for"
            " it, DR its predictions"
        )
        notes.append(Note("never-shown", "warning" if unseen > SEEN_ENOUGH else "info", message))
    return replace(policy, notes=tuple(notes), unseen=unseen)


def _find_unseen(policy: Policy, log: Clicks, sums: Floats, used: Ints) -> float:
    """Return the share of the new ranking that the log never shows, and of which clicks say nothing."""
    width = len(log.document.names) + 1
    shown = np.unique(policy.row_context * width + log.document.codes)
    own = policy.context * width + policy.document
    unseen = np.isin(policy.context, used) & ~np.isin(own, shown)
    total = float(sums[used].sum())
    return float(policy.value[unseen].sum()) / total if total else 0.0


def _match_run(new: object, log: Clicks) -> Policy:
    """Return the rank that a run gives each row's document, and its lists for the queries of the log."""
    ranked = rank_run(new)
    query = _renumber(*ranked.query, log.query.names)
    document, rank = _renumber(*ranked.document, log.document.names), ranked.rank
    width = len(log.document.names) + 1
    known = (query >= 0) & (document >= 0)
    key = query[known] * width + document[known]
    by_key = np.argsort(key, kind="stable")
    distinct, ranks = key[by_key], rank[known][by_key]
    row_key = log.query.codes[log.owner] * width + log.document.codes
    if not len(distinct):
        msg = "the run ranks nothing that the log shows: queries or documents have other ids"
        raise BadSample(msg)
    at = np.minimum(np.searchsorted(distinct, row_key), len(distinct) - 1)
    rank_of = np.where(distinct[at] == row_key, ranks[at], 0)
    missing = np.setdiff1d(np.arange(len(log.query.names)), query)
    notes = []
    if len(missing):
        share = float(np.isin(log.query.codes, missing).mean())
        message = f"{counted(len(missing), 'query')} of the log ({100 * share:.1f} % of the impressions) without results in the run: worth nothing"
        notes.append(Note("no-results", "warning", message))
    nothing = np.zeros(0)
    return Policy(
        query,
        document,
        nothing,
        nothing,
        log.owner,
        rank_of=rank_of,
        lists=(query, document, rank),
        notes=tuple(notes),
    )


class RankedRun(NamedTuple):
    """A run by rank: query, document and rank of every entry, in the order of queries and ranks."""

    query: Names
    document: Names
    rank: Ints
    name: str


def rank_run(source: object) -> RankedRun:
    """Return the entries of a run by rank: by score, and for equal scores by document id descending, as trec_eval does."""
    run = read_run(cast("RunLike", source))
    table = run.to_arrow()
    query, document = _encode(table["query"]), _encode(table["document"])
    score = np.asarray(table["score"].to_numpy())
    place = np.empty(len(document.names), dtype=np.int64)
    place[np.argsort(np.array([name.encode() for name in document.names.to_pylist()], dtype=object))] = (
        np.arange(len(place))
    )
    order = np.lexsort((-place[document.codes], -score, query.codes))
    ordered = query.codes[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))) if len(order) else order
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order)))) + 1
    return RankedRun(query.take(order), document.take(order), rank, run.name)


def _encode(column: pa.ChunkedArray) -> Names:
    encoded = one_array(column).cast(pa.large_string()).dictionary_encode()
    return Names(to_numpy(encoded.indices).astype(np.int64), encoded.dictionary)

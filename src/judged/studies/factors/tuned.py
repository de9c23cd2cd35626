"""Tuned settings of a system: chosen on some queries, scored on others next to the settings as they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec
import numpy as np

from judged.arrays import Floats, Ints
from judged.blocks import Block, Display, Estimate, Sentence, Table, Value, format_value
from judged.errors import BadMeasure
from judged.result import tabulate
from judged.saved import Damaged, from_builtins, to_builtins
from judged.scoring.evaluate import evaluate
from judged.store.files import write_file
from judged.studies.factors.settings import Scalar, TuneSettings, Values
from judged.studies.fusion.tuning import estimate_mean, split_queries
from judged.studies.running.answers import make_run
from judged.studies.stages.clock import Clock
from judged.studies.stages.stage import Query, Ranked
from judged.tables.judgments import Judgments
from judged.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa

WRITTEN = "as written"

Ask: TypeAlias = Callable[[Query], Ranked]
"""Returns the results of a query."""


@dataclass(frozen=True)
class TunedFold:
    """Settings chosen on some queries, and the queries they were scored on."""

    number: int
    settings: Mapping[str, Scalar]
    """The settings that were changed; none: the settings as they are written were best."""
    training: float
    """The mean over the training queries."""
    training_queries: int
    queries: tuple[str, ...]
    """The queries held out."""


@dataclass(frozen=True, eq=False)
class SettingsTuning:
    """Settings chosen on training queries, with their score there and on queries that had no part in the choice."""

    measure: str
    search: str
    folds: tuple[TunedFold, ...]
    """One for each fold, or a single one for given training queries."""
    settings: Mapping[str, Scalar]
    """The settings chosen on all training queries, for other queries."""
    tuned: Floats
    """The value of each held-out query, fold by fold, with the settings of its fold."""
    written: Floats
    """The values of the same queries with the settings as they are written."""
    trials: int
    """Number of combinations that were scored."""
    level: float = 0.95

    @property
    def queries(self) -> tuple[str, ...]:
        """Every query held out, fold by fold."""
        return tuple(query for one in self.folds for query in one.queries)

    @property
    def training(self) -> float:
        """The mean of the training scores of the folds."""
        return float(np.mean([one.training for one in self.folds]))

    @property
    def gain(self) -> Estimate:
        """The mean difference on held-out queries, tuned minus as written, with its interval."""
        return estimate_mean(self.tuned - self.written, self.level)

    @cached_property
    def by_query(self) -> Mapping[str, Mapping[str, Scalar]]:
        """The settings that each held-out query is answered with; others get `settings`."""
        return {query: one.settings for one in self.folds for query in one.queries}

    def to_table(self) -> pa.Table:
        """Return a row for each fold: its settings, its training score and its score on the queries held out."""
        rows: list[dict[str, Value]] = []
        start = 0
        for one in self.folds:
            held = slice(start, start + len(one.queries))
            start = held.stop
            rows.append(
                {
                    "fold": one.number,
                    "training queries": one.training_queries,
                    "held-out queries": len(one.queries),
                    "training": one.training,
                    "held out": float(self.tuned[held].mean()),
                    f"held out {WRITTEN}": float(self.written[held].mean()),
                    **{place: one.settings.get(place) for place in self._places},
                }
            )
        return tabulate(rows)

    @property
    def _places(self) -> list[str]:
        return list(dict.fromkeys(place for one in self.folds for place in one.settings))

    def blocks(self, display: Display) -> Iterator[Block]:
        """Yield the held-out score next to that of the settings as written, the folds, and the settings for other queries."""
        held = estimate_mean(self.tuned, self.level)
        before = estimate_mean(self.written, self.level)
        shown = [
            format_value(value, digits=display.digits) for value in (held, self.training, before, self.gain)
        ]
        yield Sentence(
            f"{self.measure} {shown[0]} on {counted(len(self.queries), 'held-out query')}, {shown[1]} in training; "
            f"{WRITTEN} {shown[2]}; gain {shown[3]}"
        )
        table = self.to_table()
        rows = tuple(tuple(row.values()) for row in table.to_pylist())
        yield Table(
            tuple(table.column_names), rows, title=f"{counted(self.trials, 'trial')} by {self.search}"
        )
        chosen = ", ".join(f"{place} {value}" for place, value in self.settings.items()) or WRITTEN
        yield Sentence(f"Settings for other queries: {chosen}")

    def save(self, path: Path) -> None:
        """Write it, so that a finished system need not be tuned again."""
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, msgspec.json.encode(to_builtins(self)))

    @classmethod
    def load(cls, path: Path) -> SettingsTuning | None:
        """Return what `save` wrote; None if there is no such file, or a damaged one."""
        try:
            found = from_builtins(msgspec.json.decode(path.read_bytes()), cls)
        except (OSError, msgspec.DecodeError, Damaged):
            return None
        return found if isinstance(found, SettingsTuning) else None


@dataclass(eq=False)
class Trials:
    """Scores the settings of a system: the value of a query under each combination is computed once."""

    spec: TuneSettings
    judgments: Judgments
    measure: str
    protocol: str
    queries: Mapping[str, str]
    """The text of every query that is asked, by id."""
    build: Callable[[Mapping[str, Scalar]], Ask]
    """Returns the system with some settings changed, ready for queries."""
    progress: Callable[[int, str], None] = lambda _trials, _detail: None
    known: dict[Values, Floats] = field(default_factory=dict)
    """The value of each query under each combination; NaN where it was not asked."""

    def __post_init__(self) -> None:
        self._ids = list(self.queries)
        # one for all trials: a query that is encoded already stays so
        self._asked = {query: Query(query, text, sample=-1) for query, text in self.queries.items()}
        self._sign = 1.0

    def tune(self, train: Sequence[str] | None, *, seed: int, level: float) -> SettingsTuning:
        """Choose settings on the training queries, or in folds, and score them on the others."""
        split = split_queries(self._ids, train, min(self.spec.folds, len(self._ids)), seed)
        folds, tuned, written = [], [], []
        for number, (rows, held) in enumerate(split, start=1):
            best = self._search(rows, seed)
            training = float(self._values(best, rows).mean())
            queries = tuple(self._ids[row] for row in held.tolist())
            folds.append(TunedFold(number, self.to_settings(best), training, len(rows), queries))
            tuned.append(self._values(best, held))
            written.append(self._values((), held))
        everything = (
            folds[0].settings
            if train is not None
            else self.to_settings(self._search(np.arange(len(self._ids)), seed))
        )
        return SettingsTuning(
            measure=self.measure,
            search=self.spec.search,
            folds=tuple(folds),
            settings=everything,
            tuned=np.concatenate(tuned),
            written=np.concatenate(written),
            trials=len(self.known),
            level=level,
        )

    def to_settings(self, values: Values) -> dict[str, Scalar]:
        """Return values by the places of their settings."""
        return dict(zip(self.spec.settings, values, strict=True)) if values else {}

    def _search(self, rows: Ints, seed: int) -> Values:
        return self.spec.find(lambda values: self._score(values, rows), seed)

    def _score(self, values: Values, rows: Ints) -> float:
        found = self._values(values, rows)
        return self._sign * float(found.mean())

    def _values(self, values: Values, rows: Ints) -> Floats:
        """Return the value of some queries under a combination, asking those that it was not asked before."""
        row = self.known.setdefault(values, np.full(len(self._ids), np.nan))
        missing = [at for at in rows.tolist() if np.isnan(row[at])]
        if missing:
            row[missing] = self._ask(values, [self._ids[at] for at in missing])
            self.progress(len(self.known), ", ".join(f"{value}" for value in values) or WRITTEN)
        found: Floats = row[rows]
        return found

    def _ask(self, values: Values, queries: Sequence[str]) -> Floats:
        """Return the value of queries that a system with these settings is asked."""
        ask = self.build(self.to_settings(values))
        lists = []
        for query in queries:
            asked = self._asked[query]
            asked.clock, asked.replies = Clock(), {}  # replies are those of other settings
            lists.append((query, ask(asked)))
        run = make_run("trial", ((query, found.documents, found.scores) for query, found in lists))
        scored = evaluate(
            self.judgments.select(set(queries)), run, self.measure, protocol=self.protocol, threads=1
        )
        measure = scored.measures[0]
        if len(scored.measures) > 1 or measure.text or measure.aggregate != "mean":
            msg = f"settings are tuned by the mean of one measure, and `{self.measure}` has none"
            raise BadMeasure(msg, hint="for example `nDCG@10`")
        if measure.higher_is_better is None:
            msg = f"neither higher nor lower values of {measure} are better"
            raise BadMeasure(msg)
        self._sign = 1.0 if measure.higher_is_better else -1.0
        by_query = scored.scores.by_query(measure)
        # a query without a value, such as one without relevant documents where these are left out, decides nothing
        return np.nan_to_num(np.array([by_query.get(query, 0.0) for query in queries], dtype=np.float64))

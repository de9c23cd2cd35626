"""What `judged.fit_clicks` returns: examination by rank, attractiveness by pair, and how well clicks are predicted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from judged.arrays import Floats, Ints
from judged.blocks import Block, Display, Figure, Notes, Sentence, Table
from judged.errors import BadSample, UnknownName
from judged.figures import Record, draw_lines
from judged.problem import Note
from judged.result import Provenance, Result, tabulate
from judged.tables.columns import take
from judged.tables.judgments import Judgments
from judged.wording import counted

SHOWN_PAIRS = 10
"""Pairs that are shown of a model, unless all are asked for."""


@dataclass(frozen=True, slots=True)
class RankFit:
    """A rank: its click-through, its examination, and how well its clicks are predicted."""

    rank: int
    impressions: int
    click_through: float
    examination: float | None
    perplexity: float | None


@dataclass(frozen=True, slots=True)
class ModelScore:
    """How well a model predicts clicks that it was not fitted to."""

    model: str
    perplexity: float
    """Mean over ranks; 1 is perfect, 2 is a coin."""
    log_likelihood: float
    """Mean over impressions of the natural logarithm of the probability of all clicks of one."""
    impressions: int
    impossible: int
    unseen: int
    unseen_rows: int


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of query and document with their parameters; NaN where the log says nothing."""

    query: pa.Array
    document: pa.Array
    impressions: Floats
    clicks: Floats
    attractiveness: Floats | None = None
    satisfaction: Floats | None = None

    @property
    def relevance(self) -> Floats | None:
        """Attractiveness, times satisfaction where the model has it."""
        if self.attractiveness is None or self.satisfaction is None:
            return self.attractiveness
        return self.attractiveness * self.satisfaction


@dataclass(frozen=True, eq=False, repr=False)
class ClickModel(Result):
    """A click model fitted to a log; `model.to_judgments()` makes grades of it."""

    kind: ClassVar[str] = "click-model"
    detail: ClassVar[str] = "documents"

    model: str
    """The name with settings: `SDBN(prior=(1, 2))`."""
    name: str
    pairs: Pairs
    ranks: tuple[RankFit, ...]
    scores: tuple[ModelScore, ...] = ()
    """Of the model, then of the rates that it should predict better than."""
    continuation: float | None = None
    """The probability to look at the next rank, where the model has one."""
    notes: tuple[Note, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def examination(self) -> Mapping[int, float]:
        """The probability that each rank is looked at; empty where the model has none."""
        return {row.rank: row.examination for row in self.ranks if row.examination is not None}

    def to_judgments(
        self,
        *,
        levels: int = 5,
        minimum: int = 10,
        by: Literal["quantile", "value"] = "quantile",
        name: str = "judgments",
    ) -> Judgments:
        """Return grades from 0 to `levels` − 1 of the pairs with at least `minimum` impressions.

        By `quantile` a grade is the share of the pairs with a lower value, so that the best have the highest, however
        rare clicks are; pairs with equal values have one grade. By `value`, equal steps from 0 to 1 have a grade each;
        clicks over expected clicks, which may exceed 1, have none. The notes say how many pairs were left out.
        """
        if by not in {"quantile", "value"}:
            raise UnknownName("way to make grades", str(by), ["quantile", "value"])
        if levels < 2 or minimum < 1:
            msg = f"`levels` is {levels} and `minimum` {minimum}, expected at least 2 and 1"
            raise BadSample(msg)
        if by == "value" and self.name == "COEC":
            msg = "clicks over expected clicks have no highest value, so equal steps have no end"
            raise BadSample(msg, hint='`by="quantile"` makes grades of them')
        relevance = self.pairs.relevance
        if relevance is None:
            msg = f"{self.name} says nothing of documents, so it makes no judgments"
            raise BadSample(msg, hint="`DCTR`, `COEC`, `PBM`, `Cascade`, `SDBN` and `DBN` do")
        kept = np.flatnonzero((self.pairs.impressions >= minimum) & ~np.isnan(relevance))
        left = len(relevance) - len(kept)
        if not len(kept):
            msg = f"none of {counted(left, 'pair')} has {minimum:,} impressions"
            raise BadSample(msg, hint="a lower `minimum` makes judgments of less evidence")
        grade = _grade(relevance[kept], levels, by)
        message = f"{counted(left, 'pair')} of query and document with fewer than {minimum:,} impressions left out, {len(kept):,} kept"
        rows: Ints = kept
        return Judgments.from_columns(
            take(self.pairs.query, rows),
            take(self.pairs.document, rows),
            pa.array(grade.astype(np.float64)),
            name=name,
            notes=(f"grades of {self.model}, by {by}: {message}",),
        )

    def tables(self) -> Mapping[str, pa.Table]:
        """Return examination and click-through by rank, the parameters of pairs, and the predictions."""
        pairs = self.pairs
        documents = {
            "query": pairs.query,
            "document": pairs.document,
            "impressions": pa.array(pairs.impressions.astype(np.int64)),
            "clicks": pa.array(pairs.clicks.astype(np.int64)),
        }
        for name in ("attractiveness", "satisfaction"):
            if (values := getattr(pairs, name)) is not None:
                documents[name] = pa.array(values, from_pandas=True)
        return {
            "examination": tabulate([asdict(row) for row in self.ranks]),
            "documents": pa.table(documents),
            **({"fit": tabulate([asdict(score) for score in self.scores])} if self.scores else {}),
        }

    def summary(self) -> Mapping[str, object]:
        """Return the model, its settings and its predictions."""
        own = asdict(self.scores[0]) if self.scores else {}
        return {
            "model": self.model,
            "pairs": len(self.pairs.impressions),
            "continuation": self.continuation,
            "fit": own,
        }

    def blocks(self, display: Display) -> Iterator[Block]:
        """Return how well it predicts, examination by rank, the pairs shown most, and the notes."""
        if self.scores:
            yield Sentence(self.describe(display.digits))
            columns = ("model", "perplexity", "log-likelihood", "impressions")
            rows = tuple((s.model, s.perplexity, s.log_likelihood, s.impressions) for s in self.scores)
            yield Table(columns, rows, title="Predictions")
        yield self._rank_table()
        if self.examination:
            yield draw_examination(self)
        yield self._pair_table(display)
        if display.notes and self.notes:
            yield Notes(self.notes)

    def describe(self, digits: int = 4) -> str:
        """Return how well the model predicts, beside the best of the rates."""
        own = self.scores[0]
        others = [score for score in self.scores[1:] if score.model != own.model]
        text = f"{own.model} predicts clicks with perplexity {own.perplexity:.{digits}f}"
        if not others:
            return text
        best = min(others, key=lambda score: score.perplexity)
        relation = "better than" if own.perplexity < best.perplexity else "no better than"
        return f"{text}, {relation} {best.model} ({best.perplexity:.{digits}f})"

    def _rank_table(self) -> Table:
        examined = bool(self.examination)
        columns = (
            "rank",
            "impressions",
            "click-through",
            *(["examination"] if examined else []),
            *(["perplexity"] if self.scores else []),
        )
        rows = tuple(
            (
                row.rank,
                row.impressions,
                row.click_through,
                *([row.examination] if examined else []),
                *([row.perplexity] if self.scores else []),
            )
            for row in self.ranks
        )
        return Table(columns, rows, title="Ranks")

    def _pair_table(self, display: Display) -> Table:
        pairs = self.pairs
        most = display.limit or SHOWN_PAIRS
        order = np.argsort(-pairs.impressions, kind="stable")[: None if display.per_query else most]
        parts = [(n, v) for n in ("attractiveness", "satisfaction") if (v := getattr(pairs, n)) is not None]
        rows = tuple(
            (
                pairs.query[at].as_py(),
                pairs.document[at].as_py(),
                int(pairs.impressions[at]),
                int(pairs.clicks[at]),
                *(None if np.isnan(values[at]) else float(values[at]) for _, values in parts),
            )
            for at in order.tolist()
        )
        title = f"Pairs shown most ({len(rows):,} of {len(pairs.impressions):,})"
        return Table(
            ("query", "document", "impressions", "clicks", *(n for n, _ in parts)), rows, title=title, keys=2
        )


def _grade(values: Floats, levels: int, by: str) -> Ints:
    if by == "value":
        return np.minimum((values * levels).astype(np.int64), levels - 1)
    order = np.sort(values)
    below = np.searchsorted(order, values, side="left")
    return (levels * below) // len(values)


def draw_examination(model: ClickModel) -> Figure:
    """Draw click-through and examination by rank."""
    first = model.ranks[0].click_through
    points: list[Record] = [
        {"name": name, "x": row.rank, "y": value, "label": f"rank {row.rank}: {name} {value:.4f}"}
        for row in model.ranks
        for name, value in (
            ("examination", row.examination),
            ("click-through, of that at rank 1", row.click_through / first if first else None),
        )
        if value is not None
    ]
    note = "How many look at a rank, and how many click there; the difference is what stands there."
    return draw_lines(points, name="examination", title="Examination by rank", x="rank", y="share", note=note)

"""ranx: `Qrels`, `Run`, `evaluate`, `compare` and `fuse`, computed by judged.

    from judged.compat.ranx import Qrels, Run, compare, evaluate, fuse
    evaluate(Qrels(qrels), Run(run), ["ndcg@10", "map"])

Values are those of the profile `ranx`: ties stay in the order of the input, whether tables or dicts are given, and
dicts are matched by their keys. No argument is changed but by its own methods, and by `evaluate`, which keeps the scores
in the run as ranx does.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np

from judged.arrays import Floats
from judged.blocks import Display
from judged.comparison.api import compare as compare_systems
from judged.comparison.result import Comparison
from judged.compat.evaluator import ProfileEvaluator
from judged.errors import BadInput, BadProtocol, JudgedError, UnknownName
from judged.io.read import read_judgments, read_run
from judged.io.write import write_judgments, write_run
from judged.measures.parse import parse_measure
from judged.problem import Problem
from judged.profiles.profile import PROFILES, Reading
from judged.studies.fusion.methods import Fusion, fuse as fuse_runs

if TYPE_CHECKING:
    import pandas as pd

    from judged.tables.judgments import Judgments
    from judged.tables.run import Run as RunTable

__all__ = ["Qrels", "Report", "Run", "compare", "evaluate", "fuse"]

Table: TypeAlias = "dict[str, dict[str, Any]]"
TESTS = {"student": "t", "fisher": "randomisation"}
"""The statistical tests of ranx, with judged's names."""
FUSIONS = {"w_bordafuse": "borda", "w_condorcet": "condorcet"}
"""Methods of fusion that judged has by another name than its aliases."""
NOT_OFFERED = {
    "wmnz": "a weighted `mnz` of judged multiplies by the number of runs, `wmnz` by the sum of their weights",
    "mixed": "judged does not have it",
}
"""Methods of fusion that would have other values."""


class _Scores:
    """Queries with documents and their values."""

    _value: ClassVar[str] = "score"
    """The name that judged has for the values."""

    def __init__(self, table: Mapping[str, Mapping[str, Any]] | None = None, name: str | None = None) -> None:
        self._table: Table = {query: dict(documents) for query, documents in (table or {}).items()}
        self.name = name

    def keys(self) -> Iterable[str]:
        """Return the ids of queries."""
        return self._table.keys()

    def add_score(self, q_id: str, doc_id: str, score: float) -> None:
        """Add a document to a query, or change its value."""
        self._table.setdefault(q_id, {})[doc_id] = score

    def add(self, q_id: str, doc_ids: Sequence[str], scores: Sequence[float]) -> None:
        """Add a query with its documents, in the place of one with the same id."""
        self.add_multi([q_id], [doc_ids], [scores])

    def add_multi(
        self, q_ids: Sequence[str], doc_ids: Sequence[Sequence[str]], scores: Sequence[Sequence[float]]
    ) -> None:
        """Add several queries at once."""
        for query, documents, values in zip(q_ids, doc_ids, scores, strict=True):
            self._table[query] = dict(zip(documents, values, strict=True))

    def get_query_ids(self) -> list[str]:
        """Return the ids of queries, in their order."""
        return list(self.to_dict())

    def get_doc_ids_and_scores(self) -> list[dict[str, Any]]:
        """Return the documents of each query with their values."""
        return list(self.to_dict().values())

    def to_dict(self) -> Table:
        """Return the values by query and document: queries in the order of their ids, the highest value first."""
        return {
            query: dict(sorted(self._table[query].items(), key=lambda item: -item[1]))
            for query in sorted(self._table)
        }

    def to_dataframe(self) -> pd.DataFrame:
        """Return a data frame with the columns `q_id`, `doc_id` and `score`."""
        import pandas as pd

        rows = [(q, d, value) for q, documents in self.to_dict().items() for d, value in documents.items()]
        return pd.DataFrame(rows, columns=["q_id", "doc_id", "score"])

    @property
    def size(self) -> int:
        """The number of queries."""
        return len(self._table)

    def __getitem__(self, q_id: str) -> dict[str, Any]:
        return self.to_dict()[q_id]

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.to_dict()!r}, name={self.name!r})"

    @classmethod
    def from_rows(cls, rows: Judgments | RunTable, name: str | None) -> Self:
        """Return the object of a table of judged, whose columns are query, document and value."""
        table: Table = {}
        for query, document, value in zip(*rows.to_arrow().to_pydict().values(), strict=True):
            table.setdefault(query, {})[document] = value
        return cls(table, name)

    @classmethod
    def from_dict(cls, d: Mapping[str, Mapping[str, Any]], name: str | None = None) -> Self:
        """Return the object of a dict."""
        return cls(d, name)

    @classmethod
    def from_file(
        cls, path: str | os.PathLike[str], kind: str | None = None, name: str | None = None
    ) -> Self:
        """Read any format that judged reads, which is found out from the content; the name is that of the file."""
        if kind not in {None, "json", "trec", "gz"}:
            msg = f"the kind of file `{kind}` is not offered"
            raise BadProtocol(msg, hint="save the run as JSON or TREC in ranx")
        table = cls._read(path)
        return cls.from_rows(table, name or table.name)

    @classmethod
    def from_df(
        cls,
        df: Any,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        name: str | None = None,
    ) -> Self:
        """Return the object of a data frame."""
        columns = {q_id_col: "query", doc_id_col: "document", score_col: cls._value}
        for column in columns:
            if column not in df.columns:
                raise UnknownName("column", column, [str(known) for known in df.columns])
        return cls.from_rows(cls._read(df[list(columns)].rename(columns=columns)), name)

    @classmethod
    def from_parquet(
        cls,
        path: str,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        name: str | None = None,
    ) -> Self:
        """Read a Parquet file."""
        import pyarrow.parquet as pq

        return cls.from_df(pq.read_table(path).to_pandas(), q_id_col, doc_id_col, score_col, name)

    def save(self, path: str = "", kind: str | None = None) -> None:
        """Write JSON, TREC or Parquet, by the extension or as `kind` says; by default `run.json` or `qrels.json`."""
        path = path or f"{type(self).__name__.lower()}.json"
        extension = Path(path).suffix[1:]
        chosen = kind or {"txt": "trec", "parq": "parquet"}.get(extension, extension)
        if chosen == "json":
            _write(path, json.dumps(self.to_dict()))
        elif chosen == "trec":
            self._write_trec(path)
        elif chosen == "parquet":
            self.to_dataframe().to_parquet(path, index=False)
        else:
            msg = f"the kind of file `{chosen}` is not offered, expected `json`, `trec` or `parquet`"
            raise BadProtocol(msg)

    @classmethod
    def _read(cls, source: Any) -> Judgments | RunTable:
        """Return the table of a source."""
        raise NotImplementedError

    def _write_trec(self, path: str) -> None:
        raise NotImplementedError


class Qrels(_Scores):
    """Judgments: grades by query and document.

    >>> Qrels({"q1": {"d1": 1, "d2": 2}}).to_dict()
    {'q1': {'d2': 2, 'd1': 1}}
    """

    _value = "grade"

    @property
    def qrels(self) -> Table:
        """The grades by query and document."""
        return self._table

    def set_relevance_level(self, rel_lvl: int = 1) -> None:
        """Lower all grades, so that `rel_lvl` becomes 1."""
        for documents in self._table.values():
            documents.update({document: grade - (rel_lvl - 1) for document, grade in documents.items()})

    @classmethod
    def from_rows(cls, rows: Judgments | RunTable, name: str | None) -> Self:
        """Return the judgments of a table, with whole grades as integers, which ranx asks for, and without a name."""
        del name
        made = super().from_rows(rows, None)
        for documents in made.qrels.values():
            documents.update(
                {each: int(grade) for each, grade in documents.items() if float(grade).is_integer()}
            )
        return made

    @classmethod
    def from_ir_datasets(cls, dataset_id: str) -> Self:
        """Return the judgments of a data set of ir-datasets."""
        return cls.from_rows(cls._read(f"irds:{dataset_id}"), None)

    @classmethod
    def _read(cls, source: Any) -> Judgments:
        return read_judgments(source)

    def _write_trec(self, path: str) -> None:
        write_judgments(read_judgments(self.to_dict()), path, format="trec", force=True)


class Run(_Scores):
    """The results of a system: scores by query and document.

    >>> Run({"q1": {"d1": 1.5, "d2": 2.6}}, name="bm25").to_dict()
    {'q1': {'d2': 2.6, 'd1': 1.5}}
    """

    def __init__(self, run: Mapping[str, Mapping[str, float]] | None = None, name: str | None = None) -> None:
        super().__init__(run, name)
        self.metadata: dict[str, Any] = {}
        self.scores: dict[str, dict[str, float]] = {}
        """The value of each query, by metric."""
        self.mean_scores: dict[str, float] = {}
        self.std_scores: dict[str, float] = {}

    @property
    def run(self) -> Table:
        """The scores by query and document."""
        return self._table

    def make_comparable(self, qrels: Qrels) -> Run:
        """Add empty results for queries that are missing, remove those that are not judged, and return the run."""
        for query in list(self._table):
            if query not in qrels.qrels:
                del self._table[query]
        for query in qrels.qrels:
            self._table.setdefault(query, {})
        return self

    @classmethod
    def _read(cls, source: Any) -> RunTable:
        return read_run(source)

    def _write_trec(self, path: str) -> None:
        write_run(read_run(self.to_dict()), path, format="trec", tag=self.name, force=True)


class Report:
    """A comparison with the methods of ranx's reports; `comparison` is judged's own result."""

    def __init__(
        self, comparison: Comparison, metrics: Sequence[str], stat_test: str, rounding_digits: int
    ) -> None:
        self.comparison = comparison
        self.metrics = list(metrics)
        self.stat_test = stat_test
        self.rounding_digits = rounding_digits
        self.model_names = list(comparison.systems)

    @property
    def results(self) -> dict[str, dict[str, float]]:
        """The mean of each metric, by model."""
        return {
            model: {metric: self.comparison.mean(model, _name(metric)).mean for metric in self.metrics}
            for model in self.model_names
        }

    def to_table(self) -> str:
        """Return judged's tables as text."""
        return str(self.comparison.render("table", self._display()))

    def to_latex(self) -> str:
        """Return judged's tables for LaTeX."""
        return str(self.comparison.render("latex", self._display()))

    def to_dict(self) -> dict[str, Any]:
        """Return means, p-values, and wins, ties and losses in the layout of ranx."""
        report: dict[str, Any] = {
            "stat_test": self.stat_test,
            "metrics": self.metrics,
            "model_names": self.model_names,
        }
        for model, scores in self.results.items():
            others = [other for other in self.model_names if other != model]
            report[model] = {
                "scores": scores,
                "comparisons": {other: self._each(model, other, "p") for other in others},
                "win_tie_loss": {other: self._each(model, other, "count") for other in others},
            }
        return report

    def to_dataframe(self) -> pd.DataFrame:
        """Return the means, a row for each model."""
        import pandas as pd

        rows = [{"model_names": model, **scores} for model, scores in self.results.items()]
        return pd.DataFrame(rows)

    def save(self, path: str) -> None:
        """Write the dict as JSON."""
        _write(path, json.dumps(self.to_dict(), indent=4))

    def __str__(self) -> str:
        return self.to_table()

    __repr__ = __str__

    def _display(self) -> Display:
        return Display(digits=self.rounding_digits)

    def _each(self, model: str, other: str, part: str) -> dict[str, Any]:
        """Return the p-value, or the counts, of two models in every metric."""
        names = self.comparison.names
        contrasts = {
            (contrast.system, contrast.baseline, names[contrast.measure]): contrast
            for whole in self.comparison.contrasts
            for contrast in (whole, whole.reverse())
        }
        found = {metric: contrasts[model, other, _name(metric)] for metric in self.metrics}
        if part == "p":
            return {metric: contrast.p for metric, contrast in found.items()}
        # of ranx's pair (control, treatment), wins are the control's
        counts = {metric: contrast.count for metric, contrast in found.items()}
        return {
            metric: {"W": count.wins, "T": count.ties, "L": count.losses}
            for metric, count in counts.items()
            if count is not None
        }


def evaluate(
    qrels: Qrels | Mapping[str, Mapping[str, int]],
    run: Run | Mapping[str, Mapping[str, float]],
    metrics: Sequence[str] | str,
    *,
    return_mean: bool = True,
    return_std: bool = False,
    threads: int = 0,
    save_results_in_run: bool = True,
    make_comparable: bool = False,
) -> Any:
    """Return the mean of each metric, or of the only one; without `return_mean`, the values of all queries.

    Values of queries are in the order of the queries' ids. `threads` changes nothing.

    >>> evaluate({"q1": {"a": 1}}, {"q1": {"b": 2.0, "a": 1.0}}, ["mrr", "recall@1"])
    {'mrr': 0.5, 'recall@1': 0.0}
    """
    del threads
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    judged, scores = _to_dict(qrels), _to_dict(run)
    _check_queries(judged, scores, make_comparable=make_comparable)
    queries = sorted(judged)
    known = {query: scores.get(query, {}) for query in queries}
    values = ProfileEvaluator(judged, {name: _read(name) for name in names}).per_query(known)
    columns = {name: np.array([values[name][query] for query in queries]) for name in names}
    if isinstance(run, Run) and save_results_in_run:
        _keep_scores(run, columns, queries, with_deviation=return_std and return_mean)
    found: dict[str, Any] = {
        name: _summarise(column, with_deviation=return_std) if return_mean else column
        for name, column in columns.items()
    }
    return found[names[0]] if len(names) == 1 else found


def compare(
    qrels: Qrels | Mapping[str, Mapping[str, int]],
    runs: Sequence[Run],
    metrics: Sequence[str] | str,
    stat_test: str = "student",
    n_permutations: int = 1000,
    max_p: float = 0.01,
    random_seed: int = 42,
    *,
    threads: int = 0,
    rounding_digits: int = 3,
    show_percentages: bool = False,
    make_comparable: bool = False,
) -> Report:
    """Compare every two runs: means, p-values, and wins, ties and losses.

    `stat_test` is `student`, the paired t-test, or `fisher`, the randomisation test by `n_permutations` sign flips, a
    p-value of which is never 0. P-values are not corrected for their number, as in ranx; `judged.compare` corrects them.
    """
    del threads
    if stat_test not in TESTS:
        hint = 'Tukey\'s test of ranx is for unpaired samples: `judged.compare(…, also="tukey")` has that for pairs'
        raise UnknownName("statistical test", stat_test, list(TESTS), hint=hint)
    if show_percentages:
        msg = "`show_percentages` is not offered: values are shown as they are"
        raise BadProtocol(msg, hint="multiply the columns of `report.to_dataframe()` by 100")
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    judged, tables = _to_dict(qrels), {}
    for number, run in enumerate(runs, 1):
        scores, name = _to_dict(run), getattr(run, "name", None) or f"run_{number}"
        _check_queries(judged, scores, make_comparable=make_comparable)
        if name in tables:
            message = "appears twice; names must be unique"
            raise BadInput("the runs", [Problem.error("repeated-name", f"run `{name}`", message)])
        tables[name] = {query: scores.get(query, {}) for query in judged}
    comparison = compare_systems(
        judged, tables, names, protocol="ranx", test=TESTS[stat_test], correction="none", level=1 - max_p,
        resamples=n_permutations, seed=random_seed,
    )  # fmt: skip
    return Report(comparison, names, stat_test, rounding_digits)


def fuse(
    runs: Sequence[Run],
    norm: str | None = "min-max",
    method: str = "wsum",
    params: Mapping[str, Any] | None = None,
) -> Run:
    """Return one run made of several; methods that fuse ranks ignore `norm`, as in ranx.

    >>> fuse([Run({"q": {"a": 2.0, "b": 1.0}}), Run({"q": {"b": 1.0, "c": 0.5}})], method="rrf").get_query_ids()
    ['q']
    """
    if len(runs) < 2:
        msg = f"{len(runs)} run was given, expected two or more"
        raise _RanxError(msg)
    if method in NOT_OFFERED:
        msg = f"the method of fusion `{method}` is not offered: {NOT_OFFERED[method]}"
        raise BadProtocol(msg)
    parameters = dict(params or {})
    weights = parameters.pop("weights", None)
    chosen = FUSIONS.get(method, method)
    ranks = Fusion.choose(chosen).method.uses == "ranks"
    fused = fuse_runs(
        [_to_dict(run) for run in runs],
        method=chosen,
        normalisation=None if ranks else norm or "none",
        weights=weights,
        **parameters,
    )
    return Run.from_rows(fused, None)


class _RanxError(JudgedError, AssertionError):
    """An error that is also the `AssertionError` of ranx."""


def _name(metric: str) -> str:
    return PROFILES["ranx"].read(metric).name


def _read(metric: str) -> Reading:
    """Return what ranx means by a metric."""
    name, _, level = metric.partition("-l")
    if name == "hits" and (level.isdigit() or not level):
        # the mean of what judged adds up, so the profile does not have it
        measure = parse_measure("NumRelRet")(rel=int(level or 1))
        return Reading(measure, PROFILES["ranx"].protocol)
    return PROFILES["ranx"].read(metric)


def _to_dict(table: _Scores | Mapping[str, Mapping[str, Any]]) -> Table:
    """Return the values by query and document, in the order in which they were given."""
    if isinstance(table, _Scores):
        return table._table  # noqa: SLF001 - of this module
    return {query: dict(documents) for query, documents in table.items()}


def _check_queries(judged: Table, scores: Table, *, make_comparable: bool) -> None:
    """Raise an error, in the words of ranx, unless both have the same queries."""
    if not make_comparable and judged.keys() != scores.keys():
        missing, extra = judged.keys() - scores.keys(), scores.keys() - judged.keys()
        msg = f"Qrels and Run query ids do not match: {len(missing)} are missing, {len(extra)} are not judged"
        hint = "Pass `make_comparable=True` to count missing queries as 0 and to leave out those that are not judged"
        raise _RanxError(msg, hint=hint)


def _summarise(column: Floats, *, with_deviation: bool) -> Any:
    mean = float(column.mean()) if len(column) else 0.0
    return {"mean": mean, "std": float(column.std())} if with_deviation else mean


def _keep_scores(
    run: Run, columns: Mapping[str, Floats], queries: Sequence[str], *, with_deviation: bool
) -> None:
    for name, column in columns.items():
        run.scores[name] = dict(zip(queries, column.tolist(), strict=True))
        run.mean_scores[name] = _summarise(column, with_deviation=False)
        if with_deviation:
            run.std_scores[name] = float(column.std())


def _write(path: str, text: str) -> None:
    from judged.store.files import write_file

    write_file(Path(path), text)

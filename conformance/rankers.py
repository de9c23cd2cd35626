"""Training and retrieval libraries beside the profiles named after them, on random groups.

    python -m conformance.rankers             # the tools that are installed, as a table
    python -m conformance.rankers --record    # also writes recorded/rankers.json, which the compatibility page shows

Groups have equal scores, no relevant document, or a single one. Each tool computes its own metric in its own way; judged
computes it from the same arrays under the profile.
"""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from importlib import import_module
from io import StringIO
from types import SimpleNamespace
from typing import Any

import click
import numpy as np

from conformance.cases import SUITE
from conformance.drivers import find_version
from judged import evaluate_arrays

__all__ = ["RANKERS", "Groups", "Ranker", "Record", "draw_groups", "measure_differences", "read_record"]

RECORD = SUITE / "recorded" / "rankers.json"
TIES = (0.9, 0.8, 0.8000001, 0.5, 0.25, 0.1)
"""Few enough for ties; two of them differ in double precision only just, in single precision too."""
LARGE = 0.2
"""Share of the draws with large groups: some libraries look at a part of these."""


@dataclass(frozen=True)
class Groups:
    """Scores and grades, and the sizes of groups of consecutive rows."""

    scores: list[float]
    grades: list[int]
    sizes: list[int]

    def __iter__(self) -> Iterator[tuple[list[float], list[int]]]:
        """Iterate over the scores and grades of each group."""
        ends = np.cumsum(self.sizes).tolist()
        for size, end in zip(self.sizes, ends, strict=True):
            yield self.scores[end - size : end], self.grades[end - size : end]


@dataclass(frozen=True)
class Ranker:
    """A tool: its metrics, and the groups on which it can be asked for them."""

    distribution: str
    score: Callable[[Groups, str], float]
    """Returns the tool's value of a metric, over all groups."""
    metrics: tuple[str, ...]
    binary: tuple[str, ...] = ()
    """Metrics that take grades of 0 and 1 alone."""
    distinct: tuple[str, ...] = ()
    """Metrics that have no defined order of equal scores."""
    several: bool = False
    """Whether a group needs two documents or more."""
    relevant: bool = False
    """Whether a group needs a relevant document."""
    near: float = 1e-9
    """Tolerance: the precision in which the tool computes."""

    def version(self) -> str | None:
        """Return the version that is installed."""
        return find_version(self.distribution, *(["xgboost-cpu"] if self.distribution == "xgboost" else []))

    def draw(self, rng: np.random.Generator, metric: str) -> Groups:
        """Return random groups that the metric takes."""
        return draw_groups(
            rng,
            grades=(0, 1) if metric in self.binary else (0, 0, 1, 2, 3, 4),
            distinct=metric in self.distinct,
            least=2 if self.several else 1,
            relevant=self.relevant,
        )


def draw_groups(
    rng: np.random.Generator,
    *,
    grades: tuple[int, ...] = (0, 0, 1, 2, 3, 4),
    distinct: bool = False,
    least: int = 1,
    relevant: bool = False,
) -> Groups:
    """Return one to five random groups, of one to nine documents, or now and then of up to a hundred."""
    sizes = rng.integers(least, 101 if rng.random() < LARGE else 10, rng.integers(1, 6)).tolist()
    scores: list[float] = []
    judged: list[int] = []
    for size in sizes:
        few = rng.random() < 0.3
        own = rng.choice([0] if few and not relevant else grades, size).tolist()
        if relevant and not any(own):
            own[int(rng.integers(size))] = 1
        judged += own
        spread = np.float32(rng.random(size)) if distinct else rng.choice(TIES, size)
        scores += np.asarray(spread, dtype=np.float32).astype(float).tolist()
    return Groups(scores, judged, sizes)


def _lightgbm(groups: Groups, metric: str) -> float:
    import lightgbm

    name, _, at = metric.partition("@")
    settings = {
        "objective": "lambdarank",
        "metric": name,
        "eval_at": [int(at)],
        "verbosity": -1,
        "min_data_in_leaf": 10**6,  # no tree is grown: the initial scores are what is measured
    }
    rows = np.arange(len(groups.scores), dtype=float)[:, None]
    data = lightgbm.Dataset(rows, label=groups.grades, group=groups.sizes, init_score=groups.scores)
    result: dict[str, Any] = {}
    lightgbm.train(
        settings,
        data,
        num_boost_round=1,
        valid_sets=[data],
        valid_names=["rows"],
        callbacks=[lightgbm.record_evaluation(result)],
    )
    return float(next(iter(result["rows"].values()))[0])


def _xgboost(groups: Groups, metric: str) -> float:
    import xgboost

    linear = "(ndcg_exp_gain=False)" in metric
    name = metric.replace("(ndcg_exp_gain=False)", "")
    rows = np.zeros((len(groups.scores), 1))
    data = xgboost.DMatrix(rows, label=groups.grades, base_margin=groups.scores)
    data.set_group(groups.sizes)
    settings = {"objective": "rank:ndcg", "eval_metric": name, "disable_default_eval_metric": 1}
    booster = xgboost.train(settings | {"ndcg_exp_gain": not linear}, data, num_boost_round=0)
    return float(booster.eval_set([(data, "rows")]).rpartition(":")[2])


def _catboost(groups: Groups, metric: str) -> float:
    from catboost.utils import eval_metric

    ids = np.repeat(np.arange(len(groups.sizes)), groups.sizes)
    return float(eval_metric(groups.grades, groups.scores, metric, group_id=ids)[-1])


def _sklearn(groups: Groups, metric: str) -> float:
    import sklearn.metrics

    name, _, inside = metric.partition("(")
    function, cutoff = getattr(sklearn.metrics, name), int(inside.removeprefix("k=").rstrip(")"))
    return float(np.mean([function([grades], [scores], k=cutoff) for scores, grades in groups]))


def _torchmetrics(groups: Groups, metric: str) -> float:
    import torch
    import torchmetrics.retrieval

    name, _, inside = metric.partition("(")
    given = dict(part.split("=") for part in inside.rstrip(")").split(", ") if part)
    arguments = {
        key: value.strip('"') if key == "empty_target_action" else int(value) for key, value in given.items()
    }
    ids = torch.repeat_interleave(torch.arange(len(groups.sizes)), torch.tensor(groups.sizes))
    computed = getattr(torchmetrics.retrieval, name)(**arguments)(
        torch.tensor(groups.scores, dtype=torch.float32), torch.tensor(groups.grades), indexes=ids
    )
    return float(computed)


def _sentence_transformers(groups: Groups, metric: str) -> float:
    library: Any = import_module("sentence_transformers.sentence_transformer.evaluation")
    name, _, at = metric.partition("@")
    relevant = {
        str(query): {_name(row) for row, grade in enumerate(grades) if grade > 0}
        for query, (_, grades) in enumerate(groups)
    }
    documents = {_name(row): "text" for row in range(max(groups.sizes))}
    evaluator = library.InformationRetrievalEvaluator(
        dict.fromkeys(relevant, "text"),
        documents,
        relevant,
        **{f"{kind}_at_k": [int(at)] for kind in ("mrr", "ndcg", "accuracy", "precision_recall", "map")},
    )
    kept = set(evaluator.queries_ids)
    results = [
        [{"corpus_id": _name(row), "score": score} for row, score in enumerate(scores)]
        for query, (scores, _) in enumerate(groups)
        if str(query) in kept
    ]
    return float(evaluator.compute_metrics(results)[f"{name}@k"][int(at)]) if results else 0.0


def _name(row: int) -> str:
    return f"d{row:03}"


def _llama_index(groups: Groups, metric: str) -> float:
    from llama_index.core.evaluation import resolve_metrics

    (kind,) = resolve_metrics([metric])
    values = []
    for scores, grades in groups:
        order = sorted(range(len(scores)), key=lambda row: -scores[row])
        relevant = [_name(row) for row, grade in enumerate(grades) if grade > 0]
        values.append(
            kind().compute(expected_ids=relevant, retrieved_ids=[_name(row) for row in order]).score
        )
    return float(np.mean(values))


def _ragas(groups: Groups, metric: str) -> float:
    from ragas import SingleTurnSample
    from ragas.metrics import IDBasedContextPrecision, IDBasedContextRecall
    from ragas.metrics._context_precision import LLMContextPrecisionWithReference

    values = []
    for scores, grades in groups:
        order = sorted(range(len(scores)), key=lambda row: -scores[row])
        if metric == "context_precision":
            verdicts = [SimpleNamespace(verdict=int(grades[row] > 0)) for row in order]
            judge = LLMContextPrecisionWithReference()
            values.append(judge._calculate_average_precision(verdicts))  # noqa: SLF001 - what follows the model's verdicts
            continue
        sample = SingleTurnSample(
            retrieved_context_ids=[_name(row) for row in order],
            reference_context_ids=[_name(row) for row, grade in enumerate(grades) if grade > 0],
        )
        kind = IDBasedContextPrecision if metric.endswith("precision") else IDBasedContextRecall
        values.append(asyncio.run(kind().single_turn_ascore(sample)))
    return float(np.mean(values))


_SPLIT = ("RetrievalMAP", "RetrievalMRR", "RetrievalPrecision", "RetrievalRecall", "RetrievalHitRate")
_TORCH = (
    *(f"{name}(top_k=3)" for name in _SPLIT),
    *("RetrievalMAP", "RetrievalPrecision", "RetrievalRPrecision", 'RetrievalMRR(empty_target_action="pos")'),
)

RANKERS: dict[str, Ranker] = {
    "lightgbm": Ranker("lightgbm", _lightgbm, ("ndcg@1", "ndcg@3", "ndcg@10", "map@1", "map@3", "map@10")),
    "xgboost": Ranker(
        "xgboost",
        _xgboost,
        (
            "ndcg@3",
            "ndcg@3-",
            "ndcg",
            "ndcg(ndcg_exp_gain=False)@3",
            "map@3",
            "map@3-",
            "map",
            "pre@3",
            "pre",
        ),
        binary=("map@3", "map@3-", "map", "pre@3", "pre"),
    ),
    "catboost": Ranker(
        "catboost",
        _catboost,
        (
            *("NDCG:top=3", "NDCG", "NDCG:top=3;type=Exp", "NDCG:top=3;denominator=Position"),
            *("DCG:top=3", "DCG:top=3;type=Exp;denominator=Position", "MAP:top=3", "MAP", "MRR:top=3", "MRR"),
            *("PrecisionAt:top=3", "RecallAt:top=3"),
        ),
    ),
    "sklearn": Ranker(
        "scikit-learn", _sklearn, ("ndcg_score(k=3)", "ndcg_score(k=10)", "dcg_score(k=3)"), several=True
    ),
    "torchmetrics": Ranker(
        "torchmetrics",
        _torchmetrics,
        ("RetrievalNormalizedDCG(top_k=3)", "RetrievalNormalizedDCG", *_TORCH),
        binary=_TORCH,
        distinct=_TORCH,
        near=2e-6,
    ),
    "sentence-transformers": Ranker(
        "sentence-transformers",
        _sentence_transformers,
        ("accuracy@3", "precision@3", "recall@3", "ndcg@3", "mrr@3", "map@3"),
    ),
    "llama-index": Ranker(
        "llama-index-core",
        _llama_index,
        ("hit_rate", "mrr", "precision", "recall", "ap", "ndcg"),
        relevant=True,
    ),
    "ragas": Ranker(
        "ragas",
        _ragas,
        ("context_precision", "id_based_context_precision", "id_based_context_recall"),
        relevant=True,
        near=2e-10,
    ),
}
"""The tools that can be compared, by the name of their profile. Elasticsearch is a server: see its profile."""


@dataclass(frozen=True)
class Record:
    """How often a tool and judged agreed on one metric."""

    profile: str
    version: str
    metric: str
    cases: int
    equal: int
    difference: float
    """The largest difference."""


def compare(profile: str, metric: str, groups: Groups) -> tuple[float, float]:
    """Return the tool's value, and that of judged under the profile."""
    with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        warnings.simplefilter("ignore")
        theirs = RANKERS[profile].score(groups, metric)
    rows = groups.scores, groups.grades
    return theirs, next(
        iter(
            evaluate_arrays(*rows, group_sizes=groups.sizes, measures=metric, protocol=profile)
            .mean()
            .values()
        )
    )


def measure_differences(profile: str, metric: str, *, cases: int = 100, seed: int = 25) -> Record:
    """Compare a tool with judged on random groups."""
    ranker, rng = RANKERS[profile], np.random.default_rng(seed)
    pairs = [compare(profile, metric, ranker.draw(rng, metric)) for _ in range(cases)]
    differences = [abs(theirs - ours) for theirs, ours in pairs]
    equal = sum(difference <= ranker.near for difference in differences)
    return Record(profile, ranker.version() or "", metric, cases, equal, max(differences))


def read_record() -> list[Record]:
    """Return what was recorded last."""
    return [Record(**row) for row in json.loads(RECORD.read_text(encoding="utf-8"))]


def _main(arguments: list[str]) -> None:
    named = [name for name in arguments if not name.startswith("--")] or list(RANKERS)
    records = {(record.profile, record.metric): record for record in read_record()} if RECORD.exists() else {}
    for profile in named:
        if RANKERS[profile].version() is None:
            click.echo(f"{profile}: not installed")
            continue
        for metric in RANKERS[profile].metrics:
            record = measure_differences(profile, metric)
            records[profile, metric] = record
            share = f"{record.equal}/{record.cases}"
            click.echo(
                f"{profile} {record.version}  {metric:45} {share} equal, at most {record.difference:.1e} apart"
            )
    if "--record" in arguments:
        text = json.dumps([asdict(record) for record in records.values()], indent=1)
        RECORD.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    _main(sys.argv[1:])

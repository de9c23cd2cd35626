"""An example of every kind of result, small and the same at every call."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import judged
from judged.answers.losses import LossReport
from judged.answers.result import AnswerReport
from judged.checks.lint import lint
from judged.clicks.models.result import ClickModel
from judged.clicks.result import ClickReport
from judged.explanation.difference import explain_difference
from judged.explanation.published import explain_published
from judged.gates.result import GateSummary, RefusedGate
from judged.index.api import benchmark_index
from judged.index.diff import diff_benchmarks
from judged.index.embeddings.matching import evaluate_embeddings
from judged.index.result import IndexBenchmark
from judged.io.read import read_judgments
from judged.labels.questions.result import QuestionSet
from judged.labels.result import Labelling
from judged.result import Result
from judged.scoring.evaluate import evaluate_many
from judged.studies.collections.collection import Collection
from judged.studies.result import Study
from judged.studies.running.run import open_study, run_study
from judged.studies.several import Studies, join_studies
from judged.studies.specification import StudySpec
from support import report_results

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 2}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
OTHER = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"a": 1.0, "b": 2.0}}
GRADES = [{"task": f"t{at % 2}", "id": f"d{at}", "gain": at % 5} for at in range(10)]


def label() -> Labelling:
    """Two results with a label."""
    labelled = tuple({"task": "t", "id": name, "gain": 1} for name in "ab")
    return Labelling("model", labelled, (), 2, 2, 0, 0, 2, 10, 10, 0.0)


def write_questions() -> QuestionSet:
    """A question with its source, and a draft that was rejected."""
    draft = {"text": "Who wrote Emma?", "kind": "single-hop", "documents": ["a"], "answer": "Jane Austen"}
    question = {"query": "q1", **draft, "overlap": 0.6667, "overlap_elsewhere": 0.0}
    return QuestionSet(
        "model", (question,), ({**draft, "reason": "asked before"},), 2, 10, ("model",), 100, 20
    )


def benchmark() -> IndexBenchmark:
    """Exact search over a few vectors."""
    vectors = np.random.default_rng(0).random((40, 4), dtype=np.float32)
    return benchmark_index(vectors[:30], vectors[30:], engines=["exact"], k=3, rounds=2, repeats=1)


def study() -> Study:
    """One system that is a function, on a collection of two documents."""
    collection = Collection(
        "two", ("a", "b"), ("cats", "dogs"), {"q1": "cats", "q2": "dogs"}, read_judgments(QRELS)
    )
    spec = {
        "collection": "two",
        "systems": [{"name": "words", "search": "tantivy"}],
        "measures": ["AP", "RR"],
    }
    with tempfile.TemporaryDirectory() as folder:
        return run_study(open_study(spec, folder, collection=collection), cache=f"{folder}/vectors")


ANSWERS = {"bot": {"q1": "One [1]. Two.", "q2": "Three."}, "cat": {"q1": "One.", "q2": "Two [1]."}}
NUGGETS = [
    {"query": query, "system": system, "nugget": f"n{at}", "importance": "vital", "label": label}
    for system in ANSWERS
    for query in ("q1", "q2")
    for at, label in enumerate(("support", "partial_support", "not_support"))
]
SUPPORT = [{"query": "q1", "system": "bot", "part": 1, "document": "1", "label": "full"}]


def lose() -> LossReport:
    """Nuggets of two systems, one of which is in the retrieved document."""
    judgments = [{"query": query, "intent": "n0", "document": "d1", "grade": 1} for query in ("q1", "q2")]
    run = {"q1": ["d1"], "q2": ["d2"]}
    return judged.attribute_losses(ANSWERS, labels=NUGGETS, run=run, judgments=judgments)


def answer() -> AnswerReport:
    """Answers of two systems with everything that may be asked about them."""
    report = judged.evaluate_answers(ANSWERS, labels=[NUGGETS, SUPPORT], human=NUGGETS)
    gates = (judged.gate(report["bot"], baseline=report["cat"], min_delta=-0.5),)
    return replace(report, comparison=judged.compare(report), gates=gates, losses=lose())


def list_clicks() -> list[dict[str, object]]:
    """Forty impressions of twenty users and two systems, with a click on every third document."""
    return [
        {
            "impression": f"i{at}",
            "user": f"u{at % 20}",
            "system": "ab"[at % 2],
            "query": f"q{at % 3}",
            "document": document,
            "rank": rank,
            "click": int((at + rank * at) % 3 == 0),
        }
        for at in range(40)
        for rank, document in enumerate(("x", "y") if at % 4 else ("y", "x"), start=1)
    ]


def click() -> ClickReport:
    """Two systems that were shown to different users, and the outcome of lists of both on two days."""
    rows = [
        {**row, "system": "lists", "team": "ab"[number % 2], "time": 86_400.0 * (number // 40)}
        for number, row in enumerate(list_clicks())
    ]
    outcome = judged.evaluate_clicks(rows, "Interleaving")
    return replace(judged.evaluate_clicks(list_clicks()), preferences=outcome.preferences)


def click_model() -> ClickModel:
    """A position-based model."""
    return judged.fit_clicks(list_clicks(), "PBM", test=0)


def studies() -> Studies:
    """The same on two collections, of which each system has two queries."""
    spec = StudySpec(name="both", systems=(), collections=("one", "other"))
    return join_studies(spec, [replace(study(), collection=name) for name in ("one", "other")])


EXAMPLES: dict[str, Callable[[], Result]] = {
    "evaluation": lambda: judged.evaluate(QRELS, RUN, ["AP", "RR"]),
    "evaluations": lambda: evaluate_many(QRELS, {"one": RUN, "other": OTHER}, ["AP", "RR"]),
    "comparison": lambda: judged.compare(QRELS, {"one": RUN, "other": OTHER}, ["AP", "RR"]),
    "plan": lambda: judged.plan_queries(QRELS, {"one": RUN, "other": OTHER}, "AP", difference=0.1),
    "snapshots": lambda: judged.compare_snapshots(
        {"May": (QRELS, {"one": RUN, "other": RUN}), "June": (QRELS, {"one": RUN, "other": OTHER})},
        "AP",
        pivot="one",
    ),
    "gate": lambda: judged.gate(QRELS, RUN, ["AP", "RR"], baseline=OTHER),
    "gates": lambda: GateSummary(
        (judged.gate(QRELS, RUN, ["AP", "RR"], baseline=OTHER), RefusedGate("weekly", "no such file")), 2
    ),
    "sessions": report_results.make_sessions,
    "agreement": lambda: judged.agreement(GRADES, GRADES),
    "explanation": lambda: judged.explain(QRELS, RUN, "AP", query="q2"),
    "difference": lambda: explain_difference(QRELS, RUN, "AP", against="rel=2"),
    "published": lambda: explain_published(QRELS, RUN, "AP", "0.7500"),
    "reported": lambda: judged.explain(QRELS, RUN, "AP", against={"q1": {"map": 0.1}, "q2": {"map": 0.2}}),
    "lint": lambda: lint(b"q1 0 a 1\nq1 0 a 2\n"),
    "labelling": label,
    "questions": write_questions,
    "answers": answer,
    "losses": lose,
    "clicks": click,
    "click-model": click_model,
    "value": lambda: judged.estimate_value(
        list_clicks(), {"q0": ["y", "x"], "q1": ["x", "y"]}, ["IPS", "DR"]
    ),
    "interleaved": lambda: judged.interleave(RUN, OTHER, k=2, names=["one", "other"]),
    "index": benchmark,
    "embeddings": lambda: evaluate_embeddings(
        similarities=[[0.9, 0.2, 0.8, 0.1], [0.7, 0.3, 0.6, 0.5]], pairs=[0, 0, 1, 1]
    ),
    "index-diff": lambda: diff_benchmarks(benchmark(), benchmark()),
    "routing": lambda: judged.evaluate_routing([{"query": "q1", "chosen": "a", "optimal": "b"}]),
    "study": study,
    "studies": studies,
    "fusion": lambda: judged.tune_fusion(QRELS, {"one": RUN, "other": OTHER}, "RR", folds=2, step=0.5),
}

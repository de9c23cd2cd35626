"""Results of every kind with a page in the report, small, and with names that try to break out of it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np

import judged
from judged.agents.analysis import alone, overlaps, stopping_points
from judged.agents.result import SessionReport
from judged.agents.tables import Hit as Found, Iteration, Search, Session, Sessions
from judged.index.sweeps.sweep import Failure
from judged.problem import Note
from judged.result import Result
from judged.studies.result import StageTimes, Study, SystemRecord

HOSTILE = (
    "<script>document.title='ran'</script>",
    "</script><script>document.title='ran'</script>",
    "<img src=x onerror=\"document.title='ran'\">",
    "\"'`&<b>bold</b>]]>-->",
    "\u202edrawkcab\u2066",
    "__proto__",
    "{A} ${b} %s",
    "long" * 2500,
)
"""Names that would run, break the layout or vanish if they were anything but text."""
PLAIN = tuple(f"name-{number}" for number in range(len(HOSTILE)))


def make_runs(names: tuple[str, ...] = PLAIN, *, systems: int = 4, queries: int = 30) -> dict[str, Any]:
    """Return judgments, runs, texts, slices and timings, drawn at random, under the names given."""
    rng = random.Random(3)  # noqa: S311
    ids = [f"{names[at % len(names)]}{at}" for at in range(queries)]
    documents = [f"{names[at % len(names)]}-d{at}" for at in range(40)]
    qrels = {query: {document: rng.choice([0, 0, 1, 2, 3]) for document in documents[:25]} for query in ids}
    runs = {
        f"{names[system]}": {
            query: {
                document: qrels[query].get(document, 0) * (0.2 + 0.25 * system) + rng.random()
                for document in rng.sample(documents, 20)
            }
            for query in ids
        }
        for system in range(systems)
    }
    return {
        "qrels": qrels,
        "runs": runs,
        "queries": {query: f"text of {query}" for query in ids},
        "documents": {document: f"words of {document}" for document in documents},
        "slices": {query: {"kind": names[at % 3][:200], "half": str(at % 2)} for at, query in enumerate(ids)},
        "timings": {
            name: [0.001 * (place + 1) + 0.0001 * rng.random() for _ in range(20)]
            for place, name in enumerate(runs)
        },
    }


def make_comparison(data: dict[str, Any], **options: Any) -> judged.Comparison:
    """Return a comparison of all runs, with the first as baseline."""
    first = next(iter(data["runs"]))
    chosen = {"baseline": first, "slices": data["slices"], "timings": data["timings"], **options}
    return judged.compare(data["qrels"], data["runs"], ["nDCG@10", "AP", "RR", "R@5"], **chosen)


def make_sessions(names: tuple[str, ...] = PLAIN) -> SessionReport:
    """Return sessions of three systems, compared and gated."""
    rng = random.Random(5)  # noqa: S311
    table = Sessions.from_sessions(
        [
            Session(
                conversation=f"{names[task % len(names)]}-{task}",
                system=names[system],
                task=f"{names[task % len(names)]}-task{task}",
                question=f"{names[task % len(names)]}?",
                iterations=tuple(_make_iteration(rng, names, system) for _ in range(rng.randint(1, 4))),
            )
            for system in range(3)
            for task in range(8)
        ]
    )
    evaluation = judged.evaluate_sessions(table, explain=True, reference="union")
    baseline, *others = evaluation.measure(["CG@last", "SRE@last"]).systems.values()
    return SessionReport(
        evaluation,
        evaluation.provenance,
        stops={name: stopping_points(system) for name, system in evaluation.systems.items()},
        pairs=overlaps(evaluation),
        single=alone(evaluation),
        comparison=judged.compare(evaluation, baseline=names[0]),
        gates=tuple(judged.gate(system, baseline=baseline, min_delta="-20%") for system in others),
        explained=False,
    )


def _make_iteration(rng: random.Random, names: tuple[str, ...], system: int) -> Iteration:
    def search() -> Search:
        found = [rng.randrange(12) for _ in range(3)]
        results = tuple(
            Found(
                title=f"{names[at % len(names)]}-{at}",
                url=f"https://example.org/{at}",
                snippet=names[at % len(names)],
                gain=at % 5,
            )
            for at in found
        )
        return Search(query=f"{names[rng.randrange(3)]}", tool=names[system], results=results)

    return Iteration(
        searches=tuple(search() for _ in range(rng.randint(1, 2))),
        tokens=100.0 * rng.randint(1, 9),
        seconds=rng.random(),
    )


def make_agreement(names: tuple[str, ...] = PLAIN) -> judged.Agreement:
    """Return the agreement of labels with human grades."""
    rng = random.Random(9)  # noqa: S311
    human, labels = [], []
    for number in range(60):
        grade = rng.choice([0, 1, 2, 3, 4])
        row = {"task": f"{names[number % 4]}", "id": f"d{number}"}
        human.append({**row, "gain": grade, "labeller": names[1]})
        labels.append(
            {**row, "gain": min(4, max(0, grade + rng.choice([-1, 0, 0, 1]))), "labeller": names[2]}
        )
    return judged.agreement(labels, human, resamples=200)


def make_gate(data: dict[str, Any]) -> judged.GateReport:
    """Return the gate of the second run against the first."""
    first, second = list(data["runs"])[:2]
    return judged.gate(
        data["qrels"],
        data["runs"][second],
        ["nDCG@10", "AP"],
        baseline=data["runs"][first],
        name=second,
        run_name=second,
        baseline_name=first,
    )


def make_study(data: dict[str, Any], names: tuple[str, ...] = PLAIN) -> Study:
    """Return a study of all runs with times by stage, a router, and a system that failed."""
    scored = judged.evaluate_many(data["qrels"], data["runs"], ["nDCG@10", "RR"])
    systems, queries = list(data["runs"]), tuple(data["qrels"])
    rng = random.Random(11)  # noqa: S311
    parts = {
        (system, stage): np.array([rng.uniform(0.001, 0.002) for _ in queries])
        for system in systems
        for stage in ("embedding", names[3])
    }
    totals = {system: parts[system, "embedding"] + parts[system, names[3]] for system in systems}
    rows = [
        {"query": query, "chosen": names[at % 2], "optimal": names[at % 3]}
        for at, query in enumerate(queries)
    ]
    return Study(
        name=names[0],
        collection=names[1],
        documents=40,
        queries=len(queries),
        systems=(
            *(
                SystemRecord(system, f"{names[2]} → exact", dimensions=(8,), build_seconds=0.1)
                for system in systems
            ),
            SystemRecord(names[5], names[4], failure=f"{names[6]}: down"),
        ),
        scored=scored,
        comparison=judged.compare(
            list(scored.values()),
            baseline=systems[0],
            timings={system: seconds.tolist() for system, seconds in totals.items()},
        ),
        times=tuple(
            StageTimes(system, stage, queries, seconds)
            for (system, stage), seconds in {
                **parts,
                **{(name, "total"): found for name, found in totals.items()},
            }.items()
        ),
        routing=(judged.evaluate_routing(rows, name=names[6]),),
    )


def make_index(names: tuple[str, ...] = PLAIN) -> judged.IndexBenchmark:
    """Return a benchmark of two engines, measured once and renamed, with an engine that failed."""
    vectors = np.random.default_rng(2).normal(size=(60, 4)).astype(np.float32)
    found = judged.benchmark_index(
        vectors, engines=["exact"], rounds=1, repeats=1, warmup=0, clients=(1,), seconds=0.05, k=5
    )
    (point,) = found.points
    points = tuple(
        replace(
            point,
            rounds=tuple(
                replace(one, key=f"{at}" * 32, engine=name, version=names[2], error=names[3])
                for one in point.rounds
            ),
        )
        for at, name in enumerate(names[:2])
    )
    note = Note("hostile", "warning", f"{names[4]}: {names[2]}", subject=names[0])
    failures = (Failure(names[5], f"{names[6]}: {names[1]}"),)
    return replace(found, dataset=names[3], points=points, failures=failures, notes=(*found.notes, note))


def make_all(names: tuple[str, ...] = PLAIN) -> tuple[list[Result], dict[str, Any]]:
    """Return a result of every kind with pages, and one without, and the inputs of the first."""
    data = make_runs(names)
    first = next(iter(data["runs"]))
    query = next(iter(data["qrels"]))
    results: list[Result] = [
        make_comparison(data),
        judged.evaluate_many(data["qrels"], data["runs"], ["nDCG@10", "RR"]),
        make_sessions(names),
        make_agreement(names),
        make_gate(data),
        judged.explain(data["qrels"], data["runs"][first], "nDCG@10", query=query),
        make_study(data, names),
        make_index(names),
    ]
    return results, data

"""Two published experiments on another corpus, through the command, with every number recomputed in plain Python.

One compares variants of retrieval with a graph walk (Hit@k, MRR, Recall@20, DR@20, Diversity Count, latency, paired t-tests
with stars); the other compares ways of tokenising (Recall@k, Precision@k, MRR, times by stage, bars and tables).
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from scipy.stats import ttest_rel

from judged.cli.main import judged as command

pytest.importorskip("bm25s")
pytest.importorskip("sklearn")
pytest.importorskip("vl_convert")

TOPICS, COPIES, QUERIES = 30, 3, 40


def write_corpus(folder: Path) -> dict[str, dict[str, str]]:
    """Write 120 documents: of each topic a text with two near duplicates, and another one; return documents and targets.

    A query has some words of one topic and of the next: its four to eight relevant documents have two to four targets.
    """
    draw = random.Random(7)  # noqa: S311 - a corpus
    words = [
        f"{a}{b}" for a in "bdfgklmnprst" for b in ("a", "el", "in", "or", "u", "ast", "em", "ip", "ot", "un")
    ]
    topics = [draw.sample(words, 12) for _ in range(TOPICS)]
    rows, targets = [], {}
    for number, topic in enumerate(topics):
        text = draw.choices(topic, k=25) + draw.choices(words, k=15)
        for copy in range(COPIES):
            name = f"t{number}c{copy}"
            near = [word if draw.random() > 0.1 else draw.choice(words) for word in text]
            rows.append({"_id": name, "text": " ".join(near)})
            targets[name] = f"T{number}"
        other = draw.choices(topic, k=15) + draw.choices(words, k=30)
        rows.append({"_id": f"t{number}o", "text": " ".join(other)})
        targets[f"t{number}o"] = f"T{number}o"
    judged: dict[str, dict[str, str]] = {}
    queries = []
    for number in range(QUERIES):
        first = draw.randrange(TOPICS)
        two = [first, (first + 1) % TOPICS][: draw.choice([1, 2])]
        text = [word for topic in two for word in draw.sample(topics[topic], 4)] + draw.choices(words, k=2)
        queries.append({"_id": f"q{number}", "text": " ".join(text)})
        judged[f"q{number}"] = {
            name: target
            for name, target in targets.items()
            if any(name.startswith((f"t{t}c", f"t{t}o")) for t in two)
        }
    for name, some in (("documents", rows), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some))
    lines = [f"{query},{name},1,{target}" for query, one in judged.items() for name, target in one.items()]
    (folder / "judgments.csv").write_text("query,document,grade,target\n" + "\n".join(lines) + "\n")
    return judged


def run(folder: Path, content: Mapping[str, Any]) -> tuple[Path, dict[str, dict[str, list[str]]]]:
    """Run a study through the command; return its folder, and the documents of each system and query."""
    files = {name: f"{name}.jsonl" for name in ("documents", "queries")}
    study = {"collection": {**files, "judgments": "judgments.csv"}, **content}
    (folder / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
    done = CliRunner().invoke(command, ["run", "study.yaml", "-q"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    place = folder / "study-results"
    found: dict[str, dict[str, list[str]]] = {}
    for path in (place / "runs").glob("*.run"):
        for line in path.read_text().splitlines():
            query, _, document, *_ = line.split()
            found.setdefault(path.stem, {}).setdefault(query, []).append(document)
    return place, found


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def reciprocal_rank(ranked: Sequence[str], relevant: Mapping[str, str]) -> float:
    """One over the rank of the first relevant document; 0 without one."""
    return next((1 / rank for rank, name in enumerate(ranked, 1) if name in relevant), 0.0)


def count_targets(ranked: Sequence[str], relevant: Mapping[str, str], cutoff: int) -> int:
    """The number of different targets among the first results."""
    return len({relevant[name] for name in ranked[:cutoff] if name in relevant})


Oracle = Callable[[Sequence[str], Mapping[str, str]], float]


def hits(cutoff: int) -> Oracle:
    """Whether one of the first results is relevant."""
    return lambda ranked, relevant: float(any(name in relevant for name in ranked[:cutoff]))


def share(cutoff: int, *, of: str) -> Oracle:
    """Relevant documents among the first results, of all relevant ones or of the cutoff."""

    def compute(ranked: Sequence[str], relevant: Mapping[str, str]) -> float:
        found = sum(name in relevant for name in ranked[:cutoff])
        return found / (len(relevant) if of == "relevant" else cutoff)

    return compute


def score(
    runs: Mapping[str, Mapping[str, list[str]]], truth: Mapping[str, Mapping[str, str]], oracle: Oracle
) -> dict[str, list[float]]:
    """Return the value of every query, in the order of the truth, by system."""
    return {
        system: [oracle(ranked.get(query, []), relevant) for query, relevant in truth.items()]
        for system, ranked in runs.items()
    }


def correct(ps: Sequence[float]) -> list[float]:
    """Holm's correction."""
    corrected, highest = [0.0] * len(ps), 0.0
    for place, at in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        highest = max(highest, min(1.0, ps[at] * (len(ps) - place)))
        corrected[at] = highest
    return corrected


def star(p: float, difference: float) -> str:
    """The stars of a corrected p-value, behind the mark of their direction."""
    marks = "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else "ns"
    return marks if marks == "ns" else f"{'▲' if difference > 0 else '▼'}{marks}"


def check_times(rows: Sequence[Mapping[str, str]], place: Path) -> None:
    """Stages add up to the total, in the table of systems and in that of queries, and latency is in seconds too."""
    import pyarrow.parquet

    timings = pyarrow.parquet.read_table(place / "timings.parquet").to_pylist()
    for row in rows:
        stages = [name for name in row if name.endswith("_ms") and not name.startswith("total_")]
        own = [one for one in timings if one["system"] == row["system"]]
        totals = [one["seconds"] for one in own if one["stage"] == "total"]
        assert sum(float(row[name] or 0) for name in stages) == pytest.approx(
            float(row["total_ms"]), rel=1e-6
        )
        assert float(row["latency_s"]) == pytest.approx(fmean(totals))
        assert float(row["total_ms"]) == pytest.approx(1000 * fmean(totals))
        assert len(totals) == QUERIES


def test_variants_of_retrieval_are_compared_with_a_graph_walk(desk: Path) -> None:
    """Hit@1, 5, 10, 20, MRR, Recall@20, DR@20, Diversity Count and latency; paired t-tests with stars; one table, one picture."""
    truth = write_corpus(desk)
    encoder = {"type": "lsa", "dimensions": 24}
    systems = [
        {"name": "graph", "encoder": encoder, "search": {"type": "graph", "neighbours": 5, "seeds": 3}},
        {"name": "words", "search": "bm25"},
        {"name": "vectors", "encoder": encoder, "search": "exact"},
        {"name": "hybrid", "fuse": {"of": ["words", "vectors"]}},
        {
            "name": "diverse",
            "base": "hybrid",
            "encoder": encoder,
            "rerank": {"type": "mmr", "diversity": 0.4},
        },
    ]
    measures = ["RR", "Hit@1", "Hit@5", "Hit@10", "Hit@20", "R@20", "DR@20", "DiversityCount@20"]
    place, runs = run(
        desk,
        {"systems": systems, "measures": measures, "baseline": "graph", "test": "t", "correction": "holm"},
    )
    oracles: dict[str, Oracle] = {
        "RR": reciprocal_rank,
        **{f"Hit@{cutoff}": hits(cutoff) for cutoff in (1, 5, 10, 20)},
        "R@20": share(20, of="relevant"),
        "DR@20": lambda ranked, relevant: count_targets(ranked, relevant, 20) / len(set(relevant.values())),
        "DiversityCount@20": lambda ranked, relevant: float(count_targets(ranked, relevant, 20)),
    }
    rows = {row["system"]: row for row in read_csv(place / "systems.csv")}
    differences = read_csv(place / "differences.csv")
    markdown, latex = ((place / f"comparison.{kind}").read_text() for kind in ("md", "tex"))

    assert list(rows) == [system["name"] for system in systems]
    for measure, oracle in oracles.items():
        values = score(runs, truth, oracle)
        others = [name for name in rows if name != "graph"]
        ps = [float(ttest_rel(values[name], values["graph"]).pvalue) for name in others]
        for name in rows:
            assert float(rows[name][measure]) == pytest.approx(fmean(values[name])), (name, measure)
        for name, p, corrected in zip(others, ps, correct([1.0 if p != p else p for p in ps]), strict=True):  # noqa: PLR0124
            difference = fmean(values[name]) - fmean(values["graph"])
            row = rows[name]
            assert float(row[f"{measure}_difference"]) == pytest.approx(difference, abs=1e-12)
            if p == p:  # noqa: PLR0124 - equal values everywhere have none
                assert float(row[f"{measure}_p"]) == pytest.approx(p, rel=1e-6)
                assert float(row[f"{measure}_p_corrected"]) == pytest.approx(corrected, rel=1e-6)
                assert row[f"{measure}_stars"] == star(corrected, difference)
            (listed,) = [
                one
                for one in differences
                if (one["written"], one["system"], one["baseline"]) == (measure, name, "graph")
            ]
            assert float(listed["difference"]) == pytest.approx(difference, abs=1e-12)
    starred = {row[name] for row in rows.values() for name in row if name.endswith("_stars")}
    assert starred & {"▲***", "▲**", "▲*", "▼***", "▼**", "▼*"}
    for text in (markdown, latex):
        assert all(name in text for name in rows)
        assert "graph" in text
        assert "ns" in text
    check_times(list(rows.values()), place)
    charts = {path.name for path in (place / "charts").iterdir()}
    assert {"trade-off.svg", "trade-off.png", "stages.svg"} <= charts
    assert "mean latency" in (place / "README.md").read_text()


def test_ways_of_tokenising_are_compared(desk: Path) -> None:
    """Recall, precision at 1, 5, 10 and MRR; embedding, retrieval and total time; CSV, bars and tables."""
    truth = write_corpus(desk)
    (desk / "tokens.py").write_text(
        "import zlib\nimport numpy as np\n"
        "def make(size):\n"
        "    def encode(texts):\n"
        "        found = np.zeros((len(texts), 64), dtype=np.float32)\n"
        "        for row, text in enumerate(texts):\n"
        "            for at in range(len(text) - size + 1):\n"
        "                found[row, zlib.crc32(text[at:at + size].encode()) % 64] += 1\n"
        "        return found + 1e-3\n"
        "    return encode\n"
        "bytes_, pairs, triples = make(1), make(2), make(3)\n"
    )
    systems = [
        {"name": name, "encoder": {"type": "function", "function": f"tokens:{name}"}, "search": "exact"}
        for name in ("bytes_", "pairs", "triples")
    ]
    place, runs = run(
        desk,
        {"systems": systems, "measures": ["R@k", "P@k", "RR"], "cutoffs": [1, 5, 10], "repeats": 1},
    )
    rows = {row["system"]: row for row in read_csv(place / "systems.csv")}
    oracles: dict[str, Oracle] = {
        **{f"R@{cutoff}": share(cutoff, of="relevant") for cutoff in (1, 5, 10)},
        **{f"P@{cutoff}": share(cutoff, of="cutoff") for cutoff in (1, 5, 10)},
        "RR": reciprocal_rank,
    }

    for measure, oracle in oracles.items():
        for name, values in score(runs, truth, oracle).items():
            assert float(rows[name][measure]) == pytest.approx(fmean(values)), (name, measure)
    for row in rows.values():
        assert row["dimensions"] == "64"
        assert float(row["embedding_ms"]) > 0
        assert float(row["retrieval_ms"]) > 0
    check_times(list(rows.values()), place)
    charts = {path.name for path in (place / "charts").iterdir()}
    assert {f"measure-{measure}.svg" for measure in oracles} <= charts
    listed = {
        (row["system"], row["query"], row["measure"]): float(row["value"])
        for row in read_csv(place / "queries.csv")
    }
    for measure, oracle in oracles.items():
        for name, values in score(runs, truth, oracle).items():
            for query, value in zip(truth, values, strict=True):
                assert listed[name, query, measure] == pytest.approx(value)

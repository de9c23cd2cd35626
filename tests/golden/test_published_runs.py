"""Real runs score what their makers published, and query by query what pytrec_eval says."""

from __future__ import annotations

import csv
import gzip
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

import judged

pytrec_eval = pytest.importorskip("pytrec_eval", reason="the oracle pytrec_eval is not installed")

Folder = Callable[[str], Path]

MEASURES = {
    "map": "AP", "recip_rank": "RR", "P_10": "P@10", "recall_100": "R@100", "ndcg": "nDCG",
    "ndcg_cut_10": "nDCG@10", "map_cut_100": "AP@100", "bpref": "Bpref", "infAP": "infAP", "Rprec": "Rprec",
    "Rndcg": "Rndcg", "ndcg_rel": "nDCG_rel", "G": "G", "binG": "binG", "11pt_avg": "AP11",
    "iprec_at_recall_0.30": "IPrec@0.3", "Rprec_mult_1.40": "Rprec(multiple=1.4)", "set_map": "SetAP",
    "set_F": "SetF", "set_P": "SetP", "set_recall": "SetR", "set_relative_P": "SetRelP", "utility": "Utility",
    "relative_P_20": 'R(over="cutoff")@20', "success_5": "Success@5", "num_rel_ret": "NumRelRet",
    "num_nonrel_judged_ret": "NumNonrelJudgedRet", "num_ret": "NumRet", "num_rel": "NumRel",
}  # fmt: skip
"""What pytrec_eval calls each measure, and what it is called here."""


def read_dicts(qrels: Path, run: Path) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgments and run as pytrec_eval takes them."""

    def lines(path: Path) -> list[list[str]]:
        data = path.read_bytes()
        text = gzip.decompress(data) if path.suffix == ".gz" else data
        return [line.split() for line in text.decode().splitlines()]

    judged_grades: dict[str, dict[str, int]] = {}
    for query, _, document, grade in lines(qrels):
        judged_grades.setdefault(query, {})[document] = int(grade)
    scores: dict[str, dict[str, float]] = {}
    for query, _, document, _, score, *_ in lines(run):
        scores.setdefault(query, {})[document] = float(score)
    return judged_grades, scores


def assert_equal_per_query(qrels: Path, run: Path) -> int:
    """Every query and measure agrees with pytrec_eval to 1e-9; returns how many values were compared."""
    grades, scores = read_dicts(qrels, run)
    theirs = pytrec_eval.RelevanceEvaluator(grades, pytrec_eval.supported_measures).evaluate(scores)
    from_file = judged.evaluate(qrels, run, list(MEASURES.values())).per_query()
    from_dicts = judged.evaluate(grades, scores, list(MEASURES.values())).per_query()
    compared = 0
    for their_name, name in MEASURES.items():
        mine, also_mine = from_file.by_query(name), from_dicts.by_query(name)
        for query, values in theirs.items():
            assert mine[query] == pytest.approx(values[their_name], abs=1e-9), (name, query)
            assert also_mine[query] == mine[query], (name, query)
            compared += 1
    return compared


@pytest.fixture(scope="module")
def deep_learning(shared_data: Folder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The TREC 2019 and 2020 deep learning runs, unpacked."""
    folder = tmp_path_factory.mktemp("dl")
    with tarfile.open(shared_data("dl19_dl20_runs") / "runs.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def test_deep_learning_runs_score_as_published(deep_learning: Path, shared_data: Folder) -> None:
    """42 reranked runs of TREC DL 2019 and 2020 with four published figures each, and ten first-stage runs.

    Of the ten, nDCG@10 is published; their other three figures come with the collection. All to the last digit.
    """
    source = shared_data("dl19_dl20_runs")
    with (source / "expected.tsv").open(newline="") as file:
        known = csv.DictReader(file, delimiter="\t")
        rows = [row for row in known if (deep_learning / row["file"]).exists()]
    names = {
        "ndcg_cut_10": "nDCG@10",
        "map_cut_100_l2": "AP(rel=2)@100",
        "recall_20_l2": "R(rel=2)@20",
        "recall_100_l2": "R(rel=2)@100",
    }

    for row in rows:
        qrels = source / f"qrels.dl{row['year']}-passage.txt"
        scored = judged.evaluate(qrels, deep_learning / row["file"], list(names.values()))
        assert {their: f"{scored[mine]:.4f}" for their, mine in names.items()} == {
            their: row[their] for their in names
        }, row["file"]
    assert len(rows) == 52


def test_deep_learning_runs_agree_with_pytrec_eval(deep_learning: Path, shared_data: Folder) -> None:
    """Ten retrieval runs, query by query, 29 measures."""
    runs = sorted((deep_learning / "retrieve").iterdir())
    compared = sum(
        assert_equal_per_query(
            shared_data("dl19_dl20_runs") / f"qrels.dl{'19' if 'dl19' in run.name else '20'}-passage.txt", run
        )
        for run in runs
    )

    assert compared == 5 * (43 + 54) * len(MEASURES)


def test_keyphrase_runs_score_as_published(shared_data: Folder) -> None:
    """Three runs of 2,000 queries, as their makers' README prints them."""
    folder = shared_data("keyphrase_runs_2000q")
    published = {
        "baseline.gz": {"P@10": 0.1960, "R@10": 0.1669, "nDCG@10": 0.2482, "AP@10": 0.0979, "RR": 0.5467},
        "result_to_compare1.gz": {
            "P@10": 0.2071,
            "R@10": 0.1711,
            "nDCG@10": 0.2231,
            "AP@10": 0.0805,
            "RR": 0.4004,
        },
        "result_to_compare2.gz": {"P@10": 0.0002, "RR": 0.0529},
    }

    for run, figures in published.items():
        scored = judged.evaluate(folder / "qrelFile.qrel.gz", folder / run, list(figures), protocol=SKIP)
        assert {name: round(scored[name], 4) for name in figures} == figures, run


SKIP = judged.PROFILES["trec_eval-9"].replace(missing="skip")


def test_keyphrase_runs_agree_with_pytrec_eval(shared_data: Folder) -> None:
    """Three runs of 2,000 queries with ties, query by query."""
    folder = shared_data("keyphrase_runs_2000q")

    for run in ("baseline.gz", "result_to_compare1.gz", "result_to_compare2.gz"):
        assert assert_equal_per_query(folder / "qrelFile.qrel.gz", folder / run) > 50_000


def test_conversational_runs_agree_with_pytrec_eval(shared_data: Folder) -> None:
    """Five TREC CAsT 2021 runs: turns as queries, some of them missing, grades 0 to 4; means as known."""
    folder = shared_data("cast2021")
    known = {
        "org_manual_bm25": (0.3974, 0.3901, 0.2161),
        "org_manual_ance": (0.5300, 0.4716, 0.2667),
        "org_manual_ance_bert": (0.5196, 0.4830, 0.2936),
        "org_convdr": (0.3542, 0.3644, 0.2024),
        "org_convdr_bert": (0.4110, 0.3893, 0.2203),
    }
    qrels = folder / "qrels.2021.docs.txt.gz"

    for run, figures in known.items():
        assert_equal_per_query(qrels, folder / f"{run}.run.gz")
        scored = judged.evaluate(qrels, folder / f"{run}.run.gz", ["nDCG@3", "nDCG@500", "AP"])
        assert tuple(round(value, 4) for value in scored.mean().values()) == figures

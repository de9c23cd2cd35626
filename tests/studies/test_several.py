"""Several collections in one study: a table of systems and collections, tests stratified by collection, data sets by name."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import yaml
from click.testing import CliRunner

import judged
from judged.cli.main import judged as command
from judged.errors import BadProtocol, Unreadable
from judged.studies.collections.collection import read_collection
from judged.studies.running.run import run_study
from judged.studies.several import run_studies
from judged.studies.specification import CollectionSpec, read_study
from support.studies import DOCUMENTS, JUDGMENTS, QUERIES, own, write_collection

pytest.importorskip("bm25s")
WORDS = {"name": "words", "search": "bm25"}
OWN = {"name": "own", "encoder": own(), "search": "exact"}
OTHER = {"q1": {"d5": 1}, "q3": {"d6": 1}, "q4": {"d2": 1}, "q5": {"d3": 1}}


@pytest.fixture(autouse=True)
def _two_collections(desk: Path) -> None:
    """`pets`, and `other` with the same texts and other judgments of four queries."""
    place = write_collection(desk / "more").rename(desk / "other")
    rows = [f"{query}\t{name}\t{grade}\n" for query, one in OTHER.items() for name, grade in one.items()]
    (place / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows))


def study(**settings: Any) -> dict[str, Any]:
    """A study of both collections."""
    return {
        "collections": ["pets", "other"],
        "systems": [WORDS, OWN],
        "measures": ["nDCG@5", "RR"],
        **settings,
    }


def test_each_collection_is_the_study_of_it(desk: Path) -> None:
    """The same values as a study of one; the mean counts each the same; the p-value is that of all sign flips."""
    found = run_studies(study(baseline="words"), output=desk / "out")
    singles = [run_study({**study(), "collections": [], "collection": name}) for name in ("pets", "other")]
    differences = []
    for name, single in zip(("pets", "other"), singles, strict=True):
        assert found[name]["own"].mean() == single["own"].mean()
        one, other = (single[system].scores.by_query("nDCG@5") for system in ("own", "words"))
        differences.append([one[query] - other[query] for query in one])

    (contrast,) = [one for one in found.contrasts if one.measure == "nDCG@5"]
    weights = np.repeat([1 / (2 * len(some)) for some in differences], [len(some) for some in differences])
    weighted = weights * np.concatenate(differences)
    flips = [abs(float(np.dot(signs, weighted))) for signs in product((-1, 1), repeat=len(weighted))]
    expected = np.mean([value >= abs(weighted.sum()) - 1e-12 for value in flips])

    assert contrast.mean.mean == pytest.approx(weighted.sum())
    assert contrast.p == pytest.approx(expected)
    assert found.mean("own", "RR") == pytest.approx(
        np.mean([single["own"].mean()["RR"] for single in singles])
    )
    assert [row["collection"] for row in found.to_arrow("means").to_pylist()][:3] == ["pets", "other", "mean"]


def test_the_command_writes_a_folder_for_each_and_one_table(desk: Path) -> None:
    """The plan of each; then the tables, the report and the result, which loads again."""
    (desk / "study.yaml").write_text(yaml.safe_dump(study(baseline="words", test="t")))
    plan = CliRunner().invoke(command, ["run", "study.yaml", "--dry-run"], catch_exceptions=False)
    done = CliRunner().invoke(command, ["run", "study.yaml", "-q"], catch_exceptions=False)

    assert plan.output.count("words: bm25") == 2
    assert (plan.exit_code, done.exit_code) == (0, 0)
    folder = desk / "study-results"
    assert {"pets", "other", "means.csv", "differences.csv", "means.tex", "report.html"} <= {
        path.name for path in folder.iterdir()
    }
    again = judged.load(folder / "studies.json")
    assert again.contrasts[0].corrected == pytest.approx(  # type: ignore[attr-defined]
        pyarrow.csv.read_csv(folder / "differences.csv")["p_corrected"][0].as_py()
    )
    assert "pets" in str(again)
    assert "other" in again.render("markdown")


def test_a_system_that_fails_on_one_collection_is_said_to(desk: Path) -> None:
    """It is not in the tables, which are of systems that were scored everywhere; the others stay."""
    (desk / "fails.py").write_text(
        "import parts\ndef encode(texts):\n    if texts[0] == 'never':\n        raise OSError('gone')\n    return parts.encode(texts)\n"
    )
    (desk / "other" / "queries.jsonl").write_text(
        "".join(
            json.dumps({"_id": query, "text": "never" if query == "q3" else text}) + "\n"
            for query, text in QUERIES.items()
        )
    )
    failing = {
        "name": "failing",
        "encoder": {"type": "function", "function": "fails:encode"},
        "search": "exact",
    }
    found = run_studies(study(systems=[WORDS, OWN, failing]))

    assert set(found.systems) == {"words", "own"}
    assert list(found.failures) == ["other: failing"]
    assert "failing" in found.notes[0].message


@pytest.mark.parametrize("test", ["t", "randomisation"])
def test_a_collection_of_one_query_has_no_interval(desk: Path, test: str) -> None:
    """The means are there, the bounds are not, and no difference is significant by a t-test that was not made."""
    (desk / "other" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    found = run_studies(study(test=test), output=desk / "out")
    row = found.to_arrow("differences").to_pylist()[0]

    assert (row["low"], row["high"]) == (None, None)
    assert row["p_corrected"] <= 1.0
    assert "single query" in found.notes[0].message
    assert "difference" in str(found)


def test_a_system_that_failed_everywhere_else_leaves_an_answer(desk: Path) -> None:
    """All systems fail on the first collection: there is nothing to compare, and that is said."""
    (desk / "broken.py").write_text("def encode(texts):\n    raise OSError('gone')\n")
    (desk / "pets" / "corpus.jsonl").write_text('{"_id": "d1", "text": "x"}\n')
    gone = {"name": "gone", "encoder": {"type": "function", "function": "broken:encode"}, "search": "exact"}
    found = run_studies(study(systems=[gone]))

    assert found.systems == []
    assert "No system was scored" in str(found)


def test_a_collection_that_is_missing_is_said_before_any_is_run(desk: Path) -> None:
    """A run of hours does not end in the name of a file."""
    settings = {
        "documents": "none.jsonl",
        "queries": "pets/queries.jsonl",
        "judgments": "pets/qrels/test.tsv",
    }
    with pytest.raises(Unreadable, match=r"none\.jsonl"):
        run_studies(study(collections=["pets", settings]), output=desk / "out")

    assert not (desk / "out").exists()


def test_stars_over_collections_have_a_direction(desk: Path) -> None:
    """Worse is marked as worse: twelve queries that one system always answers, and the other never."""
    rows = "".join(f'{{"_id": "q{n}", "text": "bark"}}\n' for n in range(12))
    for place in ("pets", "other"):
        (desk / place / "queries.jsonl").write_text(rows)
        grades = "".join(f"q{n}\td2\t1\n" for n in range(12))
        (desk / place / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + grades)
    (desk / "wrong.py").write_text("def find(query):\n    return ['d1']\n")
    wrong = {"name": "wrong", "retriever": "wrong:find"}
    found = run_studies(study(systems=[WORDS, wrong], baseline="words"))

    assert {row["stars"] for row in found.to_arrow("differences").to_pylist()} == {"▼***"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"collection": "pets"}, "both `collection` and `collections`"),
        ({"collections": []}, "the study has no collection"),
        ({"collections": [{"dataset": "scifact"}]}, "`collection.dataset`: is `scifact`"),
        ({"collections": [{"dataset": "hf:a/b", "folder": "pets"}]}, "both a data set and files"),
    ],
)
def test_a_study_has_one_kind_of_collection(settings: dict[str, Any], message: str) -> None:
    """Said with its place, before anything is read."""
    with pytest.raises(BadProtocol, match=message):
        read_study(study(**settings))


def test_one_study_is_not_several() -> None:
    """Each function says the other; names of collections differ; only some tests are stratified."""
    with pytest.raises(BadProtocol, match="2 collections, expected one"):
        run_study(study())
    with pytest.raises(BadProtocol, match="two collections are called `pets`"):
        run_studies(study(collections=["pets", "pets"]))
    with pytest.raises(BadProtocol, match="the test is `wilcoxon`"):
        run_studies(study(test="wilcoxon"))


def write_snapshot(hub: Path, name: str, *, parquet: bool) -> Path:
    """Write a data set as `hf download` leaves it: a snapshot by its commit, and the commit of `main`."""
    place = hub / f"datasets--{name.replace('/', '--')}"
    folder = place / "snapshots" / ("ab" * 20)
    (folder / "qrels").mkdir(parents=True)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text("ab" * 20)
    documents = [{"_id": key, "title": title, "text": text} for key, (title, text) in DOCUMENTS.items()]
    queries = [{"_id": key, "text": text} for key, text in QUERIES.items()]
    grades = [
        {"query-id": query, "corpus-id": document, "score": grade}
        for query, one in JUDGMENTS.items()
        for document, grade in one.items()
    ]
    if not parquet:
        (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)))
        (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
        for split in ("train", "test"):
            rows = "".join(f"{row['query-id']}\t{row['corpus-id']}\t{row['score']}\n" for row in grades)
            (folder / "qrels" / f"{split}.tsv").write_text("query-id\tcorpus-id\tscore\n" + rows)
        return folder
    for part, rows in (("corpus", documents[:5]), ("queries", queries), ("default", grades)):
        (folder / part).mkdir()
        pyarrow.parquet.write_table(pa.Table.from_pylist(rows), folder / part / "test-00000-of-00002.parquet")
    pyarrow.parquet.write_table(
        pa.Table.from_pylist(documents[5:]), folder / "corpus" / "test-00001-of-00002.parquet"
    )
    return folder


@pytest.mark.parametrize("parquet", [False, True], ids=["as BEIR", "as MTEB"])
def test_data_sets_are_read_from_the_cache_of_hugging_face(
    desk: Path, monkeypatch: pytest.MonkeyPatch, *, parquet: bool
) -> None:
    """The same documents, queries and judgments as from a folder, shards united; the snapshot is noted."""
    monkeypatch.setenv("HF_HUB_CACHE", str(desk / "hub"))
    write_snapshot(desk / "hub", "mteb/pets", parquet=parquet)
    found = read_collection(CollectionSpec(dataset="hf:mteb/pets"))
    plain = read_collection(CollectionSpec(folder="pets"))

    assert (found.documents, found.texts, found.queries) == (plain.documents, plain.texts, plain.queries)
    assert found.judgments is not None
    assert plain.judgments is not None
    assert found.judgments.to_arrow().to_pylist() == plain.judgments.to_arrow().to_pylist()
    assert "snapshot abababababab, judgments of test" in found.notes[0]
    assert read_collection(CollectionSpec(dataset="mteb:Pets", limit=2)).queries.keys() == {"q1", "q4"}


def test_what_is_not_in_the_cache_says_how_to_get_it(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command, with the name; a snapshot without a part says what it has."""
    monkeypatch.setenv("HF_HUB_CACHE", str(desk / "hub"))
    with pytest.raises(Unreadable, match="is not in the cache of Hugging Face") as caught:
        read_collection(CollectionSpec(dataset="hf:mteb/none"))
    assert caught.value.hint == "download it with `hf download mteb/none --repo-type dataset`"

    folder = write_snapshot(desk / "hub", "mteb/pets", parquet=False)
    (folder / "corpus.jsonl").unlink()
    with pytest.raises(Unreadable, match="has no corpus in"):
        read_collection(CollectionSpec(dataset="hf:mteb/pets"))

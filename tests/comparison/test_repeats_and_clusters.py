"""Comparisons and gates of repeated values, of clusters, and of values that only some systems have."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result as Called
from hypothesis import given, strategies as st

import judged
from judged.cli.main import judged as command
from judged.comparison.extra_tests import EXTRA_TESTS
from judged.comparison.settings import NOT_BY_CLUSTER, TESTS
from judged.errors import BadSample, UnknownName
from judged.report.page import render_report
from judged.stats import difference_test, student_interval
from judged.stats.intervals import Interval
from judged.stats.outcome import Outcome
from judged.stats.repeats import find_components
from judged.tables.scores import Scores

RNG = np.random.default_rng(12)
START = RNG.bit_generator.state
QUERIES = [f"q{number:02}" for number in range(40)]
DOCUMENTS = {query: f"d{number // 3}" for number, query in enumerate(QUERIES)}
LABELS = [DOCUMENTS[query] for query in QUERIES]
HARD = RNG.normal(0.5, 0.15, size=(40, 1))


@pytest.fixture(autouse=True)
def _draw_the_same_numbers() -> None:
    """In whatever order tests run."""
    RNG.bit_generator.state = START


def make(name: str, shift: float, attempts: int = 3, without: tuple[int, ...] = ()) -> Scores:
    """Repeated values of AP, some with an attempt less; without some of the queries."""
    values = np.clip(HARD + shift + RNG.normal(0, 0.2, size=(40, attempts)), 0, 1)
    if attempts > 1:
        values[:5, -1] = np.nan
    kept = [number for number in range(40) if number not in without]
    repeats = {"AP": values[kept]} if attempts > 1 else {}
    return Scores(
        pa.array([QUERIES[number] for number in kept]),
        {"AP": np.nanmean(values, axis=1)[kept]},
        run=name,
        repeats=repeats,
    )


OLD, NEW, SAME = make("old", 0.0), make("new", 0.1), make("same", 0.0)


def compare(*systems: Scores, **settings: object) -> judged.Comparison:
    """Old and new, unless other systems are given."""
    return judged.compare(list(systems or (OLD, NEW)), baseline="old", **settings)  # type: ignore[arg-type]


def test_the_mean_of_attempts_is_compared() -> None:
    """The interval and the test are those of the queries' means."""
    found = compare(test="t").contrast("new")
    d = NEW["AP"] - OLD["AP"]
    interval = student_interval(d)

    assert isinstance(found.interval, Interval)
    assert (found.interval.low, found.interval.high) == pytest.approx((interval.low, interval.high))


def test_the_parts_of_errors_are_shown_and_kept(tmp_path: Path) -> None:
    """On the terminal, as a table, in the report, and in a saved comparison."""
    whole = compare()
    parts = find_components(NEW["AP"] - OLD["AP"], [NEW.repeats["AP"], OLD.repeats["AP"]])
    rows = whole.rows("repeats")

    assert [(row["system"], row["baseline"]) for row in rows] == [
        ("old", None),
        ("new", None),
        ("new", "old"),
    ]
    assert rows[2]["share_of_attempts"] == pytest.approx(parts.share)  # type: ignore[union-attr]
    assert rows[2]["draws_to_halve"] == parts.draws_to_halve  # type: ignore[union-attr]
    text = " ".join(str(whole).split())
    assert f"Of the variance of AP (new − old), {100 * parts.share:.0f} % is due to attempts" in text  # type: ignore[union-attr]
    assert f"takes about {parts.draws_to_halve} queries like these" in text  # type: ignore[union-attr]
    assert "Repeated values: what the intervals consist of" in render_report([whole])
    whole.save(tmp_path / "whole.json")
    assert judged.load(tmp_path / "whole.json").rows("repeats") == rows
    again = judged.compare(tmp_path / "whole.json", baseline="old")
    assert again.rows("repeats") == rows


def test_one_repeated_system_of_two_has_its_part() -> None:
    """The other's single answers count as the queries'; without any repeated system nothing is shown."""
    once = make("new", 0.1, attempts=1)
    rows = compare(OLD, once).rows("repeats")

    assert [(row["system"], row["baseline"]) for row in rows] == [("old", None), ("new", "old")]
    assert (rows[1]["fewest_attempts"], rows[1]["most_attempts"]) == (2, 3)
    assert "repeats" not in compare(make("old", 0.0, attempts=1), once).tables()


def test_repeated_values_are_cut_by_slice() -> None:
    """Each slice has the attempts of its own queries."""
    kinds = {query: {"kind": "ab"[number % 2]} for number, query in enumerate(QUERIES)}
    part = compare(slices=kinds).slices["kind", "a"]

    assert part.scores[0].repeats["old"].shape == (20, 3)
    assert part.rows("repeats")[0]["queries"] == 20


def test_values_that_are_not_the_mean_of_their_attempts_are_refused() -> None:
    """Otherwise a difference and its parts would be of different numbers."""
    with pytest.raises(ValueError, match="is not the mean of its 2 attempts"):
        Scores(pa.array(["q"]), {"AP": np.array([0.5])}, repeats={"AP": np.array([[0.5, 0.6]])})
    with pytest.raises(ValueError, match="expected a row for each of 1 queries"):
        Scores(pa.array(["q"]), {"AP": np.array([0.5])}, repeats={"AP": np.array([0.5])})
    with pytest.raises(ValueError, match="2 clusters of 1 queries"):
        Scores(pa.array(["q"]), {"AP": np.array([0.5])}, clusters=pa.array(["a", "b"]))


@pytest.mark.parametrize("test", [name for name in TESTS if name not in NOT_BY_CLUSTER])
def test_every_test_is_by_cluster(test: str) -> None:
    """With the outcome of `difference_test`, intervals of means by cluster, and the clusters in the method and the notes."""
    found = compare(test=test, clusters=DOCUMENTS)
    expected = difference_test(NEW["AP"], OLD["AP"], test, clusters=LABELS)
    contrast = found.contrast("new")

    assert isinstance(expected, Outcome)
    assert contrast.p == pytest.approx(expected.p)
    own = student_interval(NEW["AP"], clusters=LABELS)
    assert found.mean("new").interval == own
    assert own.method == "clustered"
    assert "by cluster (cluster)" in found.method
    assert "14 clusters of 1 to 3 queries (`cluster`) are the independent draws" in str(found)
    assert found.provenance.settings["cluster"] == "cluster"


def test_a_binary_measure_has_no_wilson_interval_by_cluster() -> None:
    """Its width is that of independent queries."""
    qrels = {query: {"a": 1} for query in QUERIES}
    runs = {
        name: {query: ["a", "b"] if number % k else ["b", "a"] for number, query in enumerate(QUERIES)}
        for name, k in (("old", 2), ("new", 5))
    }
    found = judged.compare(qrels, runs, "Success@1", clusters=DOCUMENTS)

    assert {mean.interval.method for mean in found.means if isinstance(mean.interval, Interval)} == {
        "clustered"
    }


@pytest.mark.parametrize("name", sorted(NOT_BY_CLUSTER))
def test_what_cannot_be_by_cluster_is_refused(name: str) -> None:
    """In words, with what can; so are extra tests that are asked for later."""
    settings = {"test": name} if name in TESTS else {"also": name}
    with pytest.raises(BadSample, match=r"cannot be by cluster \(`cluster`\)") as error:
        compare(clusters=DOCUMENTS, **settings)
    assert "randomisation, t, wilcoxon, sign, bootstrap" in str(error.value.hint)
    if name in EXTRA_TESTS:
        with pytest.raises(BadSample, match="cannot be by cluster"):
            compare(clusters=DOCUMENTS).with_extra_tests(name)


def test_every_test_is_by_cluster_or_is_refused() -> None:
    """None is forgotten, and no other is listed."""
    by_cluster = {"randomisation", "t", "wilcoxon", "sign", "bootstrap", "equivalence", "power", "agreement"}

    assert by_cluster | NOT_BY_CLUSTER.keys() == TESTS.keys() | EXTRA_TESTS.keys()
    assert not by_cluster & NOT_BY_CLUSTER.keys()
    made = compare(clusters=DOCUMENTS, also=["equivalence", "power", "agreement"])
    assert "clusters needed" in made.rows("power")[0]


def test_clusters_come_from_a_dict_an_attribute_or_the_scores(tmp_path: Path) -> None:
    """All the same; the attribute that names them is not a slice, and may have many values."""
    by_dict = compare(clusters=DOCUMENTS)
    slices = {query: {"document": DOCUMENTS[query], "kind": "ab"[int(query[1:]) % 2]} for query in QUERIES}
    by_attribute = compare(clusters="document", slices=slices)
    many = {query: {"document": query} for query in QUERIES}
    own = [Scores(s.queries, s.values, run=s.run, clusters=pa.array(LABELS)) for s in (OLD, NEW)]
    column = [
        Scores(s.queries, s.values, run=s.run, attributes={"document": pa.array(LABELS)}) for s in (OLD, NEW)
    ]
    turned = {"document": DOCUMENTS}

    expected = by_dict.contrast("new")
    assert by_attribute.contrast("new") == expected
    assert {name for name, _ in by_attribute.slices} == {"kind"}
    assert by_attribute.cluster == "document"
    assert compare(*own).contrast("new") == expected
    assert compare(*column, clusters="document").contrast("new") == expected
    assert compare(clusters="document", slices=turned).contrast("new") == expected
    assert compare(*column).cluster == ""
    each = compare(clusters="document", slices=many, test="t").contrast("new")
    assert each.p == pytest.approx(compare(test="t").contrast("new").p)
    by_dict.save(tmp_path / "clustered.json")
    again = judged.load(tmp_path / "clustered.json")
    assert str(again) == str(by_dict)
    assert judged.compare(tmp_path / "clustered.json", baseline="old").contrast("new").p == expected.p


def test_clusters_that_do_not_fit_are_refused() -> None:
    """A query without one, two for one query, a name that nothing has."""
    few = {query: cluster for query, cluster in DOCUMENTS.items() if query != "q07"}
    other = Scores(NEW.queries, NEW.values, run="new", clusters=pa.array(["x", *LABELS[1:]]))
    own = Scores(OLD.queries, OLD.values, run="old", clusters=pa.array(LABELS))

    with pytest.raises(
        BadSample, match=r"1 of 40 queries have no `cluster`: q07; expected the cluster of each"
    ):
        compare(clusters=few)
    with pytest.raises(BadSample, match="`cluster` of query `q00` is `d0` in one system and `x` in another"):
        compare(own, other)
    with pytest.raises(UnknownName, match="no attribute of the queries is called `document`"):
        compare(clusters="document")
    with pytest.raises(UnknownName, match="called `documnt`") as error:
        compare(clusters="documnt", slices={query: {"document": "d"} for query in QUERIES})
    assert "document" in str(error.value.hint)


def test_few_clusters_and_large_ones_are_warned_of() -> None:
    """By the numbers of the simulation; the bootstrap needs more of them."""
    five = {query: f"d{number // 8}" for number, query in enumerate(QUERIES)}
    huge = {query: "big" if number < 25 else query for number, query in enumerate(QUERIES)}

    def codes(**settings: object) -> set[str]:
        return {note.code for note in compare(**settings).notes if note.severity == "warning"}

    assert codes(clusters=five) == {"few-clusters"}
    assert codes(clusters=huge) == {"large-cluster"}
    assert codes(clusters={query: query for query in QUERIES}) == set()
    assert codes(clusters={query: query for query in QUERIES}, test="bootstrap") == {"few-clusters"}


def test_a_slice_that_splits_clusters_has_no_test_of_whether_it_matters() -> None:
    """One of whole clusters has."""
    slices = {
        query: {
            "document": DOCUMENTS[query],
            "half": "ab"[number % 2],
            "whole": "ab"[int(DOCUMENTS[query][1:]) % 2],
        }
        for number, query in enumerate(QUERIES)
    }
    found = {each.attribute: each for each in compare(clusters="document", slices=slices).interactions}

    assert str(found["half"].outcome) == "undefined: clusters with queries of several slices"
    assert found["whole"].p is not None


def test_missing_values_bound_the_difference() -> None:
    """By brute force: every missing value as the lowest and as the highest that AP can be."""
    old, new = make("old", 0.0, 1, without=(3, 30)), make("new", 0.1, 1, without=(7,))
    bounds = compare(old, new).rows("missing")[0]
    first, second = new.by_query("AP"), old.by_query("AP")
    means = []
    for x, y, z in product([0.0, 1.0], repeat=3):
        filled = {**first, "q07": x}, {**second, "q03": y, "q30": z}
        means.append(np.mean([filled[0][query] - filled[1][query] for query in QUERIES]))

    assert (bounds["low"], bounds["high"]) == pytest.approx((min(means), max(means)))
    assert (bounds["only_system"], bounds["only_baseline"], bounds["queries"]) == (2, 1, 37)
    assert (bounds["limits"], bounds["lowest"], bounds["highest"]) == ("measure", 0.0, 1.0)
    assert "missing" not in compare().tables()


def test_a_measure_of_unknown_range_is_bounded_by_what_was_observed() -> None:
    """And the table says so; queries that neither system has a value for are not in it."""
    old = Scores(pa.array(["a", "b", "c", "z"]), {"DCG": np.array([1.0, 2.0, 7.0, np.nan])}, run="old")
    new = Scores(pa.array(["a", "b", "z"]), {"DCG": np.array([2.0, 3.0, np.nan])}, run="new")
    found = compare(old, new)
    row = found.rows("missing")[0]

    assert (row["low"], row["high"]) == pytest.approx(((1 + 1 + 1 - 7) / 3, (1 + 1 + 7 - 7) / 3))
    assert row["limits"] == "observed"
    assert "1 to 7, observed" in str(found)
    assert "Missing values: the difference with each as the worst" in render_report([found])


@given(
    values=st.lists(
        st.tuples(*[st.one_of(st.none(), st.integers(0, 4)) for _ in range(3)]), min_size=2, max_size=9
    )
)
def test_bounds_hold_whatever_missing_values_are(values: list[tuple[int | None, ...]]) -> None:
    """For three systems, of which each lacks others; any values between 0 and 1 in their place lie within."""
    table = np.array([[np.nan if v is None else v / 4 for v in row] for row in values])
    if (~np.isnan(table)).all(axis=1).sum() == 0:
        return
    queries = pa.array([f"q{number}" for number in range(len(table))])
    systems = [Scores(queries, {"AP": column}, run=name) for name, column in zip("abc", table.T, strict=True)]
    found = judged.compare(systems)
    filled = np.where(np.isnan(table), RNG.random(table.shape), table)

    assert {(b.system, b.baseline) for b in found.missing_bounds} == {
        ("abc"[j], "abc"[i])
        for i, j in ((0, 1), (0, 2), (1, 2))
        if (np.isnan(table[:, i]) != np.isnan(table[:, j])).any()
    }
    for bound in found.missing_bounds:
        i, j = "abc".index(bound.system), "abc".index(bound.baseline)
        either = ~(np.isnan(table[:, i]) & np.isnan(table[:, j]))
        mean = (filled[either, i] - filled[either, j]).mean()
        assert bound.low - 1e-9 <= mean <= bound.high + 1e-9
        assert bound.low <= bound.high


def test_gates_are_by_cluster() -> None:
    """Wider bounds, the number of clusters in the text, and clusters that would be needed."""
    plain = judged.gate(NEW, baseline=OLD, min_delta=-0.05)["AP"].test
    for test in ("t", "randomisation"):
        report = judged.gate(NEW, baseline=OLD, min_delta=-0.05, clusters=DOCUMENTS, test=test)
        found = report["AP"].test

        assert found.clusters == 14
        assert found.difference == plain.difference
        assert "by 14 clusters" in report.text
        assert report.provenance.settings["cluster"] == "cluster"
        assert report.rows()[0]["clusters"] == 14
    even = judged.gate(SAME, baseline=OLD, min_delta=-0.01, clusters=DOCUMENTS)
    assert even.verdict == "inconclusive"
    assert f"about {even['AP'].test.needed} clusters would decide between equally good systems" in even.text
    with pytest.raises(BadSample, match="have no `cluster`"):
        judged.gate(NEW, baseline=OLD, clusters={"q00": "a"})


def test_the_commands_take_clusters_from_files(tmp_path: Path) -> None:
    """`compare` from `--attributes` and from `--slice`, `gate` from `--attributes` and from a file of gates."""
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 a 1\n" for query in QUERIES))
    for name, k in (("old", 3), ("new", 5)):
        rows = [
            f"{query} Q0 {d} {r} {9 - r} {name}\n"
            for number, query in enumerate(QUERIES)
            for r, d in enumerate("ab" if (number * 7) % k else "ba", 1)
        ]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    attributes = tmp_path / "documents.csv"
    attributes.write_text("query,document\n" + "".join(f"{q},{d}\n" for q, d in DOCUMENTS.items()))
    inputs = [str(tmp_path / name) for name in ("qrels.txt", "old.run", "new.run")]

    def run(*words: str) -> Called:
        return CliRunner().invoke(command, list(words), catch_exceptions=False)

    given = (*inputs, "-m", "RR", "--format", "json", "--cluster", "document")
    by_attributes = json.loads(run("compare", *given, "--attributes", str(attributes)).stdout)
    by_slice = json.loads(run("compare", *given, "--slice", str(attributes)).stdout)
    assert by_attributes["tables"]["differences"] == by_slice["tables"]["differences"]
    assert "by cluster (document)" in by_attributes["method"]
    missing = run("compare", *given)
    assert missing.exit_code == 2
    assert "no attribute of the queries is called `document`" in missing.output
    assert "--attributes FILE" in missing.output
    typo = run("compare", *given[:-1], "documant", "--attributes", str(attributes))
    assert "did you mean `document`?" in typo.output

    single = (*(inputs[0], inputs[2]), "--baseline", inputs[1], "-m", "RR", "--format", "json")
    gate = json.loads(run("gate", *single, "--cluster", "document", "--attributes", str(attributes)).stdout)
    assert gate["gates"][0]["verdict"] in {"pass", "inconclusive", "fail"}
    config = tmp_path / "gates.yaml"
    config.write_text(
        "gates:\n- qrels: qrels.txt\n  run: new.run\n  baseline: old.run\n  measures: RR\n"
        "  cluster: document\n  attributes: documents.csv\n"
    )
    from_file = json.loads(run("gate", "--config", str(config), "--format", "json").stdout)
    assert from_file["tables"]["measures"][0]["clusters"] == gate["tables"]["measures"][0]["clusters"] == 14
    assert (
        "`--attributes` has no effect without `--cluster NAME`"
        in run("gate", *single, "--attributes", str(attributes)).output
    )


def test_scores_have_a_row_for_each_attempt_and_a_column_of_clusters() -> None:
    """The mean of the attempts of a query is its value; a measure that is not repeated has one."""
    scores = Scores(
        pa.array(["a", "b"]),
        {"AP": np.array([0.5, 0.25]), "RR": np.array([1.0, 0.5])},
        repeats={"AP": np.array([[0.25, np.nan, 0.75], [np.nan, 0.25, np.nan]])},
        clusters=pa.array(["d", "d"]),
    )

    assert scores.to_arrow("attempts").to_pylist() == [
        {"query": query, "measure": measure, "attempt": attempt, "value": value}
        for query, measure, attempt, value in (
            ("a", "AP", 1, 0.25),
            ("a", "AP", 2, 0.75),
            ("b", "AP", 1, 0.25),
            ("a", "RR", 1, 1.0),
            ("b", "RR", 1, 0.5),
        )
    ]
    assert scores.to_arrow()["cluster"].to_pylist() == ["d"] * 4
    assert scores.to_arrow("wide").column_names == ["query", "AP", "RR", "cluster"]

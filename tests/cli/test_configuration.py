"""The configuration file, the published one first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from judged.cli.configuration import read_configuration
from judged.errors import BadProtocol, UnknownName

Invoke = Callable[..., Result]

PUBLISHED = """\
retrieval_metrics:
  enabled_metrics:
    - hit@1
    - hit@3
    - hit@5
    - hit@10
    - ndcg@5
    - ndcg@10
    - mrr
    - map@10

  graded_relevance: false  # Enable graded relevance scoring

  statistical_analysis:
    confidence_intervals: true
    significance_testing: true
    alpha_level: 0.05

  performance:
    batch_size: 100
    caching_enabled: true
    parallel_processing: true
"""
MEASURES = ["Success@1", "Success@3", "Success@5", "Success@10", "nDCG@5", "nDCG@10", "RR", "AP@10"]


@pytest.fixture
def published(collection: Path) -> str:
    """The configuration as the source document has it."""
    (collection / "004.yaml").write_text(PUBLISHED)
    return "004.yaml"


def test_the_published_file_is_accepted_unchanged(invoke: Invoke, published: str) -> None:
    """Its measures are computed, with intervals and the comparison of the two runs."""
    result = invoke("score", "qrels.txt", "bm25.run", "dense.run", "--config", published, "--format", "json")
    document = json.loads(result.stdout)

    tables = document["tables"]

    assert [row["measure"] for row in tables["means"] if row["system"] == "bm25"] == MEASURES
    assert all(row["low"] <= row["value"] <= row["high"] for row in tables["means"])
    assert [row["measure"] for row in tables["Paired t-tests against bm25"]] == MEASURES


def score_of_q1(document: str) -> float:
    """Return nDCG@10 of the query q1 in the JSON of scores."""
    rows = json.loads(document)["tables"]["scores"]
    return next(row["value"] for row in rows if (row["query"], row["measure"]) == ("q1", "nDCG@10"))


def test_grades_are_made_binary_where_graded_relevance_is_off(invoke: Invoke, published: str) -> None:
    """nDCG@10 of q1 with d1 as 1: 1 / (1 + 1/log₂3) = 0.6131; graded it is 0.7602."""
    result = invoke(
        "score", "qrels.txt", "bm25.run", "--config", published, "--per-query", "--format", "json"
    )
    assert round(score_of_q1(result.stdout), 4) == 0.6131
    assert "every positive grade counts as 1" in result.stderr


@pytest.mark.parametrize("line", ["graded_relevance: true", ""])
def test_grades_are_kept_otherwise(invoke: Invoke, collection: Path, line: str) -> None:
    """Switched on, or not mentioned, grades stay as they are."""
    (collection / "c.yaml").write_text(f"retrieval_metrics:\n  enabled_metrics: [ndcg@10]\n  {line}\n")
    result = invoke("score", "qrels.txt", "bm25.run", "--config", "c.yaml", "--per-query", "--format", "json")

    assert round(score_of_q1(result.stdout), 4) == 0.7602


def test_intervals_are_shown_beside_the_means(invoke: Invoke, published: str) -> None:
    """AP@10 of 0.5, 0.5, 0: 1/3 ± 0.7171 by scipy 1.17.1 `t.interval(0.95, 2, 1/3, 1/6)`, within the scale of AP."""
    result = invoke("score", "qrels.txt", "bm25.run", "--config", published, "-m", "AP@10")

    assert result.stdout.splitlines()[-1] == "bm25    0.3333 [0.0000, 1.0000]"
    assert "95 % confidence interval" in result.stderr


def test_comparisons_show_p_corrected_p_effect_and_stars(invoke: Invoke, published: str) -> None:
    """AP@10 differs by 1/12, 1/2, 0: scipy 1.17.1 `ttest_1samp([1/12, .5, 0], 0)` has t 1.2572, p 0.3356."""
    result = invoke("score", "qrels.txt", "bm25.run", "dense.run", "--config", published, "-m", "AP@10 RR")
    lines = result.stdout.splitlines()

    assert "Paired t-tests against bm25" in lines
    assert lines[-2].split() == [
        "dense",
        "AP@10",
        "3",
        "0.1944",
        "1.2572",
        "0.3356",
        "0.6712",
        "0.7259",
        "ns",
    ]
    assert lines[-1].split() == ["dense", "RR", "3", "0.0000", "0.0000", "1.0000", "1.0000", "0.0000", "ns"]


def test_one_run_has_nothing_to_be_compared_with(invoke: Invoke, published: str) -> None:
    """A note says that the test was asked for and could not be made."""
    result = invoke("score", "qrels.txt", "bm25.run", "--config", published)

    assert result.exit_code == 0
    assert "needs two runs or more" in result.stderr


def test_settings_without_effect_are_reported(invoke: Invoke, published: str) -> None:
    """Batch size and caching are accepted and change nothing."""
    result = invoke("score", "qrels.txt", "bm25.run", "--config", published)

    assert "`batch_size` has no effect" in result.stderr
    assert "`caching_enabled` has no effect" in result.stderr


def test_options_go_before_the_file(invoke: Invoke, published: str) -> None:
    """`-m` replaces the measures of the file."""
    result = invoke("score", "qrels.txt", "bm25.run", "--config", published, "-m", "RR", "--format", "csv")

    assert result.stdout.splitlines()[0] == "system,RR,RR low,RR high"


def test_the_file_may_set_the_protocol(invoke: Invoke, collection: Path) -> None:
    """A profile and departures from it; options still go before."""
    (collection / "c.yaml").write_text("protocol:\n  profile: trec_eval-10\n  missing: skip\n  depth: 5\n")
    result = invoke(
        "score", "qrels.txt", "bm25.run", "--config", "c.yaml", "--depth", "7", "--format", "json"
    )
    (protocol,) = json.loads(result.stdout)["provenance"]["protocols"]

    assert (protocol["precision"], protocol["missing"], protocol["depth"]) == ("float64", "skip", 7)


def test_parallel_work_can_be_switched_off(tmp_path: Path) -> None:
    """`parallel_processing: false` means one thread; otherwise the number is chosen."""
    path = tmp_path / "c.yaml"
    path.write_text("retrieval_metrics:\n  performance:\n    parallel_processing: false\n")
    off = read_configuration(path).threads
    path.write_text("retrieval_metrics:\n  performance:\n    parallel_processing: true\n")

    assert (off, read_configuration(path).threads) == (1, None)


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    """A comment sets nothing."""
    path = tmp_path / "c.yaml"
    path.write_text("# nothing\n")
    configuration = read_configuration(path)

    assert not configuration.binary
    assert configuration.conventions() == {}


def test_an_unknown_setting_is_named_with_its_path_and_what_was_meant(tmp_path: Path) -> None:
    """A slip in a key is not ignored."""
    path = tmp_path / "c.yaml"
    path.write_text(PUBLISHED.replace("alpha_level", "alpha_levle"))
    with pytest.raises(UnknownName) as caught:
        read_configuration(path)

    assert "`retrieval_metrics.statistical_analysis.alpha_levle`" in str(caught.value)
    assert "did you mean `retrieval_metrics.statistical_analysis.alpha_level`?" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("retrieval_metrics: 3\n", "`retrieval_metrics`: expected `object`, got `int`"),
        (PUBLISHED.replace("0.05", "many"), "alpha_level`: expected `float`, got `str`"),
        (PUBLISHED.replace("0.05", "5"), "`alpha_level` is 5.0, expected a number between 0 and 1"),
        (PUBLISHED.replace("false ", "maybe "), "graded_relevance`: expected `bool"),
        ("a: [\n", "line 2"),
        ("- a\n- b\n", "expected `object`, got `array`"),
    ],
)
def test_values_that_make_no_sense_are_worded(tmp_path: Path, content: str, message: str) -> None:
    """What is wrong, where, and what was expected."""
    path = tmp_path / "c.yaml"
    path.write_text(content)
    with pytest.raises(BadProtocol) as caught:
        read_configuration(path)

    assert message in str(caught.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """A binary file is not a configuration, and not a crash."""
    path = tmp_path / "c.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadProtocol):
        read_configuration(path)

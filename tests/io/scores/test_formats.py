"""Every format of scores reads the files of its tool: the values that the tool computed, by query, with their directions."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from math import isnan
from pathlib import Path

import pytest

from judged.errors import BadInput, JudgedError, UnknownName, Unreadable
from judged.io.scores.content import open_content
from judged.io.scores.format import GENERAL, SCORE_FORMATS, find_format
from judged.io.scores.read import read_file, read_scores
from judged.tables.scores import Scores

GOLDEN = Path(__file__).parents[2] / "golden" / "scores"
LOUVRE, FAUST, SUM = "Where is the Louvre?", "Who wrote Faust?", "What is 2 + 2?"


def read_alone(name: str) -> Scores:
    """Return the scores of the only system in a golden file."""
    (scores,) = read_scores(GOLDEN / name).values()
    return scores


def list_values(scores: Scores, measure: str) -> dict[str, float | None]:
    """Return the values by query; None where one is missing."""
    return {query: None if isnan(value) else value for query, value in scores.by_query(measure).items()}


FILES = {
    "ragas.csv": "ragas",
    "ragas.json": "ragas",
    "ragas.jsonl": "ragas",
    "deepeval.json": "deepeval",
    "deepeval-latest.json": "deepeval",
    "promptfoo.json": "promptfoo",
    "promptfoo.jsonl": "promptfoo",
    "trec-eval.txt": "lines",
    "ir-measures.txt": "lines",
    "inspect-ai.json": "inspect-ai",
    "inspect-ai.eval": "inspect-ai",
    "lm-eval.jsonl": "lm-eval",
    "langsmith.csv": "langsmith",
    "langsmith.jsonl": "langsmith",
    "langfuse.json": "langfuse",
    "phoenix.json": "phoenix",
    "phoenix.csv": "phoenix",
    "braintrust.json": "braintrust",
    "braintrust-eval.json": "braintrust",
}


@pytest.mark.parametrize("name", FILES)
def test_each_file_is_read_as_what_wrote_it(name: str) -> None:
    """By its keys or columns, whatever it is called."""
    assert find_format(open_content((GOLDEN / name).read_bytes())).name == FILES[name]
    assert read_file(GOLDEN / name).format.name == FILES[name]


def test_every_format_has_a_file() -> None:
    """Of the tool itself, or after its documentation; `SOURCES.md` says which."""
    listed = (GOLDEN / "SOURCES.md").read_text()

    assert {*FILES.values(), "means", *GENERAL} == set(SCORE_FORMATS)
    assert [
        path.name for path in GOLDEN.iterdir() if f"`{path.name}`" not in listed and path.suffix != ".md"
    ] == []


@pytest.mark.parametrize("name", FILES)
def test_no_other_tool_claims_a_file(name: str) -> None:
    """Signatures exclude each other."""
    content = open_content(GOLDEN / name)

    claims = [
        known for known in SCORE_FORMATS if known not in GENERAL and SCORE_FORMATS[known].recognises(content)
    ]
    assert claims == [FILES[name]]


def test_ragas_is_read_by_question() -> None:
    """All columns of numbers, each a metric of ragas that lies between 0 and 1; the overlaps are those of the words."""
    scores = read_alone("ragas.csv")

    assert list_values(scores, "exact_match") == {LOUVRE: 0, FAUST: 0, SUM: 1, "How tall is Everest?": 0}
    assert list_values(scores, "non_llm_context_recall") == {
        LOUVRE: 1,
        FAUST: 0.5,
        SUM: 0,
        "How tall is Everest?": 1,
    }
    assert {kind.higher_is_better for kind in scores.kinds.values()} == {True}
    assert {kind.bounds for kind in scores.kinds.values()} == {(0.0, 1.0)}
    assert "response" in scores.attributes


@pytest.mark.parametrize("other", ["ragas.json", "ragas.jsonl"])
def test_ragas_is_the_same_in_every_file(other: str) -> None:
    """To the ten digits that pandas writes in JSON."""
    first, second = read_alone("ragas.csv"), read_alone(other)

    assert first.queries == second.queries
    assert list(first.values) == list(second.values)
    for name in first.values:
        assert first[name] == pytest.approx(second[name], abs=1e-9)


@pytest.mark.parametrize("name", ["deepeval.json", "deepeval-latest.json"])
def test_deepeval_is_read_by_input(name: str) -> None:
    """`test_case_0` is a place in a list and not an id; a metric that failed has no value; verdicts show directions."""
    scores = read_alone(name)

    assert list_values(scores, "Word Overlap [custom]") == {
        "How tall is Everest?": pytest.approx(2 / 3),
        SUM: 1.0,
        LOUVRE: pytest.approx(2 / 3),
        FAUST: 0.5,
        "Will it fail?": None,
    }
    assert scores.kinds["Word Overlap [custom]"].higher_is_better is True
    assert scores.kinds["Word Distance"].higher_is_better is False


def test_promptfoo_has_a_system_for_each_provider() -> None:
    """Repetitions are attempts, named scores are measures, and the country is the question."""
    systems = read_scores(GOLDEN / "promptfoo.json")

    assert set(systems) == {"first", "second"}
    assert list_values(systems["first"], "Country") == {"France": 1.0, "Japan": 1.0, "Peru": 0.0}
    assert list_values(systems["second"], "names the city") == {"France": 0.0, "Japan": 0.0, "Peru": 0.0}
    assert list_values(systems["first"], "score") == {"France": 1.0, "Japan": 1.0, "Peru": 0.5}
    assert systems["first"].repeats["Country"].shape == (3, 2)


def test_errors_of_promptfoo_are_missing_values() -> None:
    """The provider had no connection for Peru, which says nothing about its answer; promptfoo writes a score of 0."""
    file = read_file(GOLDEN / "promptfoo.jsonl")

    assert list_values(file.systems["second"], "score") == {"France": 1.0375, "Japan": 1.025, "Peru": None}
    assert list_values(file.systems["first"], "word") == {"France": 1.0, "Japan": 1.0, "Peru": 0.0}
    assert file.systems["first"].repeats["word"].shape == (3, 2)
    assert "2 tests ended with an error" in str(file.content.notes)


@pytest.mark.parametrize(("name", "measure"), [("trec-eval.txt", "map"), ("ir-measures.txt", "AP")])
def test_lines_of_trec_eval_and_ir_measures_have_the_query_where_it_is(name: str, measure: str) -> None:
    """The measure stands before the query in one and behind it in the other; `all` is no query, and counts do not win."""
    file = read_file(GOLDEN / name)
    (scores,) = file.systems.values()
    lines = [line.split() for line in (GOLDEN / name).read_text().splitlines()]
    printed = {({*line} - {measure, line[2]}).pop(): float(line[2]) for line in lines if measure in line[:2]}

    assert scores.by_query(measure) == {query: value for query, value in printed.items() if query != "all"}
    missing = "the mean of the queries is 0.3725" in str(
        file.content.notes
    )  # `-c` counts a query that is not printed
    assert scores[measure].mean() == pytest.approx(printed["all"] * (4 / 3 if missing else 1), abs=1e-3)
    assert missing == (name == "trec-eval.txt")
    assert scores.kinds[measure].higher_is_better is True
    assert "relstring" not in scores.values
    assert "num_ret" not in scores.values or scores.kinds["num_ret"].higher_is_better is None
    assert "rows of `all` are left out" in str(file.content.notes)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"map all 0.3\nndcg all 0.4\n", "holds a summary of all queries"),
        (b"a b 0.3\nc d 0.4\n", "`a` and `b` could each be the measure"),
        (b"map q1 0.3\nmap q2\n", "2 values, expected three"),
    ],
)
def test_lines_that_cannot_be_understood_are_refused(content: bytes, message: str) -> None:
    """Both readings are named."""
    with pytest.raises(BadInput, match=message):
        read_scores(content)


def test_a_log_of_inspect_that_was_not_finished_says_so() -> None:
    """In both formats: what is there may be a part."""
    log = json.loads((GOLDEN / "inspect-ai.json").read_text())
    stopped = {**log, "status": "cancelled", "error": {"message": "by hand"}}
    archive = io.BytesIO((GOLDEN / "inspect-ai.eval").read_bytes())
    cut = io.BytesIO()
    with zipfile.ZipFile(archive) as whole, zipfile.ZipFile(cut, "w") as part:
        for entry in whole.infolist():
            if entry.filename.startswith("samples/") and entry.compress_type in {0, 8}:
                part.writestr(entry.filename, whole.read(entry))
    sources = [stopped, *([cut.getvalue()] if len(part.namelist()) else [])]

    for source in sources:
        assert "samples may be missing" in str(read_file(source).content.notes)
    assert "samples may be missing" not in str(read_file(GOLDEN / "inspect-ai.eval").content.notes)
    with pytest.raises(BadInput) as caught:
        read_file({**stopped, "samples": []})
    assert "the status of the evaluation is `cancelled` (by hand)" in (caught.value.hint or "")


@pytest.mark.parametrize("name", ["inspect-ai.json", "inspect-ai.eval"])
def test_epochs_of_inspect_are_attempts(name: str) -> None:
    """Three of each sample; C is 1 and I is 0, and the mean over samples is Inspect's own accuracy, 2/3."""
    scores = read_alone(name)
    log = json.loads((GOLDEN / "inspect-ai.json").read_text())
    own = {
        score["name"]: next(iter(score["metrics"].values()))["value"] for score in log["results"]["scores"]
    }

    assert scores.queries.to_pylist() == ["c1", "c2", "c3", "c4"]
    assert scores.repeats["includes"].tolist() == [[1, 1, 0], [1, 0, 1], [1, 1, 0], [0, 1, 1]]
    assert scores["includes"].mean() == pytest.approx(own["includes"])
    assert scores["facets/grounded"].mean() == pytest.approx(own["grounded"])
    assert scores["facets/length"].mean() == pytest.approx(own["length"])
    assert scores.kinds["includes"].higher_is_better is True
    assert scores.kinds["facets/length"].higher_is_better is None
    assert scores.attributes["region"].to_pylist() == ["eu", "as", "af", "am"]


def test_filters_of_lm_eval_are_part_of_the_name() -> None:
    """As the harness writes them; the means are its own, and a metric of a whole corpus has no value for a sample."""
    scores = read_alone("lm-eval.jsonl")
    own = json.loads((GOLDEN / "lm-eval-results.json").read_text())["results"]["tiny_qa"]

    assert list(scores.values) == ["exact_match,strict-match", "exact_match,flexible-extract"]
    for name in scores.values:
        assert scores[name].mean() == pytest.approx(own[name])
        assert scores.kinds[name].higher_is_better is True
    assert [note.message for note in scores.notes] == ["`bleu` has no value for a single sample: not read"]


@pytest.mark.parametrize("name", ["langsmith.csv", "langsmith.jsonl"])
def test_feedback_of_langsmith_is_read_by_example(name: str) -> None:
    """Truths are 0 and 1, and the key may have blanks."""
    scores = read_alone(name)

    assert scores.texts.to_pylist() == [LOUVRE, FAUST, SUM]
    assert scores["correctness"].tolist() == [1, 0, 0]
    assert scores.kinds["correctness"].binary
    assert scores["word overlap"].tolist() == [1, 0.5, 0]
    assert scores.queries[0].as_py() == "00000000-0000-0000-0000-000000000064"


def test_scores_of_langfuse_are_read_by_trace() -> None:
    """Numbers and truths; a category is named and left out."""
    scores = read_alone("langfuse.json")

    assert list_values(scores, "helpfulness") == {"t1": 0.9, "t2": 0.4}
    assert list_values(scores, "is correct") == {"t1": 1.0, "t2": 0.0}
    assert scores.kinds["is correct"].binary
    assert [note.message for note in scores.notes] == ["`tone` is categorical, not a number: not read"]


@pytest.mark.parametrize("name", ["phoenix.json", "phoenix.csv"])
def test_repetitions_of_phoenix_are_attempts(name: str) -> None:
    """By example; an annotation that failed has no score."""
    scores = read_alone(name)

    assert scores.texts.to_pylist() == [LOUVRE, FAUST]
    assert scores.repeats["correctness"].tolist()[0] == [1.0, 0.0]
    assert [None if isnan(value) else value for value in scores["correctness"]] == [0.5, None]
    assert scores["latency_ms"].tolist() == [100.5, 100.0]


def test_rows_of_braintrust_are_known_by_their_record() -> None:
    """Of the data set where there is one, else by the input; spans inside a row have no scores."""
    fetched, own = read_alone("braintrust.json"), read_alone("braintrust-eval.json")

    assert list_values(fetched, "Brevity") == {"row-1": 0.5, "row-2": None}
    assert list_values(own, "overlap") == {LOUVRE: 1.0, FAUST: 0.5, SUM: 0.0}
    assert fetched.kinds["Factuality"].higher_is_better is True


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mteb.json", "the means of an MTEB task"),
        ("sentence-transformers.csv", "the means of a sentence-transformers evaluator"),
        ("lm-eval-results.json", "the means of lm-evaluation-harness"),
    ],
)
def test_means_are_refused_with_what_holds_the_scores(name: str, words: str) -> None:
    """No test can compare them."""
    with pytest.raises(BadInput, match=words) as caught:
        read_scores(GOLDEN / name)

    assert caught.value.hint


def test_a_file_of_two_tools_is_refused_with_both_named(tmp_path: Path) -> None:
    """A frame of ragas that someone joined with feedback of LangSmith; naming one reads it."""
    path = tmp_path / "both.csv"
    path.write_text("user_input,response,inputs.q,feedback.x,faithfulness\nWhy?,So,Why?,1,0.5\n")
    with pytest.raises(BadInput, match="can be read as scores of `ragas` and `langsmith`"):
        read_scores(path)

    assert list(read_scores(path, format="langsmith")["both"].values) == ["x"]
    with pytest.raises(UnknownName, match="no format of scores is called `ragsa`"):
        read_scores(path, format="ragsa")


@pytest.mark.parametrize("cut", [10, 1_000, 20_000])
def test_a_log_that_is_cut_short_is_refused(cut: int) -> None:
    """In words."""
    data = (GOLDEN / "inspect-ai.eval").read_bytes()
    with pytest.raises(JudgedError):
        read_scores(data[:cut])


def test_an_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    """As a spreadsheet is one."""
    import zipfile

    path = tmp_path / "sheet.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    with pytest.raises(BadInput, match="holds no scores by query: a ZIP archive"):
        read_scores(path)


def test_a_result_in_memory_is_read_by_its_frame() -> None:
    """Results of ragas and LangSmith have `to_pandas`."""
    pandas = pytest.importorskip("pandas", reason="the extra `pandas` is not installed")

    class Result:
        def to_pandas(self) -> object:
            with (GOLDEN / "ragas.csv").open(newline="") as file:
                rows = list(csv.DictReader(file))
            return pandas.DataFrame(rows)

    (scores,) = read_scores(Result(), name="bot").values()
    assert (scores.run, len(scores.queries)) == ("bot", 4)
    assert scores["exact_match"].tolist() == read_alone("ragas.csv")["exact_match"].tolist()


def test_a_folder_is_answered_with_what_is_in_it(tmp_path: Path) -> None:
    """Each of its files is a system."""
    (tmp_path / "a.csv").write_text("id,x\n1,2\n")
    with pytest.raises(Unreadable, match=r"is a folder \(a.csv\), expected a file of scores"):
        read_scores(tmp_path)

"""Studies in YAML: what is wrong is named by its place, and the published schema says the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from judged.errors import JudgedError
from judged.studies.specification import DEMO_STUDY, make_schema, read_study
from support.studies import own

ROOT = Path(__file__).resolve().parents[2]
STUDIES = [DEMO_STUDY, *sorted((ROOT / "examples").glob("*.yaml"))]
WORDS = {"name": "words", "search": "bm25"}


def study(*systems: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """A study of the built-in collection."""
    return {"collection": "demo", "systems": list(systems), **settings}


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.name)
def test_every_study_of_the_project_is_valid(path: Path) -> None:
    """It is read without complaint, and the schema for editors accepts it."""
    assert read_study(path).systems
    jsonschema.validate(yaml.safe_load(path.read_text()), make_schema())


def test_the_schema_is_one() -> None:
    """It is a valid schema itself, and describes every setting of a study."""
    schema = make_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    settings = schema["$defs"]["StudySpec"]["properties"]

    assert {"collection", "systems", "measures", "baseline", "cutoffs", "repeats"} <= settings.keys()


BAD: list[tuple[str, dict[str, Any], str, str]] = [
    ("an unknown setting", study(WORDS, measure=["AP"]), "measure", "measures"),
    (
        "an unknown setting of a stage",
        study(WORDS, {"name": "b", "encoder": {"type": "byt5", "modle": "x"}, "search": "exact"}),
        "systems[1].encoder.modle",
        "model",
    ),
    (
        "an unknown type of stage",
        study({"name": "a", "encoder": {"type": "byt6"}, "search": "exact"}),
        "systems[0].encoder.type",
        "byt5",
    ),
    ("a searcher that does not exist", study({"name": "a", "search": "bm52"}), "systems[0]", "bm25"),
    (
        "a wrong kind of value",
        study(WORDS, {"name": "b", "search": {"type": "bm25", "k1": "high"}}),
        "systems[1].search.k1",
        "float",
    ),
    ("no systems", study(), "systems", "one system or more"),
    ("two systems of one name", study(WORDS, WORDS), "systems[1].name", "another system"),
    ("a way too many", study({**WORDS, "base": "x"}), "systems[0]", "`search` and `base`"),
    ("no way to find documents", study({"name": "a"}), "systems[0]", "none"),
    ("vectors without an encoder", study({"name": "a", "search": "exact"}), "systems[0]", "encoder"),
    (
        "a part that does not exist",
        study(WORDS, {"name": "f", "fuse": {"of": ["words", "wrods"]}}),
        "systems[1].fuse",
        "words",
    ),
    ("a circle", study({"name": "a", "base": "b"}, {"name": "b", "base": "a"}), "systems", "a → b → a"),
    ("a baseline that does not exist", study(WORDS, baseline="word"), "baseline", "words"),
    ("a measure that does not exist", study(WORDS, measures=["nDGC@5"]), "measures", "nDCG"),
    ("a measure without cutoffs", study(WORDS, measures=["P@k"]), "cutoffs", "cutoffs: [1, 5, 10]"),
    ("a negative cutoff", study(WORDS, measures=["P@k"], cutoffs=[0]), "cutoffs", "from 1"),
    ("no repeats", study(WORDS, repeats=0), "repeats", "from 1"),
    ("all queries for training", study(WORDS, train=1.0), "train", "below 1"),
    (
        "tuning without training",
        study(
            WORDS,
            {"name": "x", "search": "tantivy"},
            {"name": "f", "fuse": {"of": ["words", "x"], "method": "wsum", "tune": {}}},
        ),
        "systems[2]",
        "train: 0.3",
    ),
    (
        "a fusion that does not exist",
        study(
            WORDS,
            {"name": "x", "search": "tantivy"},
            {"name": "f", "fuse": {"of": ["words", "x"], "method": "rff"}},
        ),
        "systems[2]",
        "rrf",
    ),
    ("a fusion of one", study(WORDS, {"name": "f", "fuse": {"of": ["words"]}}), "systems[1]", "two or more"),
    (
        "a password in the open",
        study(
            {
                "name": "a",
                "encoder": own(),
                "search": {"type": "index", "engine": "pgvector-exact", "url": "postgresql://me:secret@db/x"},
            }
        ),
        "systems[0].search",
        "environment variable",
    ),
    ("a name that is a path", study({"name": "../words", "search": "bm25"}), "systems[0]", "letters"),
    (
        "a collection of two files",
        {**study(WORDS), "collection": {"documents": "a", "queries": "b"}},
        "collection",
        "neither a folder nor judgments",
    ),
    (
        "a folder and files",
        {**study(WORDS), "collection": {"folder": "a", "judgments": "b"}},
        "collection",
        "both a folder and files",
    ),
    (
        "a search without documents",
        {**study(WORDS), "collection": {"judgments": "a"}},
        "systems[0].search",
        "needs the texts of documents",
    ),
    (
        "a reranker without documents",
        {
            **study(
                {
                    "name": "a",
                    "retriever": "parts:retrieve",
                    "rerank": {"type": "function", "function": "parts:backwards"},
                }
            ),
            "collection": {"judgments": "a"},
        },
        "systems[0].rerank",
        "needs the texts of documents",
    ),
    (
        "a retriever that is only a type",
        study({"name": "a", "retriever": "elasticsearch"}),
        "systems[0]",
        "write `{type: elasticsearch, …}`",
    ),
    (
        "a stage that needs settings",
        study({"name": "a", "encoder": "function", "search": "exact"}),
        "systems[0]",
        "type: function",
    ),
]


@pytest.mark.parametrize(
    ("content", "place", "word"), [case[1:] for case in BAD], ids=[case[0] for case in BAD]
)
def test_what_is_wrong_is_named_by_its_place(content: dict[str, Any], place: str, word: str) -> None:
    """One error, with the path in the file, what was found and what was expected."""
    with pytest.raises(JudgedError) as error:
        read_study(content)
    message = str(error.value)

    assert f"`{place}`" in message
    assert word in message


def test_a_syntax_error_names_its_line(tmp_path: Path) -> None:
    """YAML that cannot be parsed is refused with the line."""
    path = tmp_path / "study.yaml"
    path.write_text("collection: demo\nsystems: [\n")

    with pytest.raises(JudgedError, match=r"study\.yaml, line 3"):
        read_study(path)


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    """A study can be run from any folder."""
    (tmp_path / "study.yaml").write_text(yaml.safe_dump({**study(WORDS), "collection": "pets"}))
    collection = read_study(tmp_path / "study.yaml").collection

    assert collection.folder == str(tmp_path / "pets")  # type: ignore[union-attr]


def test_cutoffs_stand_for_k() -> None:
    """`P@k` is every cutoff; a measure with a cutoff of its own is left as it is."""
    spec = read_study(study(WORDS, measures=["P@k", "nDCG@3"], cutoffs=[1, 10]))

    assert spec.measure_names() == ("P@1", "P@10", "nDCG@3")


def test_parts_come_before_wholes() -> None:
    """A fusion that is declared first is run last."""
    systems = (
        {"name": "f", "fuse": {"of": ["a", "b"]}},
        {"name": "a", "search": "bm25"},
        {"name": "b", "encoder": own(), "search": "exact"},
    )

    assert [spec.name for spec in read_study(study(*systems)).order()] == ["a", "b", "f"]

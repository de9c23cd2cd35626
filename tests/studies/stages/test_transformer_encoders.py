"""ByT5, CANINE and other transformers as encoders: pooled as by hand, alone or in batches, trained or said not to be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from judged.studies.stages.encoders.transformers import ByT5, Canine, Transformers, pool_states
from judged.studies.stages.stage import StageFailed
from support.pipelines import TEXTS, read_spec

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

KINDS = {"byt5": ByT5, "canine": Canine, "bert": Transformers}
EVERY = pytest.mark.parametrize("name", KINDS)
MANY = [*TEXTS, "", "x", "a b", "long " * 40]


def compute_states(folder: Path, name: str, text: str) -> Any:
    """Return the last states of the tokens of one text alone, by plain `transformers`."""
    kind = {"byt5": "T5EncoderModel", "canine": "CanineModel", "bert": "BertModel"}[name]
    tokenizers = {"byt5": "ByT5Tokenizer", "canine": "CanineTokenizer", "bert": "BertTokenizer"}
    network = getattr(transformers, kind).from_pretrained(folder / name).eval()
    tokens = getattr(transformers, tokenizers[name]).from_pretrained(folder / name)(text, return_tensors="pt")
    with torch.no_grad():
        return network(
            input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"]
        ).last_hidden_state[0]


@EVERY
def test_the_vector_is_the_mean_of_the_last_states(name: str, models: Path) -> None:
    """The mean over all tokens of `last_hidden_state` of the text alone, as `transformers` computes it."""
    encoder = KINDS[name](model=str(models / name)).load(())
    text = "a dog chased the cat"
    expected = compute_states(models, name, text).mean(dim=0).numpy()

    assert encoder.encode_query(text) == pytest.approx(expected, abs=1e-5)
    assert encoder.dimensions == 24
    assert not encoder.untrained


@EVERY
def test_vectors_depend_neither_on_the_batch_nor_on_padding(name: str, models: Path) -> None:
    """Every text has the same vector alone, in a batch, and in a batch in another order."""
    encoder = KINDS[name](model=str(models / name)).load(())
    together = encoder.encode_documents(MANY)
    alone = np.stack([encoder.encode_documents([text])[0] for text in MANY])
    reversed_ = encoder.encode_documents(MANY[::-1])[::-1]

    assert together.dtype == np.float32
    assert together == pytest.approx(alone, abs=1e-5)
    assert reversed_ == pytest.approx(alone, abs=1e-5)


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_each_pooling_is_what_it_is_called(pooling: Any, models: Path) -> None:
    """The first state, the largest of each dimension, or the mean."""
    encoder = Transformers(model=str(models / "bert"), pooling=pooling).load(())
    states = compute_states(models, "bert", TEXTS[0])
    expected = {"mean": states.mean(dim=0), "cls": states[0], "max": states.max(dim=0).values}[pooling]

    assert encoder.encode_documents(list(TEXTS))[0] == pytest.approx(expected.numpy(), abs=1e-5)


def test_a_text_without_tokens_has_the_vector_0() -> None:
    """Padding alone is pooled to zeros by every pooling, whatever its states are."""
    states = torch.full((1, 3, 2), float("nan"))
    mask = torch.zeros((1, 3), dtype=torch.int64)

    for pooling in ("mean", "cls", "max"):
        assert pool_states(states, mask, pooling).tolist() == [[0.0, 0.0]]


def test_prefixes_stand_before_queries_and_documents(models: Path) -> None:
    """`query: x` as a query has the vector of that text without a prefix."""
    plain = Transformers(model=str(models / "bert")).load(())
    prefixed = Transformers(model=str(models / "bert"), query_prefix="a ", document_prefix="the ").load(())

    assert prefixed.encode_query("cat") == pytest.approx(plain.encode_query("a cat"), abs=1e-6)
    assert prefixed.encode_documents(["cat"])[0] == pytest.approx(plain.encode_query("the cat"), abs=1e-6)


def test_normalised_vectors_have_length_1(models: Path) -> None:
    """In the same direction as before."""
    plain = ByT5(model=str(models / "byt5")).load(()).encode_documents(list(TEXTS))
    scaled = ByT5(model=str(models / "byt5"), normalise=True).load(()).encode_documents(list(TEXTS))

    assert np.linalg.norm(scaled, axis=1) == pytest.approx(1, abs=1e-6)
    assert scaled == pytest.approx(plain / np.linalg.norm(plain, axis=1, keepdims=True), abs=1e-6)


def test_texts_are_cut_at_the_limit(models: Path) -> None:
    """ByT5 reads bytes: with 4 of them, three letters and the sign for the end, what follows changes nothing."""
    encoder = ByT5(model=str(models / "byt5"), max_length=4).load(())

    assert encoder.encode_query("abcdef") == pytest.approx(encoder.encode_query("abc"), abs=1e-6)
    assert np.abs(encoder.encode_query("abd") - encoder.encode_query("abc")).max() > 1e-3


def test_no_text_is_longer_than_the_positions_of_the_model(models: Path) -> None:
    """The BERT of these tests has 64 positions; a text of 200 words is cut, not an error."""
    encoder = Transformers(model=str(models / "bert"), max_length=500).load(())

    assert encoder.max_length == 64
    assert encoder.encode_query("cat " * 200).shape == (24,)


@pytest.mark.parametrize(("spec", "dimensions"), [(ByT5, 1472), (Canine, 768)], ids=["byt5", "canine"])
def test_the_published_architectures_have_their_dimensions(spec: Any, dimensions: int) -> None:
    """1472 for ByT5 small (Xue et al. 2022, table 1), 768 for CANINE (Clark et al. 2022, section 4)."""
    kind = getattr(transformers, spec.classes[0])
    config = kind(**spec.architecture)

    assert config.hidden_size == dimensions


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "dimensions", "parameters"),
    [
        (ByT5(weights="random", max_length=32), 1472, 217.6e6),
        (Canine(weights="random", max_length=32), 768, 132e6),
    ],
    ids=["byt5", "canine"],
)
def test_the_published_architectures_are_built(spec: Any, dimensions: int, parameters: float) -> None:
    """Untrained in their full size.

    ByT5 small: 12 layers of 4 · 1472 · 384 for attention and 3 · 1472 · 3584 for the gated layer, 384 · 1472 for bytes.
    CANINE: 132 million parameters (Clark et al. 2022).
    """
    encoder = spec.load(())
    counted = sum(one.numel() for one in encoder.network.parameters())

    assert encoder.encode_query("a cat").shape == (dimensions,)
    assert encoder.untrained
    assert counted == pytest.approx(parameters, rel=0.02)


@EVERY
def test_random_weights_are_built_when_asked_for_and_said_to_be(name: str, models: Path) -> None:
    """From the configuration alone; the same seed gives the same vectors, another seed or the trained model others."""
    kind = KINDS[name]
    first, again, other = (
        kind(model=str(models / name), weights="random", seed=seed).load(()) for seed in (0, 0, 1)
    )
    trained = kind(model=str(models / name)).load(())
    vectors = [one.encode_query("a cat") for one in (first, again, other, trained)]

    assert first.untrained
    assert (vectors[0] == vectors[1]).all()
    assert np.abs(vectors[0] - vectors[2]).max() > 1e-3
    assert np.abs(vectors[0] - vectors[3]).max() > 1e-3


def test_building_random_weights_leaves_the_random_numbers_of_others_alone(models: Path) -> None:
    """Numbers drawn from the generator of torch are the same with and without it."""
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    Transformers(model=str(models / "bert"), weights="random").load(())

    assert (torch.rand(3) == expected).all()


def test_fields_of_the_configuration_are_replaced(models: Path) -> None:
    """A ByT5 of other dimensions, from the published architecture or from a folder."""
    small = {"d_model": 16, "d_ff": 16, "num_layers": 1, "num_heads": 2, "d_kv": 8}
    published = ByT5(weights="random", config=small).load(())
    folder = ByT5(model=str(models / "byt5"), weights="random", config=small).load(())

    assert published.dimensions == folder.dimensions == 16


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "{models}/nowhere"}, "`{models}/nowhere` is not a folder on this machine"),
        ({"model": "no-one/no-such-model"}, "the model `no-one/no-such-model` is not there"),
        ({"model": "package:no_such/x"}, "in the package `no_such`, which is not installed"),
        ({"model": "package:numpy/no-such"}, "the package `numpy` has no folder `no-such`"),
        ({"model": "{models}/byt5", "config": {"d_model": 8}}, "which a trained model does not allow"),
        ({"model": "{models}/bert", "weights": "random", "config": {"colour": 8}}, "has no field `colour`"),
        ({}, "no `model` is named"),
    ],
)
def test_a_model_that_is_not_there_is_an_error_in_words(
    settings: dict[str, Any], message: str, models: Path
) -> None:
    """The error names the model and the places that were searched; nothing is downloaded or made up."""
    filled = {
        key: value.format(models=models) if isinstance(value, str) else value
        for key, value in settings.items()
    }

    with pytest.raises(StageFailed) as caught:
        Transformers(**filled).load(())
    assert message.format(models=models) in caught.value.message


def test_a_model_of_another_kind_is_an_error_and_not_half_random(models: Path) -> None:
    """The files of a BERT have no weights of ByT5; loading them would draw all of them at random."""
    with pytest.raises(StageFailed, match=r"bert"):
        ByT5(model=str(models / "bert")).load(())


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    """It has no files of a model."""
    with pytest.raises(StageFailed, match="has no files"):
        Transformers(model=str(tmp_path)).load(())


def test_damaged_weights_are_an_error_in_words(models: Path, tmp_path: Path) -> None:
    """A file that was cut names the model and its folder."""
    for file in (models / "bert").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])

    with pytest.raises(StageFailed, match="cannot be loaded from"):
        Transformers(model=str(tmp_path)).load(())


def test_the_identity_is_that_of_the_files(models: Path, tmp_path: Path) -> None:
    """A copy elsewhere is the same model, a changed file another one."""
    for file in (models / "bert").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    original = Transformers(model=str(models / "bert")).load(()).identity
    copied = Transformers(model=str(tmp_path)).load(()).identity
    (tmp_path / "notes.txt").write_text("changed")
    changed = Transformers(model=str(tmp_path)).load(()).identity

    assert copied == original
    assert changed["model"] != original["model"]


@pytest.mark.parametrize("length", [0, -1])
def test_a_limit_below_one_token_is_refused(length: int) -> None:
    """When the study is read."""
    with pytest.raises(msgspec.ValidationError, match="max_length"):
        read_spec(Canine, max_length=length)

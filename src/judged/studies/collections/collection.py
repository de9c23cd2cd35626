"""Collections: documents, queries and judgments that belong together, read from files, or the built-in one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import msgspec
import numpy as np

from judged.errors import BadInput, JudgedError, Unreadable
from judged.io.read import read_judgments
from judged.io.texts import Text, TextSource, find_texts, read_documents, read_queries
from judged.io.write import write_judgments
from judged.problem import Problem
from judged.result import InputFile, observe_files
from judged.store.files import write_file
from judged.store.hashing import hash_parts
from judged.studies.collections.datasets import check_dataset, read_dataset
from judged.studies.collections.spans import join_text, read_spans
from judged.studies.specification import CollectionSpec, StudySpec
from judged.studies.stages.stage import Passage
from judged.tables.judgments import Judgments


@dataclass(frozen=True, eq=False)
class Collection:
    """Documents, queries, and judgments of them.

    >>> collection = Collection("pets", ("d1", "d2"), ("a cat", "a dog"), {"q1": "cats"})
    >>> collection.texts[collection.row("d2")]
    'a dog'
    """

    name: str
    documents: tuple[str, ...]
    """The id of each document; empty where only judgments are known."""
    texts: tuple[str, ...]
    """The text of each document: its title, if it has one, and what follows."""
    queries: Mapping[str, str]
    """The text of each query, by id."""
    judgments: Judgments | None = None
    notes: tuple[str, ...] = field(default=())
    spans: tuple[Passage, ...] = ()
    """The passages that are judged, where judgments are of passages and not of documents."""
    coverage: float = 0.5
    """The share of a judged passage that a result has to cover to find it."""

    def __post_init__(self) -> None:
        if len(self.texts) != len(self.documents):
            counts = f"{len(self.texts):,} texts for {len(self.documents):,} documents, expected one for each"
            raise BadInput(self.name, [Problem.error("missing-text", "documents", counts)])
        if len(self._rows) != len(self.documents):
            seen: set[str] = set()
            twice = next(name for name in self.documents if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            problem = Problem.error(
                "repeated-document", f"document `{twice}`", "occurs twice, expected each once"
            )
            raise BadInput(self.name, [problem])

    def __repr__(self) -> str:
        return f"Collection({self.name}: {len(self.documents):,} documents, {len(self.queries):,} queries)"

    def row(self, document: str) -> int:
        """Return the row of a document; raise `KeyError` if there is none."""
        return self._rows[document]

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {document: row for row, document in enumerate(self.documents)}

    def find_texts(self) -> dict[str, str]:
        """Return the text of every document, and of every judged passage, by id."""
        texts = dict(zip(self.documents, self.texts, strict=True))
        return {**texts, **{span.id: texts[span.document][span.start : span.end] for span in self.spans}}

    @cached_property
    def judged(self) -> frozenset[str]:
        """Every document that is judged for some query."""
        return frozenset(() if self.judgments is None else self.judgments.column("document").to_pylist())

    @cached_property
    def digest(self) -> str:
        """A hash of the documents, ids and texts."""
        return _hash_pairs(zip(self.documents, self.texts, strict=True))

    @cached_property
    def query_digest(self) -> str:
        """A hash of the queries, ids and texts."""
        return _hash_pairs(self.queries.items())


def _hash_pairs(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a hash of ids and texts, each with its length, so that no two lists of pairs look alike."""
    contents = (part.encode("utf-8", "surrogatepass") for pair in pairs for part in pair)
    return hash_parts(len(content).to_bytes(8, "little") + content for content in contents).hex()


def read_collection(spec: CollectionSpec | str) -> Collection:
    """Return the collection that a study names; queries without judgments are left out, and noted."""
    if isinstance(spec, str):
        return make_demo_collection()
    if spec.dataset is not None:
        found = read_dataset(spec.dataset)
        return _make_collection(
            spec, found.judgments, found.queries, *_keep_texts(found.documents, spec), notes=found.notes
        )
    documents, queries, judgments = _find_files(spec)
    texts, empty = (
        ({}, []) if documents is None else _keep_texts(read_documents(documents, keep_empty=True), spec)
    )
    spans: tuple[Passage, ...] = ()
    if spec.spans is not None:
        judged, spans = read_spans(spec.spans, texts)
    else:
        judged = read_judgments(judgments)
    asked = read_question_texts(judgments, judged, queries)
    return _make_collection(spec, judged, asked, texts, empty, spans=spans)


def _make_collection(
    spec: CollectionSpec,
    judged: Judgments,
    asked: Mapping[str, str],
    texts: Mapping[str, Text],
    empty: Sequence[str],
    *,
    spans: tuple[Passage, ...] = (),
    notes: tuple[str, ...] = (),
) -> Collection:
    """Return a collection of the queries that have judgments; others are noted."""
    source = str(
        spec.dataset or spec.folder or spec.queries or spec.documents or spec.judgments or spec.spans
    )
    known = set(judged.queries.to_pylist())
    chosen = {query: text for query, text in asked.items() if query in known}
    if not chosen:
        problem = Problem.error(
            "nothing-shared", "queries", "none has judgments, expected the same ids in both"
        )
        raise BadInput(source, [problem])
    notes += tuple(judged.notes)
    if missing := known - set(asked):
        notes += (f"{len(missing):,} judged queries have no text: they were neither run nor scored",)
    if len(chosen) < len(asked):
        notes += (f"{len(asked) - len(chosen):,} queries without judgments were not run",)
    if spec.limit is not None and spec.limit < len(chosen):
        chosen = _take_evenly(chosen, spec.limit)
        notes += (f"{spec.limit:,} queries were taken evenly",)
    if empty:
        notes += (f"{len(empty):,} documents without text were left out ({', '.join(empty[:3])})",)
    name = spec.name or spec.dataset or _name_files(spec)
    whole = tuple(join_text(text) for text in texts.values())
    judged = judged.select(chosen)
    return Collection(name, tuple(texts), whole, chosen, judged, notes, spans, spec.coverage)


def check_collection(spec: CollectionSpec | str) -> None:
    """Raise an error for a collection that is not there, before anything is read."""
    if isinstance(spec, str):
        return
    if spec.dataset is not None:
        check_dataset(spec.dataset)
        return
    for path in (*_find_files(spec), spec.spans):
        if path is not None and not Path(path).exists():
            msg = f"`{path}` does not exist"
            raise Unreadable(msg)


def make_demo_collection(limit: int | None = None) -> Collection:
    """Return the built-in collection: docstrings of the standard library, found by their summaries."""
    from judged.studies.collections.pydoc import build, find_entries

    built = build(find_entries(), limit=limit)
    if not built.queries:
        msg = "this Python carries no docstrings to build a collection from"
        raise JudgedError(msg, hint="start it without `-OO` and without PYTHONOPTIMIZE=2")
    judgments = Judgments.from_columns(
        *map(list, zip(*built.grades, strict=True)), name="judgments of the demonstration"
    )
    return Collection(
        "Python's documentation",
        tuple(document.name for document in built.documents),
        tuple(document.text for document in built.documents),
        {query.name: query.text for query in built.queries},
        judgments,
    )


def write_collection(collection: Collection, folder: Path) -> None:
    """Write a collection in BEIR's layout, and its judgments with their targets as `judgments.csv`."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    documents = zip(collection.documents, collection.texts, strict=True)
    for name, texts in (("corpus", documents), ("queries", collection.queries.items())):
        lines = (msgspec.json.encode({"_id": identifier, "text": text}) + b"\n" for identifier, text in texts)
        write_file(folder / f"{name}.jsonl", b"".join(lines))
    if collection.judgments is not None:
        write_judgments(collection.judgments, folder / "judgments.csv", force=True)
        rows = collection.judgments.to_arrow().select(["query", "document", "grade"]).to_pylist()
        lines = (f"{row['query']}\t{row['document']}\t{row['grade']:g}\n".encode() for row in rows)
        write_file(folder / "qrels" / "test.tsv", b"query-id\tcorpus-id\tscore\n" + b"".join(lines))


def read_question_texts(
    source: object, judgments: Judgments, queries: TextSource | None = None
) -> Mapping[str, str]:
    """Return the text of every query: of their own source, or of the judgments, read from `source`, if these have them.

    Judgments without questions, such as those of TREC, have no texts.
    """
    if queries is not None:
        return read_queries(find_texts(queries, "queries"))
    if isinstance(source, str | os.PathLike) and Path(source).is_dir():
        return read_queries(find_texts(source, "queries"))
    texts = judgments.query_texts
    if not texts:
        problem = Problem.error("no-texts", "queries", "have no texts, expected questions to ask")
        hint = "give the texts as `queries`, a file or a dict from ids to texts; or in a column `question` of the judgments"
        raise BadInput(judgments.name, [problem], hint=hint)
    return texts


def _find_files(spec: CollectionSpec) -> tuple[str | None, str | None, str]:
    if spec.folder is None:
        return spec.documents, spec.queries, str(spec.judgments or spec.spans)
    if not Path(spec.folder).is_dir():
        msg = f"`{spec.folder}` is not a folder, expected one with corpus.jsonl, queries.jsonl and qrels"
        raise Unreadable(msg, hint="or name `documents`, `queries` and `judgments` under `collection`")
    return (
        str(find_texts(spec.folder, "corpus")),
        str(find_texts(spec.folder, "queries")),
        spec.folder,
    )


def _name_files(spec: CollectionSpec) -> str:
    source = spec.folder or spec.documents or spec.judgments or spec.spans or ""
    return Path(source).name.partition(".")[0]


def _keep_texts(found: Mapping[str, Text], spec: CollectionSpec) -> tuple[dict[str, Text], list[str]]:
    """Return title and text of every document that has either, and the ids of the others."""
    texts = {document: text for document, text in found.items() if join_text(text)}
    empty = [document for document in found if document not in texts]
    source = str(spec.dataset or spec.folder or spec.documents)
    if empty and spec.empty_documents == "error":
        message = "has neither title nor text, expected words to search"
        problems = [Problem.error("empty-document", f"document `{name}`", message) for name in empty]
        raise BadInput(source, problems, hint="`empty_documents: skip` under `collection` leaves them out")
    if not texts:
        raise BadInput(source, [Problem.error("empty", "documents", "none, expected texts to search")])
    return texts, empty


def _take_evenly(queries: Mapping[str, str], limit: int) -> dict[str, str]:
    pairs = list(queries.items())
    return dict(pairs[place * len(pairs) // limit] for place in range(limit))


def list_inputs(spec: CollectionSpec | str) -> tuple[InputFile, ...]:
    """Return the files of the collection."""
    if isinstance(spec, str) or spec.dataset is not None:
        return ()
    documents, queries, judgments = _find_files(spec)
    return observe_files([("source judgments", judgments), ("queries", queries), ("documents", documents)])


def split_queries(spec: StudySpec, collection: Collection) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the training queries, and those that systems are scored on."""
    queries = list(collection.queries)
    if spec.train is None:
        return (), tuple(queries)
    if isinstance(spec.train, tuple):
        unknown = [query for query in spec.train if query not in collection.queries]
        if unknown:
            msg = f"`train` names {len(unknown):,} queries that the collection does not have: {', '.join(unknown[:5])}"
            raise JudgedError(msg)
        chosen = set(spec.train)
    else:
        drawn = np.random.default_rng(spec.seed).permutation(len(queries))
        chosen = {queries[place] for place in drawn[: max(1, round(spec.train * len(queries)))].tolist()}
    training = tuple(query for query in queries if query in chosen)
    scored = tuple(query for query in queries if query not in chosen)
    if not training or not scored:
        msg = f"{len(training):,} of {len(queries):,} queries are for training, expected some but not all"
        raise JudgedError(msg)
    return training, scored

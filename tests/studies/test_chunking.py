"""Chunking as a factor: documents count by their best passage, passages by what they cover, budgets by their tokens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import judged
from judged.errors import BadInput, BadMeasure, BadProtocol
from judged.studies.collections.collection import read_collection
from judged.studies.passages.budgets import Budgeted, parse_budget
from judged.studies.passages.chunking import Judging, chunk_collection
from judged.studies.running.run import open_study, run_study
from judged.studies.specification import CollectionSpec, read_study
from judged.studies.stages.chunkers import SentenceChunks, Tokeniser
from judged.studies.stages.stage import Passage, Ranked, StageFailed
from support.studies import own

pytest.importorskip("bm25s")
TEXTS = {
    "long": "Bread is baked in a hot oven. Rain falls on the garden. Cats chase mice at night. Dogs bark. Stars shine.",
    "cats": "Cats sleep on warm mats. Cats chase mice. Kittens play.",
    "rain": "Rain falls in the morning. The garden is green.",
    "oven": "The oven is hot. Bread rises.",
}
QUESTIONS = {"q1": "cats chase mice", "q2": "hot oven", "q3": "rain garden"}
SPANS = [
    {"query": "q1", "document": "cats", "text": "Cats chase mice.", "grade": 2},
    {"query": "q1", "document": "long", "text": "Cats chase mice at night.", "grade": 1},
    {"query": "q2", "document": "oven", "start": 0, "end": 16, "grade": 1},
    {"query": "q3", "document": "rain", "text": "Rain falls in the morning.", "grade": 1},
]
WORDS = {"name": "words", "search": "bm25"}


@pytest.fixture(autouse=True)
def _collection(desk: Path) -> None:
    """A collection in which a long document has a sentence about everything."""
    for name, texts in (("documents", TEXTS), ("questions", QUESTIONS)):
        rows = (
            json.dumps(
                {
                    "_id": key,
                    "title": "A title" if name == "documents" and key == "oven" else "",
                    "text": text,
                }
            )
            for key, text in texts.items()
        )
        (desk / f"{name}.jsonl").write_text("\n".join(rows))
    (desk / "spans.jsonl").write_text("\n".join(json.dumps(row) for row in SPANS))
    (desk / "judged.csv").write_text("query,document,grade\nq1,cats,1\nq2,oven,1\nq3,rain,1\nq3,long,1\n")


FILES = {"documents": "documents.jsonl", "queries": "questions.jsonl"}


def study(*systems: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """A study of the collection."""
    collection = {**FILES, "judgments": "judged.csv"}
    return {"collection": collection, "systems": list(systems), "measures": ["nDCG@3", "R@2"], **settings}


def test_a_document_has_the_rank_of_its_best_passage(desk: Path) -> None:
    """Recomputed: BM25 of the passages, then each document once, in the order of its first passage."""
    found = run_study(study({**WORDS, "chunk": {"type": "sentences", "size": 1}}), output=desk / "out")
    collection = read_collection(CollectionSpec(**FILES, judgments="judged.csv"))
    chunked = chunk_collection(collection, SentenceChunks(size=1))
    rows = [
        {"_id": passage.id, "text": text}
        for passage, text in zip(chunked.passages, chunked.collection.texts, strict=True)
    ]
    (desk / "passages.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (desk / "of_passages.csv").write_text(
        "query,document,grade\n" + "".join(f"{query},{rows[0]['_id']},1\n" for query in QUESTIONS)
    )
    files = {"documents": "passages.jsonl", "queries": "questions.jsonl", "judgments": "of_passages.csv"}
    run_study({"collection": files, "systems": [WORDS], "measures": ["RR"]}, output=desk / "passages")
    lines = [line.split() for line in (desk / "passages" / "runs" / "words.run").read_text().splitlines()]
    expected = {
        query: list(dict.fromkeys(line[2].partition("[")[0] for line in lines if line[0] == query))
        for query in QUESTIONS
    }
    run = [line.split() for line in (desk / "out" / "runs" / "words.run").read_text().splitlines()]

    assert {query: [line[2] for line in run if line[0] == query] for query in QUESTIONS} == expected
    assert expected["q1"][0] == "cats"
    assert found.chunks[0].passages == len(chunked.passages) == 5 + 3 + 2 + 2


def test_chunkings_are_a_factor_and_each_text_is_encoded_once(desk: Path) -> None:
    """Three sizes and two systems of each: the passages of each size are encoded once, and sizes are compared."""
    (desk / "counting_chunks.py").write_text(
        "import parts\nseen = []\ndef encode(texts):\n    seen.extend(texts)\n    return parts.encode(texts)\n"
    )
    sizes: list[Any] = [{"type": "sentences", "size": size} for size in (1, 2, 3)]
    encoder = {"type": "function", "function": "counting_chunks:encode"}
    systems = [
        {"name": "own", "encoder": encoder, "search": "exact", "chunk": sizes},
        {"name": "again", "encoder": encoder, "search": "exact", "chunk": sizes},
        {"name": "hybrid", "fuse": {"of": ["own", "again"], "method": ["rrf", "combsum"]}},
    ]
    found = run_study(study(*systems, warmup=0))
    import counting_chunks

    collection = read_collection(CollectionSpec(**FILES, judgments="judged.csv"))
    chunkings = [
        chunk_collection(collection, SentenceChunks(size=size)).collection.texts for size in (1, 2, 3)
    ]

    assert not found.failures
    assert len(found.systems) == 3 + 3 + 3 * 3 * 2
    for text in {text for texts in chunkings for text in texts}:
        # a text of several chunkings is cached; the cache is probed by a few texts
        assert 1 <= counting_chunks.seen.count(text) <= sum(text in texts for texts in chunkings)
    assert {effect.factor for effect in found.effects if effect.grid == "own"} == {"chunk"}


def test_parts_of_one_chunking_are_fused_as_passages() -> None:
    """Fused and reranked as passages; parts of different chunkings meet as documents."""
    chunk = {"type": "sentences", "size": 1}
    one = {"name": "one", "search": "bm25", "chunk": chunk}
    two = {"name": "two", "encoder": own(), "search": "exact", "chunk": chunk}
    whole = {"name": "whole", "search": "bm25"}
    same = {
        "name": "same",
        "fuse": {"of": ["one", "two"]},
        "rerank": {"type": "function", "function": "parts:backwards"},
    }
    mixed = {
        "name": "mixed",
        "fuse": {"of": ["one", "whole"]},
        "rerank": {"type": "function", "function": "parts:backwards"},
    }
    found = run_study(study(one, two, whole, same, mixed, measures=["nDCG@3", "R@6tokens"]))

    assert not found.failures
    assert {record.chunk for record in found.chunks} == {"", "sentences (size 1, overlap 0)"}
    assert {scores.run for scores in found.context} == {"one", "two", "whole", "same", "mixed"}


def test_equal_context_is_the_passages_that_fit(desk: Path) -> None:
    """Recomputed from the log: passages are taken while their tokens fit, then the documents that they are of."""
    systems = [
        {**WORDS, "name": "sentences", "chunk": {"type": "sentences", "size": 1}},
        {**WORDS, "name": "whole"},
    ]
    found = run_study(study(*systems, measures=["nDCG@3", "R@6tokens", "R@12tokens"]), output=desk / "out")
    judged_by = {"q1": {"cats"}, "q2": {"oven"}, "q3": {"rain", "long"}}
    count = Tokeniser().count
    texts = read_collection(CollectionSpec(**FILES, judgments="judged.csv"))
    by_name = {scores.run: scores for scores in found.context}
    for path in (desk / "out" / "answers").glob("*.jsonl"):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        name = "sentences" if rows[0].get("passages") else "whole"
        for budget in (6, 12):
            expected = {}
            for row in rows:
                passages = row.get("passages") or [[one, 0, None] for one in row["documents"]]
                spent, seen = 0, set()
                for document, start, end in passages:
                    spent += count(texts.texts[texts.row(document)][start:end])
                    if spent > budget:
                        break
                    seen.add(document)
                expected[row["query"]] = len(seen & judged_by[row["query"]]) / len(judged_by[row["query"]])

            assert by_name[name].by_query(f"R@{budget}tokens") == pytest.approx(expected)
    assert found.context_comparison is not None
    assert "At equal context" in str(found)
    assert "R@6tokens" in found.tables()["systems"].column_names
    found.save(desk / "study.json")
    assert judged.load(desk / "study.json").context[0].by_query("R@6tokens")  # type: ignore[attr-defined]


def test_spans_are_found_by_what_covers_them(desk: Path) -> None:
    """A chunk of one sentence finds its passage, a whole document all of its; scored as documents are."""
    collection = {**FILES, "spans": "spans.jsonl"}
    systems = [{**WORDS, "chunk": {"type": "sentences", "size": 1}}, {**WORDS, "name": "whole"}]
    found = run_study(
        {"collection": collection, "systems": systems, "measures": ["RR", "R@10"]}, output=desk / "out"
    )
    run = [line.split() for line in (desk / "out" / "runs" / "words.run").read_text().splitlines()]

    assert [line[2] for line in run if line[0] == "q1"][:2] == ["cats[25:41]", "long[56:81]"]
    # with its title before it, the text of the document begins at 8
    assert next(line[2] for line in run if line[0] == "q2") == "oven[8:24]"
    assert found["words"].mean()["R@10"] == 1.0
    assert found["whole"].mean()["R@10"] == 1.0


def test_a_passage_is_found_by_the_share_that_is_covered() -> None:
    """By hand: 6 of 10 characters are enough for half, and not for 70 %; the first chunk that covers it counts."""
    span = Passage("d", 10, 20)
    chunks = [Passage("d", 0, 14), Passage("d", 14, 30), Passage("e", 10, 20)]
    ranked = Ranked(("x", "y", "z"), (3.0, 2.0, 1.0))

    assert Judging((span,), 0.5).convert(ranked, chunks).documents == ("d[0:14]", "d[10:20]", "e[10:20]")
    assert Judging((span,), 0.7).convert(ranked, chunks).documents == ("d[0:14]", "d[14:30]", "e[10:20]")
    assert Judging().convert(ranked, chunks).documents == ("d", "e")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"document": "none", "text": "x"}, "the collection does not have it"),
        ({"document": "cats", "text": "Dogs"}, "does not have the passage `Dogs`"),
        ({"document": "cats", "start": 5, "end": 500}, "`5` to `500` is not part of a text of 55 characters"),
        ({"document": "cats"}, "has neither `start` and `end` nor `text`"),
    ],
)
def test_spans_that_documents_do_not_have_are_refused(desk: Path, row: dict[str, Any], message: str) -> None:
    """With the line of the file."""
    (desk / "spans.jsonl").write_text(
        json.dumps(SPANS[0]) + "\n" + json.dumps({"query": "q1", "grade": 1, **row})
    )
    with pytest.raises(BadInput, match=r"spans.jsonl:2") as caught:
        read_collection(CollectionSpec(**FILES, spans="spans.jsonl"))

    assert message in str(caught.value)


def test_only_what_searches_is_chunked() -> None:
    """A fusion has the passages of its parts; a measure of whole rankings is needed beside a budget."""
    with pytest.raises(BadProtocol, match="`chunk` is for systems that `search`"):
        read_study(study(WORDS, {"name": "b", "base": "words", "chunk": 5}))
    with pytest.raises(BadProtocol, match="has no measure of whole rankings"):
        read_study(study(WORDS, measures=["R@20tokens"]))
    with pytest.raises(BadProtocol, match="expected a number of words from 1"):
        read_study(study({**WORDS, "chunk": 0}))


def test_deeper_searches_find_the_documents_that_are_wanted(desk: Path) -> None:
    """A document of many passages does not keep the others out."""
    rows = [
        {"_id": "many", "text": "cats sleep. " * 40},
        *({"_id": f"d{n}", "text": "cats run far."} for n in range(5)),
    ]
    (desk / "documents.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (desk / "judged.csv").write_text("query,document,grade\nq1,d1,1\n")
    found = run_study(study({**WORDS, "chunk": 2}, measures=["R@6"], depth=6, warmup=0))

    assert found["words"].mean()["R@6"] == 1.0
    assert found.chunks[0].passages == 40 + 2 * 5


def test_budgets_are_read_from_names() -> None:
    """A cutoff of results is none; a measure that divides by a cutoff has nothing to divide by."""
    assert parse_budget("R@2000tokens") == ("R@2000tokens", "R", 2000)
    assert parse_budget("R@20") is None
    assert Budgeted("nDCG@9tokens", "nDCG", 9).find_measure() == "nDCG"
    with pytest.raises(BadMeasure, match="divides by a cutoff"):
        Budgeted("P@9tokens", "P", 9).find_measure()


def test_a_changed_chunker_is_seen(desk: Path) -> None:
    """The code of a function, a helper that it imports, and the file of a tokeniser are part of the key."""
    (desk / "cutting_sizes.py").write_text("SIZE = 10\n")
    (desk / "cutting.py").write_text(
        "from cutting_sizes import SIZE\n"
        "def cut(text):\n    return [(at, min(at + SIZE, len(text))) for at in range(0, len(text), SIZE)]\n"
    )
    content = study({**WORDS, "chunk": {"type": "function", "function": "cutting:cut"}})
    before = open_study(content, desk / "out").plan[0].key
    (desk / "cutting_sizes.py").write_text("SIZE = 20  # changed\n")
    after = open_study(content, desk / "out").plan[0]
    uses = [str(use) for stage in after.spec.list_stages() for use in stage.list_uses()]

    assert after.key != before
    assert uses == ["import cutting:cut"]


def test_a_tokeniser_next_to_the_study_is_found(desk: Path) -> None:
    """By its name in the file; one that is not there is an error before anything is run."""
    tokenizers = pytest.importorskip("tokenizers")
    place = desk / "studies"
    place.mkdir()
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel({"cats": 0, "?": 1}, unk_token="?"))  # noqa: S106
    model.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    model.save(str(place / "tokenizer.json"))
    settings = {"chunk": {"type": "tokens", "size": 3, "tokeniser": "tokenizer.json"}}
    content = study({**WORDS, **settings}, tokeniser="tokenizer.json", measures=["nDCG@3", "R@6tokens"])
    content["collection"] = {key: f"../{name}" for key, name in content["collection"].items()}
    (place / "study.yaml").write_text(json.dumps(content))
    found = run_study(place / "study.yaml")

    assert not found.failures
    assert found.chunks[0].tokens["largest"] == 3
    (place / "study.yaml").write_text(json.dumps({**content, "tokeniser": "none.json"}))
    with pytest.raises(StageFailed, match=r"the tokeniser `none\.json` cannot be read"):
        run_study(place / "study.yaml")

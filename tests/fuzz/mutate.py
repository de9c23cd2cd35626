"""Mutated files for every reader, from fixed seeds.

A reader may return, or raise one of judged's own errors. Anything else is a defect; its seed and number make the input
again. In `tests`, `python -m fuzz.mutate READER SECONDS` fuzzes one reader and prints its defects.
"""

from __future__ import annotations

import gzip
import io
import random
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, process_time

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import judged
from fuzz.outcome import SEED, Outcome
from judged.agents.traces.read import read_sessions
from judged.agents.traces.results.tools import read_tools
from judged.answers.reading.labels import read_labels as read_answer_labels
from judged.answers.reading.responses import read_responses
from judged.answers.reading.truth import read_nuggets, read_references
from judged.checks.lint import lint
from judged.cli.configuration import read_configuration, read_gates
from judged.errors import JudgedError
from judged.explanation.reported_scores import read_reported
from judged.index.files.vectors import read_vectors
from judged.index.sweeps.plan import plan_builds
from judged.io.read import holds_both
from judged.io.texts import read_documents, read_queries
from judged.labels.answer import read_answer
from judged.labels.prompt import _parse_prompt
from judged.measures.parse import parse_measure
from judged.studies.specification import read_study
from judged.studies.tables import read_decisions
from judged.tables.mapping import ColumnMap

ROOT = Path(__file__).parents[2]
SLOW = 2.0
"""CPU seconds from which reading a small input is a defect, too."""
QRELS = b"q1 0 d1 1\nq1 0 d2 0\nq2 1 d3 2\n# comment\nq3 0 \xc3\xa9 -1\n"
SVMLIGHT = b"2 qid:q1 1:0.5 2:1 # d1\n0 qid:q1 1:1.7e308 #docid = d2 inc = 1\n-1 qid:q2 1:0\n"
PREDICTIONS = b"0.5\n1e-3\n-2\n"
RANKLIB = b"q1\t0\t0.5\nq1\t1\t1\nq2\t0\t-2\n"
RUN = b"q1 Q0 d1 1 3.5 tag\nq1 Q0 d2 2 -1e-3 tag\nq2 Q0 d3 1 inf tag\r\nq3\tQ0\td4\t1\t0.1\ttag\n"
CSV = b'query,document,score\nq1,d1,1.5\n"q,2","d""2",0\nq3,,7\n'
JSON = b'{"q1": {"d1": 1, "d2": 0.5}, "q2": {"d3": 2}}'
JSONL = b'{"query": "q1", "document": "d1", "score": 1}\n{"query": "q2", "results": [{"document": "d", "score": 2}]}\n'
LABELS = (
    b'{"task": "t", "url": "https://example.com/a?b=c", "title": "A", "text": "x", "gain": 3, "labeller": "m"}\n'
    b'{"task": "t", "id": "d1", "gain": 0}\n{"query": "q", "domain": "doi", "domain_id": "10.1/x", "grade": 4}\n'
)
TIMINGS = b"system,query,seconds,stage\na,q1,0.25,retrieve\na,q2,1e-3,\nb,q3,7,encode\n"
DECISIONS = b"query,chosen,optimal,quality:a,quality:b\nq1,a,b,0.5,1\nq2,b,b,,0\n"
TEXTS_LINES = b'{"_id": "d1", "title": "A", "text": "one two"}\n{"docno": "d2", "contents": "three"}\n'
QUERY_LINES = b"q1\thow to cook onion soup\nq2\tprice of \xc3\xa9clairs\n"
TOPICS = (
    b"<top>\n<num> Number: 1\n<title> onion soup\n<desc> Description:\nhow?\n</top>\n"
    b'<topics><topic number="2"><query>\xc3\xa9clairs &amp; cake</query></topic></topics>\n'
)
MAPPED = b"query=frage,judgments:grade=note,run:score=wert"
SCORES = b"ndcg_cut_10\tq1\t0.5\nndcg_cut_10\tall\t0.5\n"
PROMPT = b"name: p\nversion: 1\ntemplate: '<a>{query}</a> {text}'\nscale: [0, 1]\n"
CONFIGURATION = (
    b"retrieval_metrics:\n  enabled_metrics: [hit@3, 'ndcg@10', mrr]\n  graded_relevance: true\n"
    b"  statistical_analysis: {confidence_intervals: true, alpha_level: 0.05}\n"
    b"  performance: {batch_size: 100, caching_enabled: true}\nprotocol: {profile: trec_eval-9}\n"
)
GATES = b"defaults: {qrels: a.qrels, measures: [AP], alpha: 0.01}\ngates:\n  - {run: a.run, baseline: b.run, min_delta: -0.01, test: t}\n"
TOOLS = b'tools:\n  web_search: {results: "$.hits[*]", fields: {url: link, title: name}}\n  lookup: {whole: true}\n'
SWEEP = (
    b"exact: {}\nfaiss-hnsw:\n  build: {M: [8, 16], ef_construction: 100}\n  query: {ef: [16, 32, 64]}\n"
    b"usearch:\n  - build: {M: 8}\n    query: {ef: [8]}\n"
)
STUDY = (
    b"collection: {folder: pets}\nmeasures: [nDCG@10, RR]\nbaseline: words\nrepeats: 2\ndepth: 20\nsystems:\n"
    b"  - {name: words, search: bm25}\n"
    b"  - {name: asked, retriever: {type: http, url: 'http://127.0.0.1:1/', body: {q: '{query}'}, ids: '$.hits[*].id'}}\n"
    b"  - {name: dense, encoder: {type: openai, model: m, url: 'http://127.0.0.1:1/v1'}, search: exact}\n"
    b"  - {name: both, fuse: {method: rrf, of: [words, dense]}}\n"
)
ANSWER = b'<think>x</think> **final score: 3** {"score": 3} out of 4'
TOKENS = (
    *(
        b"\n",
        b"\r",
        b"\t",
        b" ",
        b"\0",
        b"#",
        b'"',
        b",",
        b"{",
        b"}",
        b"[",
        b"]",
        b"nan",
        b"inf",
        b"-",
        b"1e999",
    ),
    *(b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"9" * 400, b" " * 2_000, b"<think>", b"null", b"true"),
    *(b"0" * 70_000, b"&a [*a]", b"*a", b"<<: {a: 1}", b"!!python/name:os.system", b"2001-13-45", b"? [a]"),
    *(
        b": ",
        b"- ",
        b"{}",
        b"[]",
        b"[" * 3_000,
        b"\xff\xff\xff\x7f",
        b"\0\0\0\x80",
        b"1" * 5_000,
        b"~",
        b"$..*",
    ),
)


@cache
def tables() -> list[bytes]:
    """Return the small run as Parquet, Arrow and gzip."""
    table = pa.table({"query": ["q1", "q1", "q2"], "document": ["d1", "d2", "d3"], "score": [1.0, 2.0, 3.0]})
    parquet, arrow = io.BytesIO(), io.BytesIO()
    pyarrow.parquet.write_table(table, parquet)
    with pa.ipc.new_file(arrow, table.schema) as writer:
        writer.write_table(table)
    return [parquet.getvalue(), arrow.getvalue(), gzip.compress(RUN, mtime=0)]


@cache
def traces() -> list[bytes]:
    """Return the traces that the tests have, each cut to a few kilobytes."""
    folder = ROOT / "tests" / "golden" / "traces"
    return [path.read_bytes()[:8_000] for path in sorted(folder.glob("*.*")) if path.suffix != ".md"]


@cache
def foreign() -> list[bytes]:
    """Return the scores of other tools that the tests have, those of Inspect's archive cut to the members that are read."""
    folder = ROOT / "tests" / "golden" / "scores"
    files = [path for path in sorted(folder.glob("*.*")) if path.suffix != ".md"]
    table = pa.table({"id": ["q1", "q2"], "faithfulness": [0.5, None]})
    parquet = io.BytesIO()
    pyarrow.parquet.write_table(table, parquet)
    wide = b"id,question,epoch,map (v2),ok\nq1,Who?,1,0.5,true\nq1,Who?,2,,false\nq2,What?,1,nan,1\n"
    return [*(path.read_bytes()[:30_000] for path in files), parquet.getvalue(), wide]


@cache
def saved() -> list[bytes]:
    """Return saved results of several kinds, one of them compressed."""
    truth, runs = {"q1": {"d1": 1}, "q2": {"d2": 2}}, {"a": {"q1": {"d1": 1.0}}, "b": {"q2": {"d2": 1.0}}}
    evaluation = judged.evaluate_many(truth, runs, ["AP"]).to_json().encode()
    comparison = judged.compare(truth, runs, ["AP"], resamples=20).to_json().encode()
    return [evaluation, comparison, gzip.compress(evaluation, mtime=0)]


@cache
def question_sets() -> list[bytes]:
    """Return the question sets, judgments and search responses of other tools that the tests have."""
    folder = ROOT / "tests" / "golden" / "questions"
    return [path.read_bytes() for path in sorted(folder.glob("*.*")) if path.suffix != ".md"]


def vectors(extension: str) -> list[bytes]:
    """Return a small matrix in the format of vectors that an extension names."""
    matrix, held = np.arange(12, dtype=np.float32).reshape(4, 3), io.BytesIO()
    if extension in {".fvecs", ".bvecs", ".ivecs"}:
        kind = {".fvecs": "<f4", ".bvecs": "u1", ".ivecs": "<i4"}[extension]
        return [b"".join(b"\x03\0\0\0" + row.astype(kind).tobytes() for row in matrix)]
    if extension == ".npy":
        np.save(held, matrix)
    elif extension == ".npz":
        np.savez(held, train=matrix, test=matrix)
    elif extension == ".parquet":
        pyarrow.parquet.write_table(pa.table({"id": [1, 2, 3, 4], "vector": matrix.tolist()}), held)
    elif extension == ".hdf5":
        with import_module("h5py").File(held, "w") as file:
            file["train"], file["test"], file.attrs["distance"] = matrix, matrix, "euclidean"
    elif extension == "-ubyte":
        held.write(b"\0\0\x08\x02\0\0\0\x04\0\0\0\x03" + matrix.astype(np.uint8).tobytes())
    else:
        np.savetxt(held, matrix, delimiter="," if extension == ".csv" else "\t")
    return [held.getvalue()]


def lint_both(data: bytes) -> object:
    """Check an input as judgments and as a run."""
    return lint(QRELS, data), lint(data, RUN)


def from_file(read: Callable[[Path], object], name: str) -> Callable[[bytes], object]:
    """Return a reader of bytes from a reader of paths."""

    def read_bytes(data: bytes) -> object:
        path = Path(_place().name) / name
        path.write_bytes(data)
        return read(path)

    return read_bytes


@cache
def _place() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="judged-fuzz-")


RAG = (
    b'{"run_id": "a", "topic_id": "1", "references": ["d1"], "answer": [{"text": "A.", "citations": [0]}]}\n'
    b'{"metadata": {"run_id": "a", "narrative_id": 2}, "references": ["d1"], "answer": [{"text": "B."}]}\n'
)
ALCE = b'{"data": [{"sample_id": "1", "output": "A [1].", "docs": [{"id": "d"}], "qa_pairs": [{"short_answers": ["A"]}]}]}'
NUGGETS = (
    b'{"qid": "1", "run_id": "a", "nuggets": [{"text": "n", "importance": "vital", "assignment": "support"}]}\n'
    b'{"query": "1", "system": "a", "nugget": "m", "label": "not_support"}\n'
)
SUPPORT = b'query,system,part,document,label\n1,a,1,d1,full\n1,a,1,"[""d1"", ""d2""]",none\n'
RAGCHECKER = (
    b'{"results": [{"query_id": "1", "response": "A.", "retrieved_context": [{"doc_id": "d1", "text": "t"}],'
    b' "response_claims": [["a", "b", "c"]], "gt_answer_claims": [["x"]], "answer2response": ["Entailment"],'
    b' "response2answer": ["Neutral"], "retrieved2response": [["Entailment"]], "retrieved2answer": [["Neutral"]]}]}'
)
ANSWER_FILES = [RAG, ALCE, NUGGETS, SUPPORT, RAGCHECKER]


CLICK_LOG = b"query,impression,document,rank,click,time,user\nq,1,a,1,0,2024-05-01T10:00:00Z,u\nq,1,b,2,1,2024-05-01T10:00:09Z,u\n"
YANDEX_LOG = b"1\t0\tQ\t7\t0\ta\tb\n1\t5\tC\tb\n"
MIND_LOG = b"1\tU1\t11/11/2019 9:05:58 AM\tN1 N2\tN3-1 N4-0\n"
EVENTS = b"".join(
    b'{"action_name": "%s", "query_id": "1", "client_id": "u", "timestamp": 1714557600, "user_query": "tv",'
    b' "event_attributes": {"object": {"object_id": "a"}, "position": {"ordinal": 1}}}\n' % action
    for action in (b"impression", b"click")
)
IMPRESSION_LISTS = b'{"query_md5": "q", "url_md5": ["x", "y"], "position": [1, 2], "click": [0, 1]}\n'
PROBABILITIES = b"query,document,probability\nq,a,0.5\nq,b,0.5\n"
CLICK_LOGS = [CLICK_LOG, YANDEX_LOG, MIND_LOG, EVENTS, IMPRESSION_LISTS]


Reader = tuple[Callable[[bytes], object], Callable[[], list[bytes]]]
TEXTS = [QRELS, RUN, CSV, JSON, JSONL]
VECTORS = (".fvecs", ".bvecs", ".ivecs", ".npy", ".npz", ".parquet", ".hdf5", "-ubyte", ".tsv", ".csv")
READERS: dict[str, Reader] = {
    "judgments": (judged.read_judgments, lambda: [*TEXTS, SVMLIGHT, *tables()]),
    "predictions": (lambda data: judged.read_predictions(data, SVMLIGHT), lambda: [PREDICTIONS, RANKLIB]),
    "runs, scored": (lambda data: judged.evaluate(QRELS, data, "AP"), lambda: [*TEXTS, *tables()]),
    "runs, as columns": (lambda data: judged.read_run(data).to_arrow(), lambda: [*TEXTS, *tables()]),
    "question sets": (
        lambda data: judged.evaluate(data, data, "AP") if holds_both(data) else judged.read_judgments(data),
        question_sets,
    ),
    "search responses": (lambda data: judged.read_run(data).to_arrow(), question_sets),
    "preferences": (judged.read_preferences, lambda: TEXTS),
    "labels": (judged.read_labels, lambda: [LABELS, CSV, QRELS, *tables()]),
    "groups": (
        judged.read_groups,
        lambda: [b"document,group,share\na,x,0.5\na,y,0.5\nb,x,1\n", b'{"document": "a", "group": "x"}\n'],
    ),
    "clicks": (lambda data: judged.evaluate_clicks(judged.read_clicks(data), "CTR"), lambda: CLICK_LOGS),
    "probabilities": (
        lambda data: judged.estimate_value(
            [{"query": "q", "document": "a", "click": 1, "rank": 1}], data, "IPS"
        ),
        lambda: [PROBABILITIES, RUN],
    ),
    "timings": (judged.read_timings, lambda: [TIMINGS, JSONL, *tables()]),
    "routing decisions": (read_decisions, lambda: [DECISIONS, JSONL]),
    "texts of queries": (from_file(read_queries, "queries.tsv"), lambda: [QUERY_LINES, TEXTS_LINES]),
    "topics": (from_file(read_queries, "topics.xml"), lambda: [TOPICS]),
    "named columns": (lambda data: ColumnMap.parse([data.decode(errors="replace")]), lambda: [MAPPED]),
    "texts of documents": (
        from_file(lambda path: list(read_documents(path, ["d1", "d2"]).items()), "docs.jsonl"),
        lambda: [TEXTS_LINES, QUERY_LINES],
    ),
    "scores by query": (judged.read_scores, foreign),
    "scores of other tools": (
        from_file(lambda path: read_reported(path, parse_measure("nDCG@10")), "scores.txt"),
        lambda: [SCORES, CSV],
    ),
    "generated answers": (from_file(read_responses, "answers.jsonl"), lambda: [*ANSWER_FILES, *traces()]),
    "labels of answers": (from_file(read_answer_labels, "labels.jsonl"), lambda: ANSWER_FILES),
    "nuggets": (read_nuggets, lambda: ANSWER_FILES),
    "reference answers": (read_references, lambda: ANSWER_FILES),
    "lint": (lint_both, lambda: TEXTS),
    "traces": (lambda data: list(read_sessions(io.BytesIO(data))), traces),
    "mappings of tools": (from_file(read_tools, "tools.yaml"), lambda: [TOOLS]),
    "prompts": (lambda data: _parse_prompt(data, "prompt"), lambda: [PROMPT]),
    "answers": (lambda data: read_answer(data.decode(errors="replace"), scale=range(5)), lambda: [ANSWER]),
    "configurations": (from_file(read_configuration, "score.yaml"), lambda: [CONFIGURATION]),
    "files of gates": (from_file(read_gates, "gates.yaml"), lambda: [GATES]),
    "saved results": (from_file(lambda path: judged.load(path).render("csv"), "result.json"), saved),
    "sweeps of indexes": (
        from_file(lambda path: plan_builds([], path), "sweep.yaml"),
        lambda: [SWEEP],
    ),
    "studies": (from_file(read_study, "study.yaml"), lambda: [STUDY]),
    **{
        f"vectors, {extension}": (
            from_file(read_vectors, f"vectors{extension}"),
            lambda extension=extension: vectors(extension),  # type: ignore[misc]
        )
        for extension in VECTORS
    },
}
"""What is read, how, and the seeds of its mutations."""


def mutate(seeds: list[bytes], rng: random.Random) -> bytes:
    """Return a seed with some bytes flipped, cut, repeated, spliced with another seed or replaced by a token."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.randint(1, 6)):
        at, end = sorted(rng.randint(0, len(data)) for _ in range(2))
        kind = rng.randrange(6)
        if kind == 0 and data:
            data[rng.randrange(len(data))] = rng.randrange(256)
        elif kind == 1:
            del data[at : min(end, at + 40)]
        elif kind == 2:
            data[at:at] = data[at:end][:200] * rng.randint(1, 5)
        elif kind == 3:
            other = rng.choice(seeds)
            start = rng.randint(0, len(other))
            data[at:] = other[start:]
        elif kind == 4:
            data[at : at + rng.randint(0, 4)] = rng.choice(TOKENS)
        else:
            del data[at:]
    return bytes(data[:200_000])


def inputs(reader: str, seed: int = SEED) -> Iterator[bytes]:
    """Yield inputs for a reader without end, the same for the same seed."""
    seeds = READERS[reader][1]()
    for number in count():
        yield mutate(seeds, random.Random(f"{seed} {reader} {number}"))  # noqa: S311 - no secret


def fuzz(reader: str, seconds: float, *, seed: int = SEED) -> Outcome:
    """Give a reader mutated inputs for some seconds."""
    outcome, until = Outcome(reader), monotonic() + seconds
    for number, data in enumerate(inputs(reader, seed)):
        if monotonic() > until:
            return outcome
        started = process_time()
        kind, defect = _try(READERS[reader][0], data)
        if (taken := process_time() - started) > SLOW:
            defect = f"{taken:.1f} s"
        outcome.expect(kind, held=not defect, defect=f"input {number}: {defect}: {data[:200]!r}")
    return outcome


def _try(read: Callable[[bytes], object], data: bytes) -> tuple[str, str]:
    """Return what became of an input, and what was wrong with that."""
    try:
        read(data)
    except JudgedError:
        return "refused", ""
    except Exception as error:  # noqa: BLE001 - what is looked for
        return "failed", repr(error)
    return "read", ""


if __name__ == "__main__":
    found = fuzz(sys.argv[1], float(sys.argv[2]))
    sys.stdout.writelines(
        f"{line}\n" for line in [f"{found.tried:,} tried, {dict(found.held)}", *found.defects[:20]]
    )

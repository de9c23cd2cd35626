"""Inputs that once broke a reader: each is read again in every run of the tests."""

from __future__ import annotations

import gzip

from fuzz.mutate import saved, tables, vectors

_NPY, _NPZ, _PARQUET = (vectors(extension)[0] for extension in (".npy", ".npz", ".parquet"))

KEPT: tuple[tuple[str, bytes], ...] = (
    ("labels", b'query,document,score\nq1,d1,1.5\n"q,2","d"!2",0\nq3,,7\n'),
    ("labels", b"query,document,score\nq1,d1," + b"1" * 5_000 + b"\n"),
    ("routing decisions", b'query,chosen,optimal\nq1,a,b\nq2,b,"'),
    ("timings", b'system,seconds\na,"1\n"2,3\n'),
    ("scores of other tools", b'query,document,score\nq1,d1,\x8f.5\n"q,2","d""2",0\n'),
    ("scores of other tools", b"ndcg_cut_" + b"0" * 70_000 + b"\tq1\t0.5\n"),
    (
        "generated answers",
        b'{"query": "q", "references": ["d"], "answer": [{"text": "A.", "citations": 0}]}\n',
    ),
    ("labels of answers", b'{"results": [{"query_id": "1", "answer2response": 3}]}'),
    ("labels of answers", b'{"results": [{"query_id": "1", "retrieved2answer": {"a": 1}}]}'),
    (
        "files of gates",
        b"gates:\n  - {qrels: a, measures: [AP], run: a.run, baseline: " + b"9" * 300 + b"}\n",
    ),
    ("scores by query", b"map\t10\t0.5\x1cP_5\nmap\t11\t0.5\nmap\t12\t0.5\n"),
    (
        "scores by query",
        b'{"namedScores": {"word": 1}, "score": 1, "testCase": {"metadata": "x"}, "vars": {"q": "a"}}',
    ),
    ("files of gates", b"defaults: 0.01}\ngates:\n  - {run: a.run, baseline: b.run, test: t}\n"),
    ("configurations", b"retrieval_metrics: " + b"[" * 5_000),
    ("saved results", saved()[2][:60] + b"\xff" * 40),
    ("saved results", gzip.compress(b'{"schema": "judged.evaluation/1", "state": ' + b"[" * 100_000)),
    ("saved results", b'{"schema": "judged.evaluation/1", "state": {"type": "Evaluation"}}'),
    ("saved results", b"[" * 100_000),
    ("sweeps of indexes", b"exact: {}\nfaiss-hnsw:\n  build: {M: [8, 16]\x84}\n"),
    ("studies", b"collection: demo\nsystems: " + b"[" * 5_000),
    ("studies", b"collection: demo\nsystems:\n  - {name: a, retriever: {type: {q: x}}}\n"),
    ("vectors, .npy", _NPY.replace(b"(4, 3)", b"(4, 3)," + b"{" * 6)),
    ("vectors, .npy", _NPY.replace(b"'<f4'", b"'|O8'")),
    ("vectors, .npz", _NPZ[:30] + b"$..*" + _NPZ[34:]),
    ("vectors, .npz", _NPZ.replace(b"\x00\x00\x80?", b"\x00\x00\x81?", 1)),
    ("vectors, .parquet", _PARQUET.replace(b"vector", b"vecto\xfc")),
    ("vectors, -ubyte", b"\0\0\x08\xff\0\0\x8d\x04"),
    ("vectors, .tsv", b"0.000\xff00e+00\t1.0\n"),
    ("vectors, .csv", b""),
    ("runs, scored", tables()[0][:-20]),
    ("clicks", b'{"query_md5": "q", "url_md5": ["x"]}'),
    ("clicks", b'{"action_name": "impression", "query_id": [0, 1]}\n'),
    ("clicks", b"query,impression,document,rank,click,time,user\nq,1,a,1,\xe0,2024-05-01T10:00:00Z,u\n"),
    ("probabilities", b"query,document,probability\nq,a,0.\xfb\n"),
)
"""The reader and the input."""

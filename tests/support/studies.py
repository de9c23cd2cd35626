"""A small collection in BEIR's layout, and parts of pipelines of one's own, for the tests of studies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DOCUMENTS = {
    "d1": ("Cats", "Cats sleep on warm mats and chase mice."),
    "d2": ("Dogs", "Dogs bark at night and guard the garden."),
    "d3": ("Stars", "Stars shine in the night sky above the garden."),
    "d4": ("Bread", "Bread is baked in a hot oven every morning."),
    "d5": ("Mice", "Mice eat bread and hide from cats."),
    "d6": ("", "The oven is hot and the kitchen is warm."),
    "d7": ("Rain", "Rain falls on the garden in the morning."),
    "d8": ("Kittens", "Kittens are young cats that chase mice at play."),
}
QUERIES = {
    "q1": "which animals chase mice",
    "q2": "what barks at night",
    "q3": "hot oven for bread",
    "q4": "night sky",
    "q5": "garden in the morning",
    "q6": "warm mats",
}
JUDGMENTS = {
    "q1": {"d1": 2, "d8": 2, "d5": 1},
    "q2": {"d2": 2},
    "q3": {"d4": 2, "d6": 1},
    "q4": {"d3": 2},
    "q5": {"d7": 2, "d3": 0},
    "q6": {"d1": 2, "d6": 1},
}
PARTS = '''
"""Parts of one's own, each with a count of its calls in a file."""
import os
import numpy as np

WORDS = ["cat", "mice", "dog", "bark", "night", "star", "sky", "bread", "oven", "hot", "warm", "garden", "morning"]


def count(name):
    with open(os.environ["CALLS"], "a") as file:
        file.write(name + "\\n")


def encode(texts):
    for text in texts:
        count("encode")
    return np.array([[text.lower().count(word) for word in WORDS] + [0.1] for text in texts], dtype=np.float32)


def encode_nan(texts):
    return np.full((len(texts), 3), np.nan, dtype=np.float32)


class Uneven:
    """Queries are longer than documents."""

    def encode_documents(self, texts):
        return np.ones((len(texts), 3), dtype=np.float32)

    def encode_query(self, text):
        return np.ones(4, dtype=np.float32)


def retrieve(query):
    """Documents in alphabetical order, and one failure."""
    count("retrieve")
    if query == "night sky" and os.environ.get("BREAK"):
        raise ConnectionError("the store is down")
    return ["d1", "d2", "d3"]


def retrieve_by_distance(query):
    """Documents with distances."""
    return [("d1", 0.1), ("d2", 0.2), ("d3", 0.3)]


async def retrieve_unknown(query):
    """Documents without judgments."""
    return [{"id": "x1"}, {"id": "x2"}]


def backwards(query, documents):
    """Scores that turn a ranking round."""
    return list(range(len(documents)))


def choose(query):
    return "words" if "night" in query else "own"


def is_question(query):
    return query.startswith(("which", "what"))
'''


def write_collection(folder: Path) -> Path:
    """Write the collection; return its folder."""
    place = folder / "pets"
    (place / "qrels").mkdir(parents=True)
    corpus = [{"_id": name, "title": title, "text": text} for name, (title, text) in DOCUMENTS.items()]
    queries = [{"_id": name, "text": text} for name, text in QUERIES.items()]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (place / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    rows = [
        f"{query}\t{document}\t{grade}\n"
        for query, one in JUDGMENTS.items()
        for document, grade in one.items()
    ]
    (place / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows))
    return place


def own(function: str = "encode") -> dict[str, Any]:
    """An encoder of the module `parts`."""
    return {"type": "function", "function": f"parts:{function}"}


def count_calls(folder: Path, name: str) -> int:
    """Return how often a part was called."""
    calls = folder / "calls"
    return calls.read_text().splitlines().count(name) if calls.exists() else 0

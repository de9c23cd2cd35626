"""Mutated files for every reader, from fixed seeds: `python tests/fuzz/mutate.py SECONDS` writes docs/reliability.md.

A reader may return, or raise one of judged's own errors. Anything else is a defect: the input is kept in a folder,
and its seed and number make it again.
"""

from __future__ import annotations

import gzip
import io
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from time import monotonic, process_time

import pyarrow as pa
import pyarrow.parquet

import judged
from judged.checks.lint import lint
from judged.errors import JudgedError
from judged.label.answer import read_answer
from judged.label.prompt import _parse_prompt
from judged.traces.read import read_sessions

ROOT = Path(__file__).parents[2]
SEED = 20_251_118
SLOW = 2.0
"""CPU seconds from which reading a small input is a defect, too."""
QRELS = b"q1 0 d1 1\nq1 0 d2 0\nq2 1 d3 2\n# comment\nq3 0 \xc3\xa9 -1\n"
RUN = b"q1 Q0 d1 1 3.5 tag\nq1 Q0 d2 2 -1e-3 tag\nq2 Q0 d3 1 inf tag\r\nq3\tQ0\td4\t1\t0.1\ttag\n"
CSV = b'query,document,score\nq1,d1,1.5\n"q,2","d""2",0\nq3,,7\n'
JSON = b'{"q1": {"d1": 1, "d2": 0.5}, "q2": {"d3": 2}}'
JSONL = b'{"query": "q1", "document": "d1", "score": 1}\n{"query": "q2", "results": [{"document": "d", "score": 2}]}\n'
PROMPT = b"name: p\nversion: 1\ntemplate: '<a>{query}</a> {text}'\nscale: [0, 1]\n"
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
    *(
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b"9" * 400,
        b" " * 2_000,
        b"<think>",
        b"null",
        b"true",
        b"0" * 70_000,
    ),
)


def tables() -> list[bytes]:
    """Return the small run as Parquet, Arrow and gzip."""
    table = pa.table({"query": ["q1", "q1", "q2"], "document": ["d1", "d2", "d3"], "score": [1.0, 2.0, 3.0]})
    parquet, arrow = io.BytesIO(), io.BytesIO()
    pyarrow.parquet.write_table(table, parquet)
    with pa.ipc.new_file(arrow, table.schema) as writer:
        writer.write_table(table)
    return [parquet.getvalue(), arrow.getvalue(), gzip.compress(RUN, mtime=0)]


def traces() -> list[bytes]:
    """Return the traces that the tests have, each cut to a few kilobytes."""
    folder = ROOT / "tests" / "golden" / "traces"
    return [path.read_bytes()[:8_000] for path in sorted(folder.glob("*.*")) if path.suffix != ".md"]


def lint_both(data: bytes) -> object:
    """Check an input as judgments and as a run."""
    return lint(QRELS, data), lint(data, RUN)


TEXTS = [QRELS, RUN, CSV, JSON, JSONL]
READERS: dict[str, tuple[Callable[[bytes], object], Callable[[], list[bytes]]]] = {
    "judgments": (judged.read_judgments, lambda: [*TEXTS, *tables()]),
    "runs, scored": (lambda data: judged.evaluate(QRELS, data, "AP"), lambda: [*TEXTS, *tables()]),
    "runs, as columns": (lambda data: judged.read_run(data).to_arrow(), lambda: [*TEXTS, *tables()]),
    "preferences": (judged.read_preferences, lambda: TEXTS),
    "lint": (lint_both, lambda: TEXTS),
    "traces": (lambda data: list(read_sessions(io.BytesIO(data))), traces),
    "prompts": (lambda data: _parse_prompt(data, "prompt"), lambda: [PROMPT]),
    "answers": (lambda data: read_answer(data.decode(errors="replace"), scale=range(5)), lambda: [ANSWER]),
}


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


@dataclass
class Outcome:
    """What became of the inputs of one reader."""

    reader: str
    inputs: int = 0
    read: int = 0
    refused: int = 0
    defects: list[str] = field(default_factory=list)
    """Number, error and input of each."""


def inputs(reader: str, seed: int = SEED) -> Iterator[bytes]:
    """Yield inputs for a reader without end, the same for the same seed."""
    seeds = READERS[reader][1]()
    for number in count():
        yield mutate(seeds, random.Random(f"{seed} {reader} {number}"))  # noqa: S311 - no secret


def fuzz(reader: str, seconds: float, *, seed: int = SEED) -> Outcome:
    """Give a reader mutated inputs for some seconds."""
    outcome, until = Outcome(reader), monotonic() + seconds
    for data in inputs(reader, seed):
        if monotonic() > until:
            return outcome
        outcome.inputs += 1
        started = process_time()
        try:
            READERS[reader][0](data)
            outcome.read += 1
        except JudgedError:
            outcome.refused += 1
        except Exception as error:  # noqa: BLE001 - what is looked for
            outcome.defects.append(f"{outcome.inputs - 1}: {error!r}: {data[:200]!r}")
        if process_time() - started > SLOW:
            outcome.defects.append(f"{outcome.inputs - 1}: {process_time() - started:.1f} s: {data[:200]!r}")
    return outcome


PAGE = """# Reliability

What was tried, how often, and with what outcome. This page is written by `python tests/fuzz/mutate.py`, which gives every reader
mutated files from the seed {seed}. A reader may return a result or raise one of judged's errors; any other error, or more than
{slow:g} CPU seconds for one input, is a defect. `make test-slow` does the same for a shorter time, and runs the compiled
part under the address sanitizer.

| reader | inputs | read | refused in words | defects |
|---|---:|---:|---:|---:|
{rows}
"""


def main() -> None:
    """Fuzz all readers and write the page."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    outcomes = [fuzz(reader, seconds) for reader in READERS]
    rows = "\n".join(
        f"| {outcome.reader} | {outcome.inputs:,} | {outcome.read:,} | {outcome.refused:,} | {len(outcome.defects):,} |"
        for outcome in outcomes
    )
    (ROOT / "docs" / "reliability.md").write_text(
        PAGE.format(seed=SEED, slow=SLOW, rows=rows), encoding="utf-8"
    )
    for outcome in outcomes:
        sys.stdout.writelines(f"{outcome.reader} {defect}\n" for defect in outcome.defects[:20])


if __name__ == "__main__":
    main()

"""Time `judged answers` on one core: 1,000 questions, 10 systems and 20 nuggets each, from files to a report.

Answers have three sentences, of which two cite a passage. The clock covers reading the answers, 20 labels of nuggets and 2 of
citations each from JSONL and scoring them; comparing all pairs of systems in all measures; and writing the report. Numbers are CPU
time, the lowest of several runs; smaller sets of questions show how it grows.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before NumPy is loaded, which reads them once

import argparse  # noqa: E402
import json  # noqa: E402
import time  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from dataclasses import replace  # noqa: E402
from pathlib import Path  # noqa: E402
from tempfile import TemporaryDirectory  # noqa: E402

import numpy as np  # noqa: E402

import judged  # noqa: E402
from machine import description  # noqa: E402
from reporting import write_report  # noqa: E402

SEED = 20_240_607
QUESTIONS, SYSTEMS, NUGGETS = (125, 250, 500, 1000), 10, 20
LABELS = ("support", "partial_support", "not_support")
SUPPORT = ("full", "partial", "none")
ANSWER = "Cats purr when they are content [1]. They purr in pain too [2]. Nobody knows every reason."


def main() -> None:
    """Draw, time, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="number of times each part is timed")
    parser.add_argument("--write", type=Path, help="also write the report to this file")
    options = parser.parse_args()
    write_report(_report(options.rounds), options.write)


def _report(rounds: int) -> Iterator[str]:
    yield "# Answers"
    yield ""
    yield f"{SYSTEMS} systems, {NUGGETS} nuggets a question, answers of three sentences with two citations; from JSONL to means, all pairs"
    yield f"of systems, and a report. CPU seconds, the lowest of {rounds} runs. Written by `benchmarks/answers.py`."
    yield ""
    yield from (f"- {line}" for line in description()[:4])
    yield f"- Packages: numpy {np.__version__}"
    yield ""
    yield "| questions | labels | read and scored | compared | report written | **total** | report |"
    yield "|---:|---:|---:|---:|---:|---:|---:|"
    for questions in QUESTIONS:
        parts, size = _measure(questions, rounds)
        labels = questions * SYSTEMS * (NUGGETS + 2)
        cells = " | ".join(f"{part:.2f}" for part in parts)
        yield f"| {questions:,} | {labels:,} | {cells} | **{sum(parts):.2f}** | {size / 1e6:.1f} MB |"


def _measure(questions: int, rounds: int) -> tuple[list[float], int]:
    """Return the time of each part, and the size of the report."""
    with TemporaryDirectory() as folder:
        responses, *labels = _write(Path(folder), questions)
        taken = []
        for _ in range(rounds):
            start = time.process_time()
            report = judged.evaluate_answers(responses, labels=labels)
            scored = time.process_time()
            report = replace(report, comparison=judged.compare(report))
            compared = time.process_time()
            report.save(Path(folder, "report.html"))
            taken.append((scored - start, compared - scored, time.process_time() - compared))
        return [min(part) for part in zip(*taken, strict=True)], Path(folder, "report.html").stat().st_size


def _write(folder: Path, questions: int) -> tuple[Path, Path, Path]:
    """Write answers, labels of nuggets and labels of citations."""
    rng = np.random.default_rng(SEED)
    units = [(f"q{query}", f"s{system}") for system in range(SYSTEMS) for query in range(questions)]
    drawn = rng.integers(0, 3, (len(units), NUGGETS + 2))
    answers = [
        {"query": query, "system": system, "answer": ANSWER, "references": ["d1", "d2"]}
        for query, system in units
    ]
    nuggets = [
        {
            "query": query,
            "system": system,
            "nugget": f"n{nugget}",
            "importance": "vital" if nugget % 2 else "okay",
            "label": LABELS[row[nugget]],
        }
        for (query, system), row in zip(units, drawn.tolist(), strict=True)
        for nugget in range(NUGGETS)
    ]
    support = [
        {"query": query, "system": system, "part": part, "document": f"d{part}", "label": SUPPORT[row[-part]]}
        for (query, system), row in zip(units, drawn.tolist(), strict=True)
        for part in (1, 2)
    ]
    paths = []
    for name, rows in (("answers", answers), ("nuggets", nuggets), ("support", support)):
        paths.append(folder / f"{name}.jsonl")
        paths[-1].write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    first, second, third = paths
    return first, second, third


if __name__ == "__main__":
    main()

"""Time `judged.evaluate_sessions` from 100 MB of traces to scores, on one core, in the plain form and as chat messages.

Each form is read in its own process: parsing, deduplication, gains and six measures. The numbers are the CPU time of
the call, and the peak memory of the process above what it had before.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from machine import description
from reporting import write_report

DATA = Path("bench-data")
SEED = 20_261_116
MEGABYTES, REPEATS, SAME_SNIPPET = 100, 0.15, 0.4
ROUNDS = 3


def main() -> None:
    """Write the traces, time them, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=MEGABYTES, help="size of the traces")
    parser.add_argument("--write", type=Path, help="also write the report to this file")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(_cost(options.child)))
        return
    write_report(_report(options.megabytes), options.write)


def _report(megabytes: int) -> Iterator[str]:
    yield "# Traces to scores"
    yield ""
    yield f"{megabytes} MB of traces (URL, title and a snippet of 500 characters for each result, 15 % of the results seen before)"
    yield f"to six measures, on one core; the lowest of {ROUNDS} processes. Written by `benchmarks/traces.py`."
    yield ""
    yield from (f"- {line}" for line in description()[:4])
    yield ""
    yield "| form | MB | sessions | results | CPU s | MB per second | memory, MB |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for name, written in FORMS.items():
        path = _made(name, written, megabytes)
        size = path.stat().st_size / 1e6
        cost = min((_child(path) for _ in range(ROUNDS)), key=lambda each: each["cpu"])
        counts = f"{size:.0f} | {cost['sessions']:,} | {cost['results']:,}"
        yield f"| {name} | {counts} | {cost['cpu']:.2f} | {size / cost['cpu']:.0f} | {cost['memory']:.0f} |"


def _child(path: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    cost: dict[str, Any] = json.loads(done.stdout)
    return cost


def _cost(path: str) -> dict[str, Any]:
    """Return what one evaluation costs; imports, which a first small one makes, are not counted."""
    from judged import evaluate_sessions

    evaluate_sessions([{"turns": [{"iterations": [{"searches": [{"results": [{"id": "a", "gain": 1}]}]}]}]}])
    before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    seen = evaluate_sessions(path).counts
    cpu, after = time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"cpu": cpu, "memory": (after - before) / 1024, "sessions": seen.sessions, "results": seen.results}


def _made(name: str, written: Callable[[str, list[list[Any]]], Any], megabytes: int) -> Path:
    path = DATA / f"traces-{megabytes}-{name.replace(' ', '-')}.jsonl"
    if path.exists():
        return path
    DATA.mkdir(exist_ok=True)
    rng = random.Random(SEED)  # noqa: S311
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(5_000)]
    size, count = 0, 0
    with path.open("w", encoding="utf-8") as file:
        while size < megabytes * 1e6:
            size += file.write(json.dumps(written(f"c{count}", _iterations(rng, words))) + "\n")
            count += 1
    return path


def _iterations(rng: random.Random, words: list[str]) -> list[list[Any]]:
    """Three to eight iterations of one or two searches, ten results each."""
    seen: list[dict[str, Any]] = []
    return [
        [[_result(rng, words, seen) for _ in range(10)] for _ in range(rng.randint(1, 2))]
        for _ in range(rng.randint(3, 8))
    ]


def _result(rng: random.Random, words: list[str], seen: list[dict[str, Any]]) -> dict[str, Any]:
    if seen and rng.random() < REPEATS:
        known = rng.choice(seen)
        return known if rng.random() < SAME_SNIPPET else {**known, "snippet": _sentence(rng, words)}
    site, path = rng.choice(words), "/".join(rng.choices(words, k=3))
    seen.append(
        {
            "url": f"https://www.{site}.example.com/{path}?id={rng.randrange(10**6)}&utm_source=openai",
            "title": " ".join(rng.choices(words, k=8)).capitalize(),
            "snippet": _sentence(rng, words),
            "score": round(rng.random(), 4),
            "gain": rng.choice((0, 0, 1, 1, 2, 3, 4)),
        }
    )
    return seen[-1]


def _sentence(rng: random.Random, words: list[str]) -> str:
    return " ".join(rng.choices(words, k=75)).capitalize() + "."


def _plain(name: str, iterations: list[list[Any]]) -> dict[str, Any]:
    steps = [
        {"searches": [{"query": "words", "tool": "search", "results": results} for results in searches]}
        for searches in iterations
    ]
    return {"conversation": name, "task": name, "turns": [{"iterations": steps}]}


def _chat(name: str, iterations: list[list[Any]]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "a question"}]
    for step, searches in enumerate(iterations):
        ids = [f"call_{step}_{at}" for at in range(len(searches))]
        called = {"name": "web_search", "arguments": '{"query": "words"}'}
        calls = [{"id": each, "type": "function", "function": called} for each in ids]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [
            {"role": "tool", "tool_call_id": each, "content": json.dumps(results)}
            for each, results in zip(ids, searches, strict=True)
        ]
    return {"id": name, "messages": messages}


FORMS = {"plain": _plain, "chat messages": _chat}

if __name__ == "__main__":
    main()

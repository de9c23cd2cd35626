"""Time the deduplication of a million results, as sessions of ninety and as one block, and of adversarial input."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from judged.agents.dedup.find import find_duplicates
from judged.agents.dedup.rules import Rules
from judged.agents.tables import Hit
from machine import description
from reporting import write_report

SEED = 20_240_607
SESSION = 90
REPEATS = 0.15
"""The share of results that were given before in the same session, as measured on 200 sessions of a web agent."""
SAME_SNIPPET = 0.39
"""The share of those that come with the same snippet; the others are about another passage of the page."""

Results = list[tuple[Hit, str | None]]


def main() -> None:
    """Draw, time, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=int, default=1_000_000)
    parser.add_argument("--write", type=Path, help="also write the report to this file")
    options = parser.parse_args()
    write_report(_report(options.results), options.write)


def _report(count: int) -> Iterator[str]:
    yield "# Deduplication"
    yield ""
    yield f"{count:,} results with URL, title and a snippet of about 300 characters, {REPEATS:.0%} of them repeats within"
    yield f"their session of {SESSION}; CPU seconds on one thread, the lowest of three. Written by `benchmarks/dedup.py`."
    yield ""
    yield from (f"- {line}" for line in description()[:4])
    yield ""
    yield "| input | CPU s | µs per result | duplicates |"
    yield "|---|---:|---:|---:|"
    sessions = _sessions(count)
    block = [result for session in sessions for result in session]
    yield _row("sessions of 90", count, lambda: sum(_duplicates(session) for session in sessions))
    yield _row("the same as one block", count, lambda: _duplicates(block))
    yield _row("the same as one block, passages", count, lambda: _duplicates(block, Rules(unit="passage")))
    for name, results in _adversaries(count // 10):
        yield _row(name, len(results), lambda results=results: _duplicates(results))


def _row(name: str, count: int, work: Callable[[], int]) -> str:
    costs = []
    for _ in range(3):
        begin = time.process_time()
        duplicates = work()
        costs.append(time.process_time() - begin)
    return f"| {name}, {count:,} | {min(costs):.2f} | {min(costs) / count * 1e6:.1f} | {duplicates:,} |"


def _duplicates(results: Results, rules: Rules | None = None) -> int:
    return int((~find_duplicates(results, rules).first).sum())


def _sessions(count: int) -> list[Results]:
    rng = random.Random(SEED)  # noqa: S311
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(5_000)]
    return [list(_session(rng, words, min(SESSION, count - start))) for start in range(0, count, SESSION)]


def _session(rng: random.Random, words: list[str], size: int) -> Iterator[tuple[Hit, str | None]]:
    seen: list[Hit] = []
    for _ in range(size):
        if seen and rng.random() < REPEATS:
            page = rng.choice(seen)
            snippet = page.snippet if rng.random() < SAME_SNIPPET else _sentence(rng, words, 50)
            yield Hit(url=page.url, title=page.title, snippet=snippet), "search"
            continue
        seen.append(_page(rng, words))
        yield seen[-1], "search"


def _page(rng: random.Random, words: list[str]) -> Hit:
    path = "/".join(rng.choices(words, k=rng.randint(1, 3))) + "-" + str(rng.randrange(10**6))
    query = f"?id={rng.randrange(10**6)}&utm_source=openai" if rng.random() < 0.25 else ""
    scheme, www = rng.choice(("https", "https", "https", "http")), rng.choice(("www.", "", ""))
    url = f"{scheme}://{www}{rng.choice(words)}.example.com/{path}{query}"
    title = " ".join(rng.choices(words, k=8)).capitalize() + " - " + rng.choice(words).title()
    mark = "…" if rng.random() < 0.1 else ""
    return Hit(url=url, title=title, snippet=_sentence(rng, words, 50) + mark)


def _sentence(rng: random.Random, words: list[str], size: int) -> str:
    return ", ".join(" ".join(rng.choices(words, k=10)).capitalize() for _ in range(size // 10)) + "."


def _adversaries(count: int) -> Iterator[tuple[str, Results]]:
    """Return inputs in which all results share a key: they all differ, or they are all the same."""
    opening = "The first thirty characters are those of all the others, "
    page = "https://example.com/"
    yield (
        "one URL, ids that differ",
        [(Hit(id=f"{i}", url=page, snippet=f"{opening}{i}"), "t") for i in range(count)],
    )
    yield (
        "one DOI, titles that differ",
        [(Hit(domain="doi", domain_id="1", title=f"{i}"), None) for i in range(count)],
    )
    yield (
        "one title, one beginning of texts that differ",
        [(Hit(title="T", snippet=f"{opening}{i:07}"), "t") for i in range(count)],
    )
    yield (
        "one URL, one group, texts that differ",
        [(Hit(url=page, title="T", snippet=f"{opening}{i}"), "t") for i in range(count)],
    )


if __name__ == "__main__":
    main()

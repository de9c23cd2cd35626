"""Screens of the commands in a real terminal: `python tests/support/screens.py` writes them to `tests/golden/screens`.

One process for each width runs every command on a pseudo-terminal, on runs that are drawn from a fixed seed. Look at
the screens after a change as a user would, then commit them.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden" / "screens"
WIDTHS = (80, 120)
FIVE = ("bm25", "bm25_rm3", "dense_distilled", "reranker", "splade")
TWELVE = tuple(f"system_{number:02}" for number in range(1, 13))
MEASURES = "nDCG@10 AP RR P@10 R@100"
SCREENS: dict[str, tuple[str, ...]] = {
    "score": ("score", "qrels.txt", *(f"{name}.run" for name in FIVE), "-m", MEASURES),
    "score-verbose": ("score", "qrels.txt", "bm25.run", "-m", "AP", "-v"),
    "score-bounds": ("score", "qrels.txt", "bm25.run", "reranker.run", "-m", "AP P@10", "--bounds"),
    "score-per-query": (
        *("score", "qrels.txt", *(f"{name}.run" for name in FIVE), "-m", "nDCG@10 AP"),
        *("--per-query", "--sort", "-difference", "--limit", "5", "--queries", "queries.tsv"),
    ),
    "compare-2": ("compare", "qrels.txt", "bm25.run", "splade.run"),
    "compare-5": ("compare", "qrels.txt", *(f"{name}.run" for name in FIVE), "-m", "nDCG@10 AP"),
    "compare-5-baseline": ("compare", "qrels.txt", *(f"{name}.run" for name in FIVE), "--baseline", "bm25"),
    "compare-5-full": (
        *("compare", "qrels.txt", *(f"{name}.run" for name in FIVE), "-m", "nDCG@10"),
        *("--baseline", "bm25", "--full", "--intervals"),
    ),
    "compare-12": ("compare", "qrels.txt", *(f"{name}.run" for name in TWELVE), "-m", "nDCG@10 AP"),
    "compare-12-baseline": (
        *("compare", "qrels.txt", *(f"{name}.run" for name in TWELVE), "-m", "AP"),
        *("--baseline", "system_01"),
    ),
    "compare-per-query": (
        *("compare", "qrels.txt", "bm25.run", "splade.run", "-m", "AP"),
        *("--per-query", "--sort", "difference", "--limit", "5", "--queries", "queries.tsv"),
    ),
    "gate": ("gate", "qrels.txt", "bm25_rm3.run", "--baseline", "bm25.run", "-m", "nDCG@10 AP"),
    "sessions": ("sessions", "old.jsonl", "new.jsonl", "--baseline", "old", "-m", "CG RG SRR"),
    "sessions-gate": (
        "sessions",
        "old.jsonl",
        "new.jsonl",
        "--baseline",
        "old",
        "-m",
        "CG",
        "--min-delta",
        "-1",
    ),
}
"""The arguments of the command on each screen."""
CUT = "\f"
"""Stands between two screens."""


def write_collection(folder: Path) -> None:
    """Write judgments, runs of several quality, texts of queries, and the sessions of two agents."""
    draw = random.Random(7)  # noqa: S311 - a fixed seed
    grades = {
        f"q{query:02}": {f"d{number:02}": draw.choice((0, 0, 0, 1, 1, 2)) for number in range(30)}
        for query in range(40)
    }
    lines = [f"{query} 0 {name} {grade}\n" for query, own in grades.items() for name, grade in own.items()]
    (folder / "qrels.txt").write_text("".join(lines))
    (folder / "queries.tsv").write_text(
        "id\ttext\n"
        + "".join(f"{query}\twhat is known about subject number {query[1:]}\n" for query in grades)
    )
    for strength, name in enumerate((*FIVE, *TWELVE)):
        _write_run(folder / f"{name}.run", grades, 0.15 * (strength if strength < 5 else strength - 5), draw)
    for name, gains in (("old", (2, 0, 3)), ("new", (4, 2, 2))):
        _write_sessions(folder / f"{name}.jsonl", name, gains)


def _write_run(path: Path, grades: dict[str, dict[str, int]], strength: float, draw: random.Random) -> None:
    """Write a run that orders documents by grade and noise; `reranker` also has unjudged and tied ones."""
    lines = []
    for query, own in grades.items():
        scores = {name: strength * grade + draw.gauss(0, 1) for name, grade in own.items()}
        if path.stem == "reranker":
            scores = {name: round(score, 1) for name, score in scores.items()} | {"unjudged": 1.0}
        for rank, name in enumerate(sorted(scores, key=lambda name: -scores[name]), 1):
            lines.append(f"{query} Q0 {name} {rank} {scores[name]:.4f} {path.stem}\n")
    path.write_text("".join(lines))


def _write_sessions(path: Path, system: str, gains: tuple[int, ...]) -> None:
    rows = []
    for task in range(6):
        results = [
            f'{{"url": "https://{task}.example/{at}", "gain": {(gain + task) % 5}}}'
            for at, gain in enumerate(gains)
        ]
        steps = ", ".join(f'{{"searches": [{{"results": [{result}]}}]}}' for result in [*results, results[0]])
        rows.append(f'{{"conversation": "{system}{task}", "task": "task {task}", "iterations": [{steps}]}}\n')
    path.write_text("".join(rows))


def capture(width: int) -> dict[str, str]:
    """Return what every command shows on a terminal of that width."""
    import fcntl
    import pty
    import struct
    import termios

    with tempfile.TemporaryDirectory() as folder:
        write_collection(Path(folder))
        child, terminal = pty.fork()
        if child == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
            environment = {
                name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}
            }
            os.chdir(folder)
            os.execve(  # noqa: S606 - it needs the terminal of this process
                sys.executable,
                [sys.executable, __file__, "--show"],
                environment | {"NO_COLOR": "1", "TERM": "xterm"},
            )
        shown = b"".join(iter(lambda: _read(terminal), b"")).decode().replace("\r\n", "\n")
        os.waitpid(child, 0)
        os.close(terminal)
    return dict(zip(SCREENS, shown.split(CUT), strict=False))


def _read(terminal: int) -> bytes:
    """Return some of what was printed; nothing when the process has ended."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def show() -> None:
    """Run every command in this process, its screen followed by a form feed."""
    import click

    from judged.cli.main import judged

    for arguments in SCREENS.values():
        click.echo(" ".join(("$ judged", *(f'"{word}"' if " " in word else word for word in arguments))))
        judged.main(list(arguments), standalone_mode=False)
        click.echo(CUT, nl=False)


def golden_files() -> list[tuple[str, int, Path]]:
    """Return the name, the width and the file of every screen."""
    return [(name, width, GOLDEN / f"{name}.{width}.txt") for width in WIDTHS for name in SCREENS]


def main() -> None:
    """Write every screen to its file."""
    GOLDEN.mkdir(exist_ok=True)
    screens = {width: capture(width) for width in WIDTHS}
    for name, width, path in golden_files():
        path.write_text(screens[width][name])


if __name__ == "__main__":
    show() if sys.argv[1:] == ["--show"] else main()

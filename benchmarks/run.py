"""Time judged and its peers, and write the ratios to benchmarks/RESULTS.md and README.md.

Every tool goes from the files to the means of five measures, in its own process and on one thread.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path

from generate import QUERIES, VARIANTS, Data, generate
from machine import description, trec_eval_program
from process import Cost, Failed, Task, measure
from readme import fill
from reporting import write_report

HERE = Path(__file__).parent
PEERS = ("pytrec_eval", "trec_eval", "ir_measures", "ranx")
NOT_COMPILED = (("JUDGED_COMPILED", "0"),)
TOLERANCE = 5e-5
"""Half a unit of the last digit that trec_eval prints."""


def main() -> None:
    """Generate, time, print, write."""
    options = _options()
    queries = QUERIES // 20 if options.quick else QUERIES
    _print_step(f"files for {queries:,} queries in {options.data}")
    data = generate(options.data, queries=queries)
    for path in data.directory.glob("*.txt"):
        path.read_bytes()  # so that no tool is the one to fetch it from the disk
    lines = write_report(_report(data, options), options.write)
    if options.write:
        fill(HERE.parent / "README.md", lines)
        _print_step(f"written to {options.write}, and the ratios to README.md")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the queries; writes no file")
    parser.add_argument(
        "--peers", default=",".join(PEERS), help="which peers, separated by commas; `none` for none"
    )
    parser.add_argument("--variants", default=",".join(VARIANTS), help="which files, separated by commas")
    parser.add_argument(
        "--repeat", type=int, default=3, help="processes for each tool; the lowest cost counts"
    )
    parser.add_argument(
        "--data", type=Path, default=HERE.parent / "bench-data", help="folder of the generated files"
    )
    parser.add_argument(
        "--write", type=Path, help="file for the report [benchmarks/RESULTS.md unless --quick]"
    )
    options = parser.parse_args()
    options.peers = [name for name in options.peers.split(",") if name != "none"]
    options.variants = options.variants.split(",")
    unknown = [name for name in options.peers if name not in PEERS]
    unknown += [name for name in options.variants if name not in VARIANTS]
    if unknown:
        parser.error(f"`{unknown[0]}` is unknown; peers: {', '.join(PEERS)}; variants: {', '.join(VARIANTS)}")
    if options.write is None and not options.quick:
        options.write = HERE / "RESULTS.md"
    return options


def _report(data: Data, options: argparse.Namespace) -> Iterator[str]:
    size = data.run("sorted").stat().st_size / 1e6
    yield "# judged and its peers"
    yield ""
    yield f"A run of {data.queries:,} queries × 1,000 documents ({size:.0f} MB) with 21 judged documents per query; five measures"
    yield "(nDCG@10, AP, RR, P@10, R@100), from the files to the means. CPU seconds of the call on one thread, the lowest of up"
    yield f"to {options.repeat} fresh processes, each warmed up on three lines (except ranx); `process` includes the interpreter,"
    yield "imports and warm-up. The ratio is to judged's CPU time. Written by `make bench`."
    yield ""
    yield from (f"- {line}" for line in description())
    first: Cost | None = None
    for variant in options.variants:
        yield from _section(f"Files: {variant}")
        judged = yield from _files(data, variant, options)
        first = first or judged
    if first is not None:
        yield from _section("In memory: columns and dicts that exist before the clock starts")
        yield from _in_memory(data, options)
        yield from _section("Threads, memory, growth")
        yield from _properties(data, options, first)
    yield from _section("Start-up")
    yield from _start_up(options)


def _files(data: Data, variant: str, options: argparse.Namespace) -> Generator[str, None, Cost | None]:
    """Return a table of all tools on one file; returns what judged cost."""
    tasks = [
        Task("judged", "judged"),
        Task("judged, NumPy only", "judged", env=NOT_COMPILED),
        Task('floor: `read_bytes().count(b"\\n")`', "newlines"),
    ]
    tasks += [Task(name, name, calls=2 if name == "ranx" else 1) for name in options.peers]
    yield "| tool | CPU s | wall s | process CPU s | ratio | notes |"
    yield "|---|---:|---:|---:|---:|---|"
    base: Cost | None = None
    for task in tasks:
        cost = _measured(task, data, options, data.run(variant))
        if isinstance(cost, str):
            yield f"| {task.label} | – | – | – | – | {cost} |"
            continue
        base = cost if task is tasks[0] else base
        yield from _row(task.label, cost, base)
    return base


def _row(label: str, cost: Cost, base: Cost | None) -> Iterator[str]:
    cold = "first call, compiling" if cost.warm is not None else ""
    note = "; ".join(filter(None, (cold, _agreement(cost, base))))
    spent = f"{cost.cpu:.3f} | {cost.wall:.3f} | {cost.process_cpu:.3f} | {_ratio(cost.cpu, base)}"
    yield f"| {label} | {spent} | {note} |"
    if cost.warm is not None:
        yield f"| {label} | {cost.warm:.3f} | – | – | {_ratio(cost.warm, base)} | second call in the same process |"


def _ratio(cpu: float, base: Cost | None) -> str:
    return "–" if base is None else f"{cpu / base.cpu:.1f}"


def _agreement(cost: Cost, base: Cost) -> str:
    """Return which means differ from judged's, as a faster way to another number does not count."""
    both = cost.means.keys() & base.means.keys()
    far = [
        name for name in base.means if name in both and abs(cost.means[name] - base.means[name]) > TOLERANCE
    ]
    return (
        ""
        if not far
        else "differs: "
        + ", ".join(f"{name} {cost.means[name]:.4f} (judged {base.means[name]:.4f})" for name in far)
    )


def _in_memory(data: Data, options: argparse.Namespace) -> Iterator[str]:
    yield "| from | CPU s | ratio |"
    yield "|---|---:|---|"
    run = data.run("sorted")
    costs = {
        tool: _measured(Task(tool, tool), data, options, run)
        for tool in (
            *(
                "judged_arrow",
                "judged_polars",
                "judged_dicts",
                "pytrec_eval_dicts",
                "judged_dicts_many_judged",
            ),
            *("pytrec_eval_dicts_many_judged", "pytrec_eval"),
        )
    }
    peers = {
        "judged_dicts": "pytrec_eval_dicts",
        "judged_dicts_many_judged": "pytrec_eval_dicts_many_judged",
        "judged_arrow": "pytrec_eval",
        "judged_polars": "pytrec_eval",
    }
    peer_names = {
        "pytrec_eval_dicts": "pytrec_eval's evaluation of the same dicts",
        "pytrec_eval_dicts_many_judged": "pytrec_eval's evaluation of the same dicts, 100 queries × 1,000 judged",
        "pytrec_eval": "pytrec_eval reading the files",
    }
    for tool, cost in costs.items():
        if isinstance(cost, str):
            yield f"| {tool} | – | {cost} |"
            continue
        peer = costs.get(peers.get(tool, ""))
        ratio = (
            f"{peer.cpu / cost.cpu:.1f} × cheaper than {peer_names[peers[tool]]}"
            if isinstance(peer, Cost)
            else ""
        )
        yield f"| {tool.replace('_', ' ')} | {cost.cpu:.3f} | {ratio} |"


def _properties(data: Data, options: argparse.Namespace, judged: Cost) -> Iterator[str]:
    run = data.run("sorted")
    yield "| what | value |"
    yield "|---|---|"
    two = _measured(Task("two threads", "judged_two_threads"), data, options, run)
    if isinstance(two, Cost):
        yield f"| wall time, two threads and one | {two.wall:.3f} s and {judged.wall:.3f} s: ratio {two.wall / judged.wall:.2f} |"
    else:
        yield f"| wall time, two threads and one | {two} |"
    yield f"| memory, without the mapped file | {judged.memory:.0f} MB |"
    for share in (4, 2):
        part = _measured(Task(f"one query in {share}", "judged"), data, options, data.head(share))
        if isinstance(part, Cost):
            yield f"| CPU time per row, all rows to one in {share} | {judged.cpu / part.cpu / share:.2f} |"
    many = _measured(Task("30 measures", "judged_many"), data, options, run)
    if isinstance(many, Cost):
        yield f"| CPU time of 30 measures to that of 5 | {many.cpu / judged.cpu:.2f} |"
    linted = _measured(Task("lint", "judged_lint"), data, options, run)
    if isinstance(linted, Cost):
        yield f"| `judged lint`, million lines per CPU second | {linted.means['lines'] / linted.cpu / 1e6:.1f} |"
        yield f"| CPU time of `judged lint` to that of scoring | {linted.cpu / judged.cpu:.1f} |"


def _start_up(options: argparse.Namespace) -> Iterator[str]:
    small = options.data / "small"
    small.mkdir(parents=True, exist_ok=True)
    (small / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 c 2\n")
    (small / "run.txt").write_text("1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0 t\n2 Q0 c 1 1.0 t\n")
    program = str(Path(sys.executable).with_name("judged"))
    python = [sys.executable, "-c"]
    score = [program, "score", str(small / "qrels.txt"), str(small / "run.txt"), "-m", "nDCG@10"]
    yield "| command | wall ms, best of 10 |"
    yield "|---|---:|"
    try:
        empty = _wall([*python, "pass"])
        yield f"| `python -c pass` | {empty * 1e3:.0f} |"
        yield f"| `import judged`, in addition | {(_wall([*python, 'import judged']) - empty) * 1e3:.0f} |"
        yield f"| `judged --help` | {_wall([program, '--help']) * 1e3:.0f} |"
        yield f"| `judged score`, three lines | {_wall(score) * 1e3:.0f} |"
    except subprocess.CalledProcessError as error:
        yield f"| `{Path(error.cmd[0]).name} {error.cmd[1]}` | failed |"


def _wall(command: list[str], *, times: int = 10) -> float:
    def once() -> float:
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        return time.perf_counter() - began

    return min(once() for _ in range(times))


def _measured(task: Task, data: Data, options: argparse.Namespace, run: Path) -> Cost | str:
    """Return what a tool cost, or why it could not be measured."""
    if task.tool == "trec_eval" and trec_eval_program() is None:
        return "not found"
    _print_step(f"{run.stem}: {task.label}")
    try:
        return measure(task, data.qrels, run, repeat=options.repeat)
    except Failed as error:
        return f"failed: {error}"


def _section(title: str) -> list[str]:
    return ["", f"## {title}", ""]


def _print_step(step: str) -> None:
    print(f"… {step}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

"""The size and shape of the project in one table: `python tests/contracts/house.py`.

`test_house.py` holds the numbers to their ceilings.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "judged"

CEILINGS = {
    "source files": 485,  # 300; bounds by prefix sums, elementary functions, the history of gates; pipelines and studies, a file for each kind of stage; the report with a file for each page, the viewer, notebooks; a file for each engine and trace format
    "files of the largest folder": 33,  # 25, what options need to have an effect, and the commands `report`, `view`, `index`, `label --sample`, `fuse`, `routing` and `run`
    "files under 40 lines": 30,  # 15; some formats of traces need no more
    "modules with one importer": 82,  # 42; what runs on executors of Spark; stages, listed once by their kind; parts of the report and of the viewer; formats of vectors; tuning of fusion, routing
    "`Any`": 720,  # objects of PyTorch, of users' functions and of other libraries' retrievers; objects of Spark, of the libraries of vector indexes and of the clients of their servers
    "names at the root": 58,  # 45, `run_study` and its result; `benchmark_index`, its result and two tables; fusion, its tuning and routing with theirs
}
"""What the project agreed not to exceed; a part of the product that needs more raises its line, with a reason."""
SHORT = 40
"""Lines below which a file should be part of another, unless it is an adapter, a format or a command."""
GENERATED = {
    "docs/measures.md",
    "docs/compatibility.md",
    "docs/reference/commands.md",
    "docs/reference/engines.md",
    "docs/reference/lint.md",
    "docs/reference/profiles.md",
    "docs/reference/stages.md",
    "docs/reference/tables.md",
}
"""Pages of the documentation that programs write."""

TRACER = """
import json, sys
from pathlib import Path

package, arguments = sys.argv[1], sys.argv[2:]
entered, importing = set(), 0

def watch(frame, event, _):
    global importing
    code = frame.f_code
    if code.co_name == "<module>" and event in {"call", "return"}:
        importing += 1 if event == "call" else -1
    elif event == "call" and not importing and code.co_filename.startswith(package):
        entered.add(code.co_filename)

from judged.cli.main import judged

sys.setprofile(watch)
try:
    judged(arguments, standalone_mode=False)
finally:
    sys.setprofile(None)
    print(json.dumps(sorted(entered)), file=sys.stderr)
"""
"""Runs a command and prints the files of the package whose functions were called, imports left out."""


def measure_house() -> dict[str, int]:
    """Return every number of the table."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    lengths = {path: len(text.splitlines()) for path, text in texts.items()}
    compiled = sum(
        len(path.read_text(encoding="utf-8").splitlines())
        for pattern in ("*.pyx", "*.pxd", "*.h")
        for path in PACKAGE.rglob(pattern)
    )
    folders = Counter(path.parent for path in texts)
    code = [line for text in texts.values() for line in text.splitlines() if "import" not in line]
    short = [path for path, length in lengths.items() if length < SHORT and path.name != "__init__.py"]
    return {
        "source lines": sum(lengths.values()) + compiled,
        "source files": len(texts),
        "median lines of a file": round(median(lengths.values())),
        "files under 40 lines": len(short),
        "files of the largest folder": max(folders.values()),
        **count_entered(),
        "modules with one importer": len(find_single_importers()),
        "`Any`": sum(len(re.findall(r"\bAny\b", line)) for line in code),
        "names at the root": count_root_names(),
        "words of hand-written documentation": count_words(),
    }


def count_entered() -> dict[str, int]:
    """Return how many files a small `judged score` and `judged compare` enter."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 a 2\n3 0 c 1\n")
        runs = {
            "one.run": "1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n2 Q0 a 1 1 x\n",
            "two.run": "1 Q0 b 1 2 y\n3 Q0 c 1 1 y\n",
        }
        for name, text in runs.items():
            (place / name).write_text(text)
        score = ["score", "qrels.txt", "one.run", "-m", "nDCG@10"]
        compare = ["compare", "qrels.txt", "one.run", "two.run", "-m", "nDCG@10"]
        return {
            f"files entered by `judged {arguments[0]}`": len(find_entered(arguments, place))
            for arguments in (score, compare)
        }


def find_entered(arguments: list[str], folder: Path) -> list[str]:
    """Return the files of the package that a command enters, run in that folder."""
    ended = subprocess.run(
        [sys.executable, "-c", TRACER, str(PACKAGE), *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        check=True,
        capture_output=True,
        text=True,
    )
    entered: list[str] = json.loads(ended.stderr.splitlines()[-1])
    return entered


def find_single_importers() -> list[str]:
    """Return the modules that exactly one other module imports."""
    import grimp

    graph = grimp.build_graph("judged", cache_dir=None)
    files = {
        ".".join(("judged", *path.relative_to(PACKAGE).with_suffix("").parts))
        for path in PACKAGE.rglob("*.py")
    }
    return sorted(
        name for name in graph.modules & files if len(graph.find_modules_that_directly_import(name)) == 1
    )


def count_root_names() -> int:
    """Return how many public names `dir(judged)` lists."""
    program = "import judged; print(sum(not name.startswith('_') for name in dir(judged)))"
    ended = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return int(ended.stdout)


def count_words() -> int:
    """Return the words of the README, the guides and the other pages that people write."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    written = [path for path in pages if path.relative_to(ROOT).as_posix() not in GENERATED]
    return sum(len(path.read_text(encoding="utf-8").split()) for path in written)


def main() -> None:
    """Print the table."""
    for name, value in measure_house().items():
        ceiling = CEILINGS.get(name)
        limit = "" if ceiling is None else f"  at most {ceiling:,}{'' if value <= ceiling else ', exceeded'}"
        print(f"{name:<36}{value:>8,}{limit}")


if __name__ == "__main__":
    main()

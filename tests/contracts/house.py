"""The size and shape of the project in one table: `python tests/contracts/house.py`.

`test_house.py` holds the numbers to their ceilings.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "judged"

CEILINGS = {
    "source files": 700,  # exact search and embeddings of two kinds; clicks: logs, models, values, interleaving; 672; traces of services, each a file: 651; readers of answers, vectors, filters and runbooks: 632; rewriters, generators, costs and responses of studies; the job of labelling commands, tasks and forms of answers; a file for each format of scores, each tool whose interface judged has, each profile; bounds by prefix sums, elementary functions, the history of gates; pipelines and studies, a file for each kind of stage; the report with a file for each page, the viewer, notebooks; a file for each engine and trace format
    "files of the largest folder": 26,  # 25, what options need to have an effect, and the commands `report`, `view`, `index`, `label --sample`, `fuse`, `routing` and `run`
    "files under 40 lines": 40,  # 15; some profiles and formats need no more
    "modules with one importer": 114,  # readers of logs; 108; archives and unread fields of traces: 106; formats of answers and of vectors; 42; what runs on executors of Spark; stages, listed once by their kind; parts of the report and of the viewer; formats of vectors; tuning of fusion, routing
    "`Any`": 665,  # exact search and embeddings of any library; events of logs before they are read; 610; parameters of users' rewriters and generators; what YAML holds before it is checked, tokenisers; 400, and models, frames and tasks of the tools whose interfaces judged has, which have no types; objects of PyTorch, of users' functions and of other libraries' retrievers; objects of Spark, of the libraries of vector indexes and of the clients of their servers
    "names at the root": 77,  # exact search, embeddings of two kinds and their result; clicks: reading, scoring, models, values, interleaving, a table; studies of several collections; 45, `Evaluator`, `evaluate_arrays` and `read_predictions`; `read_scores`, `evaluate_retriever`, `plan_queries` and its result; `run_study` and its result; `benchmark_index`, its result and two tables; fusion, its tuning and routing with theirs
    "source lines": 129_500,  # clicks: 3,700; files, filters, codes, updates and the page of vector indexes: 1,400; traces of services: 1,100; answers in studies, rewriters, runbooks, filters, tools' files of answers: 5,600; tasks of labellers: 250; scores of other tools, question sets, search results of other libraries, clusters and plans, one rule of paths: 9,000; a kept evaluator, arrays, training libraries and drop-ins: 4,500; the goal was 78,000
    "source lines of the core": 65_000,  # the same; exposure: 500; the goal was 42,000
    "files entered by `judged sessions`": 80,  # studies; columns that users name; the goal is 55
    "functions with more than 8 parameters": 28,  # studies; public verbs, whose keywords people know; the goal is 12
    "of these, neither public nor a constructor": 7,
    "`isinstance` on results": 0,
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
    "docs/reference/scores.md",
    "docs/reference/stages.md",
    "docs/reference/tables.md",
}
"""Pages of the documentation that programs write."""

TRACER = """
import json, sys
from pathlib import Path

package, arguments = sys.argv[1], sys.argv[2:]
entered, importing = {}, 0

def watch(frame, event, _):
    global importing
    code = frame.f_code
    if code.co_name == "<module>" and event in {"call", "return"}:
        importing += 1 if event == "call" else -1
    elif event == "call" and not importing and code.co_filename.startswith(package):
        entered.setdefault(code.co_filename)

from judged.cli.main import judged

sys.setprofile(watch)
try:
    judged(arguments, standalone_mode=False)
finally:
    sys.setprofile(None)
    print(json.dumps(list(entered)), file=sys.stderr)
"""
"""Runs a command and prints the files of the package whose functions were called, in order, imports left out."""

SUBJECTS = ("agents", "labels", "index", "studies", "answers", "clicks")
PARAMETERS = 8
"""More parameters than a function should have; options of a command that click passes one by one count too."""


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
        "source lines of the core": sum(
            length for path, length in lengths.items() if path.relative_to(PACKAGE).parts[0] not in SUBJECTS
        )
        + compiled,
        "source files": len(texts),
        "median lines of a file": round(median(lengths.values())),
        "files under 40 lines": len(short),
        "files of the largest folder": max(folders.values()),
        **count_entered(),
        "modules with one importer": len(find_single_importers()),
        "`Any`": sum(len(re.findall(r"\bAny\b", line)) for line in code),
        "functions with more than 8 parameters": count_parameters(texts.values()),
        "of these, neither public nor a constructor": count_parameters(texts.values(), list_public()),
        "`isinstance` on results": count_result_checks(texts),
        "lines of comments": sum(
            line.lstrip().startswith("# ") for text in texts.values() for line in text.splitlines()
        ),
        "names at the root": count_root_names(),
        "words of hand-written documentation": count_words(),
    }


FILES = {
    "qrels.txt": "1 0 a 1\n1 0 b 0\n2 0 a 2\n3 0 c 1\n",
    "one.run": "1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n2 Q0 a 1 1 x\n",
    "two.run": "1 Q0 b 1 2 y\n3 Q0 c 1 1 y\n",
    "labels.csv": "url,gain\nhttps://a.org/x,3\n",
    "agent.jsonl": """{"messages": [
        {"role": "user", "content": "what is x"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "web_search", "arguments": "{\\"query\\": \\"x\\"}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "[{\\"url\\": \\"https://a.org/x\\", \\"title\\": \\"X\\"}]"},
        {"role": "assistant", "content": "x is y"}]}""".replace("\n", " "),
    "corpus.jsonl": '{"_id": "a", "text": "red fish"}\n{"_id": "b", "text": "blue bird"}\n{"_id": "c", "text": "red bird"}\n',
    "queries.jsonl": '{"_id": "1", "text": "red fish"}\n',
    "study.qrels": "1 0 a 1\n",
    "lengths.py": "def encode(texts):\n    return [[float(len(text)), 1.0] for text in texts]\n",
    "study.yaml": """
name: tiny
collection: {documents: corpus.jsonl, queries: queries.jsonl, judgments: study.qrels}
systems:
  - {name: words, search: bm25}
  - {name: lengths, search: exact, encoder: {type: function, function: "lengths:encode"}}
measures: [nDCG@10]
""",
}
"""The smallest inputs with which each command does its work."""
COMMANDS = {
    "score": "score qrels.txt one.run -m nDCG@10",
    "compare": "compare qrels.txt one.run two.run -m nDCG@10",
    "compare -o report.html": "compare qrels.txt one.run two.run -m nDCG@10 -o report.html",
    "sessions": "sessions agent.jsonl --labels labels.csv -m CG@3",
    "explain": "explain qrels.txt one.run -m nDCG@10 --query 1",
    "run": "run study.yaml",
}
"""The commands whose ways through the code are counted."""


def trace_commands(*names: str) -> dict[str, list[str]]:
    """Return the files of the package that each command enters, in their order."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        return {name: find_entered(COMMANDS[name].split(), Path(folder)) for name in names or COMMANDS}


def count_entered() -> dict[str, int]:
    """Return how many files each of the commands enters."""
    return {f"files entered by `judged {name}`": len(files) for name, files in trace_commands().items()}


def list_public() -> set[str]:
    """Return the names that packages export, those of drop-in replacements, and the constructor of tables."""
    exported = {
        name
        for path in PACKAGE.rglob("*.pyi")
        for name in re.findall(r"\b(\w+) as \1\b", path.read_text(encoding="utf-8"))
    }
    replacing = {
        node.name
        for path in (PACKAGE / "compat").glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    return {*exported, *replacing, "from_columns"}


def count_parameters(texts: Iterable[str], known: Collection[str] = ()) -> int:
    """Return how many functions have more parameters than they should, without those of known names."""
    functions = (
        node.args
        for text in texts
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name not in known
    )
    return sum(len([*each.posonlyargs, *each.args, *each.kwonlyargs]) > PARAMETERS for each in functions)


def count_result_checks(texts: Mapping[Path, str]) -> int:
    """Return how often a page of the report or the viewer asks for the class of a result."""
    results = "|".join(
        re.findall(r"^class (\w+)\((?:\w+, )*Result\b", "\n".join(texts.values()), re.MULTILINE)
    )
    asking = [
        text for path, text in texts.items() if path.name == "page.py" or {"report", "web"} & set(path.parts)
    ]
    return sum(len(re.findall(rf"isinstance\([^()]*\b(?:{results})\b", text)) for text in asking)


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
        print(f"{name:<42}{value:>8,}{limit}")


if __name__ == "__main__":
    main()

"""Record what nuggetizer, RAGChecker, ALCE and open-rag-eval compute from random tables of labels.

    pip install --no-deps nuggetizer==0.0.5 ragchecker==0.1.9 open-rag-eval==0.3.0 && pip install numpy
    python record.py path/to/ALCE

in an environment of its own; the folder is a checkout of princeton-nlp/ALCE, of which `compute_autoais` is run with labels
in place of its model. `python record.py path/to/ALCE --check 10000` writes nothing: it compares the loops of
`tests/answers/oracles.py`, which the tests trust, with the tools on that many tables each.
"""

from __future__ import annotations

import ast
import json
import logging
import random
import re
import sys
import types
from collections.abc import Mapping, Sequence
from copy import deepcopy
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1] / "answers"))
import oracles  # noqa: E402

SEED = 29
COUNT = 40
Rows = list[dict[str, Any]]
Case = dict[str, Any]


def stub(name: str, **values: object) -> None:
    """Provide a module that a tool imports and does not use here."""
    module = types.ModuleType(name)
    module.__dict__.update(values)
    sys.modules[name] = module


class Stub:
    """Stands for a class that is not used."""

    def __init__(self, *_: object, **values: object) -> None:
        self.__dict__.update(values)


def import_tools() -> None:
    """Import the arithmetic of the tools without what their models need."""
    sys.modules["ragchecker"] = package("ragchecker")
    stub("ragchecker.container", RAGResult=Stub)
    for name in (
        "open_rag_eval",
        "open_rag_eval.metrics",
        "open_rag_eval.models",
        "open_rag_eval.data_classes",
    ):
        sys.modules[name] = package(name)
    stub("pydantic", BaseModel=Stub)
    stub("open_rag_eval.models.llm_judges", LLMJudgeModel=Stub)
    stub("open_rag_eval.metrics.base_metrics", AugmentedGenerationMetric=object)
    stub("open_rag_eval.data_classes.rag_results", RAGResult=Stub)
    for name in ("nuggetizer", "nuggetizer.core"):
        sys.modules[name] = package(name)


def package(name: str) -> types.ModuleType:
    """Return a package whose own module is not run."""
    folder = next(
        folder
        for path in sys.path
        if (folder := Path(path, *name.split("."))).is_dir() and path.endswith("packages")
    )
    module = types.ModuleType(name)
    module.__path__ = [str(folder)]
    return module


def score_nuggetizer(nuggets: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Return the scores of nuggetizer."""
    from nuggetizer.core.metrics import calculate_nugget_scores

    rows = [{"importance": importance, "assignment": label} for importance, label in nuggets]
    found = vars(calculate_nugget_scores("q", rows))
    return {name: value for name, value in found.items() if name != "qid"}


NAMES = {
    "noise_sensitivity_in_relevant": "noise_relevant",
    "noise_sensitivity_in_irrelevant": "noise_irrelevant",
}


def score_ragchecker(
    true: Sequence[bool], said: Sequence[bool], by_response: oracles.Matrix, by_truth: oracles.Matrix
) -> dict[str, float]:
    """Return the metrics of RAGChecker."""
    from ragchecker import computation

    def name(flags: Any) -> Any:
        if isinstance(flags, bool):
            return "Entailment" if flags else "Neutral"
        return [name(flag) for flag in flags]

    result: Any = SimpleNamespace(
        answer2response=name(true),
        response2answer=name(said),
        retrieved2response=name(by_response),
        retrieved2answer=name(by_truth),
        metrics={},
    )
    for compute in computation.METRIC_FUNC_MAP.values():
        compute(result)
    return {NAMES.get(known, known): float(value) for known, value in result.metrics.items()}


def read_alce(folder: Path) -> Any:
    """Return ALCE's `compute_autoais`, with the labels of `LABELS` in place of its model."""
    tree = ast.parse((folder / "eval.py").read_text())
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    names = {
        node.name: node
        for node in ast.parse((folder / "utils.py").read_text()).body
        if isinstance(node, ast.FunctionDef)
    }
    space: dict[str, Any] = {
        "re": re,
        "np": np,
        "copy": SimpleNamespace(deepcopy=deepcopy),
        "logger": logging.getLogger("alce"),
        "tqdm": lambda rows: rows,
        "autoais_model": object(),
        "sent_tokenize": lambda text: text.splitlines(),
        "print": lambda *_: None,
    }
    body = ast.Module([names["remove_citations"], functions["compute_autoais"]], type_ignores=[])
    exec(compile(body, "eval.py", "exec"), space)  # noqa: S102 - the tool itself
    return space


def score_alce(
    space: Any, sentences: Sequence[Sequence[str]], states: Mapping[tuple[int, tuple[str, ...]], bool]
) -> tuple[float, float]:
    """Return citation recall and precision of one answer by ALCE, as shares."""
    names = sorted({name for cited in sentences for name in cited})
    docs = [{"title": name, "text": ""} for name in names]
    lines = [
        f"s{number} " + "".join(f"[{names.index(name) + 1}]" for name in cited)
        for number, cited in enumerate(sentences)
    ]

    def entails(passage: str, claim: str) -> int:
        cited = tuple(sorted(set(re.findall(r"Title: (\w+)", passage))))
        return int(states[int(claim[1:]), cited])

    space["_run_nli_autoais"] = entails
    found = space["compute_autoais"]([{"question": "q", "output": "\n".join(lines), "docs": docs}])
    return float(found["citation_rec"]) / 100, float(found["citation_prec"]) / 100


def score_open_rag(
    sentences: Sequence[Sequence[str]], states: Mapping[tuple[int, str], float]
) -> tuple[float, float]:
    """Return weighted recall and precision of open-rag-eval."""
    from open_rag_eval.metrics.citation_metric import CitationMetric, CitationSupportValues

    words = {
        1.0: CitationSupportValues.FULL,
        0.5: CitationSupportValues.PARTIAL,
        0.0: CitationSupportValues.NONE,
    }

    class Model:
        def parse(self, prompt: str, **_: object) -> dict[str, object]:
            statement, citation = re.findall(r"(?:Statement|Citation): (\w+)", prompt)[-2:]
            label = words[states[int(statement[1:]), citation]]
            return {"response": SimpleNamespace(support=label), "metadata": {}}

    parts = [
        SimpleNamespace(text=f"s{number}", citations=list(cited)) for number, cited in enumerate(sentences)
    ]
    passages = {name: name for cited in sentences for name in cited}
    result = SimpleNamespace(
        retrieval_result=SimpleNamespace(retrieved_passages=passages),
        generation_result=SimpleNamespace(generated_answer=parts),
    )
    found = CitationMetric(Model()).compute(result)
    return found["weighted_recall"], found["weighted_precision"]


def draw_nuggets(draw: random.Random) -> list[tuple[str, str]]:
    """Return pairs of importance and label."""
    labels = ("support", "partial_support", "not_support")
    return [(draw.choice(("vital", "okay")), draw.choice(labels)) for _ in range(draw.randint(1, 12))]


def draw_claims(draw: random.Random) -> tuple[list[bool], list[bool], list[list[bool]], list[list[bool]]]:
    """Return labels of claims; answers without claims, truths without claims and empty retrieval among them."""
    claims, truths, passages = draw.randint(0, 5), draw.randint(0, 4), draw.randint(0, 4)

    def flags(rows: int, columns: int) -> list[list[bool]]:
        return [[draw.random() < 0.4 for _ in range(columns)] for _ in range(rows)]

    return flags(1, claims)[0], flags(1, truths)[0], flags(claims, passages), flags(truths, passages)


def draw_citations(draw: random.Random) -> tuple[list[list[str]], dict[tuple[int, tuple[str, ...]], str]]:
    """Return what each sentence cites, and the label of each set of passages; a full one makes its supersets full."""
    sentences = [
        [f"p{draw.randint(1, 4)}" for _ in range(draw.randint(0, 3))] for _ in range(draw.randint(1, 4))
    ]
    states: dict[tuple[int, tuple[str, ...]], str] = {}
    for number, cited in enumerate(sentences):
        sets = {
            tuple(sorted(set(chosen)))
            for at in range(len(cited))
            for chosen in (cited, [cited[at]], cited[:at] + cited[at + 1 :])
        }
        for members in sorted(sets - {()}, key=lambda known: (len(known), known)):
            sure = any(states.get((number, (name,))) == "full" for name in members)
            states[number, members] = (
                "full" if sure and len(members) > 1 else draw.choice(("full", "partial", "none"))
            )
    return sentences, states


WORTH = {"full": 1.0, "partial": 0.5, "none": 0.0}


def score_citations(
    space: Any, sentences: list[list[str]], states: Mapping[tuple[int, tuple[str, ...]], str]
) -> dict[str, tuple[float, float]]:
    """Return recall and precision by ALCE and by open-rag-eval."""
    single = {
        (number, members[0]): WORTH[label] for (number, members), label in states.items() if len(members) == 1
    }
    entailed = {key: label == "full" for key, label in states.items()}
    return {
        "alce": score_alce(space, sentences, entailed),
        "open-rag-eval": score_open_rag(sentences, single),
    }


def score_by_oracles(
    sentences: list[list[str]], states: Mapping[tuple[int, tuple[str, ...]], str]
) -> dict[str, tuple[float, float]]:
    """Return the same by the loops that the tests trust."""
    single = {
        (number, members[0]): WORTH[label] for (number, members), label in states.items() if len(members) == 1
    }
    alce = oracles.alce_scores(
        sentences, lambda number, cited: states[number, tuple(sorted(set(cited)))] == "full"
    )
    return {"alce": alce, "open-rag-eval": oracles.open_rag_scores(sentences, single)}


def check(space: Any, count: int) -> None:
    """Compare the loops with the tools."""
    draw = random.Random(SEED)  # noqa: S311 - labels, not secrets
    for number in range(count):
        nuggets, claims, citations = draw_nuggets(draw), draw_claims(draw), draw_citations(draw)
        for ours, theirs in (
            (oracles.nugget_scores(nuggets), score_nuggetizer(nuggets)),
            (oracles.claim_scores(*claims), score_ragchecker(*claims)),
        ):
            assert ours.keys() == theirs.keys(), number
            assert all(abs(ours[name] - theirs[name]) < 1e-12 for name in ours), (number, ours, theirs)
        ours, theirs = score_by_oracles(*citations), score_citations(space, *citations)
        assert all(np.allclose(ours[name], theirs[name], rtol=0, atol=1e-12) for name in ours), (
            number,
            ours,
            theirs,
        )
    sys.stdout.write(f"{count:,} tables each: no difference\n")


def record(space: Any) -> None:
    """Write tables with the numbers of the tools."""
    draw = random.Random(SEED)  # noqa: S311 - labels, not secrets
    cases: dict[str, list[Case]] = {"nuggetizer": [], "ragchecker": [], "citations": []}
    for _ in range(COUNT):
        nuggets, claims = draw_nuggets(draw), draw_claims(draw)
        sentences, states = draw_citations(draw)
        cases["nuggetizer"].append({"nuggets": nuggets, "scores": score_nuggetizer(nuggets)})
        names = ("true", "said", "by_response", "by_truth")
        cases["ragchecker"].append(
            {**dict(zip(names, claims, strict=True)), "scores": score_ragchecker(*claims)}
        )
        labels = [[number, list(members), label] for (number, members), label in states.items()]
        cases["citations"].append(
            {"sentences": sentences, "labels": labels, "scores": score_citations(space, sentences, states)}
        )
    tools = ", ".join(f"{name} {version(name)}" for name in ("nuggetizer", "ragchecker", "open-rag-eval"))
    made = f"{tools}, and compute_autoais of princeton-nlp/ALCE at 246c476, by record.py"
    lines = [
        f' "{name}": [\n  ' + ",\n  ".join(json.dumps(case) for case in rows) + "\n ]"
        for name, rows in cases.items()
    ]
    (FOLDER / "published.json").write_text(
        f'{{\n "made by": {json.dumps(made)},\n' + ",\n".join(lines) + "\n}\n"
    )


if __name__ == "__main__":
    import_tools()
    alce = read_alce(Path(sys.argv[1]))
    if "--check" in sys.argv:
        check(alce, int(sys.argv[3]))
    else:
        record(alce)

"""The reference of Python: the public names, in groups; mkdocstrings reads their signatures and docstrings."""

from __future__ import annotations

import ast

from page import ROOT, Page, make_anchor

STUB = "src/judged/__init__.pyi"
GROUPS: dict[str, tuple[str, ...]] = {
    "Score": (
        *("evaluate", "evaluate_many", "evaluate_arrays", "Evaluator", "Evaluation", "Evaluations"),
        *("evaluate_retriever", "evaluate_sessions", "evaluate_routing"),
    ),
    "Compare and gate": (
        *("compare", "Comparison", "compare_snapshots", "gate", "GateReport", "plan_queries", "QueryPlan"),
    ),
    "Explain and lint": (
        *("explain", "explain_difference", "explain_published", "Explanation", "lint", "LintReport"),
    ),
    "Read": (
        *("read_judgments", "read_run", "read_predictions", "read_scores", "read_labels", "read_preferences"),
        *("read_timings", "read_groups", "read_sessions", "load"),
    ),
    "Tables": (
        *(
            "Judgments",
            "Run",
            "Labels",
            "Preferences",
            "Scores",
            "Sessions",
            "Timings",
            "Choices",
            "Neighbours",
        ),
        "IndexResults",
    ),
    "Answers": ("evaluate_answers", "attribute_losses"),
    "Clicks": (*("read_clicks", "evaluate_clicks", "Clicks", "fit_clicks", "estimate_value", "interleave"),),
    "Label": ("label_results", "Labelling", "agreement", "Agreement"),
    "Studies": ("run_study", "run_studies", "Study", "fuse", "tune_fusion", "FusionTuning", "RoutingReport"),
    "Vector indexes": ("benchmark_index", "IndexBenchmark"),
    "Embeddings": ("search_exact", "evaluate_embeddings", "EmbeddingReport"),
    "Conventions": ("Protocol", "SessionProtocol", "PROFILES"),
    "Measures": ("Measure", "define", "P", "R", "AP", "RR", "nDCG"),
    "Results and errors": ("Result", "JudgedError"),
    "Modules": ("agents", "functional", "measures", "stats", "testing"),
}
"""The public names by page."""


def make_api_pages() -> list[Page]:
    """Return the index of public names, then their pages; a name without a group, or one too many, stops the build."""
    public, grouped = _list_public(), [name for names in GROUPS.values() for name in names]
    if set(public) != set(grouped):
        lost, gone = set(public) - set(grouped), set(grouped) - set(public)
        msg = f"public names without a page: {sorted(lost)}; names that are not public: {sorted(gone)}"
        raise SystemExit(msg)
    pages = [
        Page(
            f"api/{make_anchor(group)}.md",
            f"# {group}\n\n" + "\n".join(f"::: judged.{name}\n" for name in names),
        )
        for group, names in GROUPS.items()
    ]
    rows = [
        f"| [`judged.{name}`][judged.{name}] | [{group}]({make_anchor(group)}.md) |"
        for group, names in GROUPS.items()
        for name in names
    ]
    index = "\n".join(["# Python", "", "| name | page |", "|---|---|", *rows, ""])
    return [Page("api/index.md", index), *pages]


def _list_public() -> list[str]:
    tree = ast.parse((ROOT / STUB).read_text(encoding="utf-8"))
    names = [
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    return [name for name in names if not name.startswith("_")]

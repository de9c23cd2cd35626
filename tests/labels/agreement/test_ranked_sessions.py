"""Systems of traces, ranked under labels and under human grades."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from judged.cli.main import judged
from judged.labels.agreement.system_order import rank_sessions


def session(system: str, *urls: str) -> dict[str, Any]:
    """A session of task t1 with one search that found these."""
    results = [{"url": url} for url in urls]
    turns = [{"iterations": [{"searches": [{"query": "q", "results": results}]}]}]
    return {"conversation": f"{system}1", "system": system, "task": "t1", "turns": turns}


def files(folder: Path) -> tuple[str, str, str]:
    """A trace of three systems, labels and human grades; people think little of what labels like most."""
    found = {"a": "https://a.org/1", "b": "https://b.org/1", "c": "https://c.org/1"}
    gains = {
        "trace": [],
        "labels": [(found["a"], 1), (found["b"], 2), (found["c"], 4), ("https://d.org/1", 4)],
    }
    gains["human"] = [(found["a"], 2), (found["b"], 3), (found["c"], 0)]
    sessions = [
        session("a", found["a"]),
        session("b", found["a"], found["b"]),
        session("c", found["c"], "https://d.org/1"),
    ]
    for name in ("labels", "human"):
        rows = [json.dumps({"task": "t1", "url": url, "gain": gain}) for url, gain in gains[name]]
        (folder / f"{name}.jsonl").write_text("\n".join(rows) + "\n")
    (folder / "trace.jsonl").write_text("".join(json.dumps(session) + "\n" for session in sessions))
    return str(folder / "trace.jsonl"), str(folder / "labels.jsonl"), str(folder / "human.jsonl")


def test_systems_are_scored_by_what_both_graded(tmp_path: Path) -> None:
    """By hand: people give a 2, b 5, c 0; labels a 0 (1 is not good), b 2, c 4, without what they alone labelled: τ_b is −1/3."""
    (found,) = rank_sessions(*files(tmp_path), measures="CG@last")

    assert found.human == {"b": 5.0, "a": 2.0, "c": 0.0}
    assert found.labels == {"b": 2.0, "a": 0.0, "c": 4.0}
    assert round(found.tau.value, 4) == -0.3333


def test_the_command_takes_traces(tmp_path: Path) -> None:
    """In place of runs, never beside them."""
    trace, labels, human = files(tmp_path)
    done = CliRunner().invoke(judged, ["agreement", labels, human, "--sessions", trace, "-q"])
    refused = CliRunner().invoke(judged, ["agreement", labels, human, trace, "--sessions", trace])

    assert done.exit_code == 0, done.output
    assert "CG@last" in done.stdout
    assert "SRE@last" in done.stdout
    assert refused.exit_code == 2
    assert "cannot be combined" in refused.output

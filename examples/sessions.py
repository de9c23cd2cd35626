"""Two agents on the same tasks: what each iteration brought, where they could have stopped, and which is better.

Usage: python examples/sessions.py
"""

from __future__ import annotations

from typing import Any

import judged
from judged.agents.analysis import curve, overlaps, stopping_points


def trace(system: str, task: str, *iterations: list[tuple[str, int]]) -> dict[str, Any]:
    """Return a session in the plain form: each iteration one search, each result a page and its gain."""
    steps = [
        {"searches": [{"results": [{"url": f"https://{page}", "gain": gain} for page, gain in results]}]}
        for results in iterations
    ]
    return {
        "conversation": f"{system} {task}",
        "system": system,
        "task": task,
        "turns": [{"iterations": steps}],
    }


TRACES = [
    trace("eager", "paris", [("louvre.fr", 4), ("hotels.com", 0)], [("louvre.fr", 4), ("orsay.fr", 3)]),
    trace("eager", "lyon", [("lyon.fr", 2)], [("lyon.fr", 2), ("fourviere.org", 4)], [("lyon.fr", 2)]),
    trace("frugal", "paris", [("louvre.fr", 4), ("orsay.fr", 3)]),
    trace("frugal", "lyon", [("fourviere.org", 4), ("hotels.com", 1)]),
]


def main() -> None:
    """Print means, a curve, stopping points, overlap, and the difference between the two."""
    evaluation = judged.evaluate_sessions(TRACES, ["CG", "RG", "SRR", "N", "Recall"], reference="union")
    for name, system in evaluation.systems.items():
        print(name, {measure: round(value, 3) for measure, value in system.mean().items()})
    eager = evaluation.systems["eager"]
    for point in curve(eager, "CG").points:
        print(f"eager, iteration {point.iteration}: CG {point.value:.1f}, {point.running} sessions still run")
    for stop in stopping_points(eager):
        print(
            f"stopped at {stop.iteration}: {stop.lost:.0%} lost, {stop.searches_saved:.0%} of searches saved"
        )
    for pair in overlaps(evaluation):
        print(
            f"good results: {pair.both} in common, {pair.only_first} only {pair.first}, {pair.only_second} only {pair.second}"
        )
    comparison = judged.compare(evaluation, measures="CG", baseline="eager")
    print(f"frugal − eager: {comparison.contrast('frugal').difference:+.2f} CG")


if __name__ == "__main__":
    main()

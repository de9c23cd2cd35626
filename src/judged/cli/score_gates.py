"""Gates of scores that other tools computed: one for each system of a file but the baseline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from judged.cli.inputs import STANDARD_INPUT, split_name
from judged.errors import UnknownName

if TYPE_CHECKING:
    from judged.cli.configuration import Gate
    from judged.comparison.clusters import ClusterChoice
    from judged.gates.result import GateReport


@dataclass(frozen=True)
class ScoreGate:
    """The gate of one system whose scores a file holds; a name chooses it among several."""

    settings: Gate
    name: str | None
    run_name: str | None
    baseline: str
    baseline_run: str | None
    baseline_name: str | None

    @property
    def system(self) -> str:
        """The name of the system."""
        return self.run_name or self.settings.scores


def list_score_gates(gate: Gate) -> list[ScoreGate]:
    """Return a gate for each system of a file of scores but the baseline, which is one of them or a file of its own."""
    from judged.comparison.sources import refuse_join

    refuse_join(join=gate.join)
    name, path = split_name(gate.scores)
    baseline_name, baseline = split_name(gate.baseline)
    systems = [] if path == STANDARD_INPUT else _list_systems(path, gate)
    among = baseline in systems and not Path(baseline).exists()
    if not among and baseline != STANDARD_INPUT and not Path(baseline).exists():
        if len(systems) > 1:
            raise UnknownName("file or system for the baseline", baseline, systems)
        from judged.io.open import missing_file

        raise missing_file(Path(baseline))
    source, chosen = (path, baseline) if among else (baseline, gate.baseline_run)
    others = [system for system in systems if not (among and system == baseline)]
    if len(systems) < 2:
        return [ScoreGate(gate, gate.name, name, source, chosen, baseline_name)]
    several = gate.name is not None and len(others) > 1
    return [
        ScoreGate(
            gate,
            f"{gate.name}: {system}" if several else gate.name,
            system,
            source,
            chosen,
            baseline_name,
        )
        for system in others
    ]


def _list_systems(path: str, gate: Gate) -> list[str]:
    """Return the systems whose scores a file holds."""
    from judged.comparison.sources import ScoreReading, open_alone
    from judged.comparison.systems import name_system

    return [name_system(system) for system in open_alone(path, ScoreReading(format=gate.scores_format))]


def run_score_gate(each: ScoreGate, clusters: ClusterChoice) -> GateReport:
    """Return the outcome of the gate of one system of a file of scores."""
    from judged.gates.api import gate as compare_with_baseline

    gate = each.settings
    return compare_with_baseline(
        split_name(gate.scores)[1],
        measures=gate.measures or None,
        baseline=each.baseline,
        min_delta=gate.min_delta,
        alpha=gate.alpha,
        test=gate.test,
        seed=gate.seed,
        baseline_run=each.baseline_run,
        allow_other_protocol=gate.allow_other_protocol,
        clusters=clusters,
        name=each.name,
        run_name=each.run_name,
        baseline_name=each.baseline_name,
        higher=gate.higher,
        lower=gate.lower,
        missing=gate.missing,
        format=gate.scores_format,
    )

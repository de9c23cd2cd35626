"""judged measures retrieval: ranked runs against graded judgments, exactly and fast.

    judgments, runs  ─ judged.read_judgments, judged.read_run ─▶ tables
    tables, measures ─ judged.evaluate ─▶ Evaluation: means, per-query Scores, protocol, observations

Everything named here is imported on first use; `import judged` alone loads neither NumPy nor Arrow.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "evaluate": "judged.engine.evaluate",
    "Evaluation": "judged.engine.evaluate",
    "Observations": "judged.engine.observations",
    "Protocol": "judged.engine.protocol",
    "PROFILES": "judged.engine.protocol",
    "Judgments": "judged.tables.judgments",
    "Run": "judged.tables.run",
    "Scores": "judged.tables.scores",
    "read_judgments": "judged.formats.read",
    "read_run": "judged.formats.read",
    "Measure": "judged.measures.measure",
    "parse_measure": "judged.measures.names",
    "JudgedError": "judged.errors",
}

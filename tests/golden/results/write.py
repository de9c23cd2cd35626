"""Write a golden file of every kind of result that has none in its current version, and record the saved fields.

`python tests/golden/results/write.py`, once after a kind or a version was added. A file is never written again: it
stands for what the release that wrote it left on people's disks. `fields.json` has, for each kind, the version of its
saved form and every field that it is saved with; ` ?` marks those with a default.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from judged.result import RESULTS
from judged.saved import describe_fields

HERE = Path(__file__).parent
FIELDS = HERE / "fields.json"


def describe_kinds() -> dict[str, dict[str, object]]:
    """Return the version and the saved fields of every kind."""
    kinds = {
        kind: RESULTS[kind] for kind in sorted(RESULTS) if RESULTS[kind].__module__.startswith("judged.")
    }
    return {kind: {"version": made.version, "classes": describe_fields(made)} for kind, made in kinds.items()}


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parents[1]))
    from support.every_result import EXAMPLES

    for kind, make in EXAMPLES.items():
        path = HERE / f"{kind}-{RESULTS[kind].version}.json"
        if not path.exists():
            make().save(path)
    FIELDS.write_text(json.dumps(describe_kinds(), indent=1) + "\n")

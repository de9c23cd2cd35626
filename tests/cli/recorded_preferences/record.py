"""Write what trec_eval prints for the preferences and judges in this folder, for `test_preferences.py`.

Run it in this folder, with programs built from github.com/usnistgov/trec_eval (10.0) and its release 9.0.4:

    python record.py PATH/OF/9.0.4/trec_eval PATH/OF/10.0/trec_eval

Every file begins with the version and the command it was made by.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

FEW = "-m prefs_simp -m prefs_pair_ret -m prefs_num_prefs_ful -m num_q"
COMMANDS = [
    "-R prefs -c -q -m all_prefs prefs run",
    "-R prefs -q -m prefs prefs run.whole",
    "-R prefs -c -q -M 4 -m all_prefs prefs run",
    f"-R prefs -n -q -l 2 -J {FEW} prefs run.whole",
    "-R qrels_prefs -c -q -m all_prefs judges run",
    "-R qrels_prefs -c -m prefs judges run",
    "-R qrels_jg -c -q -m qrels_jg judges run",
    "-R qrels_jg -q -l 2 -m qrels_jg judges run.whole",
    "-R qrels_jg -c -q -J -M 6 -m map_avgjg -m P_avgjg.2,5 -m Rprec_mult_avgjg.0.5,1.5 -m runid judges run",
]


def collection() -> dict[str, str]:
    """Preferences with sub-groups, the grades of several judges, and runs with ties, gaps and a missing query."""
    rng = random.Random(4)  # noqa: S311 - not for secrets
    documents = [f"doc{number}" for number in range(14)]
    prefs, judges, rows = [], [], []
    for query in ("10", "9", "q-a", "301"):
        for group in range(rng.randint(1, 3)):
            worth = {document: rng.choice([0, 0, 1, 2, 3]) for document in rng.sample(documents, 8)}
            parts = rng.choice([1, 3])
            for part in range(parts):
                shown = rng.sample(list(worth), 4 if parts > 1 else 7)
                prefs += [
                    f"{query} user{group} part{part} {document} {worth[document] * (part + 0.5):g}"
                    for document in shown
                ]
            judges += [f"{query} judge{group} {document} {grade}" for document, grade in worth.items()]
        found = rng.sample([*documents, "other1", "other2", "other3"], 10)
        scores = [rng.choice([1.5, 2.25, rng.random() * 3, 2 + rng.random() * 1e-8]) for _ in found]
        rows += [
            f"{query} Q0 {document} 0 {score!r} recorded"
            for document, score in zip(found, scores, strict=True)
        ]
    rng.shuffle(prefs)
    short = [row for row in rows if not row.startswith("301 ")]
    files = {"prefs": prefs, "judges": judges, "run": short, "run.whole": rows}
    return {name: "\n".join(lines) + "\n" for name, lines in files.items()}


def record(version: str, program: str) -> None:
    """Write one file for each command."""
    for number, command in enumerate(COMMANDS, 1):
        done = subprocess.run([program, *command.split()], capture_output=True, text=True, check=True)
        path = Path(f"trec_eval-{version}-{number:02}.txt")
        path.write_text(f"# trec_eval {version}: trec_eval {command}\n{done.stdout}")


if __name__ == "__main__":
    for name, content in collection().items():
        Path(name).write_text(content)
    record("9.0.4", sys.argv[1])
    record("10.0", sys.argv[2])

"""Record what trec_eval prints, for `test_trec_eval.py`.

Run it in this folder with the two programs to be recorded, built from
https://github.com/usnistgov/trec_eval (10.0) and its release 9.0.4:

    python record.py PATH/OF/9.0.4/trec_eval PATH/OF/10.0/trec_eval

Every file begins with the version and the command it was made by.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

EVERY = (
    "official set recall infAP gm_bpref utility 11pt_avg ndcg relative_P Rprec_mult success map_cut ndcg_cut"
    " ndcg_rel Rndcg binG G num_nonrel_judged_ret relstring yaap"
)
BOTH = [
    "",
    "-q",
    "-c -q",
    "-c -q -l 2",
    "-c -q -M 5",
    "-c -q -J -m map -m P.5,10 -m bpref -m num_ret -m relstring",
    "-n -q -m ndcg_cut.3,7 -m set_F.4 -m utility.2,-1,0.5,0",
    "-c -o -m map_cut.2,6 -m iprec_at_recall.0.15,0.5 -m ndcg.1=3,2=9 -m gm_map",
    "-c -q -m " + " -m ".join(EVERY.split()),
]
COMMANDS = {
    "9.0.4": [*BOTH, "-c -q -m all_trec"],
    "10.0": [*BOTH, "-c -q -m unj -m rbp_resid -m dcg -m ideal_dcg -m utility.1,-1,0,0"],
}
"""`all_trec` of 10.0 is left out: its `rbp` reads memory that nobody has set."""


def collection() -> tuple[str, str, str]:
    """Judgments; a run with ties, gaps and unjudged documents that misses a query; one that misses none."""
    rng = random.Random(2)  # noqa: S311 - not for secrets
    documents = [f"doc{number}" for number in range(40)]
    judgments, rows = [], []
    for query in ("10", "9", "q-a", "301"):
        grades = {document: rng.choice([-1, 0, 0, 0, 1, 1, 2, 3]) for document in rng.sample(documents, 15)}
        judgments += [f"{query} 0 {document} {grade}" for document, grade in grades.items()]
        scores = [rng.choice([1.5, 2.25, rng.random() * 3, 2 + rng.random() * 1e-8]) for _ in range(25)]
        found = zip(rng.sample(documents, 25), scores, strict=True)
        rows += [f"{query} Q0 {document} 0 {score!r} recorded" for document, score in found]
    rows += ["unjudged Q0 doc1 0 1.0 recorded"]
    short = [row for row in rows if not row.startswith("301 ")]
    return tuple("\n".join(lines) + "\n" for lines in (judgments, short, rows))  # type: ignore[return-value]


def record(version: str, program: str) -> None:
    """Write one file for each command."""
    for number, options in enumerate(COMMANDS[version], 1):
        run = "run" if version == "9.0.4" or "-c" in options else "run.whole"
        command = [*options.split(), "qrels", run]
        done = subprocess.run([program, *command], capture_output=True, text=True, check=True)
        path = Path(f"trec_eval-{version}-{number:02}.txt")
        path.write_text(f"# trec_eval {version}: trec_eval {' '.join(command)}\n{done.stdout}")


if __name__ == "__main__":
    for name, content in zip(("qrels", "run", "run.whole"), collection(), strict=True):
        Path(name).write_text(content)
    record("9.0.4", sys.argv[1])
    record("10.0", sys.argv[2])

"""Random judgments and runs for comparing a profile with its tool: ties, gaps, unjudged and graded documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import strategies as st

from judged import PROFILES, evaluate

Grades = Mapping[str, Mapping[str, int]]
Scores = Mapping[str, Mapping[str, float]]

SCORES = (3.0, 2.5, 2.0, 2.0000000001, 1.0, 0.5)
"""Few enough for ties; two of them are equal in single precision only."""
DOCUMENTS = tuple(f"d{number}" for number in range(1, 13))


@dataclass(frozen=True)
class Case:
    """Judgments and a run."""

    qrels: Grades
    run: Scores

    def write(self, folder: Path) -> tuple[Path, Path]:
        """The two as TREC files, rows in the order of the dicts."""
        qrels, run = folder / "qrels.txt", folder / "run.txt"
        judged = [(q, d, grade) for q, grades in self.qrels.items() for d, grade in grades.items()]
        qrels.write_text("".join(f"{q} 0 {d} {grade}\n" for q, d, grade in judged))
        rows = [
            f"{q} Q0 {d} {rank} {score!r} tag\n"
            for q, scores in self.run.items()
            for rank, (d, score) in enumerate(scores.items(), 1)
        ]
        run.write_text("".join(rows))
        return qrels, run


@st.composite
def cases(
    draw: st.DrawFn,
    *,
    grades: Sequence[int] = (0, 0, 1, 1, 2, 3, 4),
    missing: bool = True,
    extra: bool = True,
    relevant: bool = False,
    deep: int = 12,
    empty: bool = False,
) -> Case:
    """A case of one to four queries; `relevant` asks for a relevant document in each, `empty` allows empty results."""
    ids = [str(number) for number in range(1, 5)]
    judged = draw(st.lists(st.sampled_from(ids), min_size=1, max_size=4, unique=True))
    graded = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from(grades), min_size=1, max_size=8)
    if relevant:
        graded = graded.filter(lambda grades: any(grade > 0 for grade in grades.values()))
    scored = st.dictionaries(
        st.sampled_from(DOCUMENTS), st.sampled_from(SCORES), min_size=0 if empty else 1, max_size=deep
    )
    qrels = {query: draw(graded) for query in judged}
    pool = [query for query in ids if extra or query in qrels]
    found = draw(st.lists(st.sampled_from(pool), min_size=1, unique=True)) if missing or extra else judged
    found = found if missing else list(dict.fromkeys([*found, *judged]))
    if not set(found) & set(qrels):
        found = [*found, judged[0]]
    return Case(qrels, {query: draw(scored) for query in found})


def scored(case: Case, profile: str, name: str) -> tuple[dict[str, float], float]:
    """What judged says under the profile: the value of each query it scores, and the aggregate."""
    made = evaluate(case.qrels, case.run, name, protocol=profile)
    measure = made.measures[0]
    return made.per_query().by_query(measure), made[measure]


def agrees(case: Case, profile: str, name: str, queries: Mapping[str, float] | None, mean: float) -> None:
    """Assert that judged gives each of these values, and this mean, to the digits that the tool has."""
    ours, total = scored(case, profile, name)
    digits = PROFILES[profile].read(name).digits
    near = 1e-9 if digits is None else 0.51 * 10.0**-digits

    assert total == pytest.approx(mean, abs=near, rel=1e-9)
    if queries is not None:
        assert ours == pytest.approx(dict(queries), abs=near, rel=1e-9)

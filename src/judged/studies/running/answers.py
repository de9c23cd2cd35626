"""The answers of a system, query by query, on disk before the next query is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import time

import msgspec

from judged.store.files import write_file
from judged.store.log import Log
from judged.studies.stages.clock import Clock
from judged.studies.stages.stage import Passage, Ranked
from judged.studies.stages.tokens import Spent, sum_spent
from judged.studies.systems.system import SystemReply
from judged.tables.nested import Flat
from judged.tables.run import Run


class Asked(msgspec.Struct, frozen=True):
    """A query that was asked: what came back, and how long each stage took."""

    query: str
    sample: int
    """The pass over the queries, from 0."""
    documents: tuple[str, ...]
    scores: tuple[float, ...]
    nanoseconds: dict[str, int]
    """The time of each stage, and the total."""
    before: tuple[tuple[str, ...], tuple[float, ...]] | None = None
    """Documents and scores before the rerankers."""
    experts: tuple[str, ...] = ()
    retrieved: bool = True
    anyway: tuple[tuple[str, ...], tuple[float, ...]] | None = None
    """The results that would have been retrieved, where the skip policy skipped the query."""
    at: float = 0.0
    """When it was asked, in seconds since 1970."""
    error: str = ""
    """Why it failed; empty: it did not."""
    passages: tuple[Passage, ...] | None = None
    """The passages that were found, best first; None if whole documents were."""
    rewritten: tuple[str, ...] = ()
    """What was searched for in place of the query."""
    response: str | None = None
    """The answer that was written, with marks such as `[1]`; None if none was to be."""
    references: tuple[str, ...] = ()
    """The documents that the marks count."""
    spent: dict[str, tuple[Spent, ...]] = {}
    """Tokens by stage and model."""

    def __post_init__(self) -> None:
        """Refuse what no system answers, as a damaged line of a log may have it."""
        lists = [(self.documents, self.scores), *filter(None, (self.before, self.anyway))]
        if any(len(names) != len(scores) or len(set(names)) != len(names) for names, scores in lists):
            raise ValueError("expected a score for each document, and each document once")
        if self.sample < 0 or any(taken < 0 for taken in self.nanoseconds.values()):
            raise ValueError("expected passes and times from 0 on")

    @classmethod
    def record(
        cls, query: str, sample: int, answer: SystemReply, clock: Clock, anyway: Ranked | None
    ) -> Asked:
        """Return the record of an answer, with the times of a clock that was stopped."""
        return cls(
            query,
            sample,
            answer.ranked.documents,
            answer.ranked.scores,
            clock.times,
            None if answer.before is None else (answer.before.documents, answer.before.scores),
            answer.experts,
            answer.retrieved,
            None if anyway is None else (anyway.documents, anyway.scores),
            at=time(),
            passages=answer.passages,
            rewritten=answer.rewritten,
            response=answer.response,
            references=answer.references,
            spent={stage: sum_spent(spent) for stage, spent in clock.spent.items()},
        )

    @classmethod
    def fail(cls, query: str, sample: int, error: str) -> Asked:
        """Return the record of a query that failed: it has neither results nor times."""
        return cls(query, sample, (), (), {}, at=time(), error=error)


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """Figures from building a system."""

    untrained: bool = False
    dimensions: tuple[int, ...] = ()
    """The length of the vectors of each of its encoders."""
    build_seconds: float = 0.0
    encode_seconds: float = 0.0
    cached_documents: int = 0
    passages: int = 0
    """Number of passages that it searches; 0: whole documents."""
    tokens: dict[str, float] = {}
    """Mean, median and largest number of tokens of a passage, and that of all together."""
    tokeniser: str = ""
    """What counted them."""
    encode_spent: tuple[Spent, ...] = ()
    """Tokens of the documents that were encoded."""
    replies_of: float = 0.0
    """When the oldest kept reply of a language model came, in seconds since 1970; 0: none was kept."""
    vectors_of: int = 0
    """When the oldest cached vector was encoded, in seconds since 1970; 0 if none was cached."""
    versions: tuple[str, ...] = ()
    """The versions that servers report."""
    finished: bool = False
    """Whether every query was answered."""
    notes: tuple[str, ...] = ()
    """Notes of its stages for readers of the results, after the last query that was asked."""


class AnswerLog(Log[Asked]):
    """The log of the queries that a system was asked, and, next to it, what building the system showed."""

    def __init__(self, path: Path) -> None:
        # not durable: waiting for the disk after every query would disturb the times of the next one
        super().__init__(path, msgspec.json.Decoder(Asked).decode, durable=False)

    def restart(self) -> None:
        """Forget every answer; a process that is killed here leaves a log that nobody takes for a finished one."""
        self.path.unlink(missing_ok=True)
        self.path.with_suffix(".json").unlink(missing_ok=True)

    def read_latest(self) -> list[Asked]:
        """Return the first answer to each query in each pass; its last failure where there is none."""
        found: dict[tuple[str, int], Asked] = {}
        for asked in self.read():
            key = (asked.query, asked.sample)
            if key not in found or found[key].error:
                found[key] = asked
        return list(found.values())

    def first_pass(self) -> Iterator[Asked]:
        """Yield the answers of the first pass, each query once."""
        return (asked for asked in self.read_latest() if asked.sample == 0)

    def finish(self) -> None:
        """Say that every query is answered, where a writer was killed before it could."""
        built = self.read_build()
        if not built.finished:
            self.write_build(msgspec.structs.replace(built, finished=True))

    def is_whole(self) -> bool:
        """Return whether every query was answered, as far as its writer knows."""
        return self.read_build().finished

    def read_build(self) -> Built:
        """Return what building the system showed; the defaults if that is not known."""
        try:
            return msgspec.json.decode(self.path.with_suffix(".json").read_bytes(), type=Built)
        except (OSError, msgspec.DecodeError):
            return Built()

    def write_build(self, built: Built) -> None:
        """Keep what building the system showed."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_file(self.path.with_suffix(".json"), msgspec.json.encode(built))


def make_run(name: str, lists: Iterable[tuple[str, Sequence[str], Sequence[float]]]) -> Run:
    """Return the run of ranked lists: the query of each, its documents and their scores; empty lists stay in it."""
    flat = Flat()
    for query, some, values in lists:
        flat.query += [query] * len(some)
        flat.document += some
        flat.number += values
        flat.empty += [] if some else [query]
    return Run.from_flat(flat, name)

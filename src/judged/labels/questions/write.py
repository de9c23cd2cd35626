"""`write_questions`: drafts by a model, from documents drawn at random; only those that pass every check are kept."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from judged.errors import BadProtocol, Unusable
from judged.io.texts import TextSource, read_documents
from judged.labels.panel import Judge, label_by_judges
from judged.labels.prompt import Labeller, estimate_tokens, read_prompt
from judged.labels.questions.filters import is_copied, is_repeated, measure_overlap, mentions_source
from judged.labels.questions.result import DOUBLE, SINGLE, QuestionSet
from judged.labels.questions.sources import MIN_WORDS, Source, Sources, list_words
from judged.labels.result import Labelling
from judged.labels.task import Item, Pool, Task
from judged.net.budget import Budget, Prices
from judged.problem import Note, Problem
from judged.progress import Progress
from judged.result import Provenance, observe_files

WRITE = Task(
    "question",
    "judged.labels:prompts/question.yaml",
    unit="document",
    texts=("text", "examples"),
    optional=("examples",),
    table="questions",
)
WRITE_OF_TWO = Task(
    "question-of-two",
    "judged.labels:prompts/question-of-two.yaml",
    unit="pair of documents",
    texts=("first", "second", "examples"),
    optional=("examples",),
    table="questions",
)
SELF_CONTAINED = Task(
    "self-contained",
    "judged.labels:prompts/self-contained.yaml",
    unit="question",
    texts=("question",),
    optional=(),
    table="checks",
)
ANSWERABLE = Task(
    "answerable",
    "judged.labels:prompts/answerable.yaml",
    unit="question with documents",
    texts=("question", "text"),
    optional=(),
    table="checks",
)
YES = "yes"
SHOWN = 10
"""Number of examples that a model sees; more cost tokens and add little."""
ASSUMED_QUESTION = "x" * 100
"""A question of usual length, for the estimate."""
POOLING = Note(
    "unpooled-questions",
    "warning",
    "the only judged documents of a question are its sources: other documents that answer it count as not relevant, and as"
    " questions share words with their sources, lexical retrieval is favoured; pool runs of several systems, and label them",
)


@dataclass(frozen=True, kw_only=True)
class QuestionOptions:
    """Which questions are written."""

    count: int = 200
    multi_hop: float = 0.25
    """Share of questions that take two documents to answer."""
    examples: tuple[str, ...] = ()
    """Questions whose language, length and style are those to write; ten of them are shown at a time."""
    seed: int = 0
    """Random seed of the documents that are asked about."""

    def __post_init__(self) -> None:
        if self.count < 1 or not 0 <= self.multi_hop <= 1:
            msg = (
                f"{self.count} questions, {self.multi_hop} of them multi-hop, expected 1 or more, and 0 to 1"
            )
            raise BadProtocol(msg)

    @property
    def shown(self) -> str:
        """The examples that the model sees, one on each line."""
        draw = random.Random(self.seed)  # noqa: S311 - a sample, not a secret
        lines = [" ".join(example.split()) for example in self.examples]
        return "\n".join(draw.sample(lines, SHOWN) if len(lines) > SHOWN else lines)

    @property
    def wanted(self) -> dict[str, int]:
        """Number of questions of each kind."""
        double = round(self.count * self.multi_hop)
        return {SINGLE: self.count - double, DOUBLE: double}


@dataclass(slots=True)
class _Draft:
    """A question on its way through the checks."""

    source: Source
    kind: str
    text: str = ""
    answer: str = ""
    reason: str = ""
    """Why it was rejected."""

    @property
    def row(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "kind": self.kind,
            "documents": list(self.source.ids),
            "answer": self.answer,
        }


def write_questions(
    documents: TextSource,
    judges: Sequence[Judge],
    options: QuestionOptions | None = None,
    *,
    cache: str | Path | None = None,
    prices: Prices | None = None,
    budget: float | None = None,
    progress: Progress | None = None,
) -> QuestionSet:
    """Write questions that documents answer; the first judge writes them, the others, or else the same one, check them.

    Every answer is in `cache` before the next request counts, so the same call goes on where an earlier one ended.

    Raises:
        Unusable: If no document has text enough to ask about.
    """
    chosen = options or QuestionOptions()
    if not judges:
        raise BadProtocol(
            "no model is given, and nothing else writes questions", hint="give one: `--model NAME`"
        )
    sources = _read_sources(documents, chosen)
    writer = _Writer(sources, judges, chosen, cache=cache, budget=Budget(prices, budget), progress=progress)
    for kind, stream in _list_streams(sources):
        writer.write(kind, stream)
    return replace(writer.finish(), provenance=_describe(documents, judges, chosen))


def estimate_questions(
    documents: TextSource,
    labellers: Sequence[Labeller],
    options: QuestionOptions,
    prices: Prices | None = None,
) -> list[str]:
    """Return what writing questions takes if none is rejected, a sentence for each aspect; nothing is sent."""
    sources = _read_sources(documents, options)
    checkers = max(1, len(labellers) - 1)
    requests = tokens_in = tokens_out = 0

    def add(task: Task, texts: Mapping[str, str], times: int) -> None:
        nonlocal requests, tokens_in, tokens_out
        prompt = read_prompt(task=task)
        limit = labellers[0].text_limit
        cut = {name: text[:limit] for name, text in texts.items()}
        requests += times
        tokens_in += times * estimate_tokens(prompt.messages(cut))
        tokens_out += times * (60 if prompt.records else 8)

    for kind, stream in _list_streams(sources):
        for source in islice(stream, options.wanted[kind]):
            task, texts = _ask_for(source, options.shown)
            add(task, texts, 1)
            add(SELF_CONTAINED, {"question": ASSUMED_QUESTION}, checkers)
            for text in _list_materials(source):
                add(ANSWERABLE, {"question": ASSUMED_QUESTION, "text": text}, checkers)
    cost = "unknown without prices" if prices is None else f"about {prices.cost(tokens_in, tokens_out):.4f}"
    return [
        f"{len(sources.texts):,} documents to ask about, {sources.short:,} with fewer than {MIN_WORDS} words left out",
        f"requests: {requests:,} for {options.count:,} questions, if no draft is rejected",
        f"tokens: about {tokens_in:,} read, about {tokens_out:,} written",
        f"cost: {cost}",
    ]


def _read_sources(documents: TextSource, options: QuestionOptions) -> Sources:
    sources = Sources(read_documents(documents), options.seed)
    if not sources.texts:
        message = (
            f"{sources.short:,} documents have fewer than {MIN_WORDS} words each, expected one with more"
        )
        raise Unusable("the documents", [Problem.error("too-short", "every document", message)])
    return sources


def _list_streams(sources: Sources) -> Iterator[tuple[str, Iterator[Source]]]:
    yield SINGLE, sources.singles()
    yield DOUBLE, sources.pairs()


def _ask_for(source: Source, examples: str) -> tuple[Task, dict[str, str]]:
    """Return the task that asks for a question about a source, and its texts."""
    if len(source.texts) == 1:
        return WRITE, {"text": source.text, "examples": examples}
    return WRITE_OF_TWO, {"first": source.texts[0], "second": source.texts[1], "examples": examples}


def _list_materials(source: Source) -> list[str]:
    """Return the texts that a question is checked against: the whole source, then each of two documents alone."""
    return [source.text] if len(source.texts) == 1 else [source.text, *source.texts]


def _describe(documents: TextSource, judges: Sequence[Judge], options: QuestionOptions) -> Provenance:
    settings = {
        "models": [judge.labeller.model for judge in judges],
        "count": options.count,
        "multi_hop": options.multi_hop,
        "examples": list(options.examples),
        "seed": options.seed,
        "prompts": {
            task.name: read_prompt(task=task).identity
            for task in (WRITE, WRITE_OF_TWO, SELF_CONTAINED, ANSWERABLE)
        },
    }
    return Provenance(inputs=observe_files([("documents", documents)]), settings=settings)


@dataclass
class _Writer:
    """Writes drafts in rounds, as many as are missing, and keeps those that pass."""

    sources: Sources
    judges: Sequence[Judge]
    options: QuestionOptions
    cache: str | Path | None
    budget: Budget
    progress: Progress | None = None
    kept: list[_Draft] = field(default_factory=list)
    rejected: list[_Draft] = field(default_factory=list)
    words: list[set[str]] = field(default_factory=list)
    tokens: list[int] = field(default_factory=lambda: [0, 0])
    spent: float = 0.0
    notes: dict[Note, None] = field(default_factory=dict)
    stopped: str | None = None

    def write(self, kind: str, stream: Iterator[Source]) -> None:
        """Write questions of one kind until there are enough, the documents are used up, or the job stops."""
        wanted = len(self.kept) + self.options.wanted[kind]
        while len(self.kept) < wanted and not self.stopped:
            drafts = [_Draft(source, kind) for source in islice(stream, wanted - len(self.kept))]
            if not drafts:
                message = f"no document is left for another {kind} question"
                self.notes[Note("too-few-questions", "warning", message)] = None
                break
            self._draft(drafts)
            self._reject_by_rule(drafts)
            self._check_alone(self._list_open(drafts))
            self._check_answers(self._list_open(drafts))
            self.kept += self._list_open(drafts)
            self.rejected += [draft for draft in drafts if draft.reason]

    def _list_open(self, drafts: Iterable[_Draft]) -> list[_Draft]:
        return [draft for draft in drafts if not draft.reason]

    def _draft(self, drafts: Sequence[_Draft]) -> None:
        """Ask the writer for a question about each source."""
        asked = [_ask_for(draft.source, self.options.shown) for draft in drafts]
        labelling = self._ask(self.judges[:1], asked[0][0], [texts for _, texts in asked])
        written = {row["number"]: row for row in labelling.labelled}
        failed = {row["number"]: row["failure"] for row in labelling.failures}
        for number, draft in enumerate(drafts):
            row = written.get(number)
            if row is not None:
                draft.text, draft.answer = row["question"], row["answer"]
            elif number in failed:
                draft.reason = f"not written: {failed[number]}"
            else:
                draft.reason = "nothing to ask about" if not labelling.stopped else "not asked"

    def _reject_by_rule(self, drafts: Sequence[_Draft]) -> None:
        """Reject what needs no model to be seen."""
        for draft in self._list_open(drafts):
            if mentions_source(draft.text):
                draft.reason = "mentions its source"
            elif any(is_copied(draft.text, text) for text in draft.source.texts):
                draft.reason = "copied from its source"
            elif is_repeated(draft.text, self.words):
                draft.reason = "asked before"
            else:
                self.words.append(set(list_words(draft.text)))

    def _check_alone(self, drafts: Sequence[_Draft]) -> None:
        """Reject questions that are not understood without their source."""
        verdicts = self._check(SELF_CONTAINED, [{"question": draft.text} for draft in drafts])
        for draft, verdict in zip(drafts, verdicts, strict=True):
            if verdict != YES:
                draft.reason = "not self-contained" if verdict else "not checked"

    def _check_answers(self, drafts: Sequence[_Draft]) -> None:
        """Reject questions that their source does not answer, and those of two documents that one of them answers."""
        materials = [(draft, text) for draft in drafts for text in _list_materials(draft.source)]
        verdicts = self._check(
            ANSWERABLE, [{"question": draft.text, "text": text} for draft, text in materials]
        )
        by_draft: dict[int, list[str | None]] = {}
        for (draft, _), verdict in zip(materials, verdicts, strict=True):
            by_draft.setdefault(id(draft), []).append(verdict)
        for draft in drafts:
            whole, *parts = by_draft[id(draft)]
            if whole is None or None in parts:
                draft.reason = "not checked"
            elif whole != YES:
                draft.reason = "not answered by its source"
            elif YES in parts:
                draft.reason = "answered by one of its documents alone"

    def _check(self, task: Task, texts: Sequence[Mapping[str, str]]) -> list[str | None]:
        """Return the verdict of the checking models on each of the texts; None without one."""
        labelling = self._ask(self.judges[1:] or self.judges[:1], task, texts)
        verdicts = {row["number"]: row["label"] for row in labelling.labelled}
        return [verdicts.get(number) for number in range(len(texts))]

    def _ask(self, judges: Sequence[Judge], task: Task, texts: Sequence[Mapping[str, str]]) -> Labelling:
        """Label texts by the prompt of a task; rows have their numbers."""
        prompt = read_prompt(task=task)
        asking = [Judge(replace(judge.labeller, prompt=prompt), judge.endpoint) for judge in judges]
        items = tuple(Item(some, {"number": number}) for number, some in enumerate(texts))
        pool = Pool(items if not self.stopped else (), len(items), column="label")
        labelling = label_by_judges(
            pool, asking, cache=self.cache, budget=self.budget, progress=self.progress
        )
        self.stopped = self.stopped or labelling.stopped
        self.spent += labelling.spent
        self.notes |= dict.fromkeys(labelling.notes)
        self.tokens[0] += labelling.tokens_in
        self.tokens[1] += labelling.tokens_out
        return labelling

    def finish(self) -> QuestionSet:
        """Return the questions, numbered in the order in which they were written."""
        draw = random.Random(self.options.seed)  # noqa: S311 - a sample, not a secret
        width = len(str(len(self.kept)))
        questions = []
        for number, draft in enumerate(self.kept, 1):
            others = [
                name for name in islice(_draw(self.sources.order, draw), 10) if name not in draft.source.ids
            ]
            elsewhere = measure_overlap(draft.text, self.sources.texts[others[0]]) if others else 0.0
            overlap = measure_overlap(draft.text, draft.source.text)
            row = {"query": f"q{number:0{width}}", **draft.row}
            questions.append(row | {"overlap": round(overlap, 4), "overlap_elsewhere": round(elsewhere, 4)})
        return QuestionSet(
            writer=self.judges[0].labeller.model,
            questions=tuple(questions),
            rejected=tuple({**draft.row, "reason": draft.reason} for draft in self.rejected),
            wanted=self.options.count,
            documents=len(self.sources.texts),
            checked_by=tuple(judge.labeller.model for judge in self.judges[1:] or self.judges[:1]),
            tokens_in=self.tokens[0],
            tokens_out=self.tokens[1],
            spent=self.spent,
            stopped=self.stopped,
            notes=(*self.notes, POOLING),
        )


def _draw(names: Sequence[str], draw: random.Random) -> Iterator[str]:
    while names:
        yield draw.choice(names)

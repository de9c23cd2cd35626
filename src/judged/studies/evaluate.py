"""`evaluate_retriever`: a retriever in memory, asked every judged question; its scores and how long each call took."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from judged.errors import BadInput, BadProtocol, UnknownName, WrongKind, check_kind
from judged.io.open import is_path
from judged.io.read import read_judgments
from judged.io.search_results import AnswerReader, Fields, SearchReply
from judged.io.texts import TextSource
from judged.measures.measure import Measure
from judged.measures.parse import list_measures
from judged.problem import Note, Problem
from judged.profiles.profile import Profile, as_profile
from judged.progress import Progress
from judged.protocol import Protocol
from judged.result import observe_files
from judged.scoring.evaluate import evaluate_many
from judged.scoring.family import FAMILIES, Measures
from judged.studies.collections.collection import read_question_texts
from judged.studies.result import StageTimes, Study, SystemRecord
from judged.studies.stages.awaiting import Awaiter
from judged.studies.stages.clock import TOTAL, Clock
from judged.studies.stages.retrievers.asking import EXPECTED, Ask, find_ask
from judged.studies.stages.retrievers.retriever import naming_answer
from judged.studies.stages.stage import StageFailed
from judged.tables.inputs import JudgmentsLike
from judged.tables.judgments import Judgments
from judged.tables.nested import Flat
from judged.tables.run import Run
from judged.wording import counted, name_some

SHALLOW = 10
"""Least number of results that a retriever is asked for, whatever the cutoffs of the measures."""
DEEP = 100
"""Number of results that a retriever is asked for where a measure has no cutoff."""
SHOWN = 3
"""Maximum number of queries or ids that a message names."""


@dataclass(frozen=True)
class _Reply:
    """Reply of the retriever to one query, or why there is none."""

    query: str
    answer: object
    seconds: float
    failure: str = ""


def evaluate_retriever(
    retriever: object,
    judgments: JudgmentsLike,
    measures: Measures | None = None,
    *,
    queries: TextSource | None = None,
    name: str | None = None,
    id_field: str | None = None,
    depth: int | None = None,
    on_error: Literal["fail", "empty"] = "fail",
    concurrency: int = 1,
    protocol: Protocol | Profile | str = "trec_eval-9",
    progress: Progress | None = None,
) -> Study:
    """Ask a retriever every judged question, score what it returns, and measure how long each call takes.

    `retriever` is a callable, or an object with `invoke`, `get_relevant_documents` or `similarity_search` (LangChain),
    `retrieve` (LlamaIndex), `run` (Haystack), `search` or `query`; what is asynchronous is awaited. It returns results in
    any form that `judged.read_run` reads; `id_field` names the field of a result that has its id, such as
    `metadata.source`. No documents are needed; texts that results carry are shown in the report.

    `judgments` may hold the questions; otherwise `queries` gives them: a file, a data frame, or a dict from ids to texts.
    `depth` is the number of results asked for, where the retriever has a parameter for it: by default the highest cutoff of the
    measures, 10 at least, and 100 where a measure has none. With `on_error="empty"`, a query on which the retriever fails
    has no results, and the failures are noted. `concurrency` is the number of calls at a time.

    The first question is asked once before any is timed. The result is a study of one system, called `name`: `study[name]` is its evaluation, `study.timings` has the times. It
    is compared, gated and saved like any other.

    >>> def search(question: str) -> list[str]:
    ...     return ["faq.md"] if "price" in question else ["home.md"]
    >>> study = evaluate_retriever(search, {"q1": {"faq.md": 1}}, "P@1", queries={"q1": "price of a seat"}, name="site")
    >>> study["site"]["P@1"]
    1.0
    """
    _check_arguments(on_error, depth, concurrency)
    ask = find_ask(retriever)
    if ask is None:
        msg = f"the retriever is of type `{type(retriever).__name__}`, expected {EXPECTED}"
        raise WrongKind(msg)
    called = name or _name_retriever(retriever)
    files = observe_files([("queries", queries)])
    table = read_judgments(judgments)
    texts = _choose_texts(judgments, table, queries)
    chosen = FAMILIES["ranked"].default_measures if measures is None else list_measures(measures)
    profile = as_profile(protocol)
    cutoffs = _list_cutoffs(reading.measure for reading in profile.read_all(chosen))
    asked = depth or (DEEP if None in cutoffs else max(SHALLOW, *filter(None, cutoffs)))
    with closing(Awaiter()) as awaiter:
        call = partial(_ask, ask, awaiter, asked, called, patient=on_error == "empty")
        call(*next(iter(texts.items())))  # not timed: the first call may load a model or open a connection
        replies = _ask_all(call, texts, called, concurrency, progress)
    reader = AnswerReader(Fields(id=id_field), by_text=table.by_text)
    found = {reply.query: _read(reader, reply, called) for reply in replies}
    _check_judged(found, table, reader, called)
    run = _make_run(found, reader, called, asked)
    truth = judgments if is_path(judgments) else table  # read again, so that the result knows the file
    scored = evaluate_many(truth, {called: run}, chosen, protocol=profile, keep_inputs=True)
    settings = {"depth": asked, "concurrency": concurrency, "on_error": on_error, "id_field": id_field}
    return Study(
        name=called,
        collection=table.name,
        documents=0,
        queries=len(texts),
        systems=(SystemRecord(called, _describe(retriever)),),
        scored=scored,
        times=tuple(_collect_times(called, replies)),
        notes=(*_list_notes(replies, found, cutoffs, concurrency), *scored.notes),
        provenance=replace(scored.provenance, inputs=(*scored.provenance.inputs, *files), settings=settings),
        query_texts=texts,
        document_texts=reader.texts,
    )


def _check_arguments(on_error: str, depth: int | None, concurrency: int) -> None:
    check_kind("on_error", on_error, str, "`fail` or `empty`")
    if on_error not in {"fail", "empty"}:
        raise UnknownName("treatment of errors", str(on_error), ["fail", "empty"])
    for name, value in (("depth", depth), ("concurrency", concurrency)):
        if value is not None:
            check_kind(name, value, int, "a whole number from 1")
            if value < 1:
                msg = f"`{name}` is {value}, expected a whole number from 1"
                raise BadProtocol(msg)


def _name_retriever(retriever: object) -> str:
    """Return the name of a function, or that of an object's class."""
    name = getattr(retriever, "__name__", type(retriever).__name__)
    return "retriever" if name == "<lambda>" else str(name)


def _describe(retriever: object) -> str:
    """Return the module and the name of a retriever, or those of its class."""
    named = retriever if hasattr(retriever, "__qualname__") else type(retriever)
    return f"{named.__module__}:{named.__qualname__}"


def _choose_texts(source: JudgmentsLike, judgments: Judgments, queries: TextSource | None) -> dict[str, str]:
    """Return the text of every judged query; raise `BadInput` if one has none, since it could not be asked."""
    texts = read_question_texts(source, judgments, queries)
    judged = judgments.queries.to_pylist()
    missing = [query for query in judged if not texts.get(query, "").strip()]
    if missing:
        message = f"{counted(len(missing), 'judged query')} of {len(judged):,} without a text ({name_some(missing, SHOWN)})"
        hint = (
            "give their texts as `queries`, a file or a dict from ids to texts; or leave their judgments out"
        )
        raise BadInput(judgments.name, [Problem.error("no-texts", "queries", message)], hint=hint)
    return {query: texts[query] for query in judged}


def _list_cutoffs(measures: Iterable[Measure]) -> list[int | None]:
    """Return how many results each measure looks at; None: all of them."""
    cutoffs = (measure.parameters.get("cutoff") for measure in measures)
    return [cutoff if isinstance(cutoff, int) else None for cutoff in cutoffs]


def _ask(
    ask: Ask, awaiter: Awaiter, depth: int, name: str, query: str, text: str, *, patient: bool
) -> _Reply:
    """Ask one query; a failure is part of the reply if `patient`, else raised."""
    clock = Clock()
    try:
        answer = awaiter.collect(ask(text, depth))
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
        if patient:
            return _Reply(query, None, 0.0, failure)
        msg = f"`{name}` failed on query `{query}`: {failure}"
        hint = '`on_error="empty"` scores such a query without results, and notes it'
        raise StageFailed(msg, hint=hint) from error
    return _Reply(query, answer, clock.stop()[TOTAL] / 1e9)


def _ask_all(
    call: Callable[[str, str], _Reply],
    texts: Mapping[str, str],
    name: str,
    concurrency: int,
    progress: Progress | None,
) -> list[_Reply]:
    """Return the reply to every query, in their order, however many are asked at a time."""
    replies: list[_Reply] = []
    with ThreadPoolExecutor(concurrency, thread_name_prefix="judged-ask") as pool:
        try:
            for reply in pool.map(call, texts, texts.values()):
                replies.append(reply)
                if progress is not None:
                    progress(len(replies), len(texts), name)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    failed = [reply for reply in replies if reply.failure]
    if len(failed) == len(replies):
        msg = f"`{name}` failed on every query, first on `{failed[0].query}`: {failed[0].failure}"
        raise StageFailed(msg)
    return replies


def _read(reader: AnswerReader, reply: _Reply, name: str) -> SearchReply:
    """Return the results in a reply; none where the retriever failed."""
    if reply.failure:
        return SearchReply([])
    with naming_answer(name, reply.query):
        return reader.read(reply.answer)


def _check_judged(
    found: Mapping[str, SearchReply], judgments: Judgments, reader: AnswerReader, name: str
) -> None:
    """Raise `BadInput` if no result is a judged document of any query: its ids are probably of another kind."""
    ids = list(dict.fromkeys(result.document for answer in found.values() for result in answer.found))
    judged = dict.fromkeys(judgments.column("document").to_pylist())
    if not ids or judgments.by_text or not judged.keys().isdisjoint(ids):
        return
    message = (
        f"none of {counted(len(ids), 'document')} is judged: returned were {name_some(ids, SHOWN)}, "
        f"judged are {name_some(list(judged), SHOWN)}"
    )
    subject = f"the answers of `{name}`"
    problem = Problem.error("nothing-judged", "results", message)
    raise BadInput(subject, [problem], hint=reader.suggest_field())


def _make_run(found: Mapping[str, SearchReply], reader: AnswerReader, name: str, depth: int) -> Run:
    """Return the run of the answers; a query without results stays in it."""
    ranked = {query: reader.rank(answer, depth) for query, answer in found.items()}
    flat = Flat(notes=tuple(reader.notes()))
    for query, (documents, scores) in ranked.items():
        flat.query += [query] * len(documents)
        flat.document += documents
        flat.number += scores
        flat.empty += [] if documents else [query]
    return replace(Run.from_flat(flat, name), by_text=reader.by_text)


def _collect_times(name: str, replies: Sequence[_Reply]) -> Iterator[StageTimes]:
    """Yield the time of every call that returned, as that of retrieval and as the whole."""
    returned = [reply for reply in replies if not reply.failure]
    seconds = np.array([reply.seconds for reply in returned])
    yield StageTimes(name, TOTAL, tuple(reply.query for reply in returned), seconds)


def _list_notes(
    replies: Sequence[_Reply],
    found: Mapping[str, SearchReply],
    cutoffs: Sequence[int | None],
    concurrency: int,
) -> Iterator[Note]:
    """Yield what readers of scores and times should know of how they came about."""
    failed = [reply for reply in replies if reply.failure]
    if failed:
        named = name_some([f"{reply.query}: {reply.failure}" for reply in failed], SHOWN)
        message = f"the retriever failed on {counted(len(failed), 'query')}, scored without results ({named})"
        yield Note("failed-queries", "warning", message)
    longest = max(len(answer.found) for answer in found.values())
    deepest = max((cutoff for cutoff in cutoffs if cutoff is not None), default=0)
    if longest < deepest:
        message = (
            f"no query has more than {counted(longest, 'result')}, and measures look at the first {deepest}"
        )
        yield Note("few-results", "info", message)
    if concurrency > 1:
        yield Note("concurrency", "info", f"times are those of {concurrency} calls at a time")

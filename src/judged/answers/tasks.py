"""Tasks of a labeller about answers: nuggets, their assignment, the support of citations, claims and their entailment.

Each builds a pool from files that `judged.answers` reads, and writes a table that `judged.evaluate_answers` takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from judged.answers.reading.responses import ResponsesLike, read_responses
from judged.answers.reading.rows import open_rows
from judged.answers.reading.truth import read_nuggets
from judged.answers.tables import CLAIMS
from judged.errors import BadInput, JudgedError
from judged.io.read import read_judgments
from judged.labels.task import Item, Pool, Task
from judged.problem import Note, Problem
from judged.tables.responses import Part, Responses
from judged.tables.run import Run
from judged.wording import counted, name_some

FIRST = 3
"""Number of things that lack something which a message names."""


def _declare(
    name: str, unit: str, texts: tuple[str, ...], table: str, *, optional: tuple[str, ...] = ()
) -> Task:
    home = f"judged.answers.label_commands:{name}"
    reader = "judged.answers.grades:read_word_labels"
    return Task(name, f"judged.answers:prompts/{name}.yaml", unit, texts, optional, table, home, reader)


NUGGETS = _declare("nuggets", "question", ("query", "documents"), "nuggets")
ASSIGN = _declare("assign", "nugget", ("query", "answer", "nugget"), "assignments", optional=("query",))
SUPPORT = _declare("support", "citation", ("sentence", "passage"), "support")
CLAIMS_TASK = _declare("claims", "text", ("query", "text"), "claims", optional=("query",))
ENTAIL = _declare("entail", "claim", ("text", "claim"), "claims")


def pool_nuggets(
    judgments: object,
    *,
    queries: Mapping[str, str],
    documents: Mapping[str, str],
    grade: float = 2,
    from_answers: bool = False,
) -> Pool:
    """Return the questions whose nuggets are to be written, each with its documents of at least that grade.

    Answers in place of judgments are refused unless `from_answers` is set: the longest answer would write its own test.
    """
    if _holds_answers(judgments):
        if not from_answers:
            msg = "nuggets are written from judged documents, and this file holds answers: the longest answer would write its own test"
            raise JudgedError(
                msg, hint="give judgments; `--from-answers` writes nuggets from answers all the same"
            )
        texts = _texts_of_answers(read_responses(judgments))
        notes: tuple[Note, ...] = (
            Note("from-answers", "warning", "nuggets are written from the answers that they will score"),
        )
    else:
        texts, notes = _texts_of_judged(judgments, documents, grade)
    _check_texts("query", texts, queries)
    items = [
        Item({"query": queries[query], "documents": "\n\n".join(found)}, {"query": query})
        for query, found in texts.items()
    ]
    return Pool(tuple(items), len(items), column="nuggets", notes=notes)


def _holds_answers(source: object) -> bool:
    """Return whether a file has answers; one that is not a table has none."""
    try:
        lower = open_rows(source, "judgments").lower
    except (JudgedError, ValueError):
        return False
    return bool(lower & {"answer", "response", "output"}) and not lower & {"grade", "relevance", "rel"}


def _texts_of_answers(responses: Responses) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for (query, _, _), parts in responses.answers.items():
        texts.setdefault(query, []).append(_join(parts))
    return texts


def _texts_of_judged(
    source: Any, documents: Mapping[str, str], grade: float
) -> tuple[dict[str, list[str]], tuple[Note, ...]]:
    judgments = read_judgments(source)
    rows = judgments.table.select(["query", "document", "grade"]).to_pylist()
    relevant = [(row["query"], row["document"]) for row in rows if row["grade"] >= grade]
    if not relevant:
        message = f"no document has a grade of {grade:g} or more"
        raise BadInput(
            judgments.name, [Problem.error("no-relevant", judgments.name, message)], hint="`--grade` sets it"
        )
    _check_texts("document", dict(relevant).values(), documents)
    texts: dict[str, list[str]] = {}
    for query, document in relevant:
        texts.setdefault(query, []).append(documents[document])
    left = {row["query"] for row in rows} - texts.keys()
    if not left:
        return texts, ()
    message = f"{counted(len(left), 'query')} without a document of grade {grade:g} or more: no nuggets"
    return texts, (Note("no-relevant", "warning", message),)


def pool_assignments(
    responses: ResponsesLike, nuggets: object, *, queries: Mapping[str, str], models: Sequence[str] = ()
) -> Pool:
    """Return every nugget and answer of a query, to say whether the answer states the nugget."""
    answers, listed = read_responses(responses), read_nuggets(nuggets)
    by_query: dict[str, list[tuple[str, str]]] = {}
    for nugget in listed.rows:
        by_query.setdefault(nugget.query, []).append((nugget.nugget, nugget.text or nugget.nugget))
    items = [
        Item(
            {"query": queries.get(query, ""), "answer": _join(parts), "nugget": text},
            _row(query, system, attempt, nugget=name),
        )
        for (query, system, attempt), parts in answers.answers.items()
        for name, text in by_query.get(query, ())
        if _join(parts)
    ]
    without = {query for query, _, _ in answers.answers} - by_query.keys()
    message = f"{counted(len(without), 'query')} with answers and without nuggets: not labelled"
    notes = (Note("without-nuggets", "warning", message),) if without else ()
    return _make_pool(items, [*notes, *warn_of_authors(models, answers.systems)])


def pool_support(
    responses: ResponsesLike, *, documents: Mapping[str, str], models: Sequence[str] = ()
) -> Pool:
    """Return every sentence and passage that it cites, to say whether the passage supports the sentence."""
    answers = read_responses(responses)
    pairs = [(part, document) for part in answers for document in dict.fromkeys(part.citations)]
    _check_texts("document", [document for _, document in pairs], documents)
    items = [
        Item(
            {"sentence": part.text, "passage": documents[document]},
            _row(part.query, part.system, part.attempt, part=part.part, document=document),
        )
        for part, document in pairs
        if part.text
    ]
    return _make_pool(items, warn_of_authors(models, answers.systems))


def pool_claims(
    responses: ResponsesLike,
    *,
    references: Mapping[str, str] | None = None,
    queries: Mapping[str, str],
    models: Sequence[str] = (),
) -> Pool:
    """Return every answer, and every true answer, whose claims are to be written down by one rule."""
    answers = read_responses(responses)
    items = []
    for (query, system, attempt), parts in answers.answers.items():
        asked = queries.get(query, "")
        if _join(parts):
            row = _row(query, system, attempt, side="response")
            items.append(Item({"query": asked, "text": _join(parts)}, row))
        if references is not None and query in references:
            row = _row(query, system, attempt, side="truth")
            items.append(Item({"query": asked, "text": references[query]}, row))
    return _make_pool(items, warn_of_authors(models, answers.systems))


def pool_entailments(
    responses: ResponsesLike,
    claims: object,
    *,
    references: Mapping[str, str],
    passages: Mapping[str, Mapping[str, str]],
    models: Sequence[str] = (),
) -> Pool:
    """Return every claim and text to check it against.

    `claims` is what the task `claims` wrote; `references` has the true answer of each query, `passages` the retrieved ones
    by query and id. Claims of an answer are checked against the true answer and the passages, true claims against the
    answer and the passages.
    """
    answers = read_responses(responses)
    items = []
    for row in _read_claims(claims):
        query, system = row["query"], row.get("system")
        side, claim = row["side"], row["claim"]
        parts = answers.answers.get((query, str(system), row.get("attempt")), ())
        alone = ("answer", references.get(query, "")) if side == "response" else ("response", _join(parts))
        for source, text in (alone, *passages.get(query, {}).items()):
            if text:
                named = _row(query, str(system), row.get("attempt"), side=side, claim=claim, source=source)
                items.append(Item({"text": text, "claim": claim}, named))
    return _make_pool(items, warn_of_authors(models, answers.systems))


def list_passages(run: Run, documents: Mapping[str, str], depth: int) -> dict[str, dict[str, str]]:
    """Return the texts of the first `depth` results of each query by id."""
    results: dict[str, list[tuple[float, str]]] = {}
    for query, document, score in zip(
        *(run.to_arrow()[name].to_pylist() for name in ("query", "document", "score")), strict=True
    ):
        results.setdefault(query, []).append((score, document))
    # as runs are ranked: by score, then by id descending
    chosen = {
        query: [
            document
            for _, document in sorted(rows, key=lambda row: (row[0], row[1].encode()), reverse=True)[:depth]
        ]
        for query, rows in results.items()
    }
    _check_texts("document", [name for names in chosen.values() for name in names], documents)
    return {query: {name: documents[name] for name in names} for query, names in chosen.items()}


def _read_claims(source: object) -> list[dict[str, Any]]:
    """Return the claims that the task `claims` wrote, each once."""
    content = open_rows(source, "claims")
    columns = {item.name: item.names for item in CLAIMS.fields}
    rows: dict[tuple[object, ...], dict[str, Any]] = {}
    for number, row in enumerate(content.rows):
        found = {
            name: next((row[column] for column in columns[name] if row.get(column) is not None), None)
            for name in ("query", "system", "side", "claim", "attempt")
        }
        if any(not isinstance(found[name], str) for name in ("query", "system", "side", "claim")):
            message = (
                "lacks one of `query`, `system`, `side` and `claim`, expected what `--task claims` writes"
            )
            content.problems.add("missing-value", number, message)
        rows.setdefault(tuple(found.values()), found)
    content.problems.raise_if_any()
    return list(rows.values())


def _join(parts: Iterable[Part]) -> str:
    return " ".join(part.text for part in parts).strip()


def _row(query: str, system: str, attempt: str | None, **keys: object) -> dict[str, object]:
    return {"query": query, "system": system, **({} if attempt is None else {"attempt": attempt}), **keys}


def _make_pool(items: Sequence[Item], notes: Iterable[Note]) -> Pool:
    return Pool(tuple(items), len(items), column="label", notes=tuple(notes))


def _check_texts(kind: str, names: Iterable[str], texts: Mapping[str, str]) -> None:
    """Raise `BadInput` for things without a text."""
    missing = [name for name in dict.fromkeys(names) if not texts.get(name)]
    if missing:
        message = f"no text of {name_some(missing, FIRST)}"
        option = "--queries" if kind == "query" else "--documents"
        problem = Problem.error("without-text", counted(len(missing), kind), message)
        raise BadInput("the texts", [problem], hint=f"`{option} FILE` has them")


def warn_of_authors(models: Sequence[str], systems: Iterable[str]) -> Iterator[Note]:
    """Yield a warning for each labeller whose name is part of a system's: models favour what they wrote."""
    for model in models:
        bare = model.rpartition("/")[2].lower()
        own = [system for system in systems if bare and bare in system.lower()]
        if own:
            message = (
                f"the labeller {model} seems to have written, reranked or rewritten for {name_some(own, FIRST)}:"
                " models favour their own answers"
            )
            yield Note("own-answers", "warning", message)

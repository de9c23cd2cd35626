"""Claims in files of RAGChecker, which has labels in matrices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from judged.answers.reading.rows import Fields, describe, list_documents, to_rows
from judged.answers.tables import CLAIM_LABELS, CLAIMS, Claim, Rows
from judged.io.scores.content import Content, Json, list_objects
from judged.tables.schema import Schema


def read_ragchecker(content: Content) -> Rows[Claim]:
    """Return the claims of a file of RAGChecker, known by their places in its lists."""
    rows: list[Claim] = []
    owners: list[int] = []
    listed: list[tuple[str, str | None]] = []
    texts: dict[str, str] = {}
    fields = Fields.of(content, Schema("claims", (CLAIMS["query"], CLAIMS["system"])))
    for number, row in enumerate(content.rows):
        query = fields.text(row, number, "query", required=True)
        if query is None:
            continue
        system = fields.text(row, number, "system")
        listed.append((query, system))
        documents = list_documents(row.get("retrieved_context"))
        for document, item in zip(documents, list_objects(row.get("retrieved_context")), strict=False):
            texts.setdefault(document, str(item.get("text") or ""))
        for claim in _read_matrices(row, query, system, documents, fields, number):
            owners.append(number)
            rows.append(claim)
    content.problems.raise_if_any()
    return to_rows(content, rows, owners, listed=tuple(listed), texts=texts)


_RAGCHECKER = (
    ("response", "response_claims", "answer2response", "retrieved2response", "answer"),
    ("truth", "gt_answer_claims", "response2answer", "retrieved2answer", "response"),
)


def _read_matrices(
    row: Mapping[str, Json],
    query: str,
    system: str | None,
    documents: Sequence[str],
    fields: Fields,
    number: int,
) -> Iterator[Claim]:
    """Yield the labels of one answer; every claim has a row, even without labels."""
    for side, texts, alone, matrix, source in _RAGCHECKER:
        lists = {key: row.get(key) or [] for key in (texts, alone, matrix)}
        wrong = [key for key, value in lists.items() if not isinstance(value, list | tuple)]
        if wrong:
            fields.problems.add(
                "not-a-list", number, f"`{wrong[0]}` is {describe(row[wrong[0]])}, expected a list"
            )
            continue
        claims, direct, by_passage = lists.values()
        if any(not isinstance(labels, list | tuple) for labels in by_passage):
            message = f"`{matrix}` has a row that is not a list, expected a list of labels for each claim"
            fields.problems.add("not-a-list", number, message)
            continue
        count = max(len(claims), len(direct), len(by_passage))
        if any(len(labels) not in {0, count} for labels in (direct, by_passage)):
            message = (
                f"`{alone}` and `{matrix}` have {len(direct)} and {len(by_passage)} labels for {count} claims"
            )
            fields.problems.add("unequal-lists", number, message)
            continue
        for place in range(count):
            text = (
                " ".join(map(str, claims[place]))
                if place < len(claims) and isinstance(claims[place], list)
                else str(claims[place])
                if place < len(claims)
                else ""
            )
            name = str(place + 1)
            yield Claim(query, system, side, name, "", "", text)
            labels = [(source, direct[place])] if direct else []
            passages = by_passage[place] if by_passage else []
            if len(passages) > len(documents):
                documents = [*documents, *(str(extra + 1) for extra in range(len(documents), len(passages)))]
            labels += list(zip(documents, passages, strict=False))
            for named, label in labels:
                own = Fields({"label": ("label",)}, fields.problems)
                word = own.word({"label": label}, number, "label", CLAIM_LABELS)
                if word is not None:
                    yield Claim(query, system, side, name, named, word, text)

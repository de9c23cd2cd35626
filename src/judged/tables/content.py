"""Texts as identities: documents that have no id are the same if their normalised texts are.

One rule for judgments, runs and the results of agents: `normalise_text`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from unicodedata import category, normalize

import numpy as np

from judged.errors import BadInput
from judged.problem import Problem
from judged.tables.columns import shorten
from judged.wording import name_setting

if TYPE_CHECKING:
    from judged.tables.judgments import Judgments
    from judged.tables.run import Run

SHOWN = 60
"""Number of characters of a text that a message shows."""


class _Characters(dict[int, int | str | None]):
    """A translation table: punctuation, symbols and blanks become blanks, invisible characters are dropped."""

    def __missing__(self, code: int) -> int | str | None:
        kind = category(chr(code))
        kept = kind[0] not in "PSZC" or 0xE000 <= code < 0xE004
        self[code] = None if kind == "Cf" else code if kept else " "
        return self[code]


_CHARACTERS = _Characters()
_ASCII = bytes(ord(str(chr(code).translate(_CHARACTERS)).lower()) for code in range(128)) + bytes(
    range(128, 256)
)


_SIGNED = re.compile(
    r"(?<=[^\W_])(?:\+\+|#|\+(?=\W|$))"  # C++, C#, A+
    r"|(?:(?<=[\s\"(])|^)(?:\.(?=[^\W\d_])|(?<!\d\s)-(?=\d))|(?<![\w.)\]])\u2212(?=\d)"  # .NET, -5
)
_KEPT = {"+": "\ue000", "#": "\ue001", ".": "\ue002", "-": "\ue003", "\u2212": "\ue003"}
"""Private characters that stand for signs while all others are removed."""
_RESERVED = dict.fromkeys(range(0xE000, 0xE004), " ")
_RESTORED = str.maketrans({"\ue000": "+", "\ue001": "#", "\ue002": ".", "\ue003": "-"})


def normalise_text(text: str) -> str:
    r"""Return the words of a text in lower case, separated by single blanks, in Unicode's form NFKC.

    Signs are kept where they make another word.

    >>> normalise_text("  Ｇood-gain:\tthe “Measure”… ")
    'good gain the measure'
    >>> normalise_text("C, C++ and C# (or .NET) below -5 degrees, 1844-1846")
    'c c++ and c# or .net below -5 degrees 1844 1846'
    """
    # spelt out: this runs for every text, and few have such signs
    if (
        "+" in text
        or "#" in text
        or " ." in text
        or " -" in text
        or "\n-" in text
        or "\n." in text
        or "(." in text
        or "(-" in text
        or '".' in text
        or '"-' in text
        or "\u2212" in text
        or text.startswith((".", "-"))
    ):
        return _normalise_signed(text)
    return _normalise(text)


def _normalise_signed(text: str) -> str:
    """Return the words of a text that may have signs which belong to words."""
    if text.isascii():
        # most such texts are titles with a dash before the name of the site
        if _SIGNED.search(text) is None:
            return _normalise(text)
    else:
        text = normalize("NFKC", text).translate(_RESERVED)
    marked = _SIGNED.sub(lambda match: "".join(_KEPT[sign] for sign in match[0]), text)
    return _normalise(marked).translate(_RESTORED)


def _normalise(text: str) -> str:
    if text.isascii():
        return " ".join(text.encode("ascii").translate(_ASCII).decode("ascii").split())
    # again after each step: folding case, and dropping characters between letters, may leave another form
    text = normalize("NFKC", normalize("NFKC", text).casefold()).translate(_CHARACTERS)
    return " ".join(normalize("NFKC", text).split())


def match_contents(judgments: Judgments, run: Run) -> tuple[Judgments, Run]:
    """Return both with documents identified alike: by their ids, or by their texts where one side has no ids.

    Raises `BadInput` if one side has texts without ids, and the other ids without texts.
    """
    if judgments.by_text == run.by_text:
        return judgments, run
    named = run if judgments.by_text else judgments
    if not named.texts and run.unnamed is not None:
        raise run.unnamed
    if not named.texts:
        textual, other = ("judgments", "run") if judgments.by_text else ("run", "judgments")
        message = (
            f"the documents of the {textual} are texts without ids, and the {other} has ids without texts"
        )
        column = name_setting("--map text=COLUMN", "map={'text': 'COLUMN'}")
        hint = f"add the ids, or the texts, to one of the files ({column} names a column of texts)"
        raise BadInput(named.name, [Problem.error("ids-and-texts", named.name, message)], hint=hint)
    if judgments.by_text:
        return judgments, _identify_run(run)
    return _identify_judgments(judgments), run


def check_contents(judgments: Judgments, run: Run, retrieved: int) -> None:
    """Raise `BadInput` if documents are identified by their texts, and none of the judged ones was retrieved."""
    if not judgments.by_text or retrieved or not len(judgments):
        return
    judged, found = judgments.documents[0], next(iter(_documents(run)), None)
    if found is None:
        return  # an empty run is said to be empty elsewhere
    message = (
        f"none of the {len(judgments):,} judged texts is among the texts of {run.name}; "
        f"judged, for example: `{shorten(judged, SHOWN)}`, retrieved: `{shorten(found, SHOWN)}`"
    )
    hint = (
        "texts are compared as wholes, without case, punctuation and white space: were the documents cut otherwise "
        "when the questions were written? ids in both files are safer"
    )
    raise BadInput(judgments.name, [Problem.error("no-text-matches", judgments.name, message)], hint=hint)


def _documents(run: Run) -> list[str]:
    names: list[str] = run.to_arrow()["document"].slice(0, 1).to_pylist()
    return names


def _identify_run(run: Run) -> Run:
    """Return the run with documents identified by their texts; of equal texts of a query the best counts."""
    from judged.tables.run import Run as RunTable

    table = run.to_arrow()
    queries, documents = table["query"].to_pylist(), table["document"].to_pylist()
    _need_texts(documents, run.texts, run.name)
    keys = [normalise_text(run.texts[document]) for document in documents]
    scores = table["score"].to_numpy()
    best: dict[tuple[str, str], int] = {}
    for row in np.argsort(-scores, kind="stable").tolist():
        best.setdefault((queries[row], keys[row]), row)
    rows = sorted(best.values())
    notes = (*run.notes, "documents are identified by their texts, because the judgments have no ids")
    if len(rows) < len(keys):
        notes = (*notes, f"{len(keys) - len(rows):,} results repeat a text of their query: left out")
    made = RunTable.from_columns(
        [queries[row] for row in rows], [keys[row] for row in rows], scores[rows], name=run.name, notes=notes
    )
    empty = run.to_columns().empty
    return replace(made, by_text=True, source=replace(made.source, empty=empty))  # type: ignore[arg-type]


def _identify_judgments(judgments: Judgments) -> Judgments:
    """Return judgments with documents identified by their texts; of equal texts of a query the best grade counts."""
    from judged.tables.judgments import Judgments as JudgmentsTable

    rows = judgments.to_arrow().to_pylist()
    _need_texts([row["document"] for row in rows], judgments.texts, judgments.name)
    best: dict[tuple[str, ...], dict[str, object]] = {}
    for row in rows:
        key = normalise_text(judgments.texts[row["document"]])
        identity = (row["query"], key, *([row["intent"]] if "intent" in row else []))
        if identity not in best or row["grade"] > best[identity]["grade"]:
            best[identity] = {**row, "document": key}
    names = {"intent_weight": "weight"}
    columns = (
        {names.get(name, name): [row[name] for row in best.values()] for name in rows[0]} if rows else {}
    )
    notes = (*judgments.notes, "documents are identified by their texts, because the run has no ids")
    if len(best) < len(rows):
        notes = (*notes, f"{len(rows) - len(best):,} judgments repeat a text of their query: the best counts")
    made = JudgmentsTable.from_columns(**columns, name=judgments.name, notes=notes)  # type: ignore[arg-type]
    return replace(made, by_text=True, query_texts=judgments.query_texts)


def _need_texts(documents: list[str], texts: object, subject: str) -> None:
    """Raise `BadInput` if a document has neither a common kind of identity nor a text."""
    missing = [document for document in documents if document not in texts]  # type: ignore[operator]
    if missing:
        message = (
            f"{len(missing):,} documents have no text ({', '.join(missing[:3])}), and the other side no ids"
        )
        raise BadInput(subject, [Problem.error("missing-text", subject, message)])

"""Final answers of agents' traces, sentence by sentence, with the results that they cite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from judged.agents.tables import Session
from judged.agents.traces.read import stream_answers
from judged.answers.sentences import split_sentences, take_citations
from judged.errors import BadInput
from judged.problem import Problem
from judged.tables.responses import Part
from judged.wording import counted


def read_answers_of_traces(source: object, name: str | None, notes: dict[str, None]) -> list[Part]:
    """Return the final answer of every conversation; several of one system to one task are attempts.

    Raise `BadInput` if the source is in no trace format, or has no final answers.
    """
    found = list(stream_answers(source, name=name))
    answered = [(session, answer) for session, answer in found if answer is not None]
    if not answered:
        message = "holds no final answers: its trace format does not say which message is the answer, or no conversation has one"
        label = found[0][0].place if found else "the trace"
        raise BadInput(label, [Problem.error("no-answers", label, message)])
    if len(answered) < len(found):
        count = len(found) - len(answered)
        notes[f"{counted(count, 'conversation')} without a final answer left out"] = None
    repeats = Counter((session.task, session.system) for session, _ in answered)
    seen: Counter[tuple[str, str]] = Counter()
    parts: list[Part] = []
    for session, answer in answered:
        key = session.task, session.system
        seen[key] += 1
        sentences = list(_cite(_untag(answer), session, notes))
        parts += [
            Part(
                query=session.task,
                system=session.system,
                part=place,
                text=text,
                citations=citations,
                attempt=str(seen[key]) if repeats[key] > 1 else None,
            )
            for place, (text, citations) in enumerate(sentences, 1)
        ]
    return parts


def _untag(answer: str) -> str:
    """Return what stands between the tags of an answer, if it has any."""
    inside = answer.rpartition("<answer>")[2]
    return inside.partition("</answer>")[0].strip()


def _cite(answer: str, session: Session, notes: dict[str, None]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the sentences of an answer with what each cites: a result by its address or id, or by its number.

    A number counts what the whole answer cites, from 1, unless it is the id of something cited. Where no sentence
    names anything, the whole answer cites it.
    """
    sentences = split_sentences(answer) or [""]
    cited = [_list_cited(sentence, session.cited) for sentence in sentences]
    if session.cited and not any(cited):
        notes["answers with a list of citations and no marks in the text are one part each"] = None
        return [(answer, session.cited)]
    return [(take_citations(text)[0], found) for text, found in zip(sentences, cited, strict=True)]


def _list_cited(sentence: str, cited: Sequence[str]) -> tuple[str, ...]:
    marked = [
        str(number) if str(number) in cited else cited[number - 1]
        for number in take_citations(sentence)[1]
        if str(number) in cited or 0 < number <= len(cited)
    ]
    return tuple(dict.fromkeys((*marked, *(name for name in cited if len(name) > 1 and name in sentence))))

"""Several judges in one job: each labels everything, and a vote or a mean becomes the label, with how far they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal, TypeAlias

from judged.errors import BadProtocol
from judged.labels.answer import Label
from judged.labels.batches import BatchOptions
from judged.labels.prompt import Labeller
from judged.labels.result import Labelling
from judged.labels.single import label_pool
from judged.labels.task import Pool
from judged.net.budget import Budget
from judged.net.llm import Endpoint
from judged.progress import Progress
from judged.result import Provenance

Combine: TypeAlias = Literal["vote", "mean"]
TOO_FEW = "too few judges"


@dataclass(frozen=True, slots=True)
class Judge:
    """A labeller and the endpoint that it asks."""

    labeller: Labeller
    endpoint: Endpoint


def label_by_judges(
    pool: Pool,
    judges: Sequence[Judge],
    *,
    cache: str | Path | None,
    combine: Combine = "vote",
    budget: Budget | None = None,
    retry_failed: bool = False,
    batches: BatchOptions | None = None,
    progress: Progress | None = None,
    on_stop: Callable[[Labelling], None] | None = None,
) -> Labelling:
    """Label a pool by one judge, or by several, one after the other, and combine their labels.

    A vote is won by the label that most judges gave; of labels with equal counts the lowest counts. A unit needs labels
    of more than half of the judges, else it is a failure. All judges share one cache and one budget.
    """
    if len(judges) > 1:
        _check(pool, judges, combine)
    money = budget or Budget()
    labellers = [judge.labeller for judge in judges]
    parts: list[Labelling] = []

    def stop(part: Labelling) -> None:
        if on_stop is not None:
            on_stop(part if len(judges) == 1 else _combine(pool, labellers, [*parts, part], combine))

    for judge in judges:
        parts.append(
            label_pool(
                pool,
                judge.labeller,
                judge.endpoint,
                cache=cache,
                budget=money,
                retry_failed=retry_failed,
                batches=batches,
                progress=progress,
                on_stop=stop,
            )
        )
        # batches of all judges may run at once; whatever else stops one stops all
        if parts[-1].stopped and (batches is None or batches.wait):
            break
    return parts[0] if len(judges) == 1 else _combine(pool, labellers, parts, combine)


def _check(pool: Pool, judges: Sequence[Judge], combine: Combine) -> None:
    """Raise `BadProtocol` for judges whose labels cannot be combined."""
    labellers = [judge.labeller for judge in judges]
    names = [labeller.name for labeller in labellers]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        msg = f"two judges are called `{twice[0]}`, expected different models or prompts"
        raise BadProtocol(msg)
    scales = {labeller.prompt.values for labeller in labellers}
    if len(scales) > 1 or any(labeller.prompt.records for labeller in labellers):
        msg = "the judges have different scales, or list records: their answers cannot be combined"
        raise BadProtocol(msg, hint="label with each on its own")
    if combine == "mean" and any(isinstance(value, str) for value in scales.pop()):
        raise BadProtocol("words have no mean", hint="combine them by `vote`")
    if combine == "mean" and pool.column == "gain":
        raise BadProtocol(
            "gains of traces are whole numbers, which a mean is not", hint="combine them by `vote`"
        )


def combine_labels(
    labels: Sequence[Label | None], values: Sequence[Label], how: Combine
) -> Label | float | None:
    """Return the vote or the mean of labels; None if not more than half of the judges gave one.

    >>> combine_labels([3, 1, 3], range(5), "vote"), combine_labels([3, 1, None], range(5), "vote")
    (3, 1)
    >>> combine_labels([3, 2], range(5), "mean"), combine_labels([3, None], range(5), "mean")
    (2.5, None)
    """
    given = [label for label in labels if label is not None]
    if 2 * len(given) <= len(labels):
        return None
    if how == "mean":
        return fmean(label for label in given if not isinstance(label, str))
    counts = Counter(given)
    most = max(counts.values())
    return next(value for value in values if counts[value] == most)


def _combine(
    pool: Pool, labellers: Sequence[Labeller], parts: Sequence[Labelling], how: Combine
) -> Labelling:
    """Return the labels of the panel, with those of each judge."""
    column, first = pool.column, labellers[0].prompt
    name = f"{how} of {', '.join(labeller.name for labeller in labellers)}"
    given = zip(*(_align(pool, part) for part in parts), strict=True)
    missing = (None,) * (
        len(labellers) - len(parts)
    )  # judges that were not asked because an earlier one stopped
    labelled: list[dict[str, object]] = []
    failures: list[dict[str, object]] = []
    votes: list[dict[str, object]] = []
    usual = parts[0].labelled[0].get("scale") if parts[0].labelled else None
    for item, stated in zip(pool.items, given, strict=True):
        labels = (*stated, *missing)
        votes += (
            {**item.row, "judge": labeller.name, "label": label}
            for labeller, label in zip(labellers, labels, strict=True)
        )
        label = combine_labels(labels, first.values, how)
        count = sum(one is not None for one in labels)
        if label is None:
            failures.append(
                {**item.row, "failure": TOO_FEW, "answer": f"{count} of {len(labels)} gave a label"}
            )
        else:
            share = max(Counter(one for one in labels if one is not None).values()) / count
            row = {**item.row, column: label, "labeller": name, "scale": usual, "agreed": round(share, 4)}
            labelled.append({key: value for key, value in row.items() if value is not None})
    return Labelling(
        labeller=name,
        labelled=tuple(labelled),
        failures=tuple(failures),
        results=pool.results,
        distinct=len(pool.items) + pool.judged,
        judged=pool.judged,
        cached=sum(part.cached for part in parts),
        asked=sum(part.asked for part in parts),
        tokens_in=sum(part.tokens_in for part in parts),
        tokens_out=sum(part.tokens_out for part in parts),
        spent=sum(part.spent for part in parts),
        spent_before=sum(part.spent_before for part in parts),
        stopped=next((part.stopped for part in parts if part.stopped), None),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        column=column,
        votes=tuple(votes),
        values=first.values,
        provenance=Provenance(
            inputs=pool.inputs,
            settings={"combine": how, "judges": [dict(part.provenance.settings) for part in parts]},
        ),
    )


def _align(pool: Pool, part: Labelling) -> Iterator[Label | None]:
    """Yield the label of each unit of the pool; labels come in its order, without those of failures."""
    rows = iter(part.labelled)
    row = next(rows, None)
    for item in pool.items:
        if row is not None and item.row.items() <= row.items():
            yield row[pool.column]
            row = next(rows, None)
        else:
            yield None

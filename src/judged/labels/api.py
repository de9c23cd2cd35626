"""`label_results`: labels by one or more language models, for the results of runs or of agents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import NoneType

from judged.errors import BadProtocol, check_kind
from judged.io.texts import TextSource
from judged.labels.batches import BatchOptions
from judged.labels.panel import Combine, Judge, label_by_judges
from judged.labels.pool import Judged, PoolOptions, PoolSource, build_pool
from judged.labels.prompt import Labeller
from judged.labels.result import Labelling
from judged.net.budget import Budget, Prices
from judged.net.llm import Endpoint
from judged.progress import Progress


def label_results(
    source: PoolSource,
    *,
    model: str | Sequence[str] | None = None,
    endpoint: str | Endpoint | Sequence[str | Endpoint] | None = None,
    queries: TextSource | None = None,
    documents: TextSource | None = None,
    judged: Judged | None = None,
    cache: str | Path | None = None,
    prices: Prices | tuple[float, float] | None = None,
    budget: float | None = None,
    retry_failed: bool = False,
    labeller: Labeller | Sequence[Labeller] | None = None,
    combine: Combine = "vote",
    pool: PoolOptions | None = None,
    batches: BatchOptions | None = None,
    progress: Progress | None = None,
) -> Labelling:
    """Label the results of runs or traces, each distinct one once, with a language model.

    Works in notebooks, too. A result whose answer states no grade gets no label: see `failures` of the returned
    `Labelling`.

    Args:
        source: A run or a trace, or a list of several.
        model: Name of the model; for other settings than the defaults give `labeller` instead. Several are a panel of
            judges, whose labels are combined.
        endpoint: Address of a server that speaks OpenAI's protocol, or an `Endpoint` with its settings; by default
            the environment variable OPENAI_BASE_URL. Its key is read from the environment variable OPENAI_API_KEY. One
            serves all judges; else there is one for each.
        queries: Texts of queries or tasks by id: a file or a dict. Runs need them.
        documents: Titles and texts of documents by id: a file or a dict. Runs need them.
        judged: Judgments or labels of results that are not labelled again.
        cache: File that stores every answer as it arrives; the same call made again asks only what is missing there.
            None stores nothing.
        prices: Prices of a million tokens read and written.
        budget: The most that all answers may cost, those of earlier jobs with the same cache included.
        retry_failed: Whether to ask again what was answered without a grade in an earlier job.
        labeller: Model, prompt and their settings, in place of `model`; or several.
        combine: How the labels of several judges become one: `vote` (of equal counts the lowest label) or `mean`.
        pool: Which results are labelled, and how the sources are read.
        batches: Sends questions through the Batch API, which takes up to a day and costs less at several providers; a
            call that is interrupted, or does not wait, is made again to collect the answers. Needs `cache`.
        progress: Called after every question with the number that is done, of all, and in words with what was spent,
            failed and repeated.
    """
    for name, value, kind in (("model", model, str), ("labeller", labeller, Labeller)):
        check_kind(name, value, (kind, Sequence, NoneType), f"a {kind.__name__}, or several")
    if (model is None) == (labeller is None):
        raise BadProtocol("expected either `model` or `labeller`")
    models = [model] if isinstance(model, str) else [*(model or ())]
    own = [labeller] if isinstance(labeller, Labeller) else [*(labeller or ())]
    labellers = [*map(Labeller, models), *own]
    addresses = [endpoint or ""] if endpoint is None or isinstance(endpoint, str | Endpoint) else [*endpoint]
    if len(addresses) not in {1, len(labellers)}:
        msg = (
            f"{len(addresses)} endpoints are given for {len(labellers)} judges, expected one, or one for each"
        )
        raise BadProtocol(msg)
    endpoints = [one if isinstance(one, Endpoint) else Endpoint(one) for one in addresses]
    judges = [Judge(one, endpoints[at % len(endpoints)]) for at, one in enumerate(labellers)]
    return label_by_judges(
        build_pool(source, queries=queries, documents=documents, judged=judged, options=pool),
        judges,
        combine=combine,
        cache=cache,
        budget=Budget(Prices(*prices) if isinstance(prices, tuple) else prices, budget),
        retry_failed=retry_failed,
        batches=batches,
        progress=progress,
    )

"""`label_results`: grades of 0 to 4 from a language model, for the results of a run or of agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from judged.dedup.rules import Unit
from judged.label.asking import Asking, Structure
from judged.label.gather import gather
from judged.label.job import Tell
from judged.label.labelling import Labelling
from judged.label.labels import label_pool
from judged.label.money import Prices
from judged.label.pool import Source
from judged.label.prompt import Prompt, read_prompt
from judged.label.service import Patience, Service
from judged.traces.results.search_tools import Tools
from judged.traces.turn_choice import TurnChoice

__all__ = ["label_results"]


def label_results(
    source: Any,
    *,
    endpoint: str,
    model: str,
    cache: str | Path | None,
    queries: Any = None,
    docs: Any = None,
    kind: Source | None = None,
    judged: Any = None,
    relabel: bool = False,
    depth: int | None = None,
    unit: Unit = "document",
    tools: Tools | str | Path | None = None,
    turn: TurnChoice = "last",
    lenient: bool = False,
    prompt: str | Path | Prompt | None = None,
    temperature: float | None = 0.0,
    seed: int | None = None,
    max_tokens: int = 512,
    structure: Structure | None = None,
    text_limit: int = 20_000,
    logprobs: bool = False,
    key_variable: str | None = None,
    concurrency: int = 8,
    rate: float | None = None,
    timeout: float = 60.0,
    attempts: int = 6,
    reasks: int = 1,
    retry_failed: bool = False,
    prices: tuple[float, float] | None = None,
    budget: float | None = None,
    progress: Tell | None = None,
) -> Labelling:
    """Labels of the results of a run or of traces, each different one graded once by a model.

    `endpoint` is the address of any server that speaks OpenAI's protocol; its key, if it needs one, is taken from
    the environment variable `key_variable` (by default OPENAI_API_KEY). A run needs the texts of its `queries` and
    `docs`: files, or dicts from ids to texts. `cache` is the file in which every answer is kept as it comes: the
    same call made again, after whatever happened, asks only what is not there; None keeps nothing. `prices` are
    those of a million tokens read and written, in which `budget` is the most to spend. Works in a notebook, too.

    A result whose answer states no grade has no label: see `failures` of what is returned.
    """
    pool = gather(
        source,
        kind=kind,
        queries=queries,
        docs=docs,
        judged=judged,
        relabel=relabel,
        depth=depth,
        unit=unit,
        tools=tools,
        turn=turn,
        lenient=lenient,
    )
    asking = Asking(
        model,
        read_prompt(prompt),
        temperature=temperature,
        seed=seed,
        max_tokens=max_tokens,
        structure=structure,
        text_limit=text_limit,
        logprobs=logprobs,
    )
    service = Service(
        endpoint,
        key_variable=key_variable,
        concurrency=concurrency,
        rate=rate,
        timeout=timeout,
        patience=Patience(attempts, reasks),
        prices=None if prices is None else Prices(*prices),
        budget=budget,
    )
    return label_pool(pool, asking, service, cache=cache, retry_failed=retry_failed, tell=progress)

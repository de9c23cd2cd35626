"""Time click models on a million impressions: `python benchmarks/clicks.py [IMPRESSIONS]`."""

from __future__ import annotations

import sys
import time

import numpy as np
import pyarrow as pa

import judged
from judged.clicks.tables import Names

RANKS, QUERIES, DOCUMENTS = 10, 300, 30
MODELS = ("PBM", "SDBN", "DBN", "COEC")


def make_log(impressions: int, *, seed: int = 0) -> judged.Clicks:
    """Return clicks by the position-based model on shuffled lists of ten, in sessions of five impressions."""
    rng = np.random.default_rng(seed)
    query = rng.integers(0, QUERIES, impressions)
    shown = np.argsort(rng.random((impressions, DOCUMENTS)), axis=1)[:, :RANKS] + query[:, None] * DOCUMENTS
    attractive = rng.beta(1, 5, QUERIES * DOCUMENTS)
    click = rng.random((impressions, RANKS)) < attractive[shown] / np.arange(1, RANKS + 1) ** 0.7
    sessions = impressions // 5 + 1
    return judged.Clicks(
        _name(impressions),
        np.arange(impressions + 1) * RANKS,
        Names(query, _name(QUERIES)),
        Names(shown.reshape(-1), _name(QUERIES * DOCUMENTS)),
        click.reshape(-1),
        rank=np.tile(np.arange(1, RANKS + 1), impressions),
        session=Names(np.arange(impressions) // 5, _name(sessions)),
    )


def _name(count: int) -> pa.Array:
    return pa.array(np.arange(count).astype(str)).cast(pa.large_string())


def main() -> None:
    """Print the processor time of every model."""
    impressions = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    log = make_log(impressions)
    print(f"| model, {impressions:,} impressions of {RANKS} | CPU s |\n|---|---:|")
    for model in MODELS:
        begin = time.process_time()
        judged.fit_clicks(log, model)
        print(
            f"| {model}, fitted twice, held-out predictions of it and three rates | {time.process_time() - begin:.1f} |"
        )
    begin = time.process_time()
    judged.evaluate_clicks(log, "CTR CTR@3 ClickRR")
    print(f"| means of three measures by session | {time.process_time() - begin:.1f} |")


if __name__ == "__main__":
    main()

# %% [markdown]
# # An index to choose
#
# How much recall does a graph index give up, and for how much speed? Two thousand random vectors on this machine; with your own, pass
# a file in place of the array.

# %%
import numpy as np

import judged

vectors = np.random.default_rng(0).normal(size=(2_000, 32)).astype("float32")
found = judged.benchmark_index(vectors, engines=["exact", "faiss-hnsw"], k=10)
found

# %% [markdown]
# The points as a table, to choose from by your own criterion.

# %%
found.to_pandas()[["engine", "R@10", "p50_ms", "p95_ms", "build_s"]].head()

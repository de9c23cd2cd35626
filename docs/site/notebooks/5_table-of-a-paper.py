# %% [markdown]
# # The table of a paper
#
# Three systems on sixty topics: means, marks of significance, intervals, and the LaTeX.

# %%
from random import Random

import judged

random = Random(0)
queries, documents = [f"q{n}" for n in range(60)], range(10)
qrels = {query: {f"d{d}": int(d < 3) for d in documents} for query in queries}
systems = {
    name: {query: {f"d{d}": random.random() + (d < 3) * strength for d in documents} for query in queries}
    for name, strength in {"bm25": 0.0, "dense": 0.3, "hybrid": 0.5}.items()
}
comparison = judged.compare(qrels, systems, measures="nDCG@10 AP", baseline="bm25")
comparison

# %% [markdown]
# The same numbers for the paper, with a caption that names the test and the correction:

# %%
print(comparison.render("latex"))

# %% [markdown]
# How many topics would show a difference of 0.02?

# %%
judged.plan_queries(qrels, systems, "nDCG@10", difference=0.02, baseline="bm25")

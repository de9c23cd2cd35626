# %% [markdown]
# # First steps
#
# Two systems, forty questions, one decision. This page is a notebook: every build of the site executes it.

# %%
import judged

numbers = range(40)
qrels = {f"q{n}": {f"d{n}": 2, f"e{n}": 1} for n in numbers}
bm25 = {f"q{n}": [f"d{n}" if n % 3 else "x", f"e{n}"] for n in numbers}
dense = {f"q{n}": ["y", f"d{n}"] if n % 4 else [f"d{n}", f"e{n}"] for n in numbers}

# %% [markdown]
# ## Score
#
# Judgments and runs are dicts here; files, data frames and arrays do as well. A result shows itself as a table.

# %%
scores = judged.evaluate_many(qrels, {"bm25": bm25, "dense": dense}, "nDCG@10 RR")
scores

# %% [markdown]
# Every number is there by query too, for any library of data frames.

# %%
scores["bm25"].to_pandas("scores").head()

# %% [markdown]
# ## Compare
#
# Is the better one better? The answer comes first, then the means, then the difference with its interval.

# %%
judged.compare(scores, baseline="bm25")

# %% [markdown]
# ## Explain
#
# Where does a number come from? One query, rank by rank.

# %%
judged.explain(qrels, bm25, "nDCG@10", query="q3")

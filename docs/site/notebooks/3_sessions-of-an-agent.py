# %% [markdown]
# # Sessions of an agent
#
# An agent searched three times for one task. What did each search add?

# %%
import json

import judged


def call(number, query, results):
    """Return the messages of one search."""
    arguments = json.dumps({"query": query})
    function = {"name": "web_search", "arguments": arguments}
    return [
        {"role": "assistant", "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": json.dumps(results)},
    ]


def page(url, title):
    return {"url": url, "title": title}


louvre, orsay, hotels = "https://louvre.fr", "https://musee-orsay.fr", "https://paris.com/hotels"
session = {
    "id": "s1",
    "messages": [
        {"role": "user", "content": "Which museums are in Paris?"},
        *call(1, "paris museums", [page(louvre, "Louvre"), page(hotels, "Hotels")]),
        *call(2, "best paris museums", [page(louvre + "/?utm_source=x", "Louvre"), page(orsay, "Orsay")]),
        *call(3, "museums in paris france", [page(louvre, "Louvre"), page(orsay + "/", "Orsay")]),
        {"role": "assistant", "content": "The Louvre and the Orsay."},
    ],
}
sessions = judged.read_sessions([session])
sessions

# %% [markdown]
# ## Gain, and repetition
#
# `CG` adds up the grades of pages that were found for the first time, `SRR` is the share of results that came again.

# %%
labels = [
    {"url": louvre, "gain": 4},
    {"url": orsay, "gain": 3},
    {"url": hotels, "gain": 0},
]
judged.evaluate_sessions(sessions, labels=labels, measures="CG SRR N")

# %% [markdown]
# The third search found nothing new: after two of them, all that there is to gain had been gained.

# %%
judged.evaluate_sessions(sessions, labels=labels, measures="CG@1 CG@2 CG@3").to_pandas()

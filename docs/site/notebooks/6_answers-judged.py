# %% [markdown]
# # Answers, judged
#
# Two systems answered four questions. Labels say which facts an answer has, and which citations hold.

# %%
import judged

answers = {
    "old": {
        "q1": "The Louvre is in Paris. It opened in 1900.",
        "q2": "The Loire is the longest river of France.",
        "q3": "It may be Mont Blanc.",
        "q4": "I don't know.",
    },
    "new": {
        "q1": "The Louvre is in Paris. It opened in 1793.",
        "q2": "The Loire is the longest river of France, at 1,006 km.",
        "q3": "Mont Blanc is the highest mountain of the Alps.",
        "q4": "Lyon lies where the Saône meets the Rhône.",
    },
}
facts = {"q1": ["Paris", "1793"], "q2": ["Loire", "1,006 km"], "q3": ["Mont Blanc"], "q4": ["Rhône"]}
labels = [
    {
        "query": query,
        "system": system,
        "nugget": fact,
        "importance": "vital" if number == 0 else "okay",
        "label": "support" if fact in texts[query] else "not_support",
    }
    for system, texts in answers.items()
    for query, wanted in facts.items()
    for number, fact in enumerate(wanted)
]

# %% [markdown]
# Here a search for words made the labels, so that the page runs anywhere; people or a language model make yours.

# %%
report = judged.evaluate_answers(answers, labels=labels, measures="NuggetRecall Answered Words")
report

# %% [markdown]
# Four questions show nothing, and the comparison says so.

# %%
judged.compare(report, measures="NuggetRecall", baseline="old")

# %% [markdown]
# # From a retriever to a gate
#
# A retriever, eight questions whose answers we know where to find, and a change that should not make retrieval worse.

# %%
import judged

PAGES = {
    "pricing": "A seat is 10 per month. A team of ten or more has a seat for 8.",
    "billing": "Pay by card or by invoice. A refund of a month goes to the card.",
    "cancel": "Cancel at any time. We refund the rest of the month that was paid.",
    "security": "Data is encrypted, stored in Frankfurt and never leaves the union.",
    "team": "Invite a colleague by mail. A team has one owner.",
}
QUESTIONS = {
    "How much is a seat per month?": "pricing",
    "Can I pay by card?": "billing",
    "Can I cancel at any time?": "cancel",
    "Do you refund a month that was paid?": "cancel",
    "Where is my data stored?": "security",
    "Is stored data encrypted?": "security",
    "How do I invite a colleague?": "team",
    "How much is it for a team of ten?": "pricing",
}


def words(text):
    return set(text.lower().replace(".", "").replace("?", "").split())


def letters(text):
    return set(text.lower())


def retriever(split):
    def search(question):
        return sorted(PAGES, key=lambda page: -len(split(question) & split(PAGES[page])))[:3]

    return search


# %% [markdown]
# ## What is deployed
#
# It counts common words. `evaluate_retriever` asks it every question, and times every call.

# %%
questions = [
    {"query_id": f"q{n}", "question": question, "doc_id": page}
    for n, (question, page) in enumerate(QUESTIONS.items())
]
deployed = judged.evaluate_retriever(retriever(words), questions, "Success@1 RR", name="words")
deployed

# %% [markdown]
# ## The change
#
# Somebody counts letters in place of words. The gate compares question by question, and says how sure it is.

# %%
changed = judged.evaluate_retriever(retriever(letters), questions, "Success@1 RR", name="letters")
judged.gate(changed, baseline=deployed, measures="RR", min_delta=-0.05)

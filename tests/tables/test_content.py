"""Documents that are identified by their texts."""

from __future__ import annotations

from hypothesis import given, strategies as st

import judged
from judged.tables.content import match_contents, normalise_text

ids = st.sampled_from("abcd")
texts = {"a": "One, two.", "b": "three", "c": "Four five", "d": "six"}


@given(
    graded=st.dictionaries(ids, st.integers(0, 3), min_size=1),
    retrieved=st.lists(ids, min_size=1, unique=True),
)
def test_texts_score_as_ids_do(graded: dict[str, int], retrieved: list[str]) -> None:
    """Distinct texts are as good as ids, on either side and on both."""
    relevant = [{"id": name, "text": texts[name], "grade": grade} for name, grade in graded.items()]
    found = [{"id": name, "text": texts[name]} for name in retrieved]
    both = [{"query": "q", "relevant": relevant}], [{"query": "q", "retrieved": found}]
    bare = (
        [{"query": "q", "relevant": [{"text": item["text"], "grade": item["grade"]} for item in relevant]}],
        [{"query": "q", "retrieved": [{"text": item["text"]} for item in found]}],
    )
    expected = judged.evaluate(*both, "AP nDCG@10").mean()

    if set(graded) & set(retrieved):
        for pair in ((bare[0], both[1]), (both[0], bare[1]), bare):
            assert judged.evaluate(*pair, "AP nDCG@10").mean() == expected


def test_tables_with_ids_stay_as_they_are() -> None:
    """Texts next to ids change nothing."""
    judgments, run = judged.read_judgments({"q": {"a": 1}}), judged.read_run({"q": {"a": 1.0}})

    assert match_contents(judgments, run) == (judgments, run)
    assert match_contents(judgments, run)[0] is judgments


@given(text=st.text(max_size=20))
def test_normalising_twice_is_normalising_once(text: str) -> None:
    """A key can be used as a text again."""
    assert normalise_text(normalise_text(text)) == normalise_text(text)

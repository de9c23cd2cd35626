"""Results that share much, and rules of every kind, for tests to draw from."""

from __future__ import annotations

from hypothesis import strategies as st

from judged.agents.dedup.rules import Rules, Weights
from judged.agents.tables import Hit

STEM = "thirty characters and some more"
TREE = [
    STEM,
    STEM + " a",
    STEM + " a b",
    STEM + " a b c",
    STEM + " d",
    STEM + " d e",
    STEM + " d…",
    STEM + " a b c and so on",
    STEM + " a b c and so on…",
]
TEXTS = ["", "short", "One", "quite another " * 3, *TREE]
results = st.builds(
    Hit,
    id=st.sampled_from([None, None, "1", "2", "3"]),
    url=st.sampled_from(
        [
            *(None, "https://a.org/x", "https://www.a.org/x/", "https://a.org/y", "https://b.org/"),
            *("https://a.org/x?sid=1", "https://a.org/x?sid=2", "https://www.a.org/x?sid=2"),
        ]
    ),
    title=st.sampled_from([None, "One", "Two", "Three"]),
    snippet=st.sampled_from(TEXTS),
) | st.builds(
    Hit,
    domain=st.sampled_from(["doi", "mail"]),
    domain_id=st.sampled_from(["1", "2"]),
    url=st.sampled_from([None, "https://a.org/x", "https://b.org/"]),
    title=st.sampled_from([None, "One", "Two"]),
    snippet=st.sampled_from(TEXTS),
)
found = st.lists(st.tuples(results, st.sampled_from([None, "web", "files"])), max_size=40)
alike = st.builds(
    Hit,
    id=st.sampled_from(["1", "2", "3", "4"]),
    url=st.sampled_from([None, None, "https://a.org/x", "https://a.org/x?sid=1", "https://m.a.org/x"]),
    title=st.sampled_from(["One", "One", "One", None]),
    snippet=st.sampled_from(TREE),
)
alike_of_one_tool = st.lists(st.tuples(alike, st.just("files")), max_size=25)
tenths = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.6, 1.0])


@st.composite
def rules(draw: st.DrawFn) -> Rules:
    """Rules of any unit, with the default weights or any others that make sense."""
    unit = draw(st.sampled_from(["document", "passage", "strict"]))
    if draw(st.booleans()):
        return Rules(unit=unit)
    threshold = draw(st.sampled_from([0.2, 0.6, 0.8, 1.0]))
    url = draw(tenths)
    weights = Weights(
        domain=1.0,
        generic=draw(tenths),
        url=url,
        loose_url=draw(tenths),
        text=draw(tenths),
        short_text=draw(tenths),
        title=draw(tenths.filter(lambda weight: weight < threshold)),
    )
    return Rules(unit=unit, weights=weights, threshold=threshold)

"""Measures against preferences and against the grades of several judges, under trec_eval's names.

Five functions make fourteen measures of preferences: the end of a name says which preferences count (`_imp`: those
of which a document is retrieved; `_ret`: those between two retrieved documents; otherwise all).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from judged.arrays import Floats
from judged.kernels.preferences import (
    PreferenceView,
    balanced_share,
    count_fulfilled,
    count_possible,
    group_share,
    mean_over_groups,
    pair_share,
    simple_share,
)
from judged.measures.laws import Law
from judged.measures.measure import Measure
from judged.measures.ranked.average_precision import average_precision
from judged.measures.ranked.precision import precision, r_precision

Count: TypeAlias = Literal["all", "implied", "retrieved"]
"""Preferences that count: all, those of which a document is retrieved, or those between two retrieved ones."""

_LEAST: dict[Count, int] = {"all": 0, "implied": 1, "retrieved": 2}
"""Minimum number of documents of a preference that must be retrieved."""
_NOTES: dict[Count, str] = {
    "all": "Every preference counts; one of which neither document is retrieved is not fulfilled.",
    "implied": "A preference of which neither document is retrieved is left out.",
    "retrieved": "Only preferences of which both documents are retrieved count.",
}
_ENDINGS: dict[str, Count] = {"": "all", "_imp": "implied", "_ret": "retrieved"}


def number_of_preferences(view: PreferenceView) -> Floats:
    r"""Return how many preferences the query's groups state.

    $$|S|$$

    where $S$ holds a pair for every preference of every group of the query.

    Title: Number of preferences.
    Ties: do not matter.
    Empty: 0 when no preference is stated.
    Agrees with: `trec_eval -R prefs` and `-R qrels_prefs`; for queries missing from the run, trec_eval 9 with
        `-c` counts none, 10 all, as here.
    References: Buckley. trec_eval, measure `prefs_num_prefs_poss`. NIST, 2008.

    Example:
        Three documents of different levels; what is retrieved does not matter:

        >>> preferences = {"q1": {"ann": {"a": 3, "b": 2, "c": 1}}}
        >>> run = {"q1": ["b", "a"]}
        >>> judged.evaluate(preferences, run, "prefs_num_prefs_poss").mean()
        {'prefs_num_prefs_poss': 3.0}
    """
    return count_possible(view).astype(np.float64)


def number_fulfilled(view: PreferenceView, *, count: Count) -> Floats:
    r"""Return how many of the preferences the ranking obeys.

    $$|\{(a, b) \in S : a \text{ before } b\}|$$

    where $S$ holds a pair for every preference that counts, of every group of the query. A preference for $a$
    over $b$ is obeyed when $a$ is retrieved and $b$ later or not at all.

    Empty: 0 when no preference is stated, and when nothing judged is retrieved.
    Agrees with: `trec_eval -R prefs` and `-R qrels_prefs`.
    References: Buckley. trec_eval, measures `prefs_num_prefs_ful` and `prefs_num_prefs_ful_ret`. NIST, 2008.

    Example:
        Both documents retrieved come before c, which is not; the only preference between them is a > b:

        >>> preferences = {"q1": {"ann": {"a": 3, "b": 2, "c": 1}}}
        >>> run = {"q1": ["b", "a"]}
        >>> judged.evaluate(preferences, run, "prefs_num_prefs_ful prefs_num_prefs_ful_ret").mean()
        {'prefs_num_prefs_ful': 2.0, 'prefs_num_prefs_ful_ret': 0.0}
    """
    return count_fulfilled(view, _LEAST[count]).astype(np.float64)


def preference_share(view: PreferenceView, *, count: Count) -> Floats:
    r"""Return the share of the preferences that the ranking obeys.

    $$\frac{|\{(a, b) \in S : a \text{ before } b\}|}{|S|}$$

    where $S$ holds a pair for every preference that counts, of every group of the query, so that a preference
    of two groups counts twice. A preference for $a$ over $b$ is obeyed when $a$ is retrieved and $b$ later or
    not at all. Where groups contradict each other, 1 is out of reach.

    Empty: 0 when no preference counts, and when nothing judged is retrieved.
    Agrees with: `trec_eval -R prefs` and `-R qrels_prefs`.
    References: Buckley. trec_eval, measures `prefs_simp`, `prefs_simp_imp` and `prefs_simp_ret`. NIST, 2008.

    Example:
        Of a > b, a > c and b > c, the list b, a obeys two: c is not retrieved, so both are before it. Only the
        first is between retrieved documents:

        >>> preferences = {"q1": {"ann": {"a": 3, "b": 2, "c": 1}}}
        >>> run = {"q1": ["b", "a"]}
        >>> judged.evaluate(preferences, run, "prefs_simp prefs_simp_ret").mean()
        {'prefs_simp': 0.6666..., 'prefs_simp_ret': 0.0}

        The list c leaves a > b out, and obeys neither of the others:

        >>> preferences = {"q1": {"ann": {"a": 3, "b": 2, "c": 1}}}
        >>> run = {"q1": ["c"]}
        >>> judged.evaluate(preferences, run, "prefs_simp_imp").mean()
        {'prefs_simp_imp': 0.0}
    """
    return simple_share(view, _LEAST[count])


def pair_preference_share(view: PreferenceView, *, count: Count) -> Floats:
    r"""Return the share of preferences obeyed for each pair of documents, averaged over pairs.

    $$\frac{1}{|P|} \sum_{\{a, b\} \in P}
      \frac{n_{ab} \, [a \text{ before } b] + n_{ba} \, [b \text{ before } a]}{n_{ab} + n_{ba}}$$

    where $P$ holds the pairs of documents between which some group has a preference that counts, and $n_{ab}$
    is the number of groups that prefer $a$ to $b$. A preference for $a$ over $b$ is obeyed when $a$ is
    retrieved and $b$ later or not at all. Equal to `prefs_simp` where no two groups compare the same pair.

    Empty: 0 when no preference counts, and when nothing judged is retrieved.
    Agrees with: `trec_eval -R prefs` and `-R qrels_prefs`.
    References: Buckley. trec_eval, measures `prefs_pair`, `prefs_pair_imp` and `prefs_pair_ret`. NIST, 2008.

    Example:
        Two of three groups prefer a to b, so a list with a first earns 2/3 of that pair:

        >>> groups = {"ann": {"a": 2, "b": 1}, "bob": {"a": 1, "b": 2}, "eve": {"a": 5, "b": 1}}
        >>> preferences = {"q1": groups}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(preferences, run, "prefs_pair").mean()
        {'prefs_pair': 0.6666...}
    """
    return pair_share(view, _LEAST[count])


def group_preference_share(view: PreferenceView, *, count: Count) -> Floats:
    r"""Return the share of a group's preferences that the ranking obeys, averaged over the query's groups.

    $$\frac{1}{|J|} \sum_{j \in J} \frac{|\{(a, b) \in S_j : a \text{ before } b\}|}{|S_j|}$$

    where $J$ is the set of the query's groups and $S_j$ holds the preferences of group $j$ that count. A
    preference for $a$ over $b$ is obeyed when $a$ is retrieved and $b$ later or not at all. A person who
    compared many documents weighs no more than one who compared two.

    Empty: 0 when no preference counts, and when nothing judged is retrieved; a group without anything to
        count contributes 0.
    Agrees with: `trec_eval -R prefs` and `-R qrels_prefs`.
    References: Buckley. trec_eval, measures `prefs_avgjg`, `prefs_avgjg_imp` and `prefs_avgjg_ret`. NIST,
        2008.

    Example:
        Ann's only preference is obeyed; of Bob's three, one is:

        >>> preferences = {"q1": {"ann": {"a": 2, "b": 1}, "bob": {"c": 3, "b": 2, "a": 1}}}
        >>> run = {"q1": ["a", "c", "b"]}
        >>> judged.evaluate(preferences, run, "prefs_avgjg").mean()
        {'prefs_avgjg': 0.6666...}
    """
    return group_share(view, _LEAST[count])


def balanced_preference_share(view: PreferenceView, *, count: Count) -> Floats:
    r"""Return what `prefs_avgjg` would be if each group had judged as many documents not relevant as relevant.

    $$\frac{1}{|J|} \sum_{j \in J} \frac{F_j + r_j (R_j - N_j)}{S_j + R'_j (R_j - N_j)}
      \quad \text{where } R_j \ge N_j$$

    where $F_j$ of the $S_j$ preferences of group $j$ that count are obeyed, $R_j$ and $N_j$ are the numbers
    of its relevant (level above 0) and its other documents that count, $R'_j$ is the number of all its
    relevant documents and $r_j$ of those retrieved. Where $R_j < N_j$, only the first $R_j$ documents of the
    lowest level are kept, in the order of the ranking, and trec_eval's count is followed to the letter: it
    also compares every document of that level with these first ones. In a group of several sub-groups, only
    level 0 counts as not relevant, the first documents kept are as many as the group has relevant ones, and
    nothing else is compared. Where levels below 0 leave the lowest level with fewer than $R_j$ documents, all
    of them are kept; trec_eval then reads beyond them.

    Empty: 0 when one of the groups has nothing to count, regardless of the others, as in trec_eval.
    Agrees with: `trec_eval -R prefs` and `-R qrels_prefs`.
    References: Buckley. trec_eval, measures `prefs_avgjg_Rnonrel` and `prefs_avgjg_Rnonrel_ret`. NIST, 2008.

    Example:
        One relevant document and one other, in the right order; a second group judged only relevant ones:

        >>> preferences = {"q1": {"ann": {"a": 1, "b": 0}, "bob": {"a": 2, "c": 1}}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(preferences, run, "prefs_avgjg_Rnonrel prefs_avgjg_Rnonrel_ret").mean()
        {'prefs_avgjg_Rnonrel': 0.8, 'prefs_avgjg_Rnonrel_ret': 0.75}
    """
    return balanced_share(view, retrieved_only=count == "retrieved")


prefs_num_prefs_poss = Measure(
    "prefs_num_prefs_poss",
    number_of_preferences,
    family="preference",
    bounds=(0.0, math.inf),
    aggregate="sum",
    higher_is_better=None,
    zero_if_missing=False,
    laws=frozenset({Law.WHOLE}),
    needs="preferences",
)
prefs_num_prefs_ful = Measure(
    "prefs_num_prefs_ful",
    number_fulfilled,
    title="Number of preferences fulfilled.",
    family="preference",
    bounds=(0.0, math.inf),
    aggregate="sum",
    laws=frozenset({Law.WHOLE}),
    needs="preferences",
    fixed={"count": "all"},
    note=_NOTES["all"],
)
prefs_num_prefs_ful_ret = Measure(
    "prefs_num_prefs_ful_ret",
    number_fulfilled,
    title="Number of preferences between retrieved documents fulfilled.",
    family="preference",
    bounds=(0.0, math.inf),
    aggregate="sum",
    laws=frozenset({Law.WHOLE}),
    needs="preferences",
    fixed={"count": "retrieved"},
    note=_NOTES["retrieved"],
)


def _share(name: str, function: Callable[..., Floats], title: str) -> Measure:
    """Return the measure of a share of preferences; the end of its name says which preferences count."""
    count = _ENDINGS.get(name[-4:], "all")
    return Measure(
        name,
        function,
        title=title,
        family="preference",
        needs="preferences",
        fixed={"count": count},
        note=_NOTES[count],
    )


prefs_simp = _share("prefs_simp", preference_share, "The share of the preferences that a run fulfils.")
prefs_pair = _share(
    "prefs_pair",
    pair_preference_share,
    "The share of the preferences between two documents that a run fulfils, averaged over pairs.",
)
prefs_avgjg = _share(
    "prefs_avgjg",
    group_preference_share,
    "The share of each group's preferences that a run fulfils, averaged over groups.",
)
prefs_avgjg_Rnonrel = _share(
    "prefs_avgjg_Rnonrel",
    balanced_preference_share,
    "Group preferences fulfilled, with as many non-relevant documents as relevant ones.",
)
prefs_simp_ret = _share(
    "prefs_simp_ret", preference_share, "The share fulfilled of the preferences between retrieved documents."
)
prefs_pair_ret = _share(
    "prefs_pair_ret",
    pair_preference_share,
    "Preferences fulfilled, averaged over pairs of retrieved documents.",
)
prefs_avgjg_ret = _share(
    "prefs_avgjg_ret",
    group_preference_share,
    "The share fulfilled of each group's preferences between retrieved documents, averaged over groups.",
)
prefs_avgjg_Rnonrel_ret = _share(
    "prefs_avgjg_Rnonrel_ret",
    balanced_preference_share,
    "Group preferences between retrieved documents fulfilled, non-relevant documents balanced with relevant ones.",
)
prefs_simp_imp = _share(
    "prefs_simp_imp", preference_share, "The share fulfilled of the preferences that a run decides on."
)
prefs_pair_imp = _share(
    "prefs_pair_imp",
    pair_preference_share,
    "Preferences fulfilled, averaged over the pairs of documents that a run decides on.",
)
prefs_avgjg_imp = _share(
    "prefs_avgjg_imp",
    group_preference_share,
    "The share fulfilled of each group's preferences that a run decides on, averaged over groups.",
)


def average_precision_of_judges(view: PreferenceView, *, rel: float | None = None) -> Floats:
    r"""Return the average precision by each group's judgments, averaged over the query's groups.

    $$\mathrm{map\_avgjg} = \frac{1}{|J|} \sum_{j \in J} \mathrm{AP}_j$$

    where $J$ is the set of the query's judgment groups (assessors), each with grades of its own, and
    $\mathrm{AP}_j$ is AP by the grades of group $j$.

    Title: Average precision, averaged over judges.
    Empty: 0 when nothing relevant is retrieved; a group without relevant documents contributes 0.
    Agrees with: `trec_eval -R qrels_jg -m map_avgjg`.
    References: Buckley. trec_eval, measure `map_avgjg`. NIST, 2008.

    Example:
        Ann finds the first result relevant, Bob the second, so their average precisions are 1 and 1/2:

        >>> preferences = {"q1": {"ann": {"a": 1, "b": 0}, "bob": {"b": 1}}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(preferences, run, "map_avgjg").mean()
        {'map_avgjg': 0.75}
    """
    return mean_over_groups(view, average_precision(view.ranking, rel=rel))


map_avgjg = Measure("map_avgjg", average_precision_of_judges, family="preference", needs="judges")


def precision_of_judges(view: PreferenceView, *, cutoff: int, rel: float | None = None) -> Floats:
    r"""Return the precision among the first $k$ results by each group's judgments, averaged over the query's groups.

    $$\mathrm{P\_avgjg}@k = \frac{1}{|J|} \sum_{j \in J} \mathrm{P}_j@k$$

    where $J$ is the set of the query's judgment groups (assessors), each with grades of its own, and
    $\mathrm{P}_j@k$ is P by the grades of group $j$.

    Title: Precision, averaged over judges.
    Empty: 0 when nothing relevant is retrieved; a group without relevant documents contributes 0.
    Agrees with: `trec_eval -R qrels_jg -m P_avgjg`.
    References: Buckley. trec_eval, measure `P_avgjg`. NIST, 2008.

    Example:
        Ann finds the first result relevant, Bob does not:

        >>> preferences = {"q1": {"ann": {"a": 1, "b": 0}, "bob": {"b": 1}}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(preferences, run, "P_avgjg@1").mean()
        {'P_avgjg@1': 0.5}
    """
    return mean_over_groups(view, precision(view.ranking, cutoff=cutoff, rel=rel))


P_avgjg = Measure("P_avgjg", precision_of_judges, family="preference", at_parameter="cutoff", needs="judges")


def r_precision_of_judges(view: PreferenceView, *, rel: float | None = None, multiple: float = 1.0) -> Floats:
    r"""Return the R-precision by each group's judgments, averaged over the query's groups.

    $$\mathrm{Rprec\_mult\_avgjg} = \frac{1}{|J|} \sum_{j \in J} \mathrm{Rprec}_j$$

    where $J$ is the set of the query's judgment groups (assessors), each with grades of its own, and
    $\mathrm{Rprec}_j$ is Rprec by the grades of group $j$, at the same `multiple` of its own number of
    relevant documents.

    Title: R-precision, averaged over judges.
    Empty: 0 when nothing relevant is retrieved; a group without relevant documents contributes 0.
    Agrees with: `trec_eval -R qrels_jg -m Rprec_mult_avgjg`.
    References: Buckley. trec_eval, measure `Rprec_mult_avgjg`. NIST, 2008.

    Example:
        One document is relevant to each, and among the first two:

        >>> preferences = {"q1": {"ann": {"a": 1, "b": 0}, "bob": {"b": 1}}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(preferences, run, "Rprec_mult_avgjg@2").mean()
        {'Rprec_mult_avgjg@2': 0.5}
    """
    return mean_over_groups(view, r_precision(view.ranking, rel=rel, multiple=multiple))


Rprec_mult_avgjg = Measure(
    "Rprec_mult_avgjg", r_precision_of_judges, family="preference", at_parameter="multiple", needs="judges"
)

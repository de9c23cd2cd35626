"""Scores → what can be said of them: intervals and tests."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judged.stats.anova import two_way_anova as two_way_anova
    from judged.stats.bayesian import (
        correlated_t_posterior as correlated_t_posterior,
        signed_rank_posterior as signed_rank_posterior,
    )
    from judged.stats.bootstrap import bootstrap_interval as bootstrap_interval
    from judged.stats.clustered_kappa import kappa_interval as kappa_interval
    from judged.stats.corrected_rate import rogan_gladen_rate as rogan_gladen_rate
    from judged.stats.corrections import (
        benjamini_hochberg as benjamini_hochberg,
        bonferroni as bonferroni,
        holm as holm,
    )
    from judged.stats.effect import (
        hedges as hedges,
        probability_of_superiority as probability_of_superiority,
        standardised_difference as standardised_difference,
    )
    from judged.stats.equivalence import equivalence_test as equivalence_test
    from judged.stats.friedman import friedman_test as friedman_test
    from judged.stats.interval import student_interval as student_interval
    from judged.stats.judge_agreement import (
        cohen_kappa as cohen_kappa,
        confusion_matrix as confusion_matrix,
        grade_bias as grade_bias,
    )
    from judged.stats.krippendorff import krippendorff_alpha as krippendorff_alpha
    from judged.stats.margin import margin_test as margin_test
    from judged.stats.power import (
        detectable_difference as detectable_difference,
        power_of as power_of,
        queries_needed as queries_needed,
    )
    from judged.stats.prediction_powered import prediction_powered_mean as prediction_powered_mean
    from judged.stats.randomisation import randomise as randomise
    from judged.stats.rank_agreement import (
        kendall_tau as kendall_tau,
        spearman_rho as spearman_rho,
        tau_ap as tau_ap,
        tau_ap_b as tau_ap_b,
    )
    from judged.stats.rbo import rank_biased_overlap as rank_biased_overlap
    from judged.stats.significance import difference_test as difference_test
    from judged.stats.strata import stratified_mean as stratified_mean
    from judged.stats.tukey import randomised_tukey_hsd as randomised_tukey_hsd, tukey_hsd as tukey_hsd
    from judged.stats.undefined import Undefined as Undefined
    from judged.stats.wilson import wilson_interval as wilson_interval

_HOMES = {
    "two_way_anova": "judged.stats.anova",
    "correlated_t_posterior": "judged.stats.bayesian",
    "signed_rank_posterior": "judged.stats.bayesian",
    "bootstrap_interval": "judged.stats.bootstrap",
    "kappa_interval": "judged.stats.clustered_kappa",
    "rogan_gladen_rate": "judged.stats.corrected_rate",
    "benjamini_hochberg": "judged.stats.corrections",
    "bonferroni": "judged.stats.corrections",
    "holm": "judged.stats.corrections",
    "hedges": "judged.stats.effect",
    "probability_of_superiority": "judged.stats.effect",
    "standardised_difference": "judged.stats.effect",
    "equivalence_test": "judged.stats.equivalence",
    "friedman_test": "judged.stats.friedman",
    "student_interval": "judged.stats.interval",
    "cohen_kappa": "judged.stats.judge_agreement",
    "confusion_matrix": "judged.stats.judge_agreement",
    "grade_bias": "judged.stats.judge_agreement",
    "krippendorff_alpha": "judged.stats.krippendorff",
    "margin_test": "judged.stats.margin",
    "detectable_difference": "judged.stats.power",
    "power_of": "judged.stats.power",
    "queries_needed": "judged.stats.power",
    "prediction_powered_mean": "judged.stats.prediction_powered",
    "randomise": "judged.stats.randomisation",
    "kendall_tau": "judged.stats.rank_agreement",
    "spearman_rho": "judged.stats.rank_agreement",
    "tau_ap": "judged.stats.rank_agreement",
    "tau_ap_b": "judged.stats.rank_agreement",
    "rank_biased_overlap": "judged.stats.rbo",
    "difference_test": "judged.stats.significance",
    "stratified_mean": "judged.stats.strata",
    "randomised_tukey_hsd": "judged.stats.tukey",
    "tukey_hsd": "judged.stats.tukey",
    "Undefined": "judged.stats.undefined",
    "wilson_interval": "judged.stats.wilson",
}
"""Where each name lives. None is also a module's, so that a module imported earlier never hides a function."""

__all__ = [
    "Undefined",
    "benjamini_hochberg",
    "bonferroni",
    "bootstrap_interval",
    "cohen_kappa",
    "confusion_matrix",
    "correlated_t_posterior",
    "detectable_difference",
    "difference_test",
    "equivalence_test",
    "friedman_test",
    "grade_bias",
    "hedges",
    "holm",
    "kappa_interval",
    "kendall_tau",
    "krippendorff_alpha",
    "margin_test",
    "power_of",
    "prediction_powered_mean",
    "probability_of_superiority",
    "queries_needed",
    "randomise",
    "randomised_tukey_hsd",
    "rank_biased_overlap",
    "rogan_gladen_rate",
    "signed_rank_posterior",
    "spearman_rho",
    "standardised_difference",
    "stratified_mean",
    "student_interval",
    "tau_ap",
    "tau_ap_b",
    "tukey_hsd",
    "two_way_anova",
    "wilson_interval",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        msg = f"module `judged.stats` has no attribute `{name}`"
        raise AttributeError(msg)
    thing = getattr(import_module(_HOMES[name]), name)
    globals()[name] = thing
    return thing


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

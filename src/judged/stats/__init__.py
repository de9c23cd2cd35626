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
    from judged.stats.friedman import friedman_test as friedman_test
    from judged.stats.judge_agreement import (
        cohen_kappa as cohen_kappa,
        confusion_matrix as confusion_matrix,
        grade_bias as grade_bias,
    )
    from judged.stats.krippendorff import krippendorff_alpha as krippendorff_alpha
    from judged.stats.rank_agreement import (
        kendall_tau as kendall_tau,
        spearman_rho as spearman_rho,
        tau_ap as tau_ap,
        tau_ap_b as tau_ap_b,
    )
    from judged.stats.rbo import rank_biased_overlap as rank_biased_overlap
    from judged.stats.tukey import randomised_tukey_hsd as randomised_tukey_hsd, tukey_hsd as tukey_hsd
    from judged.stats.undefined import Undefined as Undefined

_HOMES = {
    "two_way_anova": "judged.stats.anova",
    "correlated_t_posterior": "judged.stats.bayesian",
    "signed_rank_posterior": "judged.stats.bayesian",
    "friedman_test": "judged.stats.friedman",
    "cohen_kappa": "judged.stats.judge_agreement",
    "confusion_matrix": "judged.stats.judge_agreement",
    "grade_bias": "judged.stats.judge_agreement",
    "krippendorff_alpha": "judged.stats.krippendorff",
    "kendall_tau": "judged.stats.rank_agreement",
    "spearman_rho": "judged.stats.rank_agreement",
    "tau_ap": "judged.stats.rank_agreement",
    "tau_ap_b": "judged.stats.rank_agreement",
    "rank_biased_overlap": "judged.stats.rbo",
    "randomised_tukey_hsd": "judged.stats.tukey",
    "tukey_hsd": "judged.stats.tukey",
    "Undefined": "judged.stats.undefined",
}
"""Where each name lives. None is also a module's, so that a module imported earlier never hides a function."""

__all__ = [
    "Undefined",
    "cohen_kappa",
    "confusion_matrix",
    "correlated_t_posterior",
    "friedman_test",
    "grade_bias",
    "kendall_tau",
    "krippendorff_alpha",
    "randomised_tukey_hsd",
    "rank_biased_overlap",
    "signed_rank_posterior",
    "spearman_rho",
    "tau_ap",
    "tau_ap_b",
    "tukey_hsd",
    "two_way_anova",
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

from judged.stats.bayesian import (
    correlated_t_posterior as correlated_t_posterior,
    signed_rank_posterior as signed_rank_posterior,
)
from judged.stats.bootstrap import bootstrap_interval as bootstrap_interval
from judged.stats.clusters import estimate_error as estimate_error
from judged.stats.corrections import (
    benjamini_hochberg as benjamini_hochberg,
    bonferroni as bonferroni,
    holm as holm,
)
from judged.stats.effects import (
    detectable_difference as detectable_difference,
    hedges as hedges,
    probability_of_superiority as probability_of_superiority,
    queries_needed as queries_needed,
    standardised_difference as standardised_difference,
    t_test_power as t_test_power,
)
from judged.stats.intervals import (
    student_interval as student_interval,
    wilson_interval as wilson_interval,
)
from judged.stats.margin import (
    equivalence_test as equivalence_test,
    margin_test as margin_test,
)
from judged.stats.multiple import (
    friedman_test as friedman_test,
    randomised_tukey_hsd as randomised_tukey_hsd,
    tukey_hsd as tukey_hsd,
    two_way_anova as two_way_anova,
)
from judged.stats.outcome import Undefined as Undefined
from judged.stats.paired_tests import difference_test as difference_test
from judged.stats.prediction_powered import (
    prediction_powered_mean as prediction_powered_mean,
    rogan_gladen_rate as rogan_gladen_rate,
    stratified_mean as stratified_mean,
)
from judged.stats.randomisation import randomise as randomise
from judged.stats.rank_correlation import (
    kendall_tau as kendall_tau,
    rank_biased_overlap as rank_biased_overlap,
    spearman_rho as spearman_rho,
    tau_ap as tau_ap,
    tau_ap_b as tau_ap_b,
)
from judged.stats.rater_agreement import (
    cohen_kappa as cohen_kappa,
    confusion_matrix as confusion_matrix,
    grade_bias as grade_bias,
    kappa_interval as kappa_interval,
    krippendorff_alpha as krippendorff_alpha,
)
from judged.stats.repeats import find_components as find_components
from judged.stats.risk import georisk as georisk, trisk as trisk, urisk as urisk, zrisk as zrisk

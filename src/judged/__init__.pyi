from judged import (
    agents as agents,
    functional as functional,
    measures as measures,
    stats as stats,
    testing as testing,
)
from judged._version import __version__ as __version__
from judged.agents.evaluate import evaluate_sessions as evaluate_sessions
from judged.agents.protocol import SessionProtocol as SessionProtocol
from judged.agents.tables import Sessions as Sessions
from judged.agents.traces.read import read_sessions as read_sessions
from judged.answers.evaluate import evaluate_answers as evaluate_answers
from judged.answers.losses import attribute_losses as attribute_losses
from judged.checks.lint import lint as lint
from judged.checks.result import LintReport as LintReport
from judged.clicks.evaluate import evaluate_clicks as evaluate_clicks
from judged.clicks.interleaving import interleave as interleave
from judged.clicks.logs.read import read_clicks as read_clicks
from judged.clicks.models.fit import fit_clicks as fit_clicks
from judged.clicks.tables import Clicks as Clicks
from judged.clicks.value import estimate_value as estimate_value
from judged.comparison.api import compare as compare
from judged.comparison.plan import QueryPlan as QueryPlan, plan_queries as plan_queries
from judged.comparison.result import Comparison as Comparison
from judged.comparison.snapshots import compare_snapshots as compare_snapshots
from judged.errors import JudgedError as JudgedError
from judged.explanation.api import explain as explain
from judged.explanation.difference import explain_difference as explain_difference
from judged.explanation.published import explain_published as explain_published
from judged.explanation.result import Explanation as Explanation
from judged.gates.api import gate as gate
from judged.gates.result import GateReport as GateReport
from judged.index.api import benchmark_index as benchmark_index
from judged.index.embeddings.matching import (
    EmbeddingReport as EmbeddingReport,
    evaluate_embeddings as evaluate_embeddings,
)
from judged.index.embeddings.search import search_exact as search_exact
from judged.index.neighbours import IndexResults as IndexResults, Neighbours as Neighbours
from judged.index.result import IndexBenchmark as IndexBenchmark
from judged.io.predictions import read_predictions as read_predictions
from judged.io.read import (
    read_groups as read_groups,
    read_judgments as read_judgments,
    read_labels as read_labels,
    read_preferences as read_preferences,
    read_run as read_run,
    read_timings as read_timings,
)
from judged.io.scores.read import read_scores as read_scores
from judged.labels.agreement.api import agreement as agreement
from judged.labels.agreement.result import Agreement as Agreement
from judged.labels.api import label_results as label_results
from judged.labels.result import Labelling as Labelling
from judged.measures.custom import define as define
from judged.measures.measure import Measure as Measure
from judged.measures.ranked.average_precision import AP as AP
from judged.measures.ranked.gain import nDCG as nDCG
from judged.measures.ranked.precision import RR as RR, P as P, R as R
from judged.profiles.profile import PROFILES as PROFILES
from judged.protocol import Protocol as Protocol
from judged.result import Result as Result, load as load
from judged.scoring.arrays import evaluate_arrays as evaluate_arrays
from judged.scoring.evaluate import evaluate as evaluate, evaluate_many as evaluate_many
from judged.scoring.evaluation import Evaluation as Evaluation
from judged.scoring.evaluations import Evaluations as Evaluations
from judged.scoring.evaluator import Evaluator as Evaluator
from judged.studies.evaluate import evaluate_retriever as evaluate_retriever
from judged.studies.fusion.methods import fuse as fuse
from judged.studies.fusion.tuning import FusionTuning as FusionTuning, tune_fusion as tune_fusion
from judged.studies.result import Study as Study
from judged.studies.routing import RoutingReport as RoutingReport, evaluate_routing as evaluate_routing
from judged.studies.running.run import run_study as run_study
from judged.studies.several import run_studies as run_studies
from judged.studies.tables import Choices as Choices
from judged.tables.judgments import Judgments as Judgments
from judged.tables.labels import Labels as Labels
from judged.tables.preferences import Preferences as Preferences
from judged.tables.run import Run as Run
from judged.tables.scores import Scores as Scores
from judged.tables.timings import Timings as Timings

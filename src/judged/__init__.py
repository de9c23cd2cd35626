"""judged measures retrieval: ranked runs, agents' search sessions, labels and timings, exactly and fast.

    files, frames, dicts   read_judgments, read_run, read_labels, read_sessions, …  → tables
    judgments × run        evaluate, evaluate_many       → Evaluation: scores with their protocol and notes
    several systems        compare                       → Comparison: differences, intervals, p-values
    a run and a baseline   gate                          → GateReport: pass, fail or inconclusive
    traces of agents       evaluate_sessions             → Evaluation: gain by iteration, redundancy
    a retriever            evaluate_retriever            → Study: asked every judged question, scored and timed
    collection × systems   run_study                     → Study: runs, scores, comparison, times by stage
    several runs           fuse, tune_fusion             → Run, FusionTuning: one run, tuned weights
    a router, a gate       evaluate_routing              → RoutingReport: accuracy, regret, confusion matrix
    one number             explain, explain_difference, explain_published → Explanation: where it comes from
    files                  lint                          → LintReport: what is wrong with them
    results and a model    label_results                 → Labelling: grades from a language model
    labels × human grades  agreement                     → Agreement: how well they agree

Every verb returns a `Result`, which prints itself, converts to data frames, renders to every format, and is saved
and loaded (`load`). Measures are in `judged.measures`, statistics in `judged.stats`.

Names are imported on first use: `import judged` loads neither NumPy nor Arrow. The stub next to this file lists them.
"""

from judged._exports import export_lazily
from judged._version import __version__ as __version__

__getattr__, __dir__ = export_lazily(__name__, __file__)

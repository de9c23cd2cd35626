"""Statistics of scores, rankings and labels: intervals, tests, corrections, effect sizes, agreement.

Every name is imported on first use; the stub next to this file lists them. No name is also a module's, so that a module
imported earlier never hides a function.
"""

from judged._exports import export_lazily

__getattr__, __dir__ = export_lazily(__name__, __file__)

"""Measures, each imported when it is first used: `from judged.measures import nDCG, AP`.

Those of sessions are in `judged.agents.measures` and those of vector indexes in `judged.index.measures`, because
some have the same names. The stub next to this file lists all names.
"""

from judged._exports import export_lazily

__getattr__, __dir__ = export_lazily(__name__, __file__)

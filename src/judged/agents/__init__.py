"""Agentic search: traces in; gains, redundancy and curves over iterations out.

`judged.evaluate_sessions` scores sessions; the functions exported here compare and gate systems on them.
"""

from judged._exports import export_lazily

__getattr__, __dir__ = export_lazily(__name__, __file__)

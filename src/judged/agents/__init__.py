"""Agentic search: traces in; gains, redundancy and curves over iterations out.

`judged.evaluate_sessions` scores sessions; `judged.compare` and `judged.gate` take what it returns.
"""

from judged._exports import export_lazily

__getattr__, __dir__ = export_lazily(__name__, __file__)

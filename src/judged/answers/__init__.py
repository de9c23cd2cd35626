"""Generated answers: labelled nuggets, citations and claims in; shares, comparisons and causes of losses out.

`judged.evaluate_answers` scores answers; `judged.compare` and `judged.gate` take what it returns.
"""

from judged._exports import export_lazily

__getattr__, __dir__ = export_lazily(__name__, __file__)

"""Clicks: logs of what was shown and clicked in; click-through, click models, values of other rankings out.

`judged.evaluate_clicks` scores and compares systems by users, `judged.fit_clicks` fits click models,
`judged.estimate_value` values a ranking that was not shown, and `judged.interleave` makes lists of two runs.
"""

from judged._exports import export_lazily

__getattr__, __dir__ = export_lazily(__name__, __file__)

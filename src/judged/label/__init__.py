"""Label results with a language model or by text similarity."""

from judged.label.api import label_results
from judged.label.budget import Prices
from judged.label.client import Endpoint, RetryPolicy
from judged.label.pool import PoolOptions
from judged.label.prompt import Labeller, Prompt, read_prompt
from judged.label.result import Labelling
from judged.label.run import Progress

__all__ = [
    "Endpoint",
    "Labeller",
    "Labelling",
    "PoolOptions",
    "Prices",
    "Progress",
    "Prompt",
    "RetryPolicy",
    "label_results",
    "read_prompt",
]

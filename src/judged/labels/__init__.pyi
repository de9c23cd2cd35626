from judged.labels.api import label_results as label_results
from judged.labels.batches import BatchOptions as BatchOptions
from judged.labels.panel import Judge as Judge
from judged.labels.pool import PoolOptions as PoolOptions
from judged.labels.prompt import Labeller as Labeller, Prompt as Prompt, read_prompt as read_prompt
from judged.labels.questions.result import QuestionSet as QuestionSet
from judged.labels.questions.write import (
    QuestionOptions as QuestionOptions,
    write_questions as write_questions,
)
from judged.labels.result import Labelling as Labelling
from judged.net.budget import Prices as Prices
from judged.net.llm import Endpoint as Endpoint
from judged.net.retry import RetryPolicy as RetryPolicy

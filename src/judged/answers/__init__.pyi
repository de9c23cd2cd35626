from judged.answers.evaluate import evaluate_answers as evaluate_answers
from judged.answers.losses import attribute_losses as attribute_losses
from judged.answers.protocol import AnswerProtocol as AnswerProtocol
from judged.answers.reading.responses import read_responses as read_responses
from judged.answers.result import AnswerReport as AnswerReport

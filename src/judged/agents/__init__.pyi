from judged.agents.evaluate import evaluate_sessions as evaluate_sessions
from judged.agents.protocol import SessionProtocol as SessionProtocol

from judged.agents.compare import compare_sessions as compare_sessions, gate_sessions as gate_sessions
from judged.agents.evaluate import evaluate_sessions as evaluate_sessions
from judged.agents.protocol import SessionProtocol as SessionProtocol

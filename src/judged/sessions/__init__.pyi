from judged.sessions.compare import compare_sessions as compare_sessions, gate_sessions as gate_sessions
from judged.sessions.evaluate import evaluate_sessions as evaluate_sessions
from judged.sessions.protocol import SessionProtocol as SessionProtocol

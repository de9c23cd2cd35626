"""The conformance suite: its hand-written cases, the exact arithmetic behind them, and their tests."""

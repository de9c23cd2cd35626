"""Benchmarks of vector indexes and databases: recall against exact neighbours, latency, throughput and cost."""

"""Storage on disk: files written whole, caches, logs, locks, hashes, the machine, remote files."""

"""What is kept on disk: files written whole, remote files."""

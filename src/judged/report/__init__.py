"""Plain tables → text and files: terminal, CSV, JSON, Markdown, LaTeX, Parquet; one file for each format."""

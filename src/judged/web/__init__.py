"""Local viewer: serves the report pages and rebuilds them when files change."""

"""Weather forecasts as a subject of judged: a family, a measure, a table, a result, a page and a command."""

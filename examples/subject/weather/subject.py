"""The manifest: where everything is, as text, so that listing it imports nothing."""

from judged.subject import Command, Subject

SUBJECT = Subject(
    name="weather",
    title="Weather",
    families={"forecast": "weather.family:FORECAST"},
    measures="weather._index",
    tables={"forecasts": "weather.tables:FORECASTS"},
    results={"weather": "weather.result:WeatherReport"},
    pages={"weather": "weather.page:PAGE"},
    commands={"weather": Command("weather.commands:command", "Score forecasts against what was observed")},
)

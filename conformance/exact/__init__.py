"""The measures of the suite in exact arithmetic, which shares no code with judged."""

"""The manifest of clicks."""

from judged.subject import Command, Subject

SUBJECT = Subject(
    name="clicks",
    title="Clicks",
    families={"click": "judged.clicks.family:CLICK"},
    measures="judged.clicks._index",
    tables={
        "clicks": "judged.clicks.tables:CLICKS",
        "probabilities": "judged.clicks.policy:PROBABILITIES",
        "rewards": "judged.clicks.policy:REWARDS",
        "lists": "judged.clicks.interleaving:LISTS",
    },
    results={
        "clicks": "judged.clicks.result:ClickReport",
        "click-model": "judged.clicks.models.result:ClickModel",
        "value": "judged.clicks.value:ValueReport",
        "interleaved": "judged.clicks.interleaving:InterleavedLists",
    },
    pages={"clicks": "judged.clicks.page:PAGE"},
    commands={
        "clicks": Command(
            "judged.clicks.command:command",
            "Score logs of clicks by user, fit click models, value other rankings",
        ),
        "interleave": Command(
            "judged.clicks.interleave_command:command", "Make lists of two runs to show to users"
        ),
    },
)

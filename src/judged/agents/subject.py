"""The manifest of the search sessions of agents."""

from judged.subject import Command, Subject

SUBJECT = Subject(
    name="agents",
    title="Agents",
    families={"session": "judged.agents.family:SESSION"},
    measures="judged.agents._index",
    results={"sessions": "judged.agents.result:SessionReport"},
    pages={"sessions": "judged.agents.page:PAGE"},
    commands={
        "sessions": Command(
            "judged.agents.commands.sessions:command",
            "Score agents' search sessions: gain by iteration, efficiency, redundancy",
        )
    },
    viewer="judged.agents.commands.view:view_traces",
)

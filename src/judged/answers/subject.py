"""The manifest of generated answers."""

from judged.subject import Command, Subject

SUBJECT = Subject(
    name="answers",
    title="Answers",
    families={"answer": "judged.answers.family:ANSWER"},
    measures="judged.answers._index",
    tables={
        "responses": "judged.answers.tables:RESPONSES",
        "nuggets": "judged.answers.tables:NUGGETS",
        "assignments": "judged.answers.tables:ASSIGNMENTS",
        "support": "judged.answers.tables:SUPPORT",
        "claims": "judged.answers.tables:CLAIMS",
        "references": "judged.answers.tables:REFERENCES",
    },
    results={"answers": "judged.answers.result:AnswerReport", "losses": "judged.answers.losses:LossReport"},
    pages={"answers": "judged.answers.page:PAGE"},
    tasks={
        "nuggets": "judged.answers.tasks:NUGGETS",
        "assign": "judged.answers.tasks:ASSIGN",
        "support": "judged.answers.tasks:SUPPORT",
        "claims": "judged.answers.tasks:CLAIMS_TASK",
        "entail": "judged.answers.tasks:ENTAIL",
    },
    explains=dict.fromkeys(
        (
            *("--labels", "--nuggets", "--references"),
            *("nuggetizer", "ragchecker", "alce", "open-rag-eval", "ragas"),
        ),
        "judged.answers.command:explain_command",
    ),
    commands={
        "answers": Command(
            "judged.answers.command:command",
            "Score generated answers: nuggets, citations, claims, and where each is lost",
        )
    },
)

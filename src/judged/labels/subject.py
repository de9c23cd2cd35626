"""The manifest of labels and of their agreement with human grades."""

from judged.subject import Command, Subject

SUBJECT = Subject(
    name="labels",
    title="Labels",
    results={
        "labelling": "judged.labels.result:Labelling",
        "questions": "judged.labels.questions.result:QuestionSet",
        "agreement": "judged.labels.agreement.result:Agreement",
    },
    tasks={
        "relevance": "judged.labels.task:RELEVANCE",
        "umbrela": "judged.labels.task:UMBRELA",
        "prefer": "judged.labels.task:PREFER",
    },
    pages={"agreement": "judged.labels.page:PAGE"},
    commands={
        "label": Command(
            "judged.labels.commands.label:command",
            "Grade the results of a run or of agents with a language model",
        ),
        "questions": Command(
            "judged.labels.commands.questions:command", "Write the questions of a test set from documents"
        ),
        "agreement": Command(
            "judged.labels.commands.agreement:command", "Measure how well labels agree with human grades"
        ),
    },
)

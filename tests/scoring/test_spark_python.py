"""Which Python the executors of Spark are, and what is said of one that has no judged; Spark itself is not needed."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from judged.errors import JudgedError
from judged.scoring.spark import run_task


class Frame:
    """A data frame that notes the Python that its tasks would be run by."""

    def __init__(self, master: str, *, chosen: bool = False, error: str = "") -> None:
        configuration = SimpleNamespace(contains=lambda name: chosen and name == "spark.pyspark.python")
        self.context = SimpleNamespace(master=master, pythonExec="python3", getConf=lambda: configuration)
        self.sparkSession = SimpleNamespace(sparkContext=self.context)
        self.error = error
        self.used = ""

    def mapInArrow(self, _task: Any, _schema: str) -> Frame:
        """Note the Python, as Spark does when a function is sent."""
        self.used = self.context.pythonExec
        return self

    def collect(self) -> list[tuple[bytes]]:
        """Return nothing, or fail as a worker does."""
        if self.error:
            raise RuntimeError(self.error)
        return []


@pytest.mark.parametrize(
    ("master", "chosen", "variable", "python"),
    [
        ("local[4]", False, None, sys.executable),
        ("local", False, None, sys.executable),
        ("local-cluster[2,1,1024]", False, None, sys.executable),
        ("local[4]", True, None, "python3"),
        ("local[4]", False, "/opt/python", "python3"),
        ("spark://host:7077", False, None, "python3"),
        ("yarn", False, None, "python3"),
    ],
)
def test_local_executors_are_this_python_unless_one_is_chosen(
    monkeypatch: pytest.MonkeyPatch, master: str, chosen: bool, variable: str | None, python: str
) -> None:
    """Elsewhere the machines of the cluster decide; and the session is left as it was."""
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    if variable is not None:
        monkeypatch.setenv("PYSPARK_PYTHON", variable)
    frame = Frame(master, chosen=chosen)
    run_task(frame, None)  # type: ignore[arg-type]

    assert (frame.used, frame.context.pythonExec) == (python, "python3")


def test_the_hint_names_the_value_to_set() -> None:
    """The very path of this Python."""
    frame = Frame("spark://host:7077", error="worker: ModuleNotFoundError: No module named 'judged'")
    with pytest.raises(JudgedError, match="the Python of Spark's executors has no `judged`") as caught:
        run_task(frame, None)  # type: ignore[arg-type]

    assert f"set `PYSPARK_PYTHON={sys.executable}` before the session starts" in str(caught.value)

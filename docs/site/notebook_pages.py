"""Notebooks: kept as text, executed by every build, and shown with what they print and draw."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from page import Page

NOTEBOOKS = Path(__file__).parent / "notebooks"
TIMEOUT = 60
"""Seconds that one cell may take."""


def list_notebooks() -> list[Path]:
    """Return every notebook, in the order in which they are read."""
    return sorted(NOTEBOOKS.glob("*.py"))


def make_notebook_pages(*, execute: bool) -> list[Page]:
    """Return the page of every notebook; without execution, of its texts and code alone."""
    return [_make_page(path, execute=execute) for path in list_notebooks()]


def _make_page(path: Path, *, execute: bool) -> Page:
    name = path.stem.partition("_")[2]
    if not execute:
        heading = re.search(r"^# # (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        return Page(f"notebooks/{name}.md", f"# {heading[1] if heading else name}\n")
    import jupytext
    from nbclient import NotebookClient
    from nbconvert import MarkdownExporter

    notebook = jupytext.read(path)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=TIMEOUT, kernel_name="python3")
        client.execute(cwd=folder)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            # the picture or the table, not the script that draws it
            for kind in [kind for kind in output.get("data", {}) if "vega" in kind]:
                del output["data"][kind]
    text, resources = MarkdownExporter().from_notebook_node(
        notebook, resources={"output_files_dir": f"{name}_files"}
    )
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
    files = {f"notebooks/{file}": data for file, data in resources["outputs"].items()}
    files[f"notebooks/{name}.ipynb"] = jupytext.writes(notebook, fmt="ipynb").encode()
    return Page(f"notebooks/{name}.md", f"{text}\n[Download this notebook]({name}.ipynb)\n", files=files)

"""Staging of the site: `python docs/site/stage.py BUILD` writes BUILD/docs and BUILD/mkdocs.yml for the generator.

The Markdown of the repository is copied, and its links are mended; pages of measures, commands and Python are made from
the code; notebooks are executed. A page without a title, a link to nothing, a page outside the navigation or a public
name without a page stops the build. `--texts` leaves out what takes long: notebooks are not executed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import yaml

from api_pages import make_api_pages
from command_pages import make_command_pages
from judged.cli.main import COMMANDS
from links import mend_links
from measure_pages import list_anchors, make_measure_pages
from navigation import make_navigation
from notebook_pages import make_notebook_pages
from page import ROOT, Page, copy_page

HERE = Path(__file__).parent
COPIED = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "SECURITY.md": "project/security.md",
    "conformance/README.md": "reference/conformance-suite.md",
}
"""Pages of the repository outside `docs`, by their place in the site."""
REPLACED = {
    "docs/index.md": "index.md",
    "docs/measures.md": "measures/index.md",
    "docs/reference/commands.md": "commands/index.md",
    "examples": "examples/index.md",
}
"""Pages and folders of the repository that the site has in another form."""
LANGUAGES = {".py": "python", ".yaml": "yaml"}
"""Kinds of example files."""
KATEX = ROOT / "node_modules" / "katex" / "dist"


def gather_pages(*, execute: bool, report: Path | None = None) -> list[Page]:
    """Return every page of the site, as it is written."""
    pages = [_make_first_page(), *_copy_docs(), *_make_examples()]
    pages += [copy_page(source, path) for source, path in COPIED.items()]
    pages += [*make_measure_pages(), *make_command_pages(), *make_api_pages()]
    pages += make_notebook_pages(execute=execute)
    if report is not None:
        pages.append(_make_live_page(report))
    return pages


def list_places(pages: list[Page]) -> dict[str, str]:
    """Return the place in the site of each file of the repository."""
    own = {page.origin: page.path for page in pages if page.origin and not page.path.startswith("measures/")}
    return {**own, **REPLACED}


def write_site(build: Path, pages: list[Page]) -> None:
    """Write the pages with mended links, what belongs to them, and the configuration of the generator."""
    places = list_places(pages)
    anchors = list_anchors() | {
        f"docs/reference/commands.md#judged-{name}": f"commands/judged-{name}.md" for name in COMMANDS
    }
    navigation = make_navigation(pages, places)
    docs = build / "docs"
    shutil.rmtree(docs, ignore_errors=True)
    for page in pages:
        contents = {page.path: mend_links(page, places | _list_pictures(), anchors).encode(), **page.files}
        for path, data in contents.items():
            file = docs / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    for source, place in _list_pictures().items():
        (docs / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / source, docs / place)
    shutil.copytree(HERE / "assets", docs / "assets")
    if KATEX.is_dir():
        _copy_katex(docs / "assets" / "katex")
    settings = (HERE / "mkdocs.yml").read_text(encoding="utf-8")
    settings = settings.replace("SOURCES", str(ROOT / "src")).replace("SESSIONS", str(HERE / "sessions.py"))
    tree = yaml.safe_dump({"nav": navigation}, sort_keys=False, allow_unicode=True)
    (build / "mkdocs.yml").write_text(f"{settings}{tree}", encoding="utf-8")


def _make_first_page() -> Page:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return Page("index.md", f"---\ntitle: Retrieval evaluation\n---\n{text}", "README.md")


def _copy_docs() -> list[Page]:
    """Return the pages of `docs` and of the benchmarks that the site has as they are."""
    sources = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))]
    pages = [
        copy_page(source, source.removeprefix("docs/"))
        for source in sources
        if source not in REPLACED and not source.startswith("docs/site/")
    ]
    for path in sorted((ROOT / "benchmarks").glob("*.md")):
        # in lower case, `index.md` would be the page of the folder
        name = {"README": "index", "INDEX": "vector-indexes"}.get(path.stem, path.stem.lower())
        pages.append(copy_page(f"benchmarks/{path.name}", f"benchmarks/{name}.md"))
    return pages


def _make_examples() -> list[Page]:
    """Return a page for each example, and the index of all."""
    pages = []
    for path in sorted((ROOT / "examples").iterdir()):
        if path.suffix in LANGUAGES:
            source = f"examples/{path.name}"
            code = f'```{LANGUAGES[path.suffix]} title="{source}"\n{path.read_text(encoding="utf-8").rstrip()}\n```'
            pages.append(Page(f"examples/{path.stem}.md", f"# {path.name}\n\n{code}\n", source))
    lines = [f"- [{page.title}]({page.path.removeprefix('examples/')})" for page in pages]
    return [Page("examples/index.md", "\n".join(["# Examples", "", *lines, ""])), *pages]


def _make_live_page(report: Path) -> Page:
    frame = '<iframe class="live" src="../live/report.html" title="The report of a study" loading="lazy"></iframe>'
    text = f"# A report to try\n\nThe report that `judged demo` writes: one file, which needs no network. [Open it alone](report.html).\n\n{frame}\n"
    return Page("live/index.md", text, files={"live/report.html": report.read_bytes()})


def _list_pictures() -> dict[str, str]:
    """Return the place of each file in `docs` that pages show or offer."""
    docs = ROOT / "docs"
    files = [
        path
        for path in docs.rglob("*")
        if path.suffix in {".png", ".svg", ".json"} and "site" not in path.parts
    ]
    return {f"docs/{path.relative_to(docs).as_posix()}": path.relative_to(docs).as_posix() for path in files}


def _copy_katex(folder: Path) -> None:
    """Copy what draws formulae, so that no page asks another server for it."""
    (folder / "fonts").mkdir(parents=True)
    for name in ("katex.min.css", "katex.min.js"):
        shutil.copy(KATEX / name, folder)
    for font in (KATEX / "fonts").glob("*.woff2"):
        shutil.copy(font, folder / "fonts")


def main() -> None:
    """Stage the site in the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--texts", action="store_true", help="do not execute notebooks")
    parser.add_argument("--report", type=Path, help="a report to show live")
    chosen = parser.parse_args()
    pages = gather_pages(execute=not chosen.texts, report=chosen.report)
    chosen.build.mkdir(parents=True, exist_ok=True)
    write_site(chosen.build, pages)
    sys.stdout.write(f"{len(pages)} pages in {chosen.build}\n")


if __name__ == "__main__":
    main()

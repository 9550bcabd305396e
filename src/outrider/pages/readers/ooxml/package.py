"""Read packages of Office Open XML: parts and their relationships (ISO/IEC 29500-2)."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from urllib.parse import unquote

from outrider.pages.reader import ReaderInput
from outrider.pages.readers.archives.zip_archive import ZipArchive
from outrider.pages.readers.parsing.errors import build_broken_error
from outrider.pages.readers.parsing.xml import ElementBudget, MalformedXML, XmlElement, iter_elements, parse_tree

ELEMENTS_PER_TAG = 5  # a document takes about five times as many elements as a web page for the same text
ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})?)?")


@dataclass(frozen=True, slots=True)
class Relationship:
    """The last segment of a relationship's type, and its target: a part's name or an external URL."""

    type: str
    target: str
    external: bool


class Package:
    """The parts of a document.

    Args:
        source: The bytes and the bounds.
        kind: The name for such files in errors.
    """

    def __init__(self, source: ReaderInput, kind: str) -> None:
        self.source = source
        self.kind = kind
        self.archive = ZipArchive(source, kind)
        self.budget = ElementBudget(source.max_tags * ELEMENTS_PER_TAG)
        self.embedded_left = 10  # workbooks inside the document to read at most
        self._relations: dict[str, dict[str, Relationship]] = {}

    @cached_property
    def main_part(self) -> str:
        """Return the name of the document's main part. Raises Unavailable, code `broken_file`."""
        name = self.find_part("", "officeDocument")
        if name is None or name not in self.archive:
            raise build_broken_error(self.source, self.kind, "its main part is missing")
        return name

    def get_relationships(self, part: str) -> dict[str, Relationship]:
        """Return a part's relationships by id; those of the package for an empty name."""
        max_relations = 50_000
        if part not in self._relations:
            folder, name = posixpath.split(part)
            root = self.parse_part(posixpath.join(folder, "_rels", f"{name}.rels"))
            relations: dict[str, Relationship] = {}
            for element in islice(root.iter_named("rel:Relationship"), max_relations):
                target, external = element.get("Target"), element.get("TargetMode").lower() == "external"
                if not external:
                    path = unquote(target.partition("#")[0])
                    joined = path if path.startswith("/") else posixpath.join(folder, path)
                    target = posixpath.normpath(joined).lstrip("/")
                kind = element.get("Type").rpartition("/")[2]
                relations[element.get("Id")] = Relationship(kind, target, external)
            self._relations[part] = relations
        return self._relations[part]

    def find_part(self, part: str, kind: str) -> str | None:
        """Return the name of the first part of that kind that a part refers to."""
        return next(iter(self.find_parts(part, kind)), None)

    def find_parts(self, part: str, kind: str) -> list[str]:
        """Return the names of all parts of that kind that a part refers to."""
        relations = self.get_relationships(part).values()
        return [relation.target for relation in relations if relation.type == kind and not relation.external]

    def parse_part(self, part: str | None) -> XmlElement:
        """Return a part as a tree; an empty element if it is missing. Raises Unavailable, code `broken_file`."""
        if not part or part not in self.archive:
            return XmlElement("")
        try:
            return parse_tree(self.archive.iter_chunks(part), self.budget)
        except MalformedXML as error:
            raise self._build_malformed_error(part, error) from None

    def iter_elements(self, part: str | None, *names: str, starts: tuple[str, ...] = ()) -> Iterator[XmlElement]:
        """Yield the outermost elements of these names in a part, and `starts` where they begin.

        Raises:
            Unavailable: code `broken_file`.
        """
        if not part or part not in self.archive:
            return
        try:
            yield from iter_elements(self.archive.iter_chunks(part), names, self.budget, starts)
        except MalformedXML as error:
            raise self._build_malformed_error(part, error) from None

    def read_facts(self) -> dict[str, str]:
        """Return title, author, date and the like from the core properties (ISO/IEC 29500-2 section 8)."""
        root = self.parse_part(self.find_part("", "core-properties"))
        texts = {element.name: " ".join(element.text.split()) for element in root.iter_children()}
        date = ISO_DATE.match(texts.get("dcterms:created") or texts.get("dcterms:modified", ""))
        return {
            "title": texts.get("dc:title", ""),
            "author": texts.get("dc:creator", ""),
            "description": texts.get("dc:description") or texts.get("dc:subject", ""),
            "language": texts.get("dc:language", ""),
            "published": date[0] if date else "",
        }

    def _build_malformed_error(self, part: str, error: Exception) -> Exception:
        return build_broken_error(self.source, self.kind, f"its part {part[:100]} is malformed ({error})")

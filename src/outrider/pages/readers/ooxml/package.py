"""Packages of Office Open XML: which part is related to which (ISO/IEC 29500-2)."""

import posixpath
import re
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote

from outrider.pages.reader import ReaderInput
from outrider.pages.readers.archives.zip_archive import ZipArchive
from outrider.pages.readers.parsing.errors import build_broken_error
from outrider.pages.readers.parsing.xml import ElementBudget, MalformedXML, XmlElement, iter_elements, parse_tree

ELEMENTS_PER_TAG = 5  # for each tag that may be looked at in a page: a document takes more elements to say the same
ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})?)?")


@dataclass(frozen=True, slots=True)
class Relationship:
    """Where a part points to: the last word of the relation's type, and a part's name or an outer address."""

    type: str
    target: str
    external: bool


class Package:
    """The parts of a document.

    Args:
        source: The bytes and the bounds.
        kind: What a person calls such a file.
    """

    def __init__(self, source: ReaderInput, kind: str) -> None:
        self.source = source
        self.kind = kind
        self.archive = ZipArchive(source, kind)
        self.budget = ElementBudget(source.max_tags * ELEMENTS_PER_TAG)
        self._relations: dict[str, dict[str, Relationship]] = {}

    @cached_property
    def main_part(self) -> str:
        """The name of the part that all others hang on. Raises Unavailable, code `broken_file`, if there is none."""
        name = self.find_part("", "officeDocument")
        if name is None or name not in self.archive:
            raise build_broken_error(self.source, self.kind, "its main part is missing")
        return name

    def get_relationships(self, part: str) -> dict[str, Relationship]:
        """What a part points to, by id; the package's own relations for an empty name."""
        max_relations = 50_000
        if part not in self._relations:
            folder, name = posixpath.split(part)
            found: dict[str, Relationship] = {}
            for each in self.parse_part(posixpath.join(folder, "_rels", f"{name}.rels")).iter_named("rel:Relationship"):
                if len(found) < max_relations:
                    found[each.get("Id")] = _parse_relationship(each, folder)
            self._relations[part] = found
        return self._relations[part]

    def find_part(self, part: str, kind: str) -> str | None:
        """The name of the first part of that kind that a part points to."""
        return next(
            (each.target for each in self.get_relationships(part).values() if _is_internal_part(each, kind)), None
        )

    def find_parts(self, part: str, kind: str) -> list[str]:
        """The names of all parts of that kind that a part points to."""
        return [each.target for each in self.get_relationships(part).values() if _is_internal_part(each, kind)]

    def parse_part(self, part: str | None) -> XmlElement:
        """A part as a tree; an empty element if it is missing. Raises Unavailable, code `broken_file`."""
        if not part or part not in self.archive:
            return XmlElement("")
        try:
            return parse_tree(self.archive.read(part), self.budget)
        except MalformedXML as error:
            raise self._build_malformed_error(part, error) from None

    def iter_elements(self, part: str | None, *names: str):  # noqa: ANN201 - an iterator of elements
        """The outermost elements of these names in a part. Raises Unavailable, code `broken_file`."""
        if not part or part not in self.archive:
            return
        try:
            yield from iter_elements(self.archive.iter_chunks(part), names, self.budget)
        except MalformedXML as error:
            raise self._build_malformed_error(part, error) from None

    def read_facts(self) -> dict[str, str]:
        """Title, author, dates and the like from the core properties (ISO/IEC 29500-2 section 8)."""
        root = self.parse_part(self.find_part("", "core-properties"))
        texts = {each.name: " ".join(each.text.split()) for each in root.iter_children()}
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


def _is_internal_part(relation: Relationship, kind: str) -> bool:
    return relation.type == kind and not relation.external


def _parse_relationship(element: XmlElement, folder: str) -> Relationship:
    target, external = element.get("Target"), element.get("TargetMode").lower() == "external"
    kind = element.get("Type").rpartition("/")[2]
    if external:
        return Relationship(kind, target, external)
    path = unquote(target.partition("#")[0])
    joined = path if path.startswith("/") else posixpath.join(folder, path)
    return Relationship(kind, posixpath.normpath(joined).lstrip("/"), external)

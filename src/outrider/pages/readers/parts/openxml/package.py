"""Packages of Office Open XML: which part is related to which (ISO/IEC 29500-2)."""

import posixpath
import re
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote

from outrider.pages.reader import Source
from outrider.pages.readers.parts.archives.archive import Archive
from outrider.pages.readers.parts.refusals import broken
from outrider.pages.readers.parts.xml import Budget, Element, MalformedXML, stream, tree

ELEMENTS = 5  # for each tag that may be looked at in a page: a document takes more elements to say the same
RELATIONS = 50_000
DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})?)?")


@dataclass(frozen=True, slots=True)
class Relation:
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

    def __init__(self, source: Source, kind: str) -> None:
        self.source = source
        self.kind = kind
        self.archive = Archive(source, kind)
        self.budget = Budget(source.tags * ELEMENTS)
        self._relations: dict[str, dict[str, Relation]] = {}

    @cached_property
    def main(self) -> str:
        """The name of the part that all others hang on. Raises Unavailable, code `broken_file`, if there is none."""
        name = self.related("", "officeDocument")
        if name is None or name not in self.archive:
            raise broken(self.source, self.kind, "its main part is missing")
        return name

    def relations(self, part: str) -> dict[str, Relation]:
        """What a part points to, by id; the package's own relations for an empty name."""
        if part not in self._relations:
            folder, name = posixpath.split(part)
            found: dict[str, Relation] = {}
            for each in self.tree(posixpath.join(folder, "_rels", f"{name}.rels")).each("rel:Relationship"):
                if len(found) < RELATIONS:
                    found[each.get("Id")] = _relation(each, folder)
            self._relations[part] = found
        return self._relations[part]

    def related(self, part: str, kind: str) -> str | None:
        """The name of the first part of that kind that a part points to."""
        return next((each.target for each in self.relations(part).values() if _fits(each, kind)), None)

    def all_related(self, part: str, kind: str) -> list[str]:
        """The names of all parts of that kind that a part points to."""
        return [each.target for each in self.relations(part).values() if _fits(each, kind)]

    def tree(self, part: str | None) -> Element:
        """A part as a tree; an empty element if it is missing. Raises Unavailable, code `broken_file`."""
        if not part or part not in self.archive:
            return Element("")
        try:
            return tree(self.archive.read(part), self.budget)
        except MalformedXML as error:
            raise self._malformed(part, error) from None

    def stream(self, part: str | None, *names: str):  # noqa: ANN201 - an iterator of elements
        """The outermost elements of these names in a part. Raises Unavailable, code `broken_file`."""
        if not part or part not in self.archive:
            return
        try:
            yield from stream(self.archive.chunks(part), names, self.budget)
        except MalformedXML as error:
            raise self._malformed(part, error) from None

    def facts(self) -> dict[str, str]:
        """Title, author, dates and the like from the core properties (ISO/IEC 29500-2 section 8)."""
        root = self.tree(self.related("", "core-properties"))
        texts = {each.name: " ".join(each.text.split()) for each in root.elements()}
        date = DATE.match(texts.get("dcterms:created") or texts.get("dcterms:modified", ""))
        return {
            "title": texts.get("dc:title", ""),
            "author": texts.get("dc:creator", ""),
            "description": texts.get("dc:description") or texts.get("dc:subject", ""),
            "language": texts.get("dc:language", ""),
            "published": date[0] if date else "",
        }

    def _malformed(self, part: str, error: Exception) -> Exception:
        return broken(self.source, self.kind, f"its part {part[:100]} is malformed ({error})")


def _fits(relation: Relation, kind: str) -> bool:
    return relation.type == kind and not relation.external


def _relation(element: Element, folder: str) -> Relation:
    target, external = element.get("Target"), element.get("TargetMode").lower() == "external"
    kind = element.get("Type").rpartition("/")[2]
    if external:
        return Relation(kind, target, external)
    path = unquote(target.partition("#")[0])
    joined = path if path.startswith("/") else posixpath.join(folder, path)
    return Relation(kind, posixpath.normpath(joined).lstrip("/"), external)

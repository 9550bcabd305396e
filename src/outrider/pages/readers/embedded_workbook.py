"""Write workbooks that are embedded in documents and slides."""

from dataclasses import replace

from outrider.core.errors import OutriderError
from outrider.pages.readers.excel import EXCEL_KIND, WorkbookWriter
from outrider.pages.readers.ooxml.package import Package, Relationship
from outrider.pages.readers.parsing.draft import DocumentDraft

WORKBOOK_SUFFIXES = (".xlsx", ".xlsm")


def write_embedded_workbook(package: Package, relation: Relationship | None, draft: DocumentDraft) -> bool:
    """Add the sheet that an embedded workbook shows; return False if there is none that can be read."""
    max_chars, max_tags = 200_000, 10_000
    if relation is None or relation.external or not relation.target.lower().endswith(WORKBOOK_SUFFIXES):
        return False
    package.embedded_left -= 1
    if relation.target not in package.archive or package.embedded_left < 0:
        return False
    source = replace(package.source, max_chars=max_chars, max_tags=max_tags)
    inner = DocumentDraft(source, "excel")
    try:
        source = replace(source, body=package.archive.read(relation.target))
        WorkbookWriter(Package(source, EXCEL_KIND), inner).write_shown_sheet()
    except OutriderError:
        return False
    for block in inner.blocks:
        draft.add_block(block.strip("\n"))
    draft.tables += inner.tables
    draft.hidden_count += inner.hidden_count
    for link in inner.links.values():
        draft.links.setdefault(link.url, link)
    if inner.is_cut:
        draft.add_block("(the rest of this embedded workbook was not read)")
    return bool(inner.blocks)

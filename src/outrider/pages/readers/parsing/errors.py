"""Build errors for documents that cannot be read, with remedies."""

from dataclasses import replace

from outrider.core.errors import NotConfigured, Refused, Unavailable
from outrider.core.installation import suggest_extra
from outrider.pages.document import Document
from outrider.pages.reader import ReaderInput


def build_broken_error(source: ReaderInput, kind: str, reason: str = "it cannot be opened") -> Unavailable:
    """Return the error for a cut, damaged, empty or mislabelled file; code `broken_file`."""
    reason = reason if source.body else "it is empty"
    return Unavailable(
        f"the {kind} at {_describe_source(source)} is broken: {reason}",
        code="broken_file",
        hint="look for another copy of it",
    )


def build_encrypted_error(source: ReaderInput, kind: str, reason: str = "is encrypted and needs a password") -> Refused:
    """Return the error for a file that needs a password or rights; code `encrypted`."""
    return Refused(
        f"the {kind} at {_describe_source(source)} {reason}",
        code="encrypted",
        hint="look for another copy of it, or save it without the protection",
    )


def build_too_large_error(source: ReaderInput, kind: str, reason: str) -> Refused:
    """Return the error for a file that unpacks past the bounds; code `too_large`."""
    return Refused(
        f"the {kind} at {_describe_source(source)} is refused: {reason}",
        code="too_large",
        hint="look for a smaller copy of it",
    )


def build_missing_extra_error(source: ReaderInput, kind: str) -> NotConfigured:
    """Return the error for a format whose parser is not installed; code `missing_extra`."""
    return NotConfigured(
        f"the {kind} at {_describe_source(source)} needs a parser that is not installed",
        code="missing_extra",
        hint=f"{suggest_extra('documents')}, or look for it as docx, xlsx, pptx or PDF",
    )


def mark_end_missing(document: Document) -> Document:
    """Append a notice that the end of the file is missing."""
    notice = "\n\n(the end of this file is missing)"
    metadata = document.metadata | {"cut": True}
    return replace(document, markdown=document.markdown + notice, text=document.text + notice, metadata=metadata)


def _describe_source(source: ReaderInput) -> str:
    return source.url or "this address"

"""Prepare drafts for the database: everything that can be computed before a transaction."""

import time
from dataclasses import dataclass
from typing import Any

from outrider.content.chunking.chunk import Chunk
from outrider.content.chunking.chunker import chunk_text
from outrider.content.chunking.languages import detect_language
from outrider.content.chunking.line_index import LineIndex
from outrider.content.models import ContentDraft, hash_text
from outrider.core.database.database import to_storable_text


@dataclass(frozen=True)
class PreparedContent:
    """The column values computed from a draft, its chunks, and its file."""

    values: dict[str, Any]
    chunks: list[Chunk]
    original: bytes | None = None


def prepare_content(draft: ContentDraft) -> PreparedContent:
    """Chunk and measure a draft. Takes about a second for ten megabytes: call it in a thread."""
    preview_chars = 200
    text = to_storable_text(draft.text)
    markdown = draft.markdown
    if markdown is None:
        markdown = draft.mime_type in ("text/markdown", "text/x-markdown")
    chunks = chunk_text(text, markdown=markdown)
    now = time.time()
    values = {
        "filename": to_storable_text(draft.filename, 255),
        "mime_type": to_storable_text(draft.mime_type, 127),
        "source": to_storable_text(draft.source, 8_000),
        "title": to_storable_text(draft.title, 500),
        "language": detect_language(text, draft.language),
        "hash": hash_text(draft.text),
        "size": len(text.encode()) if draft.size is None else draft.size,
        "characters": len(text),
        "line_count": len(LineIndex(text)),
        "chunk_count": len(chunks),
        "preview": text[:preview_chars],
        "facts": dict(draft.facts) | {"markdown": markdown},
        "unasked": int(draft.unasked),
        "uploaded_at": now if draft.uploaded_at is None else draft.uploaded_at,
        "modified_at": now,
        "accessed_at": now,
    }
    return PreparedContent(values, chunks, draft.original)

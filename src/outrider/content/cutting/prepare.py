"""From a draft to rows: everything about a text that can be worked out before the database is asked."""

import time
from dataclasses import dataclass
from typing import Any

from outrider.content.cutting.chunk import Chunk
from outrider.content.cutting.chunker import chunks
from outrider.content.cutting.languages import language
from outrider.content.cutting.lines import Lines
from outrider.content.record import Draft, text_hash
from outrider.core.db import storable

PREVIEW = 200  # characters
MARKDOWN = frozenset({"text/markdown", "text/x-markdown"})


@dataclass(frozen=True)
class Prepared:
    """A draft, cut and measured: the values of its row that follow from it, and its passages."""

    values: dict[str, Any]
    chunks: list[Chunk]


def prepared(draft: Draft) -> Prepared:
    """Cuts and measures a draft. Takes about a second for ten megabytes: call it in a thread."""
    text = storable(draft.text)
    markdown = draft.mime_type in MARKDOWN if draft.markdown is None else draft.markdown
    found = chunks(text, markdown=markdown)
    now = time.time()
    values = {
        "filename": storable(draft.filename, 255),
        "mime_type": storable(draft.mime_type, 127),
        "source": storable(draft.source, 8_000),
        "title": storable(draft.title, 500),
        "language": language(text, draft.language),
        "hash": text_hash(draft.text),
        "size": len(text.encode()) if draft.size is None else draft.size,
        "characters": len(text),
        "line_count": len(Lines(text)),
        "chunk_count": len(found),
        "preview": text[:PREVIEW],
        "facts": dict(draft.facts) | {"markdown": markdown},
        "unasked": int(draft.unasked),
        "uploaded_at": now if draft.uploaded_at is None else draft.uploaded_at,
        "modified_at": now,
        "accessed_at": now,
    }
    return Prepared(values, found)

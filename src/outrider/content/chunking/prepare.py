"""Prepare drafts for the database: everything that can be computed before a transaction."""

import time
from dataclasses import dataclass
from typing import Any

from outrider.content.chunking.chunker import Chunk, chunk_text
from outrider.content.chunking.line_index import LineIndex
from outrider.content.models import ContentDraft, hash_text
from outrider.core.database.database import to_storable_text
from outrider.core.language import identify_language

STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "no": "norwegian",
    "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
# Frequent words that hardly occur in texts of other languages, two of them together least of all.
ENGLISH_WORDS = frozenset({"the", "of", "and", "with", "which", "from", "that", "are"})


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


def detect_language(text: str, declared: str = "") -> str:
    """Return the name of the stemmer for a text; empty if there is none.

    Args:
        text: The text. ASCII that is too short to detect its language is taken for English. A wrong guess costs little,
            because words are also indexed unstemmed.
        declared: A BCP 47 tag that the document itself declares; it takes precedence.
    """
    min_chars = 40  # the language of a shorter text is uncertain
    min_probability = 0.5  # lists of names and numbers have a lower one
    short_chars = 500  # in shorter texts, technical terms mislead the detector
    sample_chars = 20_000
    if known := STEMMERS.get(declared.lower().split("-")[0]):
        return known

    sample = text[:sample_chars]
    if len(sample) < short_chars and sample.isascii() and len(ENGLISH_WORDS.intersection(sample.lower().split())) > 1:
        return "english"
    if len(sample) >= min_chars:
        detected, probability = identify_language(sample)
        if detected in STEMMERS and probability > min_probability:
            return STEMMERS[detected]
    return "english" if sample.isascii() else ""

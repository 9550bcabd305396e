"""Rewrite a child agent's citations to its parent's references.

Child and parent draw references from the same pool, so one reference may name different sources in each. All references
are therefore mapped in one pass through a dictionary: replacing them one after another would replace some twice and
attribute facts to the wrong document.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from outrider.core.citations import CitationPool
from outrider.core.context import Call
from outrider.core.errors import Refused

MAX_REFERENCES: Final = 64  # references that one agent's answer may use (contract of `run_agent`)
CITE_BLOCK_PATTERN: Final = re.compile(r" ?:cite\[([^\[\]]*)\]")


@dataclass(frozen=True)
class CitedText:
    """A text with the parent's references, and the citation behind each of them."""

    text: str
    refs: dict[str, Mapping[str, Any]]


async def adopt_citations(
    citations: CitationPool, call: Call, text: str, sources: Mapping[str, Mapping[str, Any]]
) -> CitedText:
    """Rewrite a child's answer for the message that `call` belongs to.

    Args:
        citations: The pool of references; at most 64 are taken for the parent.
        call: The parent's call, with the references its host reserved, if any.
        text: The child's answer with its own `:cite[...]` blocks.
        sources: The child's citations by reference.

    Returns:
        The text, and the citations by the parent's references. References without a source are removed, and so are
        those for which the parent has no reference left.
    """
    old_references = list_references(text, sources)[:MAX_REFERENCES]
    try:
        new_references = await citations.take(call, len(old_references)) if old_references else []
    except Refused:  # the message has used up its references: return the answer without citations
        new_references = []
    return rewrite_references(text, sources, new_references)


def list_references(text: str, sources: Mapping[str, Any]) -> list[str]:
    """Return the references that have a source.

    They are in the order in which the text first names them.
    """
    names = [
        name
        for block in CITE_BLOCK_PATTERN.finditer(_remove_unknown_blocks(text, sources))
        for name in _parse_names(block)
    ]
    return [name for name in dict.fromkeys(names) if name in sources]


def rewrite_references(text: str, sources: Mapping[str, Mapping[str, Any]], new_references: Sequence[str]) -> CitedText:
    """Replace the i-th distinct reference of the text by the i-th new one.

    Outside of `:cite[...]` blocks nothing changes. Within a block the order stays, while repetitions and references
    without a source or a new reference are removed; an empty block is removed together with one space before it.
    """
    mapping = dict(zip(list_references(text, sources), new_references, strict=False))

    def rewrite_block(block: re.Match[str]) -> str:
        space = " " if block[0].startswith(" ") else ""
        names = dict.fromkeys(mapping[name] for name in _parse_names(block) if name in mapping)
        return f"{space}:cite[{','.join(names)}]"

    rewritten = CITE_BLOCK_PATTERN.sub(rewrite_block, _remove_unknown_blocks(text, mapping))
    return CitedText(rewritten, {new: sources[old] for old, new in mapping.items()})


def _remove_unknown_blocks(text: str, known: Mapping[str, Any]) -> str:
    """Remove blocks without a known reference, and blocks that form when those are gone."""
    max_rounds: Final = 16  # nested blocks to remove; a normal text has none
    for _ in range(max_rounds):
        before, text = (
            text,
            CITE_BLOCK_PATTERN.sub(lambda block: block[0] if set(_parse_names(block)) & known.keys() else "", text),
        )
        if text == before:
            return text
    return text.replace(":cite[", "(cite[")


def _parse_names(block: re.Match[str]) -> list[str]:
    return [name.strip() for name in block[1].split(",")]

"""A child's citations, told again in its parent's references.

Child and parent draw from the same pool, so a reference of the one may be another source of the other. Hence all
references are mapped in one pass through a dictionary: replacing them one after another would replace some twice and
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
    """A text with the parent's references, and what each of them stands for."""

    text: str
    refs: dict[str, Mapping[str, Any]]


async def adopt_citations(
    citations: CitationPool, call: Call, text: str, sources: Mapping[str, Mapping[str, Any]]
) -> CitedText:
    """Rewrites a child's answer for the message that `call` belongs to.

    Args:
        citations: Gives the parent's next references, at most 64.
        call: The parent's call, with the references its host reserved, if it did.
        text: The child's answer with its own `:cite[...]` blocks.
        sources: The child's reference to its citation.

    Returns:
        The text, and the parent's reference to the same citation. References that nobody explained are gone, as are
        those for which the parent has none left.
    """
    wanted = list_references(text, sources)[:MAX_REFERENCES]
    try:
        fresh = await citations.take(call, len(wanted)) if wanted else []
    except Refused:  # all references of the message are used: the answer stands without
        fresh = []
    return rewrite_references(text, sources, fresh)


def list_references(text: str, sources: Mapping[str, Any]) -> list[str]:
    """The references with a source, in the order in which the text first names them."""
    named = [
        name
        for block in CITE_BLOCK_PATTERN.finditer(_remove_unknown_blocks(text, sources))
        for name in _parse_names(block)
    ]
    return [name for name in dict.fromkeys(named) if name in sources]


def rewrite_references(text: str, sources: Mapping[str, Mapping[str, Any]], fresh: Sequence[str]) -> CitedText:
    """The text with the i-th distinct reference as the i-th of `fresh`.

    Outside of `:cite[...]` blocks nothing changes. Within a block the order stays, repetitions and references without
    a source or a fresh reference go; a block that loses all of them goes too, with one space before it.
    """
    mapping = dict(zip(list_references(text, sources), fresh, strict=False))
    known = _remove_unknown_blocks(text, mapping)
    return CitedText(
        CITE_BLOCK_PATTERN.sub(
            lambda block: _format_block(block, [mapping[name] for name in _parse_names(block) if name in mapping]),
            known,
        ),
        {new: sources[old] for old, new in mapping.items()},
    )


def _remove_unknown_blocks(text: str, known: Mapping[str, Any]) -> str:
    """The text without blocks that name nothing known, nor blocks that form when those are gone."""
    max_rounds: Final = 16  # blocks hidden in blocks that are looked through; no honest text has one
    for _ in range(max_rounds):
        before, text = (
            text,
            CITE_BLOCK_PATTERN.sub(lambda block: block[0] if set(_parse_names(block)) & known.keys() else "", text),
        )
        if text == before:
            return text
    return text.replace(":cite[", "(cite[")


def _format_block(block: re.Match[str], names: Sequence[str]) -> str:
    space = " " if block[0].startswith(" ") else ""
    return f"{space}:cite[{','.join(dict.fromkeys(names))}]"


def _parse_names(block: re.Match[str]) -> list[str]:
    return [name.strip() for name in block[1].split(",")]

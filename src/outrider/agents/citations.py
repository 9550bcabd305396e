"""A child's citations, told again in its parent's references.

Child and parent draw from the same pool, so a reference of the one may be another source of the other. Hence all
references are mapped in one pass through a dictionary: replacing them one after another would replace some twice and
attribute facts to the wrong document.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from outrider.core.citations import Citations
from outrider.core.context import Call
from outrider.core.errors import Refused

LIMIT: Final = 64  # references that one agent's answer may use (contract of `run_agent`)
BLOCK: Final = re.compile(r" ?:cite\[([^\[\]]*)\]")
ROUNDS: Final = 16  # blocks hidden in blocks that are looked through; no honest text has one


@dataclass(frozen=True)
class Cited:
    """A text with the parent's references, and what each of them stands for."""

    text: str
    refs: dict[str, Mapping[str, Any]]


async def adopt(citations: Citations, call: Call, text: str, sources: Mapping[str, Mapping[str, Any]]) -> Cited:
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
    wanted = cited(text, sources)[:LIMIT]
    try:
        fresh = await citations.take(call, len(wanted)) if wanted else []
    except Refused:  # all references of the message are used: the answer stands without
        fresh = []
    return rewritten(text, sources, fresh)


def cited(text: str, sources: Mapping[str, Any]) -> list[str]:
    """The references with a source, in the order in which the text first names them."""
    named = [name for block in BLOCK.finditer(_pruned(text, sources)) for name in _names(block)]
    return [name for name in dict.fromkeys(named) if name in sources]


def rewritten(text: str, sources: Mapping[str, Mapping[str, Any]], fresh: Sequence[str]) -> Cited:
    """The text with the i-th distinct reference as the i-th of `fresh`.

    Outside of `:cite[...]` blocks nothing changes. Within a block the order stays, repetitions and references without
    a source or a fresh reference go; a block that loses all of them goes too, with one space before it.
    """
    mapping = dict(zip(cited(text, sources), fresh, strict=False))
    known = _pruned(text, mapping)
    return Cited(
        BLOCK.sub(lambda block: _block(block, [mapping[name] for name in _names(block) if name in mapping]), known),
        {new: sources[old] for old, new in mapping.items()},
    )


def _pruned(text: str, known: Mapping[str, Any]) -> str:
    """The text without blocks that name nothing known, nor blocks that form when those are gone."""
    for _ in range(ROUNDS):
        before, text = text, BLOCK.sub(lambda block: block[0] if set(_names(block)) & known.keys() else "", text)
        if text == before:
            return text
    return text.replace(":cite[", "(cite[")


def _block(block: re.Match[str], names: Sequence[str]) -> str:
    space = " " if block[0].startswith(" ") else ""
    return f"{space}:cite[{','.join(dict.fromkeys(names))}]"


def _names(block: re.Match[str]) -> list[str]:
    return [name.strip() for name in block[1].split(",")]

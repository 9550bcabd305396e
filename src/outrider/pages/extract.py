"""HTML to a document: the one seam between the page and whatever finds its main content.

Trafilatura finds it, where a page is of ordinary size; it was the best of the kept libraries on
1,497 marked pages (F1 .81 on the sample used here, resiliparse .79; only trafilatura gives Markdown).
Its time grows with the number of tags, to a second at the limit below. Larger pages, and those
of which it finds too little, are read by the page's own regions. Everything here is bounded work
that runs in a thread: no process has to be killed, and none has to be started.
"""

import logging
import re
from dataclasses import dataclass, field

from outrider.pages.charset import decode
from outrider.pages.document import Document, Link, line_of, plain, tidy
from outrider.pages.facts import Facts
from outrider.pages.hidden import Hiding, shown
from outrider.pages.inline import absolute
from outrider.pages.markdown import Block, Writer
from outrider.pages.markup import Text, tokens

CHARS = 5_000_000
TAGS = 100_000
MODEL_TAGS = 12_000  # of 1,497 pages 98 % have fewer; trafilatura's worst case here is 1.1 s and 56 MB
MODEL_CHARS = 1_500_000
ENOUGH = 250  # characters below which a page's main content is suspected to be something else
SHARE = 0.05  # of what stands outside of navigation; less is a miss (+1.2 points of F1 on every twelfth page)
NOSCRIPT = 400  # characters from which a noscript is the page itself, as in some forums, not a tracker
TARGET = re.compile(r"(?<=\]\()([^()\s]+)(?=\))")
EMBEDDED = re.compile(r"data:[\w/+.-]{1,100}(?:;[\w=-]{1,50}){0,5};base64,[A-Za-z0-9+/=]{500,}+")
KEPT_RAW = frozenset({"title"})


@dataclass
class Scan:
    """One pass over a page."""

    facts: Facts
    writer: Writer = field(default_factory=Writer)
    source: str = ""
    cut: bool = False

    def region(self, *regions: str) -> str:
        """The Markdown of the blocks in these regions."""
        return joined([block for block in self.writer.blocks if block.region in regions])


def extract(  # the seam: what stands behind may change, this signature not
    html: bytes | str, *, url: str | None = None, main: bool = True, chars: int = CHARS, tags: int = TAGS
) -> Document:
    """The content and the facts of an HTML page. Never raises for what a page holds.

    Args:
        html: The source; bytes are decoded as browsers do.
        url: Where it came from, for relative addresses.
        main: Whether navigation and the like are left out.
        chars: How much of the source is looked at, in characters.
        tags: How much of it, in tags.

    Returns:
        A document of kind `html`; its text is empty only if the page shows none and says nothing
        about itself.
    """
    source = decode(html)[0] if isinstance(html, bytes) else html
    if len(source) > chars:
        source = EMBEDDED.sub("data:,", source)  # pictures inside of the page must not use up its limit
    scan = _scan(source[:chars], url or "", tags)
    scan.cut = scan.cut or len(source) > chars
    markdown = tidy((_main(scan) if main else _whole(scan)) or _described(scan.facts))
    return _document(scan, markdown)


def joined(blocks: list[Block]) -> str:
    """The blocks as Markdown: items of a list close together, all else an empty line apart."""
    parts = []
    for before, block in zip([None, *blocks], blocks, strict=False):
        parts.append("\n" if before and before.tight and block.tight else "\n\n")
        parts.append(block.text)
    return "".join(parts[1:])


def _scan(source: str, url: str, tags: int) -> Scan:
    scan = Scan(Facts(url))
    kept: list[str] = []
    hiding = Hiding()

    def passing():  # noqa: ANN202
        for token in shown(scan.facts.watch(tokens(source, tags=tags)), hiding):
            if isinstance(token, Text):
                kept.append(token.raw)
                yield token
            elif token.name == "noscript" and len(token.content) > NOSCRIPT:
                kept.append(token.content)
                yield from shown(tokens(token.content, tags=tags), hiding)
            elif not token.content or token.name in KEPT_RAW:
                kept.append(source[token.start : token.end])
                scan.writer.base = scan.facts.base
                yield token

    scan.writer.feed(passing())
    scan.source = "".join(kept)
    scan.cut = scan.facts.tags >= tags
    return scan


def _whole(scan: Scan) -> str:
    return joined(scan.writer.blocks)


def _main(scan: Scan) -> str:
    """The main content; where it is found to be next to nothing, the page's own regions, widest last."""
    whole, outer = _whole(scan), scan.region("centre", "")
    found = _modelled(scan)
    if len(found) > SHARE * len(outer) and (len(found) >= ENOUGH or len(found) * 2 > len(whole)):
        return found
    return next((text for text in (scan.region("centre"), outer) if len(text) >= ENOUGH), whole)


def _modelled(scan: Scan) -> str:
    """What trafilatura takes for the main content; empty if the page is beyond its bounds."""
    if scan.facts.tags > MODEL_TAGS or len(scan.source) > MODEL_CHARS or not scan.writer.blocks:
        return ""
    import trafilatura

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    try:
        found = trafilatura.extract(
            scan.source, output_format="markdown", include_links=True, include_images=True, include_tables=True
        )
    except Exception:  # a library's bug must not lose the page: the fall-back reads it
        logging.getLogger(__name__).exception("main content could not be found")
        return ""
    return TARGET.sub(lambda match: absolute(match[1], scan.facts.base) or "#", found or "")


def _described(facts: Facts) -> str:
    """What a page without text says about itself: its noscript, its JSON-LD, its description, its title."""
    writer = Writer(base=facts.base)
    for content in facts.noscript:
        writer.feed(shown(tokens(content, tags=TAGS // 10), Hiding()))
    return joined(writer.blocks) or facts.body() or facts.description() or facts.title()


def _document(scan: Scan, markdown: str) -> Document:
    facts = scan.facts
    details = {"canonical": facts.canonical, "types": facts.kinds(), "scripts": facts.scripts, "cut": scan.cut}
    return Document(
        markdown=markdown,
        text=plain(markdown),
        title=facts.title(),
        description=facts.description(),
        language=facts.language or line_of(facts.metas.get("content-language"), 20),
        published=facts.published(),
        author=facts.author(),
        site=facts.site(),
        kind="html",
        links=_links(scan, markdown),
        images=list(scan.writer.images.values()),
        tables=scan.writer.tables,
        metadata={name: value for name, value in details.items() if value},
    )


def _links(scan: Scan, markdown: str) -> list[Link]:
    """Each address once with its first words; those in the content first, those around it last."""
    named: dict[str, Link] = {}
    rank: dict[str, int] = {}
    content = set(TARGET.findall(markdown))
    for link, region in scan.writer.links:
        if not named.get(link.url, Link("", "")).text:
            named[link.url] = link
        place = 0 if link.url in content else 2 if region == "around" else 1
        rank[link.url] = min(place, rank.get(link.url, 2))
    return sorted(named.values(), key=lambda link: rank[link.url])

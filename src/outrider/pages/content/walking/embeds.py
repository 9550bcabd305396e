"""What a page embeds for its readers to see or hear: players, charts, maps, documents; where it stands by itself.

Frames serve adverts, trackers and forms more often than media: of 660 on 1,497 pages every third shows anything. One is
told by what it is allowed to do (fill the screen, play), by its address, or by the name of a service; what stands in an
element that is named after adverts and the like is none.
"""

import re
from typing import Any
from urllib.parse import unquote

from outrider.pages.content.walking.blocks import Given
from outrider.pages.content.walking.words import NUMBER, bits

LATE = ("data-src", "data-lazy-src", "nitro-lazy-src", "data-litespeed-src", "data-original", "data-url")
ALLOWED = re.compile(r"fullscreen|autoplay|encrypted-media|picture-in-picture")
# Where in an address it is said, and services that do not say it. "www." and the like stand before the names.
MEDIA = re.compile(
    r"[/=?&.](?:embed|player)(?:[/=?&.]|$)|maps/d/|\.(?:pdf|mp[34]|m4[av]|webm|og[agv]|wav)(?:[?#]|$)"
    r"|//(?:[\w-]+\.)*(?:datawrapper\.de|dwcdn\.net|infogram\.com|flourish\.studio|tableau\.com|codesandbox\.io"
    r"|stackblitz\.com|jsfiddle\.net|soundcloud\.com|spotify\.com|bandcamp\.com|youtube(?:-nocookie)?\.com|vimeo\.com"
    r"|dailymotion\.com|bilibili\.com|rutube\.ru|wistia\.(?:net|com)|brightcove\.net|speakerdeck\.com|slideshare\.net"
    r"|observablehq\.com|figma\.com|docs\.google\.com|drive\.google\.com|archive\.org|openstreetmap\.org)/",
    re.IGNORECASE,
)
FURNITURE = re.compile(
    r"doubleclick|googlesyndication|googletagmanager|adservice|adsystem|adserver|/ads?[/?.]|//ads?\d*\.|recaptcha|captcha"
    r"|facebook\.com/(?:[\w.]+/)?plugins/(?!video|post)|/likes/|storage|/sync|pixel|consent|ns\.html"
    r"|contact-?form|(?:sib|job|jot|type|hs)form|/forms?/|newsletter|subscri|\.swf(?:[?#]|$)",
    re.IGNORECASE,
)
UNSEEN = sum(1 << NUMBER[name] for name in ("ad", "consent"))  # what the names of elements say that nobody reads
# Addresses of players, and of the pages that show the same to readers.
PAGES = tuple(
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
PLAYERS = {
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
EMBEDDING = ("iframe", "video", "audio", "embed", "object", *PLAYERS)
PLAYED = frozenset({"video", "audio", "amp-video", "amp-audio"})
FRAMES = frozenset({"iframe", "amp-iframe"})
TYPES = ("video/", "audio/", "application/pdf")
LABELS = ("title", "aria-label", "data-title", "playlabel", "alt")
SMALL = 40  # pixels in both directions, below which nothing is shown
LONG = 2_000  # characters of an address
LABEL = 200  # characters of what it is called
HOST = re.compile(r"//(?:www\.)?([^/?#:]+)")
FILE = re.compile(r"/([^/?#]+\.\w{2,4})(?:[?#]|$)")


def embedded(node: Any, tag: str, given: Given) -> tuple[str, str]:
    """Address and words of what an element embeds: of the page that shows it, if its address tells; both empty if there
    is nothing for a reader.
    """
    address = _address(node, tag, given)
    if not address or len(address) > LONG or FURNITURE.search(address) or _is_unseen(given):
        return "", ""
    if tag in PLAYED and "autoplay" in given and "controls" not in given:  # a picture that moves
        return "", ""
    page = _page(address)
    if page == address and not _is_media(address, tag, given):
        return "", ""
    return page, _label(given) or (tag in PLAYERS and _line(node.text())) or _named(page)


def _is_media(address: str, tag: str, given: Given) -> bool:
    if tag in PLAYED or MEDIA.search(address):
        return True
    if tag in FRAMES:
        return "allowfullscreen" in given or ALLOWED.search(given.get("allow") or "") is not None
    return (given.get("type") or "").startswith(TYPES)


def _address(node: Any, tag: str, given: Given) -> str:
    if tag in PLAYERS:
        name, before = PLAYERS[tag]
        value = (given.get(name) or "").strip()
        return before + value if value else ""
    names = (*LATE, "data" if tag == "object" else "src")
    found = next((value for name in names if _is_address(value := (given.get(name) or "").strip())), "")
    return found or _inner(node, tag)


def _inner(node: Any, tag: str) -> str:
    """The address that the elements in it give."""
    inner = {"video": "source[src]", "audio": "source[src]", "object": "embed[src]"}.get(tag)
    found = node.css_first(inner) if inner else None
    value = (found.attributes["src"] or "").strip() if found is not None else ""
    return value if _is_address(value) else ""


def _is_address(value: str) -> bool:
    return bool(value) and value[:5].lower() not in ("about", "data:", "blob:", "javas")


def _is_unseen(given: Given) -> bool:
    """Whether it is too small for anything to be seen, or called what readers pass over."""
    sizes = [_pixels(given.get(name)) for name in ("width", "height")]
    if min(sizes) < 2 or max(sizes) < SMALL:
        return True
    return any(bits(name) & UNSEEN for name in (given.get("class"), given.get("id"), given.get("name")) if name)


def _pixels(value: str | None) -> int:
    digits = (value or "").strip().removesuffix("px")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else SMALL


def _page(address: str) -> str:
    for pattern, page in PAGES:
        if found := pattern.search(address):
            return page.format(*(map(unquote, found.groups()) if page == "{}" else found.groups()))
    return address


def _label(given: Given) -> str:
    return next((_line(words) for name in LABELS if (words := given.get(name))), "")


def _line(words: str) -> str:
    return " ".join(words[: 2 * LABEL].split())[:LABEL]


def _named(address: str) -> str:
    """What something without a label is called: its file, or where it is."""
    if found := FILE.search(address) or HOST.search(address):
        return unquote(found[1])
    return address

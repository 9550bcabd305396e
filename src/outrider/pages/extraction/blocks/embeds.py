"""Resolve embedded players, charts, maps and documents to addresses and labels.

Frames serve adverts, trackers and forms more often than media. A frame counts as media by its permissions (fullscreen,
autoplay), by its address, or by the name of a service, unless an element around it is named after adverts.
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
# Path parts of embed addresses, and hosts of services without such parts.
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
AD_AND_CONSENT_BITS = sum(1 << CATEGORY_NUMBERS[name] for name in ("ad", "consent"))
# Address patterns of players, and the pages that show the same to readers.
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
# Custom elements for players: the attribute that holds the address or id, and the prefix of the address.
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
MAX_LABEL_CHARS = 200
MIN_EMBED_PIXELS = 40  # smaller embeds show nothing


def resolve_embed(node: Any, tag: str, attributes: Attributes) -> tuple[str, str]:
    """Return the address and label of an embed, both empty if it shows readers nothing.

    Players resolve to the page that shows the same video or track, if their address gives it.
    """
    label_attributes = ("title", "aria-label", "data-title", "playlabel", "alt")
    max_address_chars = 2_000
    address = _find_embed_address(node, tag, attributes)
    if (
        not address
        or len(address) > max_address_chars
        or NON_MEDIA_ADDRESS_PATTERN.search(address)
        or _is_invisible_embed(attributes)
    ):
        return "", ""
    if tag in MEDIA_TAGS and "autoplay" in attributes and "controls" not in attributes:
        return "", ""  # an animated image
    page = _resolve_player_page(address)
    if page == address and not _is_media_embed(address, tag, attributes):
        return "", ""
    label = next((label for name in label_attributes if (label := attributes.get(name))), "")
    label = " ".join(label[: 2 * MAX_LABEL_CHARS].split())
    if not label and tag in PLAYER_ATTRIBUTES:
        label = " ".join(node.text()[: 2 * MAX_LABEL_CHARS].split())
    if label:
        return page, label[:MAX_LABEL_CHARS]
    # Without a label, the file name or the host describes it best.
    name = re.search(r"/([^/?#]+\.\w{2,4})(?:[?#]|$)", page) or re.search(r"//(?:www\.)?([^/?#:]+)", page)
    return page, unquote(name[1]) if name else page


def shows_fallback(attributes: Attributes) -> bool:
    """Return whether browsers show an object's fallback content."""
    dead_plugins = ("flash", "futuresplash", "java", "silverlight", "realaudio", "x-director", "activex")
    data, kind = (attributes.get("data") or "").strip(), (attributes.get("type") or "").lower()
    return not data or data.lower().endswith((".swf", ".class", ".xap")) or any(name in kind for name in dead_plugins)


def _is_media_embed(address: str, tag: str, attributes: Attributes) -> bool:
    media_types = ("video/", "audio/", "application/pdf")
    if tag in MEDIA_TAGS or MEDIA_ADDRESS_PATTERN.search(address):
        return True
    if tag in FRAME_TAGS:
        return (
            "allowfullscreen" in attributes
            or MEDIA_PERMISSION_PATTERN.search(attributes.get("allow") or "") is not None
        )
    return (attributes.get("type") or "").startswith(media_types)


def _find_embed_address(node: Any, tag: str, attributes: Attributes) -> str:
    if tag in PLAYER_ATTRIBUTES:
        name, prefix = PLAYER_ATTRIBUTES[tag]
        value = (attributes.get(name) or "").strip()
        return prefix + value if value else ""
    for name in (*LAZY_SOURCE_ATTRIBUTES, "data" if tag == "object" else "src"):
        if _is_loadable_address(value := (attributes.get(name) or "").strip()):
            return value
    inner_selector = {"video": "source[src]", "audio": "source[src]", "object": "embed[src]"}.get(tag)
    inner = node.css_first(inner_selector) if inner_selector else None
    value = (inner.attributes["src"] or "").strip() if inner is not None else ""
    return value if _is_loadable_address(value) else ""


def _is_loadable_address(value: str) -> bool:
    return bool(value) and value[:5].lower() not in ("about", "data:", "blob:", "javas")


def _is_invisible_embed(attributes: Attributes) -> bool:
    """Return whether an embed is too small to see or named like an advert."""
    digits = [(attributes.get(name) or "").strip().removesuffix("px") for name in ("width", "height")]
    # Sizes in other units, and missing ones, are treated as large enough.
    pixels = [int(d) if d.isascii() and d.isdigit() and len(d) < 6 else MIN_EMBED_PIXELS for d in digits]
    if min(pixels) < 2 or max(pixels) < MIN_EMBED_PIXELS:
        return True
    return any(
        categorize_names(name) & AD_AND_CONSENT_BITS
        for name in (attributes.get("class"), attributes.get("id"), attributes.get("name"))
        if name
    )


def _resolve_player_page(address: str) -> str:
    for pattern, page in PLAYER_PAGES:
        if match := pattern.search(address):
            return page.format(*(map(unquote, match.groups()) if page == "{}" else match.groups()))
    return address

"""Which addresses belong to a crawl, and which of them are the same page."""

import re
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from outrider.core.egress.target import read_target
from outrider.core.errors import InvalidInput
from outrider.pages.crawl.plan import Plan

ELSEWHERE = "elsewhere"
LONGEST = 2_000  # characters of an address; what is longer is a machine talking to itself
REPEATED = 3  # equal folders in one path: beyond this a relative link goes round in circles
# What is no reading matter. Documents (pdf, docx, …) are not in it.
NOT_PAGES = re.compile(
    r"\.(?:7z|aac|apk|avi|avif|bin|bmp|br|bz2|cab|css|cur|deb|dmg|eot|exe|flac|flv|gif|gz|heic|ico|img|iso|jar|jpe?g|js"
    r"|m4a|m4v|map|mjs|mkv|mov|mp3|mp4|mpe?g|msi|ogg|ogv|otf|pkg|png|psd|rar|rpm|svgz?|swf|tar|tgz|tiff?|ttf|wasm|wav"
    r"|weba|webm|webmanifest|webp|whl|wmv|woff2?|xz|zip|zst)$",
    re.IGNORECASE,
)
# Names under which advertisers and newsletters count visits; none of them changes a page.
TRACKING = re.compile(r"(?:utm_\w+|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|twclid|igshid|mc_[ce]id|_ga|_gl)")

# Names under which servers keep visitors apart where these take no cookies; with them no page would ever come again.
SESSION = re.compile(r"phpsessid|jsessionid|aspsessionid\w*|asp\.net_sessionid|cfid|cftoken|zenid|oscsid|xtcsid|sessid")
# Names that may mean a visit or anything else: the value tells.
MAYBE_SESSION = re.compile(r"s|sid|session|session_?id|ses")
OF_A_VISIT = re.compile(r"(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])[0-9a-z,-]{20,}", re.IGNORECASE)
IN_PATH = re.compile(r";(?:jsessionid|sid|phpsessid)=[^/;?]*", re.IGNORECASE)


@dataclass(frozen=True)
class Scope:
    """The part of the web that a plan's crawl may read."""

    plan: Plan

    def refusal(self, url: str) -> str:
        """Why an address does not belong to the crawl; empty if it does."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not self._on_site(parts.hostname or ""):
            return ELSEWHERE
        if self.plan.within == "path" and not parts.path.startswith(self._folder):
            return ELSEWHERE
        if NOT_PAGES.search(parts.path):
            return "not a page"
        if len(url) > LONGEST or _in_circles(parts.path):
            return "endless"
        return "" if self._chosen(parts.path + (f"?{parts.query}" if parts.query else "")) else "not asked for"

    def _on_site(self, name: str) -> bool:
        name = name.removeprefix("www.")
        return name == self._host or (self.plan.within == "subdomains" and name.endswith(f".{self._host}"))

    def _chosen(self, path: str) -> bool:
        if any(pattern.match(path) for pattern in self._excluded):
            return False
        return not self._included or any(pattern.match(path) for pattern in self._included)

    @cached_property
    def _host(self) -> str:
        return (urlsplit(self.plan.start).hostname or "").removeprefix("www.")

    @cached_property
    def _folder(self) -> str:
        return urlsplit(self.plan.start).path.rpartition("/")[0] + "/"

    @cached_property
    def _included(self) -> list[re.Pattern[str]]:
        return [re.compile(translate(each)) for each in self.plan.include]

    @cached_property
    def _excluded(self) -> list[re.Pattern[str]]:
        return [re.compile(translate(each)) for each in self.plan.exclude]


def tidied(url: str) -> str:
    """The address as it is asked for: normalised, without fragment and without what only tells visits apart.

    Empty if it is no address.
    """
    try:
        parts = urlsplit(read_target(url).url)
    except (InvalidInput, ValueError):
        return ""
    parts = parts._replace(path=IN_PATH.sub("", parts.path))
    if not parts.query:
        return urlunsplit(parts)
    given = parse_qsl(parts.query, keep_blank_values=True)
    kept = [(name, value) for name, value in given if not (_tracks(name) or _is_session(name.lower(), value))]
    return urlunsplit(parts if len(kept) == len(given) else parts._replace(query=urlencode(kept)))


def page_key(url: str) -> str:
    """What two addresses of one page have in common: whatever the scheme, with or without `www.`."""
    parts = urlsplit(url)
    return urlunsplit(("", parts.netloc.removeprefix("www."), parts.path or "/", parts.query, ""))


def _tracks(name: str) -> bool:
    return TRACKING.fullmatch(name.lower()) is not None


def _is_session(name: str, value: str) -> bool:
    if SESSION.fullmatch(name):
        return True
    return MAYBE_SESSION.fullmatch(name) is not None and OF_A_VISIT.fullmatch(value) is not None


def _in_circles(path: str) -> bool:
    folders = [each for each in path.split("/") if each]
    return any(folders.count(each) > REPEATED for each in set(folders))

"""Which addresses belong to a crawl, and which of them are the same page."""

import re
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from outrider.core.egress.target import parse_target
from outrider.core.errors import InvalidInput
from outrider.pages.crawl.plan import CrawlPlan

OFF_SITE = "elsewhere"
# What is no reading matter. Documents (pdf, docx, …) are not in it.
NON_PAGE_SUFFIX = re.compile(
    r"\.(?:7z|aac|apk|avi|avif|bin|bmp|br|bz2|cab|css|cur|deb|dmg|eot|exe|flac|flv|gif|gz|heic|ico|img|iso|jar|jpe?g|js"
    r"|m4a|m4v|map|mjs|mkv|mov|mp3|mp4|mpe?g|msi|ogg|ogv|otf|pkg|png|psd|rar|rpm|svgz?|swf|tar|tgz|tiff?|ttf|wasm|wav"
    r"|weba|webm|webmanifest|webp|whl|wmv|woff2?|xz|zip|zst)$",
    re.IGNORECASE,
)
# Names under which advertisers and newsletters count visits; none of them changes a page.
TRACKING_NAME = re.compile(
    r"(?:utm_\w+|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|twclid|igshid|mc_[ce]id|_ga|_gl)"
)

# Names under which servers keep visitors apart where these take no cookies; with them no page would ever come again.
SESSION_NAME = re.compile(
    r"phpsessid|jsessionid|aspsessionid\w*|asp\.net_sessionid|cfid|cftoken|zenid|oscsid|xtcsid|sessid"
)
# Names that may mean a visit or anything else: the value tells.
POSSIBLE_SESSION_NAME = re.compile(r"s|sid|session|session_?id|ses")
SESSION_VALUE = re.compile(r"(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])[0-9a-z,-]{20,}", re.IGNORECASE)
PATH_SESSION = re.compile(r";(?:jsessionid|sid|phpsessid)=[^/;?]*", re.IGNORECASE)


@dataclass(frozen=True)
class CrawlScope:
    """The part of the web that a plan's crawl may read."""

    plan: CrawlPlan

    def explain_refusal(self, url: str) -> str:
        """Why an address does not belong to the crawl; empty if it does."""
        max_url_chars = 2_000  # characters of an address; what is longer is a machine talking to itself
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not self._on_site(parts.hostname or ""):
            return OFF_SITE
        if self.plan.within == "path" and not parts.path.startswith(self._start_folder):
            return OFF_SITE
        if NON_PAGE_SUFFIX.search(parts.path):
            return "not a page"
        if len(url) > max_url_chars or _has_repeated_folders(parts.path):
            return "endless"
        return "" if self._is_selected(parts.path + (f"?{parts.query}" if parts.query else "")) else "not asked for"

    def _on_site(self, name: str) -> bool:
        name = name.removeprefix("www.")
        return name == self._start_host or (self.plan.within == "subdomains" and name.endswith(f".{self._start_host}"))

    def _is_selected(self, path: str) -> bool:
        if any(pattern.match(path) for pattern in self._exclude_patterns):
            return False
        return not self._include_patterns or any(pattern.match(path) for pattern in self._include_patterns)

    @cached_property
    def _start_host(self) -> str:
        return (urlsplit(self.plan.start).hostname or "").removeprefix("www.")

    @cached_property
    def _start_folder(self) -> str:
        return urlsplit(self.plan.start).path.rpartition("/")[0] + "/"

    @cached_property
    def _include_patterns(self) -> list[re.Pattern[str]]:
        return [re.compile(translate(each)) for each in self.plan.include]

    @cached_property
    def _exclude_patterns(self) -> list[re.Pattern[str]]:
        return [re.compile(translate(each)) for each in self.plan.exclude]


def normalize_url(url: str) -> str:
    """The address as it is asked for: normalised, without fragment and without what only tells visits apart.

    Empty if it is no address.
    """
    try:
        parts = urlsplit(parse_target(url).url)
    except (InvalidInput, ValueError):
        return ""
    parts = parts._replace(path=PATH_SESSION.sub("", parts.path))
    if not parts.query:
        return urlunsplit(parts)
    given = parse_qsl(parts.query, keep_blank_values=True)
    kept = [(name, value) for name, value in given if not (_tracks(name) or _is_session_parameter(name.lower(), value))]
    return urlunsplit(parts if len(kept) == len(given) else parts._replace(query=urlencode(kept)))


def build_page_key(url: str) -> str:
    """What two addresses of one page have in common: whatever the scheme, with or without `www.`."""
    parts = urlsplit(url)
    return urlunsplit(("", parts.netloc.removeprefix("www."), parts.path or "/", parts.query, ""))


def _tracks(name: str) -> bool:
    return TRACKING_NAME.fullmatch(name.lower()) is not None


def _is_session_parameter(name: str, value: str) -> bool:
    if SESSION_NAME.fullmatch(name):
        return True
    return POSSIBLE_SESSION_NAME.fullmatch(name) is not None and SESSION_VALUE.fullmatch(value) is not None


def _has_repeated_folders(path: str) -> bool:
    max_repeats = 3  # equal folders in one path: beyond this a relative link goes round in circles
    folders = [each for each in path.split("/") if each]
    return any(folders.count(each) > max_repeats for each in set(folders))

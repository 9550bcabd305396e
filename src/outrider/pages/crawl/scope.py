"""Decide which addresses belong to a crawl or repeat a page."""

import re
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from outrider.core.egress.target import parse_target
from outrider.core.errors import InvalidInput
from outrider.pages.crawl.plan import CrawlPlan

OFF_SITE = "elsewhere"
# Files that are not documents; pdf, docx and the like are read.
NON_PAGE_SUFFIX = re.compile(
    r"\.(?:7z|aac|apk|avi|avif|bin|bmp|br|bz2|cab|css|cur|deb|dmg|eot|exe|flac|flv|gif|gz|heic|ico|img|iso|jar|jpe?g|js"
    r"|m4a|m4v|map|mjs|mkv|mov|mp3|mp4|mpe?g|msi|ogg|ogv|otf|pkg|png|psd|rar|rpm|svgz?|swf|tar|tgz|tiff?|ttf|wasm|wav"
    r"|weba|webm|webmanifest|webp|whl|wmv|woff2?|xz|zip|zst)$",
    re.IGNORECASE,
)
# Parameters with which advertisers and newsletters count visits; none of them changes a page.
TRACKING_NAME = re.compile(
    r"(?:utm_\w+|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|twclid|igshid|mc_[ce]id|_ga|_gl)"
)

# Session parameters for visitors without cookies; with them, no address would ever be seen twice.
SESSION_NAME = re.compile(
    r"phpsessid|jsessionid|aspsessionid\w*|asp\.net_sessionid|cfid|cftoken|zenid|oscsid|xtcsid|sessid"
)
# Names that may mean a session or anything else, depending on the value.
POSSIBLE_SESSION_NAME = re.compile(r"s|sid|session|session_?id|ses")
SESSION_VALUE = re.compile(r"(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])[0-9a-z,-]{20,}", re.IGNORECASE)
PATH_SESSION = re.compile(r";(?:jsessionid|sid|phpsessid)=[^/;?]*", re.IGNORECASE)


@dataclass(frozen=True)
class CrawlScope:
    """The part of the web that a plan's crawl may read."""

    plan: CrawlPlan

    def explain_refusal(self, url: str) -> str:
        """Return why an address does not belong to the crawl; empty if it does."""
        max_url_chars = 2_000  # longer addresses are generated endlessly by broken sites
        max_repeats = 3  # more equal folders in one path mean a relative link that leads in circles
        parts, start = urlsplit(url), urlsplit(self.plan.start)
        host, start_host = [(each.hostname or "").removeprefix("www.") for each in (parts, start)]
        is_subdomain = self.plan.within == "subdomains" and host.endswith(f".{start_host}")
        if parts.scheme not in ("http", "https") or not (host == start_host or is_subdomain):
            return OFF_SITE
        if self.plan.within == "path" and not parts.path.startswith(start.path.rpartition("/")[0] + "/"):
            return OFF_SITE
        if NON_PAGE_SUFFIX.search(parts.path):
            return "not a page"
        folders = [each for each in parts.path.split("/") if each]
        if len(url) > max_url_chars or any(folders.count(each) > max_repeats for each in set(folders)):
            return "endless"
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        is_excluded = any(pattern.match(path) for pattern in self._exclude_patterns)
        is_included = not self._include_patterns or any(pattern.match(path) for pattern in self._include_patterns)
        return "" if is_included and not is_excluded else "not asked for"

    @cached_property
    def _include_patterns(self) -> list[re.Pattern[str]]:
        return [re.compile(translate(each)) for each in self.plan.include]

    @cached_property
    def _exclude_patterns(self) -> list[re.Pattern[str]]:
        return [re.compile(translate(each)) for each in self.plan.exclude]


def normalize_url(url: str) -> str:
    """Return the address without fragment, tracking and session parameters; empty if it is not an address."""
    try:
        parts = urlsplit(parse_target(url).url)
    except (InvalidInput, ValueError):
        return ""
    parts = parts._replace(path=PATH_SESSION.sub("", parts.path))
    if not parts.query:
        return urlunsplit(parts)
    parameters = parse_qsl(parts.query, keep_blank_values=True)
    kept_parameters = []
    for name, value in parameters:
        key = name.lower()
        is_session = POSSIBLE_SESSION_NAME.fullmatch(key) and SESSION_VALUE.fullmatch(value)
        if not (TRACKING_NAME.fullmatch(key) or SESSION_NAME.fullmatch(key) or is_session):
            kept_parameters.append((name, value))
    return urlunsplit(
        parts if len(kept_parameters) == len(parameters) else parts._replace(query=urlencode(kept_parameters))
    )


def build_page_key(url: str) -> str:
    """Return the same key for all addresses of a page, regardless of scheme and `www.`."""
    parts = urlsplit(url)
    return urlunsplit(("", parts.netloc.removeprefix("www."), parts.path or "/", parts.query, ""))


def toggle_slash(url: str) -> str:
    """Return the address with a slash more or less at the end of its path; empty if it has parameters."""
    parts = urlsplit(url)
    if parts.query or parts.path in ("", "/"):
        return ""
    path = parts.path.removesuffix("/") if parts.path.endswith("/") else f"{parts.path}/"
    return urlunsplit(parts._replace(path=path))


def find_slash_twin(url: str, final_url: str) -> str:
    """Return where a page leads, if that differs only in the slash at its end; else ""."""
    twin = toggle_slash(url)
    return twin if twin and final_url and build_page_key(twin) == build_page_key(normalize_url(final_url)) else ""

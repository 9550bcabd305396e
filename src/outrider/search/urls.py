"""Addresses of results: unwrapped from redirects, and brought to one form for comparison."""

import base64
import binascii
import re
from urllib.parse import parse_qs, parse_qsl, unquote, urlencode, urlsplit, urlunsplit

# Parameters that only tell the site where a visitor came from.
TRACKING_PARAMETER = re.compile(
    r"utm_\w+|gclid|gclsrc|gbraid|wbraid|dclid|fbclid|msclkid|yclid|twclid|ttclid|igshid|li_fat_id|mc_cid|mc_eid"
    r"|_ga|_gl|_hsenc|_hsmi|mkt_tok|oly_anon_id|oly_enc_id|vero_id|srsltid|spm|ref_src|cmpid|s_cid",
    re.IGNORECASE,
)
DEFAULT_PORTS = {"http": 80, "https": 443}
AMP_CACHE_PATH = re.compile(r"/(?:amp|c|v|wp)/s/(?P<rest>.+)")


def is_web_url(url: str) -> bool:
    """Whether it is an absolute http(s) address with a host."""
    try:
        parts = urlsplit(url)
        return parts.scheme.lower() in DEFAULT_PORTS and bool(parts.hostname) and " " not in url
    except ValueError:
        return False


def parse_host(url: str) -> str:
    """The host in lower case without a final dot, or "" for what is no address."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def canonicalize_url(url: str) -> str:
    """One form for the addresses of one page; for comparison, not for opening.

    Scheme, `www.`/`m.`/`amp.` labels, default port, final slash, fragment, tracking parameters, the
    order of parameters and AMP variants make no difference. An address that cannot be parsed is
    returned as it is. Applying it twice changes nothing.
    """
    url = unwrap_redirect(url.strip())
    if not is_web_url(url):
        return url
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        return url
    host = _plain_host(parse_host(url))
    shown = f"[{host}]" if ":" in host else host
    netloc = shown if port in {None, DEFAULT_PORTS[parts.scheme]} else f"{shown}:{port}"
    return urlunsplit(("https", netloc, _canonicalize_path(parts.path), _canonicalize_query(parts.query), ""))


def _plain_host(host: str) -> str:
    alias_labels = frozenset({"www", "m", "mobile", "amp"})  # the same site, dressed otherwise
    labels = host.split(".")
    return ".".join([label for label in labels[:-2] if label not in alias_labels] + labels[-2:])


def _canonicalize_path(path: str) -> str:
    plain = path.rstrip("/")
    while plain.lower().endswith(("/amp", ".amp", "/")):
        plain = plain[: -len("/amp")] if plain.lower().endswith("amp") else plain[:-1]
    return plain


def _canonicalize_query(query: str) -> str:
    amp_parameters = frozenset({("amp", "1"), ("amp", "true"), ("outputtype", "amp"), ("amp", "")})
    kept = [
        (name, value)
        for name, value in parse_qsl(query, keep_blank_values=True)
        if not TRACKING_PARAMETER.fullmatch(name) and (name.lower(), value.lower()) not in amp_parameters
    ]
    return urlencode(sorted(kept))


def unwrap_redirect(url: str) -> str:
    """The address that a search engine's redirect leads to; any other address unchanged."""
    for _ in range(4):  # wrappers within wrappers, but never for ever
        inner = _find_redirect_target(url)
        if inner is None or not is_web_url(inner) or inner == url:
            return url
        url = inner
    return url


def _find_redirect_target(url: str) -> str | None:
    try:
        parts = urlsplit(url if "://" in url else f"https:{url}" if url.startswith("//") else url)
        host, asked = (parts.hostname or ""), parse_qs(parts.query)
    except ValueError:
        return None
    if host.endswith("duckduckgo.com") and parts.path.rstrip("/") == "/l":
        return _get_first_value(asked, "uddg")
    if host.endswith("bing.com") and parts.path.startswith("/ck/"):
        return _decode_bing_target(_get_first_value(asked, "u") or "")
    if host.endswith("r.search.yahoo.com"):
        found = re.search(r"/RU=([^/]+)", parts.path)
        return unquote(found[1]) if found else None
    return _find_google_target(host, parts.path, asked)


def _find_google_target(host: str, path: str, asked: dict[str, list[str]]) -> str | None:
    if re.fullmatch(r"(?:www\.)?google\.[a-z.]{2,6}", host):
        if path == "/url":
            return _get_first_value(asked, "url") or _get_first_value(asked, "q")
        cached = AMP_CACHE_PATH.fullmatch(path)
        return f"https://{cached['rest']}" if cached else None
    if host.endswith("cdn.ampproject.org"):
        cached = AMP_CACHE_PATH.fullmatch(path)
        return f"https://{cached['rest']}" if cached else None
    return None


def _get_first_value(asked: dict[str, list[str]], name: str) -> str | None:
    return next(iter(asked.get(name, [])), None)


def _decode_bing_target(value: str) -> str | None:
    """Bing puts `a1` and the address in URL-safe base64 into `u`."""
    text = value.removeprefix("a1")
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except (binascii.Error, ValueError):
        return None


def normalize_site(site: str) -> str:
    """What a person writes for a site (`https://www.Example.com/docs/`) as host and path: `example.com/docs`."""
    text = site.strip().lower().removeprefix("site:").strip()
    text = re.sub(r"^[a-z]+://", "", text).rstrip("/")
    return text.removeprefix("www.").removeprefix("*.").removeprefix(".")


def is_within_site(url: str, site: str) -> bool:
    """Whether the address lies on the site (`example.com`, `example.com/docs`) or one of its subdomains."""
    wanted, _, path = normalize_site(site).partition("/")
    host = parse_host(url)
    if host != wanted and not host.endswith(f".{wanted}"):
        return False
    return not path or urlsplit(url).path.lower().strip("/").startswith(path)

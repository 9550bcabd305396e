"""Unwrap the redirects of search engines, and compare addresses."""

import base64
import binascii
import re
from urllib.parse import parse_qs, parse_qsl, unquote, urlencode, urlsplit, urlunsplit

# Parameters that only identify the origin of a visitor.
TRACKING_PARAMETER = re.compile(
    r"utm_\w+|gclid|gclsrc|gbraid|wbraid|dclid|fbclid|msclkid|yclid|twclid|ttclid|igshid|li_fat_id|mc_cid|mc_eid"
    r"|_ga|_gl|_hsenc|_hsmi|mkt_tok|oly_anon_id|oly_enc_id|vero_id|srsltid|spm|ref_src|cmpid|s_cid",
    re.IGNORECASE,
)
DEFAULT_PORTS = {"http": 80, "https": 443}
AMP_CACHE_PATH = re.compile(r"/(?:amp|c|v|wp)/s/(?P<rest>.+)")


def is_web_url(url: str) -> bool:
    """Return whether it is an absolute http(s) address with a host."""
    try:
        parts = urlsplit(url)
        return parts.scheme.lower() in DEFAULT_PORTS and bool(parts.hostname) and " " not in url
    except ValueError:
        return False


def parse_host(url: str) -> str:
    """Return the host in lower case, or "" without one.

    A final dot is removed.
    """
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def canonicalize_url(url: str) -> str:
    """Return one form for all addresses of a page, to compare them and not to open them.

    Scheme, `www.`/`m.`/`amp.` labels, default port, final slash, fragment, tracking parameters, the
    order of parameters and AMP variants make no difference. An address that cannot be parsed is
    returned unchanged. Applying it twice changes nothing.
    """
    url = unwrap_redirect(url.strip())
    if not is_web_url(url):
        return url
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        return url
    alias_labels = frozenset({"www", "m", "mobile", "amp"})  # other subdomains of the same site
    labels = parse_host(url).split(".")
    host = ".".join([label for label in labels[:-2] if label not in alias_labels] + labels[-2:])
    netloc = f"[{host}]" if ":" in host else host
    if port not in {None, DEFAULT_PORTS[parts.scheme]}:
        netloc += f":{port}"
    path = parts.path.rstrip("/")
    while path.lower().endswith(("/amp", ".amp", "/")):
        path = path[: -len("/amp")] if path.lower().endswith("amp") else path[:-1]
    amp_parameters = frozenset({("amp", "1"), ("amp", "true"), ("outputtype", "amp"), ("amp", "")})
    parameters = [
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if not TRACKING_PARAMETER.fullmatch(name) and (name.lower(), value.lower()) not in amp_parameters
    ]
    return urlunsplit(("https", netloc, path, urlencode(sorted(parameters)), ""))


def unwrap_redirect(url: str) -> str:
    """Return the address that a search engine's redirect leads to; any other address unchanged."""
    max_nesting = 4  # a redirect may lead to a redirect
    for _ in range(max_nesting):
        inner = _find_redirect_target(url)
        if inner is None or not is_web_url(inner) or inner == url:
            return url
        url = inner
    return url


def _find_redirect_target(url: str) -> str | None:
    try:
        parts = urlsplit(url if "://" in url else f"https:{url}" if url.startswith("//") else url)
        host, parameters = (parts.hostname or ""), parse_qs(parts.query)
    except ValueError:
        return None
    if host.endswith("duckduckgo.com") and parts.path.rstrip("/") == "/l":
        return _get_first_value(parameters, "uddg")
    if host.endswith("bing.com") and parts.path.startswith("/ck/"):
        value = _get_first_value(parameters, "u") or ""
        text = value.removeprefix("a1")
        try:
            return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
        except (binascii.Error, ValueError):
            return None
    if host.endswith("r.search.yahoo.com"):
        found = re.search(r"/RU=([^/]+)", parts.path)
        return unquote(found[1]) if found else None
    return _find_google_target(host, parts.path, parameters)


def _find_google_target(host: str, path: str, parameters: dict[str, list[str]]) -> str | None:
    is_google = re.fullmatch(r"(?:www\.)?google\.[a-z.]{2,6}", host) is not None
    if is_google and path == "/url":
        return _get_first_value(parameters, "url") or _get_first_value(parameters, "q")
    if is_google or host.endswith("cdn.ampproject.org"):
        cached = AMP_CACHE_PATH.fullmatch(path)
        return f"https://{cached['rest']}" if cached else None
    return None


def _get_first_value(parameters: dict[str, list[str]], name: str) -> str | None:
    return next(iter(parameters.get(name, [])), None)


def normalize_site(site: str) -> str:
    """Return a site as people write it (`https://www.Example.com/docs/`) as host and path: `example.com/docs`."""
    text = site.strip().lower().removeprefix("site:").strip()
    text = re.sub(r"^[a-z]+://", "", text).rstrip("/")
    return text.removeprefix("www.").removeprefix("*.").removeprefix(".")


def is_within_site(url: str, site: str) -> bool:
    """Return whether the address is on the site (`example.com`, `example.com/docs`) or one of its subdomains."""
    site_host, path = split_site(site)
    host = parse_host(url)
    if host != site_host and not host.endswith(f".{site_host}"):
        return False
    # Whole segments count: `/docs-old` is not below `/docs`.
    return not path or f"{urlsplit(url).path.lower().strip('/')}/".startswith(f"{path}/")


def split_site(site: str) -> tuple[str, str]:
    """Return the host and the path of a site, each without slashes at its ends."""
    host, _, path = normalize_site(site).partition("/")
    return host, path.strip("/")

"""An address as a browser reads it (url.spec.whatwg.org), taken apart for policy and for dialling."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from ada_url import URL

from outrider.core.egress.addresses import IpAddress, parse_address
from outrider.core.errors import InvalidInput

DEFAULT_PORTS = {"http": 80, "https": 443}
QueryParams = Mapping[str, Any] | Sequence[tuple[str, Any]] | None


@dataclass(frozen=True)
class RequestTarget:
    """Where a request goes.

    Attributes:
        url: The whole address, normalised, without fragment.
        scheme: `http` or `https`.
        host: ASCII name without a final dot, or an IP address without brackets.
        port: The port, the scheme's default included.
        path: What stands in the request line, query included.
        address: The IP address, where the host is one.
    """

    url: str
    scheme: str
    host: str
    port: int
    path: str
    address: IpAddress | None

    @property
    def authority(self) -> str:
        """The Host header's value (RFC 9110 section 7.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int]:
        """What has to be equal for two addresses to share credentials."""
        return self.scheme, self.host, self.port


def parse_target(text: str, *, base: str | None = None, params: QueryParams = None) -> RequestTarget:
    """The target that a browser would understand by `text` (relative to `base` if given).

    Args:
        text: The address as somebody wrote it.
        base: The address that a relative one starts from.
        params: A mapping or pairs to add to the query; values that are None are left out.

    Raises:
        InvalidInput: with code `bad_url`.
    """
    domain_host_type = 0  # `ada_url.HostType.DEFAULT`, of a host that is no IP address
    url = _parse_url(text, base)
    scheme = url.protocol.rstrip(":")
    if scheme not in DEFAULT_PORTS:
        error = build_url_error(
            f"{scheme}: addresses are not fetched", "use an address that starts with https:// or http://"
        )
        error.details["scheme"] = scheme
        raise error
    if url.username or url.password:
        raise build_url_error("the address holds a user name or password", "leave out what stands before the @")
    url.hash = ""
    if query := _encode_query(params):
        url.search = f"{url.search}&{query}" if url.search else query
    host = _host(url.hostname)
    port = int(url.port) if url.port else DEFAULT_PORTS[scheme]
    if not port:
        raise build_url_error("port 0 cannot be reached", "leave the port out, or name the right one")
    address = parse_address(host) if url.host_type != domain_host_type else None
    return RequestTarget(url.href, scheme, host, port, url.pathname + url.search, address)


def parse_authority(text: str) -> tuple[str, int]:
    """Host and port of a CONNECT target (RFC 9110 section 9.3.6). Raises InvalidInput with code `bad_url`."""
    host, colon, port = text.rpartition(":")
    target = parse_target(f"http://{text}/")
    if not (colon and host and port.isascii() and port.isdigit()) or target.path != "/" or "/" in text:
        raise build_url_error("the tunnel's address is not host:port", "")
    return target.host, target.port


def build_url_error(message: str, hint: str) -> InvalidInput:
    return InvalidInput(message, code="bad_url", hint=hint)


def _parse_url(text: str, base: str | None) -> URL:
    max_url_chars = 32_768  # characters; browsers and servers stop earlier
    if len(text) > max_url_chars:
        raise build_url_error(f"the address is longer than {max_url_chars:,} characters", "use a shorter address")

    try:
        return URL(text, base)
    except ValueError:
        raise build_url_error("the address does not parse", _suggest_fix(text.strip())) from None


def _suggest_fix(text: str) -> str:
    """What to do about an address that does not parse."""
    if "://" not in text:
        return "start the address with https://"
    if not text[0].isalpha():
        return "give the address alone, without quotes and brackets around it"
    return "check the address's host and port"


def _host(hostname: str) -> str:
    host = hostname.strip("[]").removesuffix(".")
    if not host or "" in host.split("."):
        raise build_url_error("the address names no host", "write it as https://host/path")
    return host


def _encode_query(params: QueryParams) -> str:
    """The parameters as a query; lists repeat their name."""
    pairs = params.items() if isinstance(params, Mapping) else params or ()
    flat = [
        (name, value) for name, values in pairs for value in (values if isinstance(values, list | tuple) else [values])
    ]
    return urlencode([(name, _text(value)) for name, value in flat if value is not None])


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

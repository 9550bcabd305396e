"""Parse addresses as browsers do (url.spec.whatwg.org)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from ada_url import URL, HostType

from outrider.core.egress.addresses import IpAddress, parse_address
from outrider.core.errors import InvalidInput

DEFAULT_PORTS = {"http": 80, "https": 443}
QueryParams = Mapping[str, Any] | Sequence[tuple[str, Any]] | None


@dataclass(frozen=True)
class RequestTarget:
    """The parsed address of a request.

    Attributes:
        url: The normalized address, without fragment.
        scheme: `http` or `https`.
        host: ASCII name without a final dot, or an IP address without brackets.
        port: The port, or the scheme's default.
        path: Path and query, as in the request line.
        address: The IP address, if the host is one.
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
        """Scheme, host and port; addresses with equal origins may share credentials."""
        return self.scheme, self.host, self.port


def parse_target(text: str, *, base: str | None = None, params: QueryParams = None) -> RequestTarget:
    """Parse an address as browsers do.

    Args:
        text: The address as written.
        base: The address that a relative one starts from.
        params: A mapping or pairs to add to the query; values that are None are left out.

    Raises:
        InvalidInput: with code `bad_url`.
    """
    url = _parse_url(text, base)
    scheme = url.protocol.rstrip(":")
    if scheme not in DEFAULT_PORTS:
        hint = "use an address that starts with https:// or http://"
        error = build_url_error(f"{scheme}: addresses are not fetched", hint)
        error.details["scheme"] = scheme
        raise error
    if url.username or url.password:
        raise build_url_error("the address holds a user name or password", "leave out everything before the @")
    url.hash = ""
    if params and (query := _encode_query(params)):
        url.search = f"{url.search}&{query}" if url.search else query
    host = url.hostname.strip("[]").removesuffix(".")
    if not host or "" in host.split("."):
        raise build_url_error("the address names no host", "write it as https://host/path")
    port = int(url.port) if url.port else DEFAULT_PORTS[scheme]
    if not port:
        raise build_url_error("port 0 cannot be reached", "leave the port out, or name the right one")
    address = None if url.host_type == HostType.DEFAULT else parse_address(host)
    return RequestTarget(url.href, scheme, host, port, url.pathname + url.search, address)


def parse_authority(text: str) -> tuple[str, int]:
    """Return host and port of a CONNECT target (RFC 9110 section 9.3.6). Raises InvalidInput with code `bad_url`."""
    host, colon, port = text.rpartition(":")
    target = parse_target(f"http://{text}/")
    if not (colon and host and port.isascii() and port.isdigit()) or target.path != "/" or "/" in text:
        raise build_url_error("the tunnel's address is not host:port", "")
    return target.host, target.port


def build_url_error(message: str, hint: str) -> InvalidInput:
    """Return an InvalidInput with code `bad_url`."""
    return InvalidInput(message, code="bad_url", hint=hint)


def _parse_url(text: str, base: str | None) -> URL:
    max_url_chars = 32_768  # browsers and servers accept less
    if len(text) > max_url_chars:
        raise build_url_error(f"the address is longer than {max_url_chars:,} characters", "use a shorter address")
    try:
        return URL(text, base)
    except ValueError:
        hint = "check the address's host and port"
        if "://" not in text:
            hint = "start the address with https://"
        elif not text.strip()[0].isalpha():
            hint = "give the address alone, without quotes and brackets around it"
        raise build_url_error("this is not an http(s) address", hint) from None


def _encode_query(params: QueryParams) -> str:
    """Encode the parameters as a query; lists repeat their name."""
    pairs = params.items() if isinstance(params, Mapping) else params or ()
    flat = [
        (name, value) for name, values in pairs for value in (values if isinstance(values, list | tuple) else [values])
    ]
    # Booleans in lower case, as most interfaces expect them.
    texts = [
        (name, str(value).lower() if isinstance(value, bool) else str(value))
        for name, value in flat
        if value is not None
    ]
    return urlencode(texts)

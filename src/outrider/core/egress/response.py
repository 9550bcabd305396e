"""HTTP responses, their headers, and the limits of requests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from json import loads
from typing import Any

from outrider.core.errors import Unavailable


class Headers(Mapping[str, str]):
    """The headers of a response; names in any case, repeated ones joined by a comma.

    Args:
        pairs: Names and values in order.
    """

    def __init__(self, pairs: Sequence[tuple[str, str]] = ()) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name.lower(), []).append(value)

    def __getitem__(self, name: str) -> str:
        return ", ".join(self._values[name.lower()])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Headers({list(self._values)})"  # names only: values may be secrets

    def get_all(self, name: str) -> list[str]:
        """Return the values of a header that may repeat."""
        return list(self._values.get(name.lower(), []))


@dataclass(frozen=True)
class RequestLimits:
    """Limits of one request.

    Attributes:
        timeout_s: Seconds for all steps together: name resolution, connections, redirects and body.
        max_body_bytes: Size of the decoded body.
        max_redirects: Redirects after the first address.
    """

    timeout_s: float = 25.0
    max_body_bytes: int = 5_000_000
    max_redirects: int = 8

    @property
    def max_wire_bytes(self) -> int:
        """Maximum size of a body on the wire, and after each step of its decoding."""
        return 2 * self.max_body_bytes + 65_536


@dataclass(frozen=True)
class HttpResponse:
    """A response with any status.

    Attributes:
        url: The address that answered, without fragment.
        status: The HTTP status.
        headers: The headers.
        body: Decoded, at most `RequestLimits.max_body_bytes` bytes.
        redirects: The addresses that redirected, in order.
        is_truncated: Whether the body was cut.
    """

    url: str
    status: int
    headers: Headers
    body: bytes
    redirects: tuple[str, ...] = ()
    is_truncated: bool = False

    @property
    def content_type(self) -> str:
        """The MIME type in lower case without parameters; empty if none is declared."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def full_bytes(self) -> int:
        """The size of the whole body: what the server declares, or more if more has arrived."""
        declared = self.headers.get("content-length", "")
        is_number = declared.isascii() and declared.isdigit() and len(declared) < 16
        return max(int(declared) if is_number else 0, len(self.body))

    @property
    def charset(self) -> str | None:
        """The declared charset in lower case, known or not; None if none is declared."""
        for parameter in self.headers.get("content-type", "").split(";")[1:]:
            name, _, value = parameter.partition("=")
            if name.strip().lower() == "charset":
                return value.strip().strip("\"'").lower() or None
        return None

    def json(self) -> Any:
        """Return the body as JSON. Raises Unavailable with code `bad_json`."""
        try:
            return loads(self.body)
        except (ValueError, RecursionError):
            host = self.url.split("/")[2]
            raise Unavailable(f"{host} answered {self.status} with a body that is not JSON", code="bad_json") from None

"""What an operator may open and close, and what is refused unless they do."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Network, ip_network

from ada_url import URL, HostType
from pydantic import BaseModel, Field, SecretStr, field_validator

from outrider.core.egress.addresses import Address, Network, Verdict, classify, embedded
from outrider.core.errors import Refused

ANY_PORT = 0
MAPPED = IPv6Network("::ffff:0:0/96")
# Names that lead to this machine, this network, or a cloud's credentials, whatever a resolver answers.
LOCAL_NAMES = (  # RFC 6761, RFC 6762, RFC 8375, ICANN's .internal (2024), and what /etc/hosts commonly holds
    "localhost",
    "localdomain",
    "local",
    "internal",
    "home.arpa",
    "ip6-localhost",
    "ip6-loopback",
    "metadata",
    "instance-data",
)
# Kinds that a name on the allow list may resolve to: whoever allows an intranet name means its private address.
VOUCHED = frozenset({"public", "private", "shared"})
LOOPBACK_NAMES = ("localhost", "localdomain", "ip6-localhost", "ip6-loopback")
# Kinds that not even an address from the operator's own configuration may be.
NEVER = frozenset({"metadata", "multicast", "broadcast", "unspecified"})
HOST_PORT = re.compile(r"(?P<host>\[[^\[\]]+\]|[^:\[\]]+)(?::(?P<port>\d{1,5}|\*))?")


PROXY = re.compile(r"http://([^@/\s]+@)?(\[[0-9a-fA-F:.]+\]|[^:@/\s]+)(:\d{1,5})?/?")


class EgressSettings(BaseModel, extra="forbid", defer_build=True):
    """Settings: where requests may go. Entries are domains, IP addresses or CIDR ranges, each with `:port` or not."""

    allow: list[str] = Field(
        default=[],
        description="Opened although the defaults refuse it: `intranet.example`, `*.example`, `10.1.0.0/16`, "
        "`localhost:3000`, `[::1]:*`",
    )
    deny: list[str] = Field(default=[], description="Refused although the defaults would let it pass; wins over allow")
    ports: list[int] = Field(default=[80, 443], description="Ports that may be reached everywhere")
    only: bool = Field(default=False, description="Nothing may be reached but what `allow` lists")
    proxy: SecretStr | None = Field(
        default=None,
        description="A forward proxy that resolves and dials for us: `http://user:pass@proxy.example:3128`",
    )

    @field_validator("allow", "deny")
    @classmethod
    def _entries_parse(cls, entries: list[str]) -> list[str]:
        for entry in entries:
            read_entry(entry)
        return entries

    @field_validator("ports")
    @classmethod
    def _ports_exist(cls, ports: list[int]) -> list[int]:
        for port in ports:
            if not 0 < port < 65_536:
                raise ValueError(f"port {port} is not between 1 and 65535")
        return ports

    @field_validator("proxy")
    @classmethod
    def _proxy_parses(cls, proxy: SecretStr | None) -> SecretStr | None:
        if proxy and not PROXY.fullmatch(proxy.get_secret_value()):
            raise ValueError("write the forward proxy as http://host:port or http://user:pass@host:port")
        return proxy


@dataclass(frozen=True)
class Entry:
    """One line of an allow or deny list. `port` None is no port given, ANY_PORT is `:*`."""

    text: str
    name: str = ""
    below: bool = False
    network: Network | None = None
    port: int | None = None

    def names(self, host: str) -> bool:
        """Whether the entry is a domain that covers this host name."""
        return bool(self.name) and (host.endswith(f".{self.name}") or (host == self.name and not self.below))

    def holds(self, address: Address | None) -> bool:
        """Whether the entry is a range with this address."""
        return address is not None and self.network is not None and address in self.network

    def opens(self, port: int) -> bool:
        """Whether the entry itself permits the port."""
        return self.port in (ANY_PORT, port)

    def fits(self, port: int) -> bool:
        """Whether the entry speaks about the port at all."""
        return self.port is None or self.opens(port)


def read_entry(text: str) -> Entry:
    """Reads one entry of a list. Raises ValueError that names it."""
    given = text.strip()
    if given.count(":") > 1 and not given.startswith("["):
        return Entry(text, network=_network(given, text))
    match = HOST_PORT.fullmatch(given)
    if not match:
        raise ValueError(f"{text!r} is neither a domain nor an address nor a range; write the host alone, or host:port")
    host, port = match["host"], _port(match["port"], text)
    if host.startswith("[") or re.fullmatch(r"[\d./]+", host):
        return Entry(text, network=_network(host.strip("[]"), text), port=port)
    return _domain(host, port, text)


def _port(digits: str | None, text: str) -> int | None:
    if digits is None:
        return None
    if digits == "*":
        return ANY_PORT
    if not 0 < int(digits) < 65_536:
        raise ValueError(f"{text!r}: port {digits} is not between 1 and 65535")
    return int(digits)


def _network(host: str, text: str) -> Network:
    try:
        network = ip_network(host)
    except ValueError as error:
        raise ValueError(f"{text!r} is no address or range: {error}") from None
    if isinstance(network, IPv6Network) and network.subnet_of(MAPPED):
        inner = int(network.network_address) & 0xFFFF_FFFF
        return ip_network((inner, network.prefixlen - 96))
    return network


def _domain(host: str, port: int | None, text: str) -> Entry:
    below = host.startswith("*.")
    wanted = host.removeprefix("*.")
    try:
        url = URL(f"http://{wanted}/")
    except ValueError:
        raise ValueError(f"{text!r} is no domain name") from None
    name = url.hostname.removesuffix(".")
    if url.host_type != HostType.DEFAULT or "*" in name or "" in name.split(".") or url.pathname != "/" or "@" in host:
        raise ValueError(f"{text!r} is no domain name; write `example.com` or `*.example.com`")
    return Entry(text, name=name, below=below, port=port)


class Policy:
    """The settings, compiled, with the defaults that they change.

    Every method raises Refused with code `egress`, naming what was refused and the setting that
    would open it.
    """

    def __init__(self, settings: EgressSettings) -> None:
        self.settings = settings
        self._allow = tuple(read_entry(each) for each in settings.allow)
        self._deny = tuple(read_entry(each) for each in settings.deny)
        self._ports = frozenset(settings.ports)

    def check_name(self, host: str, port: int, *, trusted: bool) -> None:
        """Refuses what is settled before the name is resolved."""
        denied = next((each for each in self._deny if each.names(host) and each.fits(port)), None)
        if denied:
            raise _refused(f"{host} is on the deny list ({denied.text})", host, "")
        if trusted or self._named(host, port):
            return
        if _under(host, LOCAL_NAMES):
            raise _refused(f"{host} is a local name", host, _add(host, port, self._ports))
        if self.settings.only and not any(each.network and each.fits(port) for each in self._allow):
            raise _refused(f"{host} is not on the allow list, and nothing else may be reached", host, _add(host, port))
        if port not in self._ports and not any(each.network and each.opens(port) for each in self._allow):
            raise _refused(f"port {port} of {host} may not be reached", host, _add(host, port))

    def check_address(self, host: str, port: int, address: Address, *, trusted: bool) -> None:
        """Refuses an address that the host resolved to, or that it is."""
        verdict = classify(address)
        self._check_denied(host, port, verdict)
        if trusted:
            if verdict.kind in NEVER:
                raise _refused(f"{host} is {verdict}", host, "")
            return
        named, held = self._named(host, port), self._held(verdict, port)
        if self.settings.only and not (named or held):
            raise _refused(f"{host} is not on the allow list, and nothing else may be reached", host, _add(host, port))
        if not (verdict.public or held or (named and _vouched(host, verdict))):
            raise _refused(f"{host} is not public: {verdict}", host, _add(str(address), port, self._ports))
        if port not in self._ports and not any(each.opens(port) for each in (*named, *held)):
            raise _refused(f"port {port} of {host} may not be reached", host, _add(host, port))

    def _check_denied(self, host: str, port: int, verdict: Verdict) -> None:
        inner = None if verdict.address.version == 4 else embedded(verdict.address)
        for each in self._deny:
            if each.fits(port) and (each.holds(verdict.address) or each.holds(inner)):
                raise _refused(f"{host} is {verdict.address}, on the deny list ({each.text})", host, "")

    def _named(self, host: str, port: int) -> list[Entry]:
        return [each for each in self._allow if each.names(host) and each.fits(port)]

    def _held(self, verdict: Verdict, port: int) -> list[Entry]:
        """The ranges that open the address. Metadata addresses open only by themselves, never as part of a range."""
        entries = [each for each in self._allow if each.holds(verdict.address) and each.fits(port)]
        if verdict.kind != "metadata":
            return entries
        return [each for each in entries if each.network and each.network.num_addresses == 1]


def _vouched(host: str, verdict: Verdict) -> bool:
    return verdict.kind in VOUCHED or (verdict.kind == "loopback" and _under(host, LOOPBACK_NAMES))


def _under(host: str, names: Iterable[str]) -> bool:
    return any(host == name or host.endswith(f".{name}") for name in names)


def _add(host: str, port: int, open_ports: Iterable[int] = ()) -> str:
    """The entry that would open it."""
    shown = f"[{host}]" if ":" in host else host
    entry = shown if port in open_ports else f"{shown}:{port}"
    return f"if this is meant to be reachable, an operator adds {entry!r} to the setting egress.allow"


def _refused(message: str, host: str, hint: str) -> Refused:
    return Refused(message, code="egress", hint=hint or "use another address", details={"host": host})

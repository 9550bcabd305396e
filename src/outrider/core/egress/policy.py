"""What an operator may open and close, and what is refused unless they do."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Network, ip_network

from ada_url import URL, HostType
from pydantic import BaseModel, Field, SecretStr, field_validator

from outrider.core.egress.addresses import (
    AddressClassification,
    IpAddress,
    IpNetwork,
    classify_address,
    find_embedded_ipv4,
)
from outrider.core.errors import Refused

ANY_PORT = 0
# Names that lead to this machine, this network, or a cloud's credentials, whatever a resolver answers.
LOCAL_HOST_NAMES = (  # RFC 6761, RFC 6762, RFC 8375, ICANN's .internal (2024), and what /etc/hosts commonly holds
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
HOST_PORT = re.compile(r"(?P<host>\[[^\[\]]+\]|[^:\[\]]+)(?::(?P<port>\d{1,5}|\*))?")


PROXY_URL = re.compile(r"http://([^@/\s]+@)?(\[[0-9a-fA-F:.]+\]|[^:@/\s]+)(:\d{1,5})?/?")


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
    def _check_entries(cls, entries: list[str]) -> list[str]:
        for entry in entries:
            parse_rule(entry)
        return entries

    @field_validator("ports")
    @classmethod
    def _check_ports(cls, ports: list[int]) -> list[int]:
        for port in ports:
            if not 0 < port < 65_536:
                raise ValueError(f"port {port} is not between 1 and 65535")
        return ports

    @field_validator("proxy")
    @classmethod
    def _check_proxy(cls, proxy: SecretStr | None) -> SecretStr | None:
        if proxy and not PROXY_URL.fullmatch(proxy.get_secret_value()):
            raise ValueError("write the forward proxy as http://host:port or http://user:pass@host:port")
        return proxy


@dataclass(frozen=True)
class EgressRule:
    """One line of an allow or deny list. `port` None is no port given, ANY_PORT is `:*`."""

    text: str
    name: str = ""
    subdomains_only: bool = False
    network: IpNetwork | None = None
    port: int | None = None

    def matches_host(self, host: str) -> bool:
        """Whether the entry is a domain that covers this host name."""
        return bool(self.name) and (host.endswith(f".{self.name}") or (host == self.name and not self.subdomains_only))

    def contains_address(self, address: IpAddress | None) -> bool:
        """Whether the entry is a range with this address."""
        return address is not None and self.network is not None and address in self.network

    def allows_port(self, port: int) -> bool:
        """Whether the entry itself permits the port."""
        return self.port in (ANY_PORT, port)

    def applies_to_port(self, port: int) -> bool:
        """Whether the entry speaks about the port at all."""
        return self.port is None or self.allows_port(port)


def parse_rule(text: str) -> EgressRule:
    """Reads one entry of a list. Raises ValueError that names it."""
    given = text.strip()
    if given.count(":") > 1 and not given.startswith("["):
        return EgressRule(text, network=_parse_network(given, text))
    match = HOST_PORT.fullmatch(given)
    if not match:
        raise ValueError(f"{text!r} is neither a domain nor an address nor a range; write the host alone, or host:port")
    host, port = match["host"], _parse_port(match["port"], text)
    if host.startswith("[") or re.fullmatch(r"[\d./]+", host):
        return EgressRule(text, network=_parse_network(host.strip("[]"), text), port=port)
    return _parse_domain_rule(host, port, text)


def _parse_port(digits: str | None, text: str) -> int | None:
    if digits is None:
        return None
    if digits == "*":
        return ANY_PORT
    if not 0 < int(digits) < 65_536:
        raise ValueError(f"{text!r}: port {digits} is not between 1 and 65535")
    return int(digits)


def _parse_network(host: str, text: str) -> IpNetwork:
    mapped_network = IPv6Network("::ffff:0:0/96")
    try:
        network = ip_network(host)
    except ValueError as error:
        raise ValueError(f"{text!r} is no address or range: {error}") from None
    if isinstance(network, IPv6Network) and network.subnet_of(mapped_network):
        inner = int(network.network_address) & 0xFFFF_FFFF
        return ip_network((inner, network.prefixlen - 96))
    return network


def _parse_domain_rule(host: str, port: int | None, text: str) -> EgressRule:
    below = host.startswith("*.")
    wanted = host.removeprefix("*.")
    try:
        url = URL(f"http://{wanted}/")
    except ValueError:
        raise ValueError(f"{text!r} is no domain name") from None
    name = url.hostname.removesuffix(".")
    if url.host_type != HostType.DEFAULT or "*" in name or "" in name.split(".") or url.pathname != "/" or "@" in host:
        raise ValueError(f"{text!r} is no domain name; write `example.com` or `*.example.com`")
    return EgressRule(text, name=name, subdomains_only=below, port=port)


class EgressPolicy:
    """The settings, compiled, with the defaults that they change.

    Every method raises Refused with code `egress`, naming what was refused and the setting that
    would open it.
    """

    def __init__(self, settings: EgressSettings) -> None:
        self.settings = settings
        self._allow = tuple(parse_rule(each) for each in settings.allow)
        self._deny = tuple(parse_rule(each) for each in settings.deny)
        self._ports = frozenset(settings.ports)

    def check_name(self, host: str, port: int, *, trusted: bool) -> None:
        """Refuses what is settled before the name is resolved."""
        denied = next((each for each in self._deny if each.matches_host(host) and each.applies_to_port(port)), None)
        if denied:
            raise _build_refusal(f"{host} is on the deny list ({denied.text})", host, "")
        if trusted or self._find_host_rules(host, port):
            return
        if _is_subdomain(host, LOCAL_HOST_NAMES):
            raise _build_refusal(f"{host} is a local name", host, _build_allow_hint(host, port, self._ports))
        if self.settings.only and not any(each.network and each.applies_to_port(port) for each in self._allow):
            raise _build_refusal(
                f"{host} is not on the allow list, and nothing else may be reached", host, _build_allow_hint(host, port)
            )
        if port not in self._ports and not any(each.network and each.allows_port(port) for each in self._allow):
            raise _build_refusal(f"port {port} of {host} may not be reached", host, _build_allow_hint(host, port))

    def check_address(self, host: str, port: int, address: IpAddress, *, trusted: bool) -> None:
        """Refuses an address that the host resolved to, or that it is."""
        # Kinds that not even an address from the operator's own configuration may be.
        forbidden_kinds = frozenset({"metadata", "multicast", "broadcast", "unspecified"})
        verdict = classify_address(address)
        self._check_denied(host, port, verdict)
        if trusted:
            if verdict.kind in forbidden_kinds:
                raise _build_refusal(f"{host} is {verdict}", host, "")
            return
        named, held = self._find_host_rules(host, port), self._find_address_rules(verdict, port)
        if self.settings.only and not (named or held):
            raise _build_refusal(
                f"{host} is not on the allow list, and nothing else may be reached", host, _build_allow_hint(host, port)
            )
        if not (verdict.is_public or held or (named and _vouched(host, verdict))):
            raise _build_refusal(
                f"{host} is not public: {verdict}", host, _build_allow_hint(str(address), port, self._ports)
            )
        if port not in self._ports and not any(each.allows_port(port) for each in (*named, *held)):
            raise _build_refusal(f"port {port} of {host} may not be reached", host, _build_allow_hint(host, port))

    def _check_denied(self, host: str, port: int, verdict: AddressClassification) -> None:
        inner = None if verdict.address.version == 4 else find_embedded_ipv4(verdict.address)
        for each in self._deny:
            if each.applies_to_port(port) and (each.contains_address(verdict.address) or each.contains_address(inner)):
                raise _build_refusal(f"{host} is {verdict.address}, on the deny list ({each.text})", host, "")

    def _find_host_rules(self, host: str, port: int) -> list[EgressRule]:
        return [each for each in self._allow if each.matches_host(host) and each.applies_to_port(port)]

    def _find_address_rules(self, verdict: AddressClassification, port: int) -> list[EgressRule]:
        """The ranges that open the address. Metadata addresses open only by themselves, never as part of a range."""
        entries = [
            each for each in self._allow if each.contains_address(verdict.address) and each.applies_to_port(port)
        ]
        if verdict.kind != "metadata":
            return entries
        return [each for each in entries if each.network and each.network.num_addresses == 1]


def _vouched(host: str, verdict: AddressClassification) -> bool:
    loopback_names = ("localhost", "localdomain", "ip6-localhost", "ip6-loopback")
    # Kinds that a name on the allow list may resolve to: whoever allows an intranet name means its private address.
    named_kinds = frozenset({"public", "private", "shared"})
    return verdict.kind in named_kinds or (verdict.kind == "loopback" and _is_subdomain(host, loopback_names))


def _is_subdomain(host: str, names: Iterable[str]) -> bool:
    return any(host == name or host.endswith(f".{name}") for name in names)


def _build_allow_hint(host: str, port: int, open_ports: Iterable[int] = ()) -> str:
    """The entry that would open it."""
    shown = f"[{host}]" if ":" in host else host
    entry = shown if port in open_ports else f"{shown}:{port}"
    return f"if this is meant to be reachable, an operator adds {entry!r} to the setting egress.allow"


def _build_refusal(message: str, host: str, hint: str) -> Refused:
    return Refused(message, code="egress", hint=hint or "use another address", details={"host": host})

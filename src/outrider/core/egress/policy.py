"""The egress settings, and the policy that they and the defaults make."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv6Address, IPv6Network, ip_network

from ada_url import URL, HostType
from pydantic import BaseModel, Field, SecretStr, ValidationInfo, field_validator

from outrider.core.egress.addresses import (
    AddressClassification,
    IpAddress,
    IpNetwork,
    classify_address,
    find_embedded_ipv4,
)
from outrider.core.errors import Refused

ANY_PORT = 0
# Names of this machine, this network or a cloud's metadata server, whichever addresses they resolve to.
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
    """Settings: where requests may go. Entries are domains, IP addresses or CIDR ranges, optionally with `:port`."""

    allow: list[str] = Field(
        default=[],
        description="Targets to allow although the defaults refuse them: `intranet.example`, `*.example`, "
        "`10.1.0.0/16`, `localhost:3000`, `[::1]:*`; `example.com public` may lead to public "
        "addresses only, `example.com private` to private ones too",
    )
    deny: list[str] = Field(
        default=[], description="Targets to refuse although the defaults allow them; overrides allow"
    )
    ports: list[int] = Field(default=[80, 443], description="Ports allowed on every host")
    only: bool = Field(
        default=False,
        description="Allow only what `allow` lists; its names then mean public addresses, unless they say private",
    )
    proxy: SecretStr | None = Field(
        default=None,
        description="Forward proxy that resolves names and connects for Outrider: `http://user:pass@proxy.example:3128`",
    )

    @field_validator("allow", "deny")
    @classmethod
    def _check_entries(cls, entries: list[str], info: ValidationInfo) -> list[str]:
        for entry in entries:
            if parse_rule(entry).scope and info.field_name == "deny":
                raise ValueError(f"{entry!r}: only an entry of allow may say public or private")
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
    """An entry of an allow or deny list.

    Attributes:
        port: None if it names none, and ANY_PORT for `:*`.
        scope: The addresses that its name may lead to: `public`, `private` (also private ones), or empty.
    """

    text: str
    name: str = ""
    subdomains_only: bool = False
    network: IpNetwork | None = None
    port: int | None = None
    scope: str = ""

    def applies_to(self, target: str | IpAddress | None, port: int) -> bool:
        """Return whether the entry covers this host name or address, on this port."""
        if self.port not in (None, ANY_PORT, port):
            return False
        if isinstance(target, str):
            is_domain = target == self.name and not self.subdomains_only
            return bool(self.name) and (is_domain or target.endswith(f".{self.name}"))
        return target is not None and self.network is not None and target in self.network


def parse_rule(text: str) -> EgressRule:
    """Parse an entry of a list. Raises ValueError that names it."""
    entry, _, scope = text.strip().partition(" ")
    if scope:
        rule = parse_rule(entry)
        if scope.strip() not in ("public", "private") or not rule.name:
            raise ValueError(f"{text!r} is not an entry; only a name may be followed by public or private")
        return replace(rule, text=text, scope=scope.strip())
    if entry.count(":") > 1 and not entry.startswith("["):
        return EgressRule(text, network=_parse_network(entry, text))
    match = HOST_PORT.fullmatch(entry)
    if not match:
        raise ValueError(f"{text!r} is neither a domain nor an address nor a range; write the host alone, or host:port")
    host, digits = match["host"], match["port"]
    port = None if digits is None else ANY_PORT if digits == "*" else int(digits)
    if port is not None and digits != "*" and not 0 < port < 65_536:
        raise ValueError(f"{text!r}: port {digits} is not between 1 and 65535")
    if host.startswith("[") or re.fullmatch(r"[\d./]+", host):
        return EgressRule(text, network=_parse_network(host.strip("[]"), text), port=port)
    return _parse_domain_rule(host, port, text)


def _parse_network(host: str, text: str) -> IpNetwork:
    try:
        network = ip_network(host)
    except ValueError as error:
        raise ValueError(f"{text!r} is not an address or range: {error}") from None
    if isinstance(network, IPv6Network) and network.subnet_of(IPv6Network("::ffff:0:0/96")):  # IPv4-mapped
        inner = int(network.network_address) & 0xFFFF_FFFF
        return ip_network((inner, network.prefixlen - 96))
    return network


def _parse_domain_rule(host: str, port: int | None, text: str) -> EgressRule:
    try:
        url = URL(f"http://{host.removeprefix('*.')}/")
    except ValueError:
        raise ValueError(f"{text!r} is not a domain name") from None
    name = url.hostname.removesuffix(".")
    if url.host_type != HostType.DEFAULT or "*" in name or "" in name.split(".") or url.pathname != "/" or "@" in host:
        raise ValueError(f"{text!r} is not a domain name; write `example.com` or `*.example.com`")
    return EgressRule(text, name=name, subdomains_only=host.startswith("*."), port=port)


class EgressPolicy:
    """The settings in parsed form, applied on top of the defaults.

    Every method raises Refused with code `egress`, naming what was refused and the setting that
    would allow it.
    """

    def __init__(self, settings: EgressSettings) -> None:
        self.settings = settings
        self._allow = tuple(parse_rule(entry) for entry in settings.allow)
        self._deny = tuple(parse_rule(entry) for entry in settings.deny)
        self._ports = frozenset(settings.ports)

    def check_name(self, host: str, port: int, *, trusted: bool) -> None:
        """Refuse a host whose name alone decides, before it is resolved."""
        denied = next((rule for rule in self._deny if rule.applies_to(host, port)), None)
        if denied:
            raise _build_refusal(f"{host} is on the deny list ({denied.text})", host, "")
        if trusted or any(rule.applies_to(host, port) for rule in self._allow):
            return
        if _is_subdomain(host, LOCAL_HOST_NAMES):
            raise _build_refusal(f"{host} is a local name", host, _build_allow_entry(host, port, self._ports))
        if self.settings.only and not any(rule.network and rule.port in (None, ANY_PORT, port) for rule in self._allow):
            raise _build_refusal(
                f"{host} is not on the allow list, and nothing else may be reached",
                host,
                _build_allow_entry(host, port),
            )
        if port not in self._ports and not any(rule.network and rule.port in (ANY_PORT, port) for rule in self._allow):
            raise _build_port_refusal(host, port)

    def check_address(self, host: str, port: int, address: IpAddress, *, trusted: bool) -> None:
        """Refuse a forbidden address that the host resolved to, or that it is."""
        classified = classify_address(address)
        inner = find_embedded_ipv4(address) if isinstance(address, IPv6Address) else None
        for rule in self._deny:
            if rule.applies_to(address, port) or rule.applies_to(inner, port):
                raise _build_refusal(f"{host} is {address}, on the deny list ({rule.text})", host, "")
        if trusted:  # some kinds are forbidden even if the operator configured them
            if classified.kind in {"metadata", "multicast", "broadcast", "unspecified"}:
                raise _build_refusal(f"{host} is {classified}", host, "")
            return
        host_rules = [rule for rule in self._allow if rule.applies_to(host, port)]
        address_rules = [
            rule
            for rule in self._allow
            if rule.applies_to(classified.address, port)
            # A metadata address must be listed itself, not in a range.
            if classified.kind != "metadata" or (rule.network and rule.network.num_addresses == 1)
        ]
        if self.settings.only and not (host_rules or address_rules):
            raise _build_refusal(
                f"{host} is not on the allow list, and nothing else may be reached",
                host,
                _build_allow_entry(host, port),
            )
        if not (classified.is_public or address_rules):
            self._check_private(host, port, classified, host_rules)
        if port not in self._ports and not any(rule.port in (ANY_PORT, port) for rule in (*host_rules, *address_rules)):
            raise _build_port_refusal(host, port)

    def _check_private(
        self, host: str, port: int, classified: AddressClassification, host_rules: Sequence[EgressRule]
    ) -> None:
        """Refuse a private address unless an entry for its name allows it; local names have only private addresses."""
        loopback_names = ("localhost", "localdomain", "ip6-localhost", "ip6-loopback")
        is_implied = not self.settings.only or _is_subdomain(host, LOCAL_HOST_NAMES)
        # The entry of an intranet name covers its private address, that of a loopback name this machine.
        is_covered = classified.kind in {"public", "private", "shared"} or (
            classified.kind == "loopback" and _is_subdomain(host, loopback_names)
        )
        entry = str(classified.address)
        if host_rules and is_covered:
            if any(rule.scope == "private" or (not rule.scope and is_implied) for rule in host_rules):
                return
            entry = f"{host_rules[0].text.removesuffix(' public')} private"
        raise _build_refusal(f"{host} is not public: {classified}", host, _build_allow_entry(entry, port, self._ports))


def _is_subdomain(host: str, names: Iterable[str]) -> bool:
    return any(host == name or host.endswith(f".{name}") for name in names)


def _build_allow_entry(host: str, port: int, open_ports: Iterable[int] = ()) -> str:
    """Return the entry of `egress.allow` that would allow the host and port."""
    bracketed = f"[{host}]" if host.count(":") > 1 else host
    return bracketed if port in open_ports or " " in host else f"{bracketed}:{port}"


def _build_port_refusal(host: str, port: int) -> Refused:
    hint = f"adding {port} to egress.ports allows it on every host"
    return _build_refusal(f"port {port} of {host} is not allowed", host, _build_allow_entry(host, port), hint)


def _build_refusal(message: str, host: str, entry: str, more: str = "") -> Refused:
    """Return the error, with the entry that would allow the host if there is one."""
    if not entry:
        return Refused(message, code="egress", hint="use another address", details={"host": host})
    hint = f"if this is meant to be reachable, an operator can add {entry!r} to the setting egress.allow"
    hint += f"; {more}" if more else ""
    return Refused(message, code="egress", hint=hint, details={"host": host, "allow": entry})

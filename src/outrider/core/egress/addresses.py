"""What kind of address an IP address is, the IPv4 address inside an IPv6 one included."""

from dataclasses import dataclass
from functools import cache, lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from outrider.core.egress.address_table import IPV4, IPV6, Kind, Row

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
LOW_32 = 0xFFFF_FFFF
# Blocks whose traffic ends at the IPv4 address inside: that one decides. The other forms are refused whatever it is.
TRANSPARENT = frozenset({"IPv4-mapped", "NAT64", "6to4"})
ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE})  # bits 32 to 63 from the right, RFC 5214 section 6.1


@dataclass(frozen=True)
class Verdict:
    """What an address is: its kind, the block that says so, and the document behind the block."""

    address: Address
    kind: Kind
    name: str
    source: str

    @property
    def public(self) -> bool:
        """Whether it is an ordinary address of the internet."""
        return self.kind == "public"

    def __str__(self) -> str:
        return f"{self.address} ({self.name}, {self.source})"


@dataclass(frozen=True)
class _Block:
    low: int
    high: int
    row: Row


def parse(text: str) -> Address:
    """The address written as `text`, a mapped IPv4 address as IPv4, without its zone. Raises ValueError."""
    return plain(ip_address(text.partition("%")[0]))


def plain(address: Address) -> Address:
    """The IPv4 address of a mapped IPv6 one (the kernel dials the same), any other as it is."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


@lru_cache(maxsize=4096)
def classify(address: Address) -> Verdict:
    """What the address is; for forms that carry an IPv4 address, what that one makes of it."""
    block, kind, name, source = _row(address)
    if isinstance(address, IPv4Address):
        return Verdict(address, kind, name, source)
    inner = embedded(address)
    if inner is None or not (kind == "public" or name in TRANSPARENT):
        return Verdict(address, kind, name, source)
    hidden = classify(inner)
    carrier = name if name in TRANSPARENT else "ISATAP"
    return Verdict(address, hidden.kind, f"{hidden.name} {inner} in {carrier} {block}", hidden.source)


def embedded(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address inside an IPv6 one (RFC 4291, 6052, 3056, 4380, 5214), if there is any."""
    name, number = _row(address)[2], int(address)
    if name in ("IPv4-compatible", "IPv4-mapped", "IPv4-translated", "NAT64", "local NAT64"):
        return IPv4Address(number & LOW_32)
    if name == "6to4":
        return IPv4Address((number >> 80) & LOW_32)
    if name == "Teredo":
        return IPv4Address(~number & LOW_32)
    if (number >> 32) & LOW_32 in ISATAP:
        return IPv4Address(number & LOW_32)
    return None


def _row(address: Address) -> Row:
    """The most specific block that holds the address."""
    number = int(address)
    blocks = _blocks(address.version)
    return next((block.row for block in blocks if block.low <= number <= block.high), PUBLIC)


PUBLIC: Row = ("0.0.0.0/0", "public", "global unicast", "RFC 791")


@cache
def _blocks(version: int) -> tuple[_Block, ...]:
    """The table of one IP version, most specific first."""
    rows = [(ip_network(row[0]), row) for row in (IPV4 if version == 4 else IPV6)]
    rows.sort(key=lambda each: each[0].prefixlen, reverse=True)
    return tuple(_Block(int(net.network_address), int(net.broadcast_address), row) for net, row in rows)

"""Classify IP addresses, and find this machine's own.

IPv4 addresses inside IPv6 ones are classified, too.
"""

import socket
from dataclasses import dataclass
from functools import cache, lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from outrider.core.egress.address_table import IPV4_BLOCKS, IPV6_BLOCKS, AddressKind, BlockRow

IpAddress = IPv4Address | IPv6Address
IpNetwork = IPv4Network | IPv6Network


@dataclass(frozen=True)
class AddressClassification:
    """The kind of an address and the name of its block.

    It includes the document that reserves the block.
    """

    address: IpAddress
    kind: AddressKind
    name: str
    source: str

    @property
    def is_public(self) -> bool:
        """Whether it is an ordinary internet address."""
        return self.kind == "public"

    def __str__(self) -> str:
        return f"{self.address} ({self.name}, {self.source})"


@dataclass(frozen=True)
class _AddressBlock:
    low: int
    high: int
    row: BlockRow


def parse_address(text: str) -> IpAddress:
    """Parse an address without its zone, a mapped IPv4 address as IPv4. Raises ValueError."""
    address = ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address  # the kernel dials the same


@lru_cache(maxsize=4096)
def classify_address(address: IpAddress) -> AddressClassification:
    """Classify the address; forms that carry an IPv4 address are classified by that one."""
    # Traffic to these blocks ends at the embedded address, which decides. Other forms are refused in any case.
    transparent_blocks = {"IPv4-mapped", "NAT64", "6to4"}
    block, kind, name, source = _find_block_row(address)
    if isinstance(address, IPv4Address):
        return AddressClassification(address, kind, name, source)
    inner = find_embedded_ipv4(address)
    if inner is None or not (kind == "public" or name in transparent_blocks):
        return AddressClassification(address, kind, name, source)
    embedded = classify_address(inner)
    carrier = name if name in transparent_blocks else "ISATAP"
    described = f"{embedded.name} {inner} in {carrier} {block}"
    return AddressClassification(address, embedded.kind, described, embedded.source)


def find_embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address inside an IPv6 address, if any.

    See RFC 4291, 6052, 3056, 4380 and 5214.
    """
    isatap_markers = {0x0000_5EFE, 0x0200_5EFE}  # bits 32 to 63 from the right, RFC 5214 section 6.1
    low_32_bits = 0xFFFF_FFFF
    name, number = _find_block_row(address)[2], int(address)
    if name in ("IPv4-compatible", "IPv4-mapped", "IPv4-translated", "NAT64", "local NAT64"):
        return IPv4Address(number & low_32_bits)
    if name == "6to4":
        return IPv4Address((number >> 80) & low_32_bits)
    if name == "Teredo":
        return IPv4Address(~number & low_32_bits)
    if (number >> 32) & low_32_bits in isatap_markers:
        return IPv4Address(number & low_32_bits)
    return None


def _find_block_row(address: IpAddress) -> BlockRow:
    """Return the most specific block that contains the address."""
    public_row: BlockRow = ("0.0.0.0/0", "public", "global unicast", "RFC 791")
    number = int(address)
    blocks = _load_blocks(address.version)
    return next((block.row for block in blocks if block.low <= number <= block.high), public_row)


@cache
def _load_blocks(version: int) -> tuple[_AddressBlock, ...]:
    """Return the table of one IP version, most specific blocks first."""
    networks = [(ip_network(row[0]), row) for row in (IPV4_BLOCKS if version == 4 else IPV6_BLOCKS)]
    networks.sort(key=lambda pair: pair[0].prefixlen, reverse=True)
    return tuple(_AddressBlock(int(net.network_address), int(net.broadcast_address), row) for net, row in networks)


def find_local_address(host: str, port: int, *, only_ipv4: bool) -> str:
    """Return the local address from which another host would be contacted; nothing is sent.

    Args:
        host: The other host's name or address.
        port: Any of its ports.
        only_ipv4: Whether only IPv4 is usable.

    Raises:
        OSError: The name is unknown, or no route leads there.
        ValueError: It is not a name.
    """
    family = socket.AF_INET if only_ipv4 else socket.AF_UNSPEC
    address_family, _, _, _, peer = socket.getaddrinfo(host, port, family, socket.SOCK_DGRAM)[0]
    with socket.socket(address_family, socket.SOCK_DGRAM) as probe:
        probe.connect(peer)  # a datagram socket: the kernel chooses the route, and sends nothing
        return probe.getsockname()[0]

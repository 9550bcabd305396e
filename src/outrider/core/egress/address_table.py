"""The special-purpose address blocks, as data.

From the IANA registries (iana.org/assignments/iana-ipv4-special-registry and
iana-ipv6-special-registry, multicast-addresses, ipv6-multicast-addresses), with the document that
reserved each block, and the addresses at which clouds serve credentials to their machines.

The registries' "globally reachable" anycast services inside 192.0.0.0/24 and 2001::/23 count as
special here: they answer from the nearest gateway, which is the network that we protect.
"""

from typing import Literal

AddressKind = Literal[
    "public",
    "loopback",
    "private",
    "shared",
    "link-local",
    "unspecified",
    "multicast",
    "broadcast",
    "documentation",
    "benchmark",
    "protocol",
    "reserved",
    "translated",
    "metadata",
]

# Each row has a block, its kind, its name and its source.
BlockRow = tuple[str, AddressKind, str, str]

IPV4_BLOCKS: tuple[BlockRow, ...] = (
    ("0.0.0.0/8", "unspecified", "this network", "RFC 791"),
    ("10.0.0.0/8", "private", "private use", "RFC 1918"),
    ("100.64.0.0/10", "shared", "shared address space", "RFC 6598"),
    ("127.0.0.0/8", "loopback", "loopback", "RFC 1122"),
    ("169.254.0.0/16", "link-local", "link-local", "RFC 3927"),
    ("172.16.0.0/12", "private", "private use", "RFC 1918"),
    ("192.0.0.0/24", "protocol", "IETF protocol assignments", "RFC 6890"),
    ("192.0.0.0/29", "protocol", "IPv4 service continuity", "RFC 7335"),
    ("192.0.0.8/32", "protocol", "IPv4 dummy address", "RFC 7600"),
    ("192.0.0.9/32", "protocol", "port control protocol anycast", "RFC 7723"),
    ("192.0.0.10/32", "protocol", "TURN anycast", "RFC 8155"),
    ("192.0.0.170/32", "protocol", "NAT64/DNS64 discovery", "RFC 8880"),
    ("192.0.0.171/32", "protocol", "NAT64/DNS64 discovery", "RFC 8880"),
    ("192.0.2.0/24", "documentation", "documentation (TEST-NET-1)", "RFC 5737"),
    ("192.31.196.0/24", "public", "AS112", "RFC 7535"),
    ("192.52.193.0/24", "protocol", "automatic multicast tunneling", "RFC 7450"),
    ("192.88.99.0/24", "translated", "6to4 relay anycast", "RFC 7526"),
    ("192.168.0.0/16", "private", "private use", "RFC 1918"),
    ("192.175.48.0/24", "public", "AS112", "RFC 7534"),
    ("198.18.0.0/15", "benchmark", "benchmarking", "RFC 2544"),
    ("198.51.100.0/24", "documentation", "documentation (TEST-NET-2)", "RFC 5737"),
    ("203.0.113.0/24", "documentation", "documentation (TEST-NET-3)", "RFC 5737"),
    ("224.0.0.0/4", "multicast", "multicast", "RFC 5771"),
    ("240.0.0.0/4", "reserved", "reserved", "RFC 1112"),
    ("255.255.255.255/32", "broadcast", "limited broadcast", "RFC 8190"),
    ("168.63.129.16/32", "metadata", "Azure platform address", "Azure: What is IP address 168.63.129.16?"),
    ("169.254.169.254/32", "metadata", "cloud metadata", "AWS, Azure, Google, DigitalOcean and more"),
    ("169.254.170.2/32", "metadata", "AWS container credentials", "AWS: task metadata"),
    ("169.254.170.23/32", "metadata", "AWS pod credentials", "AWS: EKS Pod Identity"),
    ("169.254.0.23/32", "metadata", "Tencent cloud metadata", "Tencent Cloud: instance metadata"),
    ("100.100.100.200/32", "metadata", "Alibaba cloud metadata", "Alibaba Cloud: ECS metadata"),
    ("192.0.0.192/32", "metadata", "Oracle cloud metadata (classic)", "Oracle: instance metadata"),
)

IPV6_BLOCKS: tuple[BlockRow, ...] = (
    ("::/0", "reserved", "outside the global unicast space", "RFC 4291"),
    ("2000::/3", "public", "global unicast", "RFC 4291"),
    ("::/128", "unspecified", "unspecified", "RFC 4291"),
    ("::1/128", "loopback", "loopback", "RFC 4291"),
    ("::/96", "translated", "IPv4-compatible", "RFC 4291"),
    ("::ffff:0:0/96", "translated", "IPv4-mapped", "RFC 4291"),
    ("::ffff:0:0:0/96", "translated", "IPv4-translated", "RFC 2765"),
    ("64:ff9b::/96", "translated", "NAT64", "RFC 6052"),
    ("64:ff9b:1::/48", "translated", "local NAT64", "RFC 8215"),
    ("100::/64", "reserved", "discard only", "RFC 6666"),
    ("100:0:0:1::/64", "reserved", "dummy prefix", "RFC 9780"),
    ("2001::/23", "protocol", "IETF protocol assignments", "RFC 2928"),
    ("2001::/32", "translated", "Teredo", "RFC 4380"),
    ("2001:1::1/128", "protocol", "port control protocol anycast", "RFC 7723"),
    ("2001:1::2/128", "protocol", "TURN anycast", "RFC 8155"),
    ("2001:1::3/128", "protocol", "DNS-SD registration anycast", "RFC 9665"),
    ("2001:2::/48", "benchmark", "benchmarking", "RFC 5180"),
    ("2001:3::/32", "protocol", "automatic multicast tunneling", "RFC 7450"),
    ("2001:4:112::/48", "protocol", "AS112", "RFC 7535"),
    ("2001:10::/28", "protocol", "ORCHID (deprecated)", "RFC 4843"),
    ("2001:20::/28", "protocol", "ORCHIDv2", "RFC 7343"),
    ("2001:30::/28", "protocol", "drone remote identification", "RFC 9374"),
    ("2001:db8::/32", "documentation", "documentation", "RFC 3849"),
    ("2002::/16", "translated", "6to4", "RFC 3056"),
    ("2620:4f:8000::/48", "public", "AS112", "RFC 7534"),
    ("3fff::/20", "documentation", "documentation", "RFC 9637"),
    ("5f00::/16", "reserved", "segment routing identifiers", "RFC 9602"),
    ("fc00::/7", "private", "unique local", "RFC 4193"),
    ("fe80::/10", "link-local", "link-local", "RFC 4291"),
    ("fec0::/10", "private", "site-local (deprecated)", "RFC 3879"),
    ("ff00::/8", "multicast", "multicast", "RFC 4291"),
    ("fd00:ec2::254/128", "metadata", "AWS metadata", "AWS: instance metadata over IPv6"),
    ("fd00:ec2::23/128", "metadata", "AWS pod credentials", "AWS: EKS Pod Identity"),
    ("fd20:ce::254/128", "metadata", "Google cloud metadata", "Google Cloud: metadata server over IPv6"),
)

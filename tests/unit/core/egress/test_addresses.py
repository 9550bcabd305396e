"""Every reserved block, and every form of an IPv4 address inside an IPv6 address."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outrider.core.egress.address_table import IPV4_BLOCKS, IPV6_BLOCKS
from outrider.core.egress.addresses import classify_address, find_embedded_ipv4, parse_address

FORBIDDEN_V4 = {
    "0.0.0.0": "unspecified",
    "0.1.2.3": "unspecified",
    "10.0.0.1": "private",
    "10.255.255.255": "private",
    "100.64.0.1": "shared",
    "100.127.255.255": "shared",
    "100.100.100.200": "metadata",
    "127.0.0.1": "loopback",
    "127.255.255.254": "loopback",
    "168.63.129.16": "metadata",
    "169.254.0.1": "link-local",
    "169.254.169.254": "metadata",
    "169.254.170.2": "metadata",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.0.0.1": "protocol",
    "192.0.0.8": "protocol",
    "192.0.0.9": "protocol",
    "192.0.0.10": "protocol",
    "192.0.0.170": "protocol",
    "192.0.0.192": "metadata",
    "192.0.0.255": "protocol",
    "192.0.2.1": "documentation",
    "192.52.193.1": "protocol",
    "192.88.99.1": "translated",
    "192.168.1.1": "private",
    "198.18.0.1": "benchmark",
    "198.19.255.255": "benchmark",
    "198.51.100.7": "documentation",
    "203.0.113.7": "documentation",
    "224.0.0.1": "multicast",
    "239.255.255.255": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.254": "reserved",
    "255.255.255.255": "broadcast",
}
FORBIDDEN_V6 = {
    "::": "unspecified",
    "::1": "loopback",
    "::2": "translated",
    "::8.8.8.8": "translated",
    "::ffff:0:8.8.8.8": "translated",
    "64:ff9b:1::8.8.8.8": "translated",
    "64:ff9b:2::1": "reserved",
    "100::1": "reserved",
    "100:0:0:1::1": "reserved",
    "200::1": "reserved",
    "1fff::1": "reserved",
    "2001::1": "translated",
    "2001:1::1": "protocol",
    "2001:1::2": "protocol",
    "2001:1::3": "protocol",
    "2001:2::1": "benchmark",
    "2001:3::1": "protocol",
    "2001:4:112::1": "protocol",
    "2001:5::1": "protocol",
    "2001:10::1": "protocol",
    "2001:20::1": "protocol",
    "2001:30::1": "protocol",
    "2001:1ff:ffff::1": "protocol",
    "2001:db8::1": "documentation",
    "3fff::1": "documentation",
    "3fff:fff:ffff::1": "documentation",
    "4000::1": "reserved",
    "5f00::1": "reserved",
    "8000::1": "reserved",
    "e000::1": "reserved",
    "fc00::1": "private",
    "fd12:3456::1": "private",
    "fd00:ec2::254": "metadata",
    "fd00:ec2::23": "metadata",
    "fd20:ce::254": "metadata",
    "fe80::1": "link-local",
    "febf::1": "link-local",
    "fec0::1": "private",
    "fe00::1": "reserved",
    "ff02::1": "multicast",
    "ff0e::1": "multicast",
}
PUBLIC = (
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "93.184.215.14",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "168.63.129.15",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "191.255.255.255",
    "192.0.1.0",
    "192.0.3.0",
    "192.31.196.1",
    "192.167.255.255",
    "192.169.0.0",
    "192.175.48.1",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2000::1",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2001:db7:ffff::1",
    "2001:db9::1",
    "2003::1",
    "2606:4700:4700::1111",
    "2620:4f:8000::1",
    "2a00:1450:4001::200e",
    "3ffe::1",
    "3fff:1000::1",
    "64:ff9b::8.8.8.8",
    "::ffff:8.8.8.8",
    "2002:808:808::1",
    "2606:4700::5efe:808:808",
)
# Templates that put an IPv4 address, given as a number, into an IPv6 one.
CARRIERS = {
    "mapped": lambda v4: 0xFFFF << 32 | v4,
    "compatible": lambda v4: v4,
    "translated": lambda v4: 0xFFFF << 48 | v4,
    "nat64": lambda v4: 0x64FF9B << 96 | v4,
    "local nat64": lambda v4: 0x64FF9B0001 << 80 | v4,
    "6to4": lambda v4: 0x2002 << 112 | v4 << 80 | 1,
    "teredo": lambda v4: 0x20010000 << 96 | 0x4136E378 << 64 | (~v4 & 0xFFFFFFFF),
    "isatap": lambda v4: 0x26064700 << 96 | 0x5EFE << 32 | v4,
    "isatap, universal": lambda v4: 0x26064700 << 96 | 0x2005EFE << 32 | v4,
}
CARRIED = [(form, v4) for form in CARRIERS for v4 in FORBIDDEN_V4]


def test_a_reserved_address_is_known_for_what_it_is(subtests: pytest.Subtests):
    for address, kind in [*FORBIDDEN_V4.items(), *FORBIDDEN_V6.items()]:
        with subtests.test(address=address, kind=kind):
            verdict = classify_address(ip_address(address))
            assert (verdict.kind, verdict.is_public) == (kind, False)
            assert verdict.name
            assert verdict.source


def test_an_ordinary_address_is_public(subtests: pytest.Subtests):
    for address in PUBLIC:
        with subtests.test(address=address):
            assert classify_address(ip_address(address)).is_public


def test_no_ipv6_form_hides_a_reserved_ipv4_address(subtests: pytest.Subtests):
    for form, v4 in CARRIED:
        with subtests.test(form=form, v4=v4):
            carrier = IPv6Address(CARRIERS[form](int(IPv4Address(v4))))
            assert not classify_address(carrier).is_public
            assert find_embedded_ipv4(carrier) in (IPv4Address(v4), None)


def test_every_listed_block_is_a_network_with_a_source(subtests: pytest.Subtests):
    for row in [*IPV4_BLOCKS, *IPV6_BLOCKS]:
        with subtests.test(row=row):
            network = ip_network(row[0])
            assert row[3]
            if row[1] != "public" and network.prefixlen not in (0, 3):
                assert not classify_address(network[0]).is_public or row[2] in ("IPv4-mapped", "NAT64", "6to4")


def test_mapped_and_scoped_addresses_are_parsed_as_the_kernel_dials_them():
    assert parse_address("::ffff:127.0.0.1") == IPv4Address("127.0.0.1")
    assert parse_address("fe80::1%eth0") == IPv6Address("fe80::1")


@settings(deadline=None)
@given(st.integers(0, 2**128 - 1))
def test_every_ipv6_address_is_classified_and_only_unicast_ones_are_public(number):
    verdict = classify_address(IPv6Address(number))
    carriers = (IPv6Network("2000::/3"), IPv6Network("64:ff9b::/96"), IPv6Network("::ffff:0:0/96"))
    assert not verdict.is_public or any(IPv6Address(number) in network for network in carriers)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_addresses_that_python_calls_private_are_never_public(number):
    address = IPv4Address(number)
    known_better = any(address in IPv4Network(net) for net in ("192.31.196.0/24", "192.175.48.0/24"))
    assert not (
        classify_address(address).is_public and not known_better and (address.is_private or address.is_multicast)
    )

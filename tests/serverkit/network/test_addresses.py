"""Which addresses count as public; the list does not depend on the version of Python."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.serverkit.network.addresses import AddressKind, kind_of

PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.1",
    "192.167.255.255",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2000::1",
    "2001:200::1",
    "2606:4700:4700::1111",
    "2a00:1450:4001:80b::200e",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
]
LOOPBACK = ["127.0.0.1", "127.0.0.0", "127.255.255.255", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1"]
PRIVATE = [
    "10.0.0.1",
    "100.64.0.1",
    "100.127.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "fc00::1",
    "fdff::1",
    "::ffff:10.0.0.1",
]
RESERVED = {
    "this network": ["0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0"],
    "link-local": ["169.254.0.1", "169.254.169.254", "fe80::1", "febf::1", "::ffff:169.254.169.254"],
    "metadata of clouds": ["100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"],
    "protocol assignments": ["192.0.0.1", "192.0.0.8", "192.0.0.170", "2001:1::1", "2001:20::1"],
    "documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
    "6to4": ["192.88.99.1", "2002:7f00:1::", "2002:808:808::1"],
    "benchmarks": ["198.18.0.1", "198.19.255.255", "2001:2::1"],
    "multicast": ["224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"],
    "reserved": ["240.0.0.1", "255.255.255.255", "4000::1", "8000::1"],
    "Teredo": ["2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
    "NAT64": [
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
        "64:ff9b:1::808:808",
    ],
    "IPv4-compatible": ["::127.0.0.1", "::8.8.8.8", "::2"],
    "IPv4-translated": ["::ffff:0:7f00:1", "::ffff:0:808:808"],
    "ISATAP": ["2a00::5efe:7f00:1", "2a00::200:5efe:808:808", "fe80::5efe:a00:1"],
    "discard": ["100::1", "100:0:0:1::1"],
    "segments": ["5f00::1"],
    "site-local": ["fec0::1", "feff::1"],
    "AS112": ["192.31.196.1", "192.175.48.255", "2620:4f:8000::1", "2001:4:112::1"],
    "multicast relays": ["192.52.193.1", "2001:3::1"],
    "mapped": ["::ffff:192.0.0.8", "::ffff:224.0.0.1", "::ffff:192.88.99.1", "::ffff:240.0.0.1"],
    "zones": ["fe80::1%eth0", "2606:4700::1%1"],
}


def _cases() -> list[tuple[str, AddressKind]]:
    kinds: dict[AddressKind, list[str]] = {
        "public": PUBLIC,
        "loopback": LOOPBACK,
        "private": PRIVATE,
        "reserved": [address for group in RESERVED.values() for address in group],
    }
    return [(address, kind) for kind, addresses in kinds.items() for address in addresses]


def test_an_address_has_the_kind_of_its_range() -> None:
    assert [(address, kind_of(address)) for address, _ in _cases()] == _cases()


@given(st.ip_addresses())
def test_what_python_calls_private_is_never_public(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    special = address.is_private or address.is_loopback or address.is_link_local or address.is_multicast
    mapped = getattr(address, "ipv4_mapped", None)

    if special and mapped is None:
        assert kind_of(address) != "public"


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_inside_an_ipv6_address_is_never_more_public(inner: ipaddress.IPv4Address) -> None:
    number = int(inner)
    prefixes = ("::", "::ffff:0:0", "::ffff:0:0:0", "64:ff9b::", "64:ff9b:1::", "2a00::5efe:0:0")
    outer = [ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) + number) for prefix in prefixes]
    outer.append(ipaddress.IPv6Address((0x2002 << 112) + (number << 80)))

    if kind_of(inner) != "public":
        assert {kind_of(each) for each in outer}.isdisjoint({"public"})


def test_what_is_not_an_address_has_no_kind() -> None:
    with pytest.raises(ValueError, match="does not appear"):
        kind_of("localhost")

"""Separates public IP addresses from those of this machine, of private networks and of special purpose (cloud
metadata, link-local): the list of ranges that are refused.

The ranges are those of the IANA special-purpose registries, written out: `ipaddress.is_global` differs
between Python versions and calls several of them public. A range is left out only if the registry marks it as
globally reachable and web servers can be in it.
"""

from __future__ import annotations

import ipaddress
from typing import Literal

AddressKind = Literal["public", "private", "loopback", "reserved"]
IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_LOOPBACK = ("127.0.0.0/8", "::1/128")
_METADATA = (
    "100.100.100.200/32",  # Alibaba Cloud; other IPv4 metadata services are link-local
    "fd00:ec2::/32",  # AWS
    "fd20:ce::/32",  # Google Cloud
)
"""Credentials of a machine in the cloud, at addresses of otherwise private ranges."""
_PRIVATE = (
    "10.0.0.0/8",
    "100.64.0.0/10",  # shared address space (RFC 6598), also used by VPNs
    "172.16.0.0/12",
    "192.168.0.0/16",
    "fc00::/7",  # unique local
)
_RESERVED = (
    "0.0.0.0/8",  # this network: 0.0.0.0 connects to this machine
    "169.254.0.0/16",  # link-local, with the metadata services of clouds
    "192.0.0.0/24",  # IETF protocol assignments, with 192.0.0.8 (dummy) and 192.0.0.192 (Oracle metadata)
    "192.0.2.0/24",  # documentation
    "192.31.196.0/24",  # AS112: answers for names of private networks
    "192.52.193.0/24",  # relays of multicast
    "192.88.99.0/24",  # 6to4 relays, deprecated
    "192.175.48.0/24",  # AS112
    "198.18.0.0/15",  # benchmarking
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "224.0.0.0/4",  # multicast
    "240.0.0.0/4",  # reserved, and broadcast
    "2001::/23",  # IETF protocol assignments, with Teredo (2001::/32) and ORCHID
    "2001:db8::/32",  # documentation
    "2620:4f:8000::/48",  # AS112
    "2002::/16",  # 6to4: an IPv4 address of any kind is inside
    "3fff::/20",  # documentation
)
_UNICAST = ipaddress.ip_network("2000::/3")
"""The only global unicast addresses of IPv6. Outside are ::/96 and ::ffff:0:0:0/96 (IPv4 inside),
64:ff9b:1::/48 (local translation), 100::/64 (discard), 5f00::/16 (segments), fe80::/10 and fec0::/10 (link-
and site-local) and ff00::/8 (multicast)."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)
"""The middle of an address with an IPv4 address as its last 32 bits (RFC 5214)."""


def is_closed(address: str | IPAddress) -> bool:
    """Whether an address leads to this machine or what only this machine should reach, whatever its own
    addresses are: loopback, link-local with the metadata services of clouds, multicast."""
    found = ipaddress.ip_address(address)
    found = getattr(found, "ipv4_mapped", None) or found
    return any(found in network for network in _CLOSED)


def _networks(*texts: str) -> tuple[IPNetwork, ...]:
    return tuple(ipaddress.ip_network(text) for text in texts)


_CLOSED = _networks(
    *(
        *_LOOPBACK,
        *_METADATA,
        "0.0.0.0/8",
        "169.254.0.0/16",
        "192.0.0.0/24",
        "224.0.0.0/4",
        "255.255.255.255/32",
    ),
    *("::/96", "fe80::/10", "fec0::/10", "ff00::/8", "64:ff9b:1::/48"),
)
_KINDS: tuple[tuple[AddressKind, tuple[IPNetwork, ...]], ...] = (
    ("loopback", _networks(*_LOOPBACK)),
    ("reserved", _networks(*_METADATA, *_RESERVED)),
    ("private", _networks(*_PRIVATE)),
)


def kind_of(address: str | IPAddress) -> AddressKind:
    """The kind of network that an address is in; raises `ValueError` for what is not an address."""
    address = ipaddress.ip_address(address)
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            return "reserved"
        if address.ipv4_mapped is not None:  # the system connects to the IPv4 address
            return kind_of(address.ipv4_mapped)
        if address in _NAT64:
            return _translated(address)
    for kind, networks in _KINDS:
        if any(address in network for network in networks):
            return kind
    if isinstance(address, ipaddress.IPv6Address) and (address not in _UNICAST or _is_isatap(address)):
        return "reserved"
    return "public"


def _translated(address: ipaddress.IPv6Address) -> AddressKind:
    """Public addresses are reached this way in networks without IPv4; others would be of the translator."""
    inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return "public" if kind_of(inner) == "public" else "reserved"


def _is_isatap(address: ipaddress.IPv6Address) -> bool:
    return (int(address) >> 32) & 0xFFFFFFFF in _ISATAP

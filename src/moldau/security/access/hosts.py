"""Addresses as rules name them: IPv4 with dots, IPv6 as Java writes it, with all eight groups and no `::`."""

from functools import lru_cache
from ipaddress import IPv6Address
from typing import Final

KNOWN_MAX: Final = 4096


@lru_cache(maxsize=KNOWN_MAX)
def host_text(host: str) -> str:
    """The one text of an address, whichever way it is written; any other text as it is."""
    if ":" not in host:
        return host
    try:
        address = IPv6Address(host.strip("[]").partition("%")[0])
    except ValueError:
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return ":".join(format(int(group, 16), "x") for group in address.exploded.split(":"))

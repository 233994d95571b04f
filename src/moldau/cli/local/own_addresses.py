"""The names and addresses under which other machines may reach this one: what a certificate is issued for.

Sends nothing: a datagram socket that is connected only looks at the routes.
"""

import contextlib
import ipaddress
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

IPV6_INTERFACES: Final = Path("/proc/net/if_inet6")
ADDRESS_OF_INTERFACE: Final = 0x8915
"""Linux: SIOCGIFADDR."""
ELSEWHERE: Final = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
"""Reserved for documentation. The route to them is that to the other machines."""


def own_names() -> list[str]:
    """The machine's name and all its addresses that can be found, without repetitions."""
    addresses = [*_of_name(), *_of_routes(), *_of_interfaces()]
    return list(dict.fromkeys([socket.gethostname(), *map(_plain, addresses)]))


def _of_name() -> list[str]:
    try:
        found = socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return [str(address[0]) for *_, address in found]


def _of_routes() -> Iterator[str]:
    for family, address in ELSEWHERE:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
            yield str(probe.getsockname()[0])


def _of_interfaces() -> Iterator[str]:
    if sys.platform != "linux":
        return
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):  # An interface without an address of IPv4.
                asked = struct.pack("256s", name.encode()[:15])
                answer = fcntl.ioctl(any_socket.fileno(), ADDRESS_OF_INTERFACE, asked)
                yield socket.inet_ntoa(answer[20:24])
    with contextlib.suppress(OSError):
        for line in IPV6_INTERFACES.read_text().splitlines():
            yield str(ipaddress.IPv6Address(int(line.split()[0], 16)))


def _plain(address: str) -> str:
    return str(ipaddress.ip_address(address.partition("%")[0]))

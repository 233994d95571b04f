"""Bootstrap addresses: parsing, and a check that something listens there.

A Kafka client retries a dead address until its timeout and reports only the timeout. A plain TCP connection fails
at once with the reason.
"""

import socket
from collections.abc import Sequence

import click

from moldau.cli.failures import Failure

DEFAULT_PORT = 9092
CONNECT_TIMEOUT_S = 5.0


def parse(bootstrap_servers: str) -> Sequence[tuple[str, int]]:
    """`host:port,host:port`. The default port is 9092. IPv6 addresses are in brackets."""
    return [_parse_one(part.strip()) for part in bootstrap_servers.split(",") if part.strip()]


def _parse_one(text: str) -> tuple[str, int]:
    address = text.rpartition("://")[2]
    host, separator, port = address.rpartition(":")
    if not separator or "]" in port:
        host, port = address, str(DEFAULT_PORT)
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise click.UsageError(f"'{text}' is not a broker address: '{port}' is not a port. Use HOST:PORT.")
    return host.strip("[]") or "localhost", int(port)


def require_listener(bootstrap_servers: str) -> tuple[str, int]:
    """Returns the first address that accepts a connection."""
    refusals = []
    for host, port in parse(bootstrap_servers):
        try:
            socket.create_connection((host, port), CONNECT_TIMEOUT_S).close()
        except OSError as error:
            refusals.append(f"{host}:{port} ({_reason(error)})")
        else:
            return host, port
    if not refusals:
        raise click.UsageError("No broker address was given: pass --bootstrap-server HOST:PORT.")
    raise Failure(
        f"nothing answers at {' or '.join(refusals)}.",
        "Start a broker with `moldau broker`, or pass another address with --bootstrap-server HOST:PORT.",
    )


def _reason(error: OSError) -> str:
    if isinstance(error, socket.gaierror):
        return "the name does not resolve"
    if isinstance(error, TimeoutError):
        return f"no answer within {CONNECT_TIMEOUT_S:g} s"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    return (error.strerror or str(error)).lower()

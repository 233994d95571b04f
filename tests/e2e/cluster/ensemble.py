"""Three ZooKeepers that reach each other through gates alone.

Each is told other ports for its peers than they have: those of the gates between the two. Votes may find another way,
since ZooKeepers tell each other where they listen for them; what a leader commits does not.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from e2e.cluster.gates import Gate, Gates
from moldau.coordination.zookeeper_server import Peer, ZooKeeperServer, free_ports
from zookeeper_kit import require_zookeeper, started

SIZE = 3
GatesOf = dict[ZooKeeperServer, list[Gate]]
"""By server: all gates between it and the others, both ways."""


@contextmanager
def gated_zookeepers(directory: Path, gates: Gates) -> Iterator[GatesOf]:
    require_zookeeper()
    made: list[GatesOf] = []

    def make(attempt: int) -> list[ZooKeeperServer]:
        made.append(_ensemble(directory / str(attempt), gates))
        return list(made[-1])

    servers = started(make)
    try:
        yield made[-1]
    finally:
        for server in servers:
            server.kill()


def _ensemble(directory: Path, gates: Gates) -> GatesOf:
    ports = free_ports(3 * SIZE)
    peers = [Peer(number, "127.0.0.1", *ports[3 * number - 3 : 3 * number]) for number in range(1, SIZE + 1)]
    between: dict[int, list[Gate]] = {peer.number: [] for peer in peers}
    servers = {}
    for here in peers:
        seen = [here]
        for there in (peer for peer in peers if peer is not here):
            quorum, election = gates.to(there.quorum_port), gates.to(there.election_port)
            between[here.number] += (quorum, election)
            between[there.number] += (quorum, election)
            seen.append(there._replace(quorum_port=quorum.port, election_port=election.port))
        folder = directory / str(here.number)
        servers[here.number] = ZooKeeperServer(folder, here.client_port, number=here.number, ensemble=seen)
    return {server: between[number] for number, server in servers.items()}

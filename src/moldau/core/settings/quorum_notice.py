"""What somebody must know who starts a broker with the server.properties of a KRaft cluster."""

from typing import Final

from moldau.core.settings.resolve import BrokerLayers

_CLUSTER: Final = (
    "to form a cluster, give all brokers the same zookeeper.connect (`moldau zookeeper` starts a ZooKeeper)"
)


def quorum_notice(layers: BrokerLayers) -> str | None:
    """None for a file that does not name a controller quorum."""
    given = [
        name for name in layers.static if name == "process.roles" or name.startswith("controller.quorum.")
    ]
    if not given:
        return None
    settings = layers.settings()
    told = f"{', '.join(sorted(given))}: there is no controller quorum (KRaft) here, and these settings have no effect"
    if settings.zookeeper_connect:
        return f"{told}; the cluster is kept in ZooKeeper at {settings.zookeeper_connect}"
    controllers = max(
        len(settings.controller_quorum_voters), len(settings.controller_quorum_bootstrap_servers)
    )
    if controllers > 1 or "controller" not in settings.process_roles:
        return f"{told}. This broker is alone, and no other broker of the file's cluster will join it; {_CLUSTER}"
    return f"{told}; this broker is alone and keeps topics and settings beside its logs; {_CLUSTER}"

"""`moldau cluster`: who is in it, who controls it, and whether everything is replicated as it should be."""

from collections import Counter

import click

from moldau.cli.client.cluster_queries import Picture, moves, picture
from moldau.cli.client.connection import Cluster
from moldau.cli.local.broker_requests import start_broker, stop_broker
from moldau.cli.local.local_cluster import command as up
from moldau.cli.options import on_cluster
from moldau.cli.render.output import about, columns, counted, output_option, print_data


@click.group("cluster")
def command() -> None:
    """Start a cluster on this machine; show the state of any cluster and its brokers."""


for verb in (up, start_broker, stop_broker):
    command.add_command(verb)


@command.command("status")
@output_option
@on_cluster
def status(cluster: Cluster, output: str) -> int:
    """Say whether the cluster is well. The exit code is 1 while a partition has no leader or misses a replica."""
    seen = picture(cluster)
    offline = [part for part in seen.partitions if part.leader is None]
    under = [part for part in seen.partitions if part.is_under_replicated]
    moving = len(moves(cluster)) if seen.controller is not None else 0
    if output != "table":
        print_data(
            output,
            {
                "cluster_id": seen.cluster_id,
                "controller": seen.controller,
                "brokers": sorted(seen.brokers),
                "topics": seen.topics,
                "partitions": len(seen.partitions),
                "offline_partitions": [str(part.place) for part in offline],
                "under_replicated_partitions": [str(part.place) for part in under],
                "partitions_on_the_move": moving,
            },
        )
    else:
        click.echo(_status_text(seen, len(offline), len(under), moving))
    return 1 if offline or under or seen.controller is None else 0


def _status_text(seen: Picture, offline: int, under: int, moving: int) -> str:
    facts = [
        ("Cluster", seen.cluster_id or "-"),
        ("Controller", "none" if seen.controller is None else f"broker {seen.controller}"),
        ("Brokers", ", ".join(map(str, sorted(seen.brokers)))),
        ("Topics", str(seen.topics)),
        ("Partitions", str(len(seen.partitions))),
        ("Without a leader", str(offline)),
        ("Under-replicated", str(under)),
        ("On the move", str(moving)),
    ]
    lines = [about(facts), ""]
    if offline:
        lines.append("`moldau topics describe --unavailable` shows which partitions have no leader.")
    if under:
        lines.append("`moldau topics describe --under-replicated` shows which partitions miss a replica.")
    if not offline and not under:
        lines.append(f"All is well: {counted(len(seen.partitions), 'partition')}, all of them in sync.")
    return "\n".join(lines)


@command.command("brokers")
@output_option
@on_cluster
def brokers(cluster: Cluster, output: str) -> None:
    """List the brokers: where they are, what they lead and hold, and who is the controller."""
    seen = picture(cluster)
    leads = Counter(part.leader for part in seen.partitions if part.leader is not None)
    prefers = Counter(part.replicas[0] for part in seen.partitions if part.replicas)
    holds = Counter(broker_id for part in seen.partitions for broker_id in part.replicas)
    # A broker that is away is named by the partitions that wait for it.
    known = sorted(seen.brokers.keys() | holds.keys())
    if output != "table":
        print_data(
            output,
            [
                {
                    "broker": broker_id,
                    "address": str(seen.brokers[broker_id].address) if broker_id in seen.brokers else None,
                    "rack": seen.brokers[broker_id].rack if broker_id in seen.brokers else None,
                    "online": broker_id in seen.brokers,
                    "controller": broker_id == seen.controller,
                    "leads": leads[broker_id],
                    "preferred_leader_of": prefers[broker_id],
                    "replicas": holds[broker_id],
                }
                for broker_id in known
            ],
        )
        return
    rows = []
    for broker_id in known:
        broker = seen.brokers.get(broker_id)
        state = "away" if broker is None else "controller" if broker_id == seen.controller else "online"
        address = None if broker is None else str(broker.address)
        rack = None if broker is None else broker.rack
        rows.append((broker_id, address, rack, state, leads[broker_id], prefers[broker_id], holds[broker_id]))
    headings = ("BROKER", "ADDRESS", "RACK", "STATE", "LEADS", "SHOULD LEAD", "REPLICAS")
    click.echo(columns(headings, rows))

"""`moldau cluster brokers`."""

from collections import Counter

import click

from moldau.cli.client.cluster_queries import picture
from moldau.cli.client.connection import Cluster
from moldau.cli.options import on_cluster
from moldau.cli.render.output import columns, output_option, print_data


@click.command("brokers")
@output_option
@on_cluster
def brokers(cluster: Cluster, output: str) -> None:
    """List the brokers. Shows addresses, leaders, replicas and the controller."""
    seen = picture(cluster)
    leads = Counter(part.leader for part in seen.partitions if part.leader is not None)
    prefers = Counter(part.replicas[0] for part in seen.partitions if part.replicas)
    holds = Counter(broker_id for part in seen.partitions for broker_id in part.replicas)
    # An offline broker is known only as a replica of partitions.
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
        state = "offline" if broker is None else "controller" if broker_id == seen.controller else "online"
        address = None if broker is None else str(broker.address)
        rack = None if broker is None else broker.rack
        rows.append((broker_id, address, rack, state, leads[broker_id], prefers[broker_id], holds[broker_id]))
    headings = ("BROKER", "ADDRESS", "RACK", "STATE", "LEADS", "SHOULD LEAD", "REPLICAS")
    click.echo(columns(headings, rows))

"""`moldau cluster status`: controller, brokers and replication health."""

import click

from moldau.cli.client.cluster_queries import Picture, moves, picture
from moldau.cli.client.connection import Cluster
from moldau.cli.options import on_cluster
from moldau.cli.render.output import about, counted, output_option, print_data


@click.command("status")
@output_option
@on_cluster
def status(cluster: Cluster, output: str) -> int:
    """Show the health of the cluster. Exit code 1: a partition has no leader or a replica out of sync."""
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
        ("Being reassigned", str(moving)),
    ]
    lines = [about(facts), ""]
    if offline:
        lines.append("`moldau topics describe --unavailable` lists the partitions without a leader.")
    if under:
        lines.append("`moldau topics describe --under-replicated` lists the under-replicated partitions.")
    if not offline and not under:
        lines.append(f"Healthy: {counted(len(seen.partitions), 'partition')}, all in sync.")
    return "\n".join(lines)

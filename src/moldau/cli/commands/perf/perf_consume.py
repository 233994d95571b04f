"""`moldau perf consume`."""

import secrets

import click
from confluent_kafka import KafkaException

from moldau.cli.client.connection import Cluster
from moldau.cli.commands.perf.client_metrics import ClientMetrics
from moldau.cli.commands.perf.measurements import ConsumeRun
from moldau.cli.commands.perf.perf_options import count_option, metrics_option, show_figures, topic_argument
from moldau.cli.commands.perf.perf_stats import CONSUMED_HEADING
from moldau.cli.options import on_cluster
from moldau.cli.render.output import counted, output_option
from moldau.cli.render.progress import progress_bar


@click.command("consume")
@topic_argument
@count_option(100_000)
@click.option("--group", help="The consumer group. Default: a new one.")
@click.option("--from-latest", is_flag=True, help="Read only records written from now on.")
@click.option("--hide-header", is_flag=True, help="Print the figures without column names.")
@metrics_option
@output_option
@on_cluster
def consume(
    cluster: Cluster,
    topic: str,
    count: int,
    group: str | None,
    from_latest: bool,
    hide_header: bool,
    print_metrics: bool,
    output: str,
) -> None:
    """Measure reading from TOPIC. Reads in a consumer group as fast as possible and reports the throughput."""
    cluster.describe_topic(topic)
    metrics = ClientMetrics()
    consumer = cluster.consumer(
        {
            "group.id": group or f"perf-consumer-{secrets.token_hex(4)}",
            "enable.auto.commit": False,
            "auto.offset.reset": "latest" if from_latest else "earliest",
            "check.crcs": True,
            **(metrics.settings if print_metrics else {}),
        }
    )
    try:
        with progress_bar(count, "consuming") as bar:
            done = ConsumeRun(cluster, consumer, topic, bar.advance).run(count)
        if print_metrics:
            metrics.finish(consumer.poll)
    except KafkaException as error:
        raise cluster.failure(error.args[0], f"read topic '{topic}'") from error
    finally:
        consumer.close()
    if done.count < count:
        click.echo(
            f"Only {counted(done.count, 'record')} of {count:,} arrived: no more within "
            f"{cluster.timeout_s:g} s. --timeout SECONDS waits longer.",
            err=True,
        )
    lines = [done.line()] if hide_header else [CONSUMED_HEADING, done.line()]
    show_figures(done.as_json(), lines, metrics if print_metrics else None, output)

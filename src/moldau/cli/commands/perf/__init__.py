"""`moldau perf`: measures produce, consume and end-to-end latency.

Only `main.py` imports it. Start with `perf_produce.py`; the timed loops are in `measurements.py`, the figures in
`perf_stats.py`. `payloads.py` makes the records, for schemas with `avro_values.py` and `json_values.py`.
"""

import click

from moldau.cli.commands.perf.perf_consume import consume
from moldau.cli.commands.perf.perf_latency import latency
from moldau.cli.commands.perf.perf_produce import produce


@click.group("perf")
def command() -> None:
    """Measure produce and consume throughput, and latency.

    The client is librdkafka driven from Python, not Kafka's Java client. The output has the format of Kafka's
    tools, so that scripts can parse it.
    """


for each in (produce, consume, latency):
    command.add_command(each)

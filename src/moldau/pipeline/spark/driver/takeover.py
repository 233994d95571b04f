"""How a run takes over from earlier runs of the application: reads what they committed, and fences them."""

from collections.abc import Iterable

from confluent_kafka import ConsumerGroupTopicPartitions, Producer
from confluent_kafka.admin import AdminClient

from moldau.core.errors import ConfigError
from moldau.pipeline.spark.clients import COORDINATOR_S_MAX
from moldau.pipeline.spark.clients import producer as producer_settings
from moldau.pipeline.spark.driver.batch_plan import transactional_ids
from moldau.pipeline.spark.marker import Marker
from moldau.pipeline.spark.settings import AppSettings

Markers = dict[tuple[str, int], Marker]
"""By topic and partition."""


def group_markers(admin: AdminClient, group: str) -> Markers:
    asked = admin.list_consumer_group_offsets(
        [ConsumerGroupTopicPartitions(group)], request_timeout=COORDINATOR_S_MAX
    )
    found = {}
    for one in asked[group].result(COORDINATOR_S_MAX).topic_partitions:
        marker = Marker.parse(one.metadata)
        if marker is not None:
            found[one.topic, one.partition] = marker
    return found


def require_own_group(markers: Markers, settings: AppSettings, checkpoint_id: str, batch_id: int) -> None:
    """Raises ConfigError if the group's markers are from another checkpoint, or later than `batch_id`, the last batch
    that this checkpoint knows."""
    for place, marker in markers.items():
        if marker.checkpoint_id != checkpoint_id:
            raise ConfigError(
                f"the offsets of the group {settings.application_id} ({place[0]}-{place[1]}) were committed by a run "
                f"with another checkpoint than {settings.folder}: two runs of one application would write everything "
                "twice. Stop the other one, or give this one another application id"
            )
        if marker.batch_id > batch_id:
            raise ConfigError(
                f"the group {settings.application_id} has committed batch {marker.batch_id}, but {settings.folder} "
                f"knows none after batch {batch_id}: part of the checkpoint is lost. Restore it, or begin again with "
                f"moldau streams reset {settings.application_id}"
            )


def fence(settings: AppSettings, slots: int, topics: Iterable[str] = ()) -> None:
    """Fences the producers of earlier runs: a process that still runs a task must not commit it any more. `topics`: the
    internal topics, which show the `transform` steps."""
    for transactional_id in transactional_ids(settings.application_id, slots, topics):
        producer = Producer(
            producer_settings(settings.bootstrap_servers, settings.client_settings, transactional_id)
        )
        producer.init_transactions(COORDINATOR_S_MAX)

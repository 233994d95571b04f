"""Offsets of a flow that MirrorMaker 2 has begun: `moldau mirror` goes on from them when it has none of its own.

MirrorMaker 2 has a worker for each flow, all with the same connector names, and an offsets topic for each source.
"""

import logging
from typing import Final

from confluent_kafka import KafkaException

from moldau.core.errors import ConfigError, MoldauError
from moldau.pipeline.connect.connectors.mirror.record_task import CLUSTER
from moldau.pipeline.connect.plugins import find_connector
from moldau.pipeline.connect.server.member import Member
from moldau.pipeline.connect.server.state.config_records import Texts
from moldau.pipeline.connect.server.topics.offsets_admin import OffsetsAdmin

CONNECTOR: Final = "MirrorSourceConnector"
SEPARATOR: Final = "replication.policy.separator"

log = logging.getLogger("moldau.connect")


def take_over(member: Member, name: str, config: Texts) -> int:
    """Before the connector is created. Returns the number of partitions, 0 if there is nothing to take over. Blocks.
    Raises ConfigError: without an answer the flow would begin at the first records."""
    if find_connector(config["connector.class"]).connector.__name__ != CONNECTOR:
        return 0
    try:
        return _take_over(member, name, config)
    except (MoldauError, KafkaException) as failure:
        text = failure.args[0].str() if isinstance(failure, KafkaException) else str(failure)
        raise ConfigError(f"the offsets of {name} could not be looked up: {text}") from failure


def _take_over(member: Member, name: str, config: Texts) -> int:
    admin = OffsetsAdmin(member.configuration.client, member.settings.group_id)
    own_topic, source = member.settings.offset_topic, config["source.cluster.alias"]
    if admin.of_source(own_topic, name):
        return 0
    separators = dict.fromkeys((".", config.get(SEPARATOR, ".")))
    topics = [f"mm2-offsets{one}{source}{one}internal" for one in separators]
    # To ask for a single topic may create it.
    there = admin.topics()
    for topic in (one for one in (*topics, own_topic) if one in there):
        known = admin.of_source(topic, CONNECTOR)
        found = [(place, offset) for place, offset in known if place.get(CLUSTER) == source]
        if found:
            admin.change_source(own_topic, name, found, tasks=0)
            log.info("%s goes on where MirrorMaker 2 was: %d partitions of %s", name, len(found), topic)
            return len(found)
    return 0

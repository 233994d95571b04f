"""Every stored record of ours against Kafka's own definition of it."""

import pytest

from kafka_definitions import defined, definitions, described, versions_in
from moldau.protocol.spec import Message
from moldau.protocol.stored import (
    classic_groups,
    cluster_metadata,
    consumer_groups,
    consumer_protocol,
    transactions,
)
from moldau.protocol.stored.cluster_metadata import MetadataRecord
from moldau.protocol.stored.framing import RecordKey, RecordValue

JARS = {
    classic_groups: "kafka-group-coordinator",
    consumer_groups: "kafka-group-coordinator",
    transactions: "kafka-transaction-coordinator",
    consumer_protocol: "kafka-clients",
    cluster_metadata: "kafka-metadata",
}
ABSTRACT = (Message, RecordKey, RecordValue, MetadataRecord)
DECLARED = [
    (jar, cls)
    for module, jar in JARS.items()
    for cls in vars(module).values()
    if isinstance(cls, type) and issubclass(cls, Message) and cls not in ABSTRACT
]

pytestmark = pytest.mark.java


@pytest.mark.parametrize(("jar", "cls"), DECLARED, ids=[cls.__name__ for _, cls in DECLARED])
def test_declaration(jar: str, cls: type[Message]) -> None:
    definition = definitions(jar)[cls.__name__]
    valid = versions_in(definition["validVersions"])
    assert set(range(cls.VERSIONS.low, cls.VERSIONS.high + 1)) == valid
    assert {v for v in valid if v in cls.FLEXIBLE} == valid & versions_in(definition["flexibleVersions"])
    if issubclass(cls, RecordKey | MetadataRecord):
        assert definition["apiKey"] == cls.RECORD_TYPE
    assert list(described(cls, valid)) == list(defined(definition, valid))


def test_all_records_of_groups_and_transactions_are_declared() -> None:
    names = {cls.__name__ for _, cls in DECLARED}
    kafkas = definitions("kafka-group-coordinator") | definitions("kafka-transaction-coordinator")
    missing = {
        name
        for name, definition in kafkas.items()
        if definition["type"].startswith("coordinator-") and name not in names
    }
    # The value under a legacy key is read with the layouts of OffsetCommitValue, whose oldest one is its own.
    missing.remove("LegacyOffsetCommitValue")
    assert all(name.startswith(("Share", "Streams")) for name in missing), missing

"""Topics in the store: what a restart finds, and how logs on disk are matched with it."""

from collections.abc import Iterator, Mapping

import orjson
import pytest

from moldau.broker.configs.config_records import read_configs, write_configs
from moldau.broker.topics import topic_records as records
from moldau.broker.topics.catalog import PartitionEntry, TopicCatalog, TopicEntry, initial_entry
from moldau.coordination import tree_layout as layout
from moldau.coordination.sqlite import SqliteStore
from moldau.coordination.store import Create
from moldau.coordination.tree_layout import TopicNode, decode_topic, encode_topic
from moldau.coordination.tree_setup import claim_cluster_id, create_folders
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import TopicId, TopicPartition, topic_id_text

ID, OTHER_ID, THIRD_ID = (TopicId(bytes([number]) * 16) for number in (1, 2, 3))


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    store = SqliteStore(":memory:")
    create_folders(store)
    create_folders(store)
    yield store
    store.close()


def entry(name: str = "t", topic_id: TopicId = ID, partitions: int = 2, **configs: str) -> TopicEntry:
    return TopicEntry(name, topic_id, (initial_entry((1,)),) * partitions, configs)


def test_a_topic_reads_back_as_written_in_kafkas_form(store: SqliteStore) -> None:
    written = entry(retention="5")
    records.write_new(store, written)
    assert records.load_catalog(store).topics() == [written]
    assert orjson.loads(store.get("/brokers/topics/t").data) == {
        "version": 3,
        "topic_id": topic_id_text(ID),
        "partitions": {"0": [1], "1": [1]},
        "adding_replicas": {},
        "removing_replicas": {},
    }
    assert orjson.loads(store.get("/config/topics/t").data) == {"version": 1, "config": {"retention": "5"}}


def test_a_partition_whose_state_changed_has_a_node_of_its_own(store: SqliteStore) -> None:
    records.write_new(store, TopicEntry("t", ID, (initial_entry((1, 2)),) * 2, {}))
    state = {"version": 1, "leader": 2, "leader_epoch": 7, "isr": [2], "controller_epoch": 0}
    folder = "/brokers/topics/t/partitions"
    store.multi([Create(folder), Create(f"{folder}/1"), Create(f"{folder}/1/state", orjson.dumps(state))])
    loaded = records.load_catalog(store).find("t")
    assert loaded is not None
    assert loaded.partitions == (PartitionEntry(1, 0, (1, 2), (1, 2)), PartitionEntry(2, 7, (1, 2), (2,)))
    records.write_deletion(store, loaded)
    assert store.children("/brokers/topics") == []


def test_a_topic_is_written_once(store: SqliteStore) -> None:
    records.write_new(store, entry())
    with pytest.raises(ApiError) as refusal:
        records.write_new(store, entry(topic_id=OTHER_ID))
    assert refusal.value.code is ErrorCode.TOPIC_ALREADY_EXISTS


def test_changes_of_a_topic_that_is_gone_or_another_now_are_refused(store: SqliteStore) -> None:
    records.write_new(store, entry(topic_id=OTHER_ID))
    for change in (
        lambda: records.write_deletion(store, entry()),
        lambda: records.write_partitions(store, entry(partitions=3), expected=2),
        lambda: records.write_deletion(store, entry("gone")),
    ):
        with pytest.raises(ApiError) as refusal:
            change()
        assert refusal.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert store.children("/brokers/topics") == ["t"]


def test_growth_decided_on_an_old_count_is_refused(store: SqliteStore) -> None:
    records.write_new(store, entry(partitions=3))
    with pytest.raises(ApiError) as refusal:
        records.write_partitions(store, entry(partitions=4), expected=2)
    assert refusal.value.code is ErrorCode.INVALID_PARTITIONS


def test_settings_are_not_written_for_a_topic_that_is_gone(store: SqliteStore) -> None:
    with pytest.raises(ApiError) as refusal:
        write_configs(store, "/config/topics/t", lambda _: {"a": "1"}, needs="/brokers/topics/t")
    assert refusal.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert store.children("/config/topics") == []


def test_a_write_of_settings_that_meets_another_starts_over(store: SqliteStore) -> None:
    path = "/config/brokers/1"
    write_configs(store, path, lambda _: {"a": "1"})
    interferences = [{"a": "1", "b": "2"}]

    def edit(present: Mapping[str, str]) -> dict[str, str]:
        if interferences:
            store.set(path, layout.encode_configs(interferences.pop()))
        return {**present, "c": "3"}

    assert write_configs(store, path, edit) == {"a": "1", "b": "2", "c": "3"}


def place(name: str, index: int) -> TopicPartition:
    return TopicPartition(name, index)


def test_topics_found_on_disk_only_are_adopted(store: SqliteStore) -> None:
    catalog = TopicCatalog()
    found = {place("k", 0): ID, place("k", 3): ID, place("two", 0): OTHER_ID}
    result = records.match_logs(store, catalog, found, broker_id=5, recorded={})
    assert {each.name: (each.topic_id, len(each.partitions)) for each in result.adopted} == {
        "k": (ID, 4),
        "two": (OTHER_ID, 1),
    }
    assert (result.deleted, result.strays) == ([], [])
    assert catalog.topics() == records.load_catalog(store).topics()
    assert catalog.topics()[0].partitions[0].leader == 5


def test_an_adopted_topic_has_the_settings_it_had_and_loses_nothing_for_want_of_one(
    store: SqliteStore,
) -> None:
    found = {place("kept", 0): ID, place("short", 0): OTHER_ID, place("__consumer_offsets", 0): THIRD_ID}
    recorded = {
        "short": {"retention.ms": "60000", "segment.ms": "1000"},
        "__consumer_offsets": {"segment.bytes": "104857600"},
        "gone": {"segment.ms": "1"},
    }
    result = records.match_logs(store, TopicCatalog(), found, 1, recorded)
    assert {each.name: each.configs for each in result.adopted} == {
        "kept": {"retention.ms": "-1", "retention.bytes": "-1"},
        "short": {"retention.ms": "60000", "retention.bytes": "-1", "segment.ms": "1000"},
        "__consumer_offsets": {"cleanup.policy": "compact", "segment.bytes": "104857600"},
    }


def test_logs_of_a_deletion_cut_short_are_told_and_not_adopted(store: SqliteStore) -> None:
    records.write_new(store, entry())
    records.write_deletion(store, entry())
    catalog = records.load_catalog(store)
    result = records.match_logs(
        store, catalog, {place("t", 0): ID, place("t", 1): ID}, broker_id=1, recorded={}
    )
    assert result.deleted == [place("t", 0), place("t", 1)]
    assert (result.adopted, len(catalog)) == ([], 0)
    records.forget_deletions(store)
    assert store.children("/admin/delete_topics") == []


def test_each_deletion_of_a_name_has_a_mark_of_its_own(store: SqliteStore) -> None:
    for topic_id in (ID, OTHER_ID):
        records.write_new(store, entry(topic_id=topic_id))
        records.write_deletion(store, entry(topic_id=topic_id))
    result = records.match_logs(
        store, records.load_catalog(store), {place("t", 0): OTHER_ID, place("t", 1): ID}, 1, {}
    )
    assert result.deleted == [place("t", 0), place("t", 1)]


def test_logs_of_another_topic_of_the_name_are_strays(store: SqliteStore) -> None:
    records.write_new(store, entry())
    catalog = records.load_catalog(store)
    found = {place("t", 0): ID, place("t", 1): OTHER_ID, place("t", 2): ID}
    result = records.match_logs(store, catalog, found, broker_id=1, recorded={})
    assert result.strays == [place("t", 1), place("t", 2)]
    assert result.adopted == []


def test_of_two_unknown_topics_of_one_name_the_wider_is_adopted(store: SqliteStore) -> None:
    catalog = TopicCatalog()
    found = {place("t", 0): ID, place("t", 1): OTHER_ID, place("u", 0): THIRD_ID}
    result = records.match_logs(store, catalog, found, broker_id=1, recorded={})
    assert {each.name: each.topic_id for each in result.adopted} == {"t": OTHER_ID, "u": THIRD_ID}
    assert result.strays == [place("t", 0)]


def test_the_first_to_claim_names_the_cluster(store: SqliteStore) -> None:
    assert claim_cluster_id(store, "mine", {"min.insync.replicas": "2"}) == "mine"
    assert claim_cluster_id(store, "yours", {"min.insync.replicas": "3"}) == "mine"
    assert read_configs(store, layout.BROKER_CONFIGS, layout.ALL_BROKERS) == {"min.insync.replicas": "2"}


def test_a_cluster_keeps_the_settings_it_was_given_before_it_had_an_id(store: SqliteStore) -> None:
    store.create(
        f"{layout.BROKER_CONFIGS}/{layout.ALL_BROKERS}", layout.encode_configs({"num.partitions": "4"})
    )
    assert claim_cluster_id(store, "mine", {"min.insync.replicas": "2"}) == "mine"
    assert read_configs(store, layout.BROKER_CONFIGS, layout.ALL_BROKERS) == {"num.partitions": "4"}


def test_the_catalog_finds_by_name_and_id_and_counts_changes() -> None:
    catalog = TopicCatalog()
    catalog.put(entry("a.b"))
    first = catalog.epoch
    catalog.put(entry("a.b").with_configs({"x": "1"}))
    assert catalog.epoch > first
    assert catalog.find("a.b") == catalog.find_by_id(ID) == entry("a.b", x="1")
    assert catalog.colliding("a_b") == "a.b"
    assert catalog.colliding("a.b") is None
    catalog.remove(OTHER_ID)
    catalog.remove(ID)
    assert (len(catalog), catalog.find("a.b"), catalog.find_by_id(ID)) == (0, None, None)
    assert catalog.colliding("a_b") is None


def test_more_partitions_leave_a_move_under_way_as_it_is(store: SqliteStore) -> None:
    topic = TopicEntry("t", ID, (initial_entry((1, 2)),), {})
    records.write_new(store, topic)
    moving = TopicNode(ID, ((1, 3, 2),), {0: (3,)}, {0: (2,)})
    store.set(layout.topic_path("t"), encode_topic(moving))
    records.write_partitions(store, topic.with_more((initial_entry((2, 1)),)), expected=1)
    after = decode_topic(store.get(layout.topic_path("t")).data)
    assert after == moving._replace(replicas=((1, 3, 2), (2, 1)))

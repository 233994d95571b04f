"""Persistent queries as files that the driver loads."""

import stat
from pathlib import Path

from moldau.pipeline.spark.driver.app_file import load_application
from moldau.pipeline.sql.engine import Catalog, Command
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.server.hosting.application_files import ApplicationFiles
from moldau.pipeline.sql.server.processing_log.failure_log import FailureLog
from moldau.pipeline.sql.server.settings import read_configuration

ORDERS = (
    "CREATE STREAM ORDERS (ID STRING KEY, V INT) "
    "WITH (KAFKA_TOPIC='orders', VALUE_FORMAT='JSON', PARTITIONS=1, KEY_FORMAT='KAFKA');"
)
BIG = (
    "CREATE STREAM BIG WITH (KAFKA_TOPIC='BIG', PARTITIONS=1, REPLICAS=1, KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON') "
    "AS SELECT * FROM ORDERS WHERE V > 10 EMIT CHANGES;"
)
APPLICATION = "_confluent-ksql-default_query_CSAS_BIG_1"


def catalog() -> Catalog:
    found = Catalog(builtin())
    for offset, (name, statement) in enumerate([("ORDERS", ORDERS), ("BIG", BIG)]):
        assert found.replay(Command("stream", name, "create", statement), offset).is_done
    return found


def files_in(folder: Path, *, has_log: bool = False) -> ApplicationFiles:
    settings = read_configuration(overrides=[f"ksql.streams.state.dir={folder}"]).settings
    files = ApplicationFiles(
        settings, lambda query_id: FailureLog("localhost:9092", "log", query_id) if has_log else None
    )
    files.prepare()
    return files


def test_a_query_becomes_a_file_that_defines_its_topology(tmp_path: Path) -> None:
    for has_log in (False, True):
        files = files_in(tmp_path / str(has_log), has_log=has_log)
        (wanted,) = files.wanted(catalog(), ()).values()
        assert (wanted.query_id, wanted.application_id, wanted.is_paused) == (
            "CSAS_BIG_1",
            APPLICATION,
            False,
        )
        path = files.write(wanted)
        topology = load_application(path, by_value=False)
        assert topology.application_id == APPLICATION
        assert {topic for part in topology.sub_topologies for topic in part.source_topics} == {"orders"}


def test_only_the_owner_may_read_a_file(tmp_path: Path) -> None:
    """It may have the registry's password."""
    files = files_in(tmp_path)
    (wanted,) = files.wanted(catalog(), ()).values()
    assert stat.S_IMODE(Path(files.write(wanted)).stat().st_mode) == 0o600


def test_pausing_changes_no_file_and_files_of_ended_queries_are_found(tmp_path: Path) -> None:
    files, defined = files_in(tmp_path), catalog()
    (before,) = files.wanted(defined, ()).values()
    files.write(before)
    assert defined.replay(Command("pause", "CSAS_BIG_1", "execute", "PAUSE CSAS_BIG_1;"), 2).is_done
    (paused,) = files.wanted(defined, ()).values()
    assert (paused.content, paused.is_paused) == (before.content, True)
    assert files.left_over({APPLICATION}) == []
    assert files.left_over({}) == [APPLICATION]
    files.remove(APPLICATION)
    assert files.left_over({}) == []

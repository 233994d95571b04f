"""What a worker forbids connectors: classes, and files outside given folders."""

import io
import json
import os
from pathlib import Path

import pytest

from moldau.cli.local.service_files import connector_limits
from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.files.file_store import FileStore, Location
from moldau.pipeline.connect.plugins import find_connector
from moldau.pipeline.connect.server.checks.connector_limits import ConnectorLimits
from moldau.pipeline.connect.server.config_checks import ConfigChecks
from moldau.pipeline.connect.server.failures import RequestFailure
from moldau.pipeline.connect.server.hosting.connector_run import ConnectorRun
from moldau.pipeline.connect.server.hosting.shares import Shares
from moldau.pipeline.connect.server.hosting.task_plans import TaskPlans
from moldau.pipeline.connect.server.plugin_list import connector_plugins, settings_of
from moldau.pipeline.connect.server.settings import Configuration, read_configuration
from moldau.pipeline.connect.server.state.cluster_state import ConnectorEntry

LINES = {"name": "l", "connector.class": "FileStreamSource", "topic": "t"}
TRUST = "/srv/data-security/certs/trust.pem"
SECURE = [f"{name}={text}" for name, text in connector_limits(TRUST).items()]
FILE_CLASSES = (
    "FileStreamSource",
    "org.apache.kafka.connect.file.FileStreamSinkConnector",
    "moldau.pipeline.connect.connectors.file_stream.source:FileStreamSourceConnector",
    # A name under which another module has it.
    "moldau.pipeline.connect.connectors.file_stream.source.FileStreamSourceConnector",
    "FileSource",
    "FileSinkConnector",
)
OPTIONS = {"type": "string", "arg.properties": {"options": {"file": "/etc/users.json", "encoding": "json"}}}
DRAWN = {"type": "record", "name": "r", "fields": [{"name": "f", "type": OPTIONS}]}
REACHING = (
    {"connector.class": "JdbcSource", "connection.url": "jdbc:sqlite:/etc/shop.db"},
    {"connector.class": "JdbcSink", "connection.url": "jdbc:sqlite:/etc/shop.db", "topics": "t"},
    {"connector.class": "JdbcSource", "connection.url": "jdbc:postgresql://h/d?sslkey=/etc/ca.key"},
    {"connector.class": "HdfsSink", "hdfs.url": "file:///etc", "topics": "t", "flush.size": "9"},
    {"connector.class": "HdfsSink", "store.url": "file:///etc?/../tmp", "topics": "t", "flush.size": "9"},
    {"connector.class": "Datagen", "schema.filename": "/etc/users.json", "kafka.topic": "t"},
    {"connector.class": "Datagen", "schema.string": json.dumps(DRAWN), "kafka.topic": "t"},
    {"connector.class": "Datagen", "producer.override.ssl.keystore.location": "/etc/ca.pem"},
    {"connector.class": "Datagen", "producer.override.plugin.library.paths": "/tmp/evil.so"},
    {
        "connector.class": "IcebergSink",
        "iceberg.catalog.type": "sql",
        "iceberg.catalog.uri": "sqlite:////etc/c",
    },
    {
        "connector.class": "IcebergSink",
        "iceberg.catalog.type": "rest",
        "iceberg.catalog.warehouse": "file:///e",
    },
    {
        "connector.class": "IcebergSink",
        "iceberg.catalog.type": "rest",
        "iceberg.catalog.warehouse": " file:///e",
    },
    {"connector.class": "IcebergSink", "iceberg.catalog.type": "hive", "iceberg.catalog.warehouse": "../e"},
    {"connector.class": "IcebergSink", "iceberg.tables.auto-create-props.write.data.path": "../e"},
    {"connector.class": "IcebergSink", "iceberg.catalog.uri": "mysql+pymysql://h/d?local_infile=1"},
    {"connector.class": "IcebergSink", "iceberg.catalog.py-catalog-impl": "os.path"},
    {"connector.class": "HttpSource", "http.ssl.cert": "/etc/ca.pem"},
    {"connector.class": "RedisSink", "redis.key.file": "/etc/ca.key", "topics": "t"},
    {
        "connector.class": "S3Sink",
        "spool.dir": "/etc",
        "format.class": "Json",
        "s3.bucket.name": "b",
        "topics": "t",
        "flush.size": "9",
    },
)
REMOTE = (
    {"connector.class": "JdbcSource", "connection.url": "jdbc:postgresql://host/shop"},
    {"connector.class": "S3Sink", "s3.bucket.name": "shop", "topics": "t", "flush.size": "9"},
    {"connector.class": "HdfsSink", "hdfs.url": "hdfs://host:8020/archive", "topics": "t", "flush.size": "9"},
    {"connector.class": "Datagen", "quickstart": "users", "kafka.topic": "t"},
    {
        "connector.class": "IcebergSink",
        "iceberg.catalog.type": "rest",
        "iceberg.catalog.uri": "https://catalog:8181",
        "iceberg.catalog.warehouse": "prod",
    },
)


def secure() -> Configuration:
    return read_configuration(overrides=SECURE)


def limits(*folders: str) -> ConnectorLimits:
    return ConnectorLimits.of((), folders)


@pytest.mark.parametrize("name", FILE_CLASSES)
def test_a_disabled_connector_is_neither_created_nor_validated_nor_shown(name: str) -> None:
    checks = ConfigChecks(secure())
    config = {**LINES, "connector.class": name}
    with pytest.raises(RequestFailure, match=r"is disabled on this worker by its setting plugins\.disabled"):
        checks.require_valid("l", config)
    with pytest.raises(RequestFailure, match="is disabled"):
        checks.infos("FileStreamSource", config)
    with pytest.raises(ConfigError, match="is disabled"):
        settings_of(name, checks.limits)


def test_a_disabled_connector_is_not_listed() -> None:
    listed = {one.class_name for one in connector_plugins(ConfigChecks(secure()).limits)}
    assert not [name for name in listed if "File" in name]
    assert len(listed) == len(connector_plugins(limits("*"))) - 4


def test_one_that_is_there_already_does_not_run() -> None:
    """Neither the connector nor tasks that were stored before the worker got its limits."""
    given = {**LINES, "file": "/etc/users.json"}
    run = ConnectorRun("l", given, {}, tasks_limit=1, limits=ConfigChecks(secure()).limits)
    with pytest.raises(ConfigError, match="is disabled"):
        run.start()
    entry = ConnectorEntry("l", given, tasks=(given,), config_offset=1, tasks_offset=2)
    assert TaskPlans(secure()).wanted({"l": entry}, Shares.everything()) == {}
    assert TaskPlans(read_configuration()).wanted({"l": entry}, Shares.everything())
    elsewhere = read_configuration(overrides=["connector.allowed.paths=/srv"])
    assert TaskPlans(elsewhere).wanted({"l": entry}, Shares.everything()) == {}


@pytest.mark.parametrize("config", REACHING)
def test_no_setting_reaches_files_of_the_machine(config: dict[str, str]) -> None:
    plugin = find_connector(config["connector.class"])
    assert not list(limits("*").path_errors(plugin, config))
    with pytest.raises(RequestFailure, match=rf"connector\.allowed\.paths lets connectors use {TRUST}"):
        ConfigChecks(secure()).require_valid("l", {**config, "name": "l"})
    with pytest.raises(ConfigError, match=r"connector\.allowed\.paths"):
        limits("/srv").require(plugin, config)


@pytest.mark.parametrize("config", REMOTE)
def test_other_systems_are_not_limited(config: dict[str, str]) -> None:
    limits().require(find_connector(config["connector.class"]), config)


def test_no_name_of_a_file_leaves_the_folder(tmp_path: Path) -> None:
    store = FileStore(Location(str(tmp_path / "archive")))
    for path in ("topics/orders/../../../x", "topics/orders/f=/../../x", "..", "/x"):
        with pytest.raises(ConnectError, match="would not be in"):
            store.put(path, io.BytesIO(b"x"))
    store.put("topics/orders/f=..x/a..b", io.BytesIO(b"x"))
    assert [one.path for one in store.files()] == ["topics/orders/f=..x/a..b"]


def test_a_folder_that_is_allowed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "in-secret"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    plugin = find_connector("FileStreamSource")
    allowed = limits(str(inside))
    allowed.require(plugin, {"file": str(inside / "orders.txt")})
    for path in (
        outside / "a",
        inside / "link" / "a",
        inside / ".." / "in-secret" / "a",
        Path("/etc/passwd"),
    ):
        with pytest.raises(ConfigError, match="file may not use"):
            allowed.require(plugin, {"file": str(path)})
    # The connector cuts off the space, so it is no folder of this one.
    with pytest.raises(ConfigError, match="file may not use"):
        limits(os.getcwd()).require(plugin, {"file": f" {outside}/a"})


def test_up_secure_lets_converters_read_the_authority() -> None:
    name = "value.converter.schema.registry.ssl.truststore.location"
    datagen, checks = find_connector("Datagen"), ConfigChecks(secure())
    checks.limits.require(datagen, {name: TRUST})
    with pytest.raises(ConfigError, match="may not use"):
        checks.limits.require(datagen, {name: TRUST.replace("trust.pem", "ca.key")})
    assert connector_limits("/srv/a,b/trust.pem")["connector.allowed.paths"] == ""


def test_a_misspelt_name_does_not_leave_a_connector_open() -> None:
    assert ConnectorLimits.of(["FileStreamSource"], ["*"]).unknown_class() is None
    problem = ConnectorLimits.of(["FileStramSource"], ["*"]).unknown_class()
    assert problem is not None
    assert "FileStreamSource" in problem

"""RedisSink without a server: commands of records, settings, what errors mean."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.exceptions import AuthenticationError, BusyLoadingError, NoPermissionError, ResponseError

from connect_kit import sink_record
from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import ConnectError, RetriableError
from moldau.pipeline.connect.connectors.redis.commands import write_of
from moldau.pipeline.connect.connectors.redis.server import BadCommand, failure_of
from moldau.pipeline.connect.connectors.redis.settings import DECLARATIONS, RedisSettings
from moldau.pipeline.connect.connectors.redis.sink import RedisSinkConnector
from moldau.pipeline.connect.data.schema import INT32, STRING, array, struct
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.declarations import validate
from moldau.pipeline.connect.plugins import find_connector

POINT = struct({"x": INT32, "tags": array(STRING)})


def commands(key: Any, value: Any, **settings: str) -> list[tuple[Any, ...]]:
    config = {name.replace("_", "."): text for name, text in settings.items()}
    write = write_of(sink_record("orders", 3, key, value), RedisSettings.of(config))
    return list(write.commands)


def test_it_is_found_under_the_name_of_redis() -> None:
    assert find_connector("com.redis.kafka.connect.RedisSinkConnector").connector is RedisSinkConnector


def test_keys_and_values() -> None:
    point = Struct(POINT, (1, ["a", "b"]))
    assert commands("k", point) == [("HSET", b"orders:k", "x", b"1", "tags", b'["a","b"]')]
    assert commands("k", {"x": None, 1: True}) == [
        ("HSET", b"orders:k", b"1", b"true"),
        ("HDEL", b"orders:k", b"x"),
    ]
    assert commands(Decimal("1.50"), None) == [("DEL", b"orders:1.50")]
    assert commands("k", point, redis_type="json", redis_separator="/") == [
        ("JSON.SET", b"orders/k", "$", b'{"x":1,"tags":["a","b"]}')
    ]
    assert commands(True, 7, redis_command="set", redis_keyspace="all-${topic}-", redis_key_ttl="9") == [
        ("SET", b"all-orders-:true", b"7"),
        ("EXPIRE", b"all-orders-:true", 9),
    ]
    assert commands(None, {"a": 1, "b": None}, redis_type="STREAM") == [("XADD", b"orders", "*", b"a", b"1")]
    assert commands(None, None, redis_type="STREAM") == []
    assert commands("m", 0, redis_type="SET") == [("SADD", b"orders", b"m")]
    assert commands("m", Decimal("0.5"), redis_type="ZSET") == [("ZADD", b"orders", 0.5, b"m")]
    assert commands("m", None, redis_type="ZSET") == [("ZREM", b"orders", b"m")]


@pytest.mark.parametrize(
    ("key", "value", "kind", "said"),
    [
        (None, {"a": 1}, "HASH", "ValueToKey"),
        ([1], {"a": 1}, "HASH", "ExtractField"),
        ("k", [1], "HASH", "redis.type=STRING"),
        (None, {"a": None}, "STREAM", "needs one"),
        ("k", True, "ZSET", "score"),
        ("k", float("nan"), "ZSET", "score"),
        ("k", {"a": object()}, "JSON", "object"),
    ],
)
def test_records_that_do_not_fit_say_why(key: Any, value: Any, kind: str, said: str) -> None:
    with pytest.raises(ConnectError, match=said):
        commands(key, value, redis_type=kind)


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ({"redis.uri": "http://localhost"}, "redis.uri"),
        ({"redis.uri": "redis://me:secret@host:port"}, "redis.uri"),
        ({"redis.uri": "redis://host/shop"}, "redis.uri"),
        ({"redis.type": "HASH", "redis.command": "SET"}, "redis.command"),
        ({"redis.key.ttl": "0"}, "redis.key.ttl"),
        ({"redis.uri": "rediss://host", "redis.key.file": "/nowhere"}, "redis.key.file"),
        ({"redis.uri": "rediss://host", "redis.cacert": "/nowhere"}, "redis.cacert"),
        ({"redis.uri": "rediss://host", "redis.key.file": __file__}, "redis.key.file"),
    ],
)
def test_settings_that_cannot_be_used_say_why(config: dict[str, str], name: str) -> None:
    (wrong,) = RedisSinkConnector.check(config)
    assert wrong.name == name and "secret" not in wrong.errors[0]
    with pytest.raises(ConfigError):
        RedisSettings.of(config)


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    settings = RedisSettings.of({"redis.uri": "rediss://me:secret@host/1", "redis.password": "secret"})
    assert "secret" not in repr(settings) and settings.server == "Redis at host:6379"
    assert RedisSettings.of({"redis.uri": f"unix://{tmp_path}"}).server == f"Redis at {tmp_path}"


def test_a_type_that_does_not_exist() -> None:
    errors = {one.name: one.errors for one in validate(DECLARATIONS, {"redis.type": "LIST"}) if one.errors}
    assert errors.keys() == {"redis.type"} and "STREAM" in errors["redis.type"][0]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (
            redis.ConnectionError("Error 111 connecting to localhost:6379. Connection refused."),
            RetriableError,
        ),
        (redis.TimeoutError("Timeout reading from socket"), RetriableError),
        (BusyLoadingError("Redis is loading the dataset in memory"), RetriableError),
        (ResponseError("MISCONF Redis is configured to save RDB snapshots"), RetriableError),
        (ResponseError("OOM command not allowed when used memory > 'maxmemory'."), RetriableError),
        (ResponseError("NOREPLICAS Not enough good replicas to write."), RetriableError),
        (ResponseError("WRONGTYPE Operation against a key holding the wrong kind of value"), BadCommand),
        (AuthenticationError("WRONGPASS invalid username-password pair"), ConnectError),
        (NoPermissionError("User has no permissions"), ConnectError),
        (ResponseError("MOVED 3999 127.0.0.1:6381"), ConnectError),
        (ResponseError("unknown command 'JSON.SET', with args beginning with: 'a'"), ConnectError),
        (redis.ConnectionError("Error 1. [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify"), ConnectError),
    ],
)
def test_what_errors_mean(error: redis.RedisError, kind: type[Exception]) -> None:
    assert type(failure_of(error, "Redis at host:6379")) is kind


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006).", "write redis.uri as redis://"),
        (
            "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: Hostname mismatch, certificate is not valid",
            "as its certificate does",
        ),
        ("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed", "redis.cacert"),
        ("[SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] tlsv13 alert certificate required", "redis.key.cert"),
        ("[SSL: TLSV1_ALERT_UNKNOWN_CA] tlsv1 alert unknown ca", "an issuer it trusts"),
        (
            "[X509: NO_CERTIFICATE_OR_CRL_FOUND] no certificate or crl found",
            "redis.cacert has no certificate",
        ),
        ("[X509: KEY_VALUES_MISMATCH] key values mismatch", "does not belong"),
        ("[SSL] PEM lib (_ssl.c:3900)", "redis.key.password"),
    ],
)
def test_failures_of_tls_say_what_to_do(text: str, said: str) -> None:
    assert said in str(failure_of(redis.ConnectionError(text), "Redis at host:6379", is_tls=True))


def test_a_port_for_tls_that_is_spoken_to_without() -> None:
    closed = redis.ConnectionError("Connection closed by server.")
    assert "rediss://" in str(failure_of(closed, "Redis at host:6379"))
    assert "rediss://" not in str(failure_of(closed, "Redis at host:6379", is_tls=True))

"""Short ways to write schemas, and to register them."""

import json
from typing import Any

import orjson
from confluent_kafka import Producer

from e2e.registry.registry_process import Answer, ask
from moldau.testing import LocalCluster


def record(name: str, *fields: dict[str, Any], **more: Any) -> str:
    """An Avro record as Confluent's registry stores it."""
    return json.dumps({"type": "record", "name": name, **more, "fields": list(fields)}, separators=(",", ":"))


def field(name: str, kind: Any = "string", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def register(url: str, subject: str, schema: str, query: str = "", **fields: object) -> Answer:
    return ask(url, "POST", f"/subjects/{subject}/versions{query}", {"schema": schema, **fields})


def look_up(url: str, subject: str, schema: str, query: str = "", **fields: object) -> Answer:
    return ask(url, "POST", f"/subjects/{subject}{query}", {"schema": schema, **fields})


def refusal(answer: Answer) -> tuple[int, int]:
    return answer.status, answer.code


def versions(url: str, subject: str) -> list[int]:
    found: list[int] = ask(url, "GET", f"/subjects/{subject}/versions").body
    return found


def reference(name: str, subject: str, version: int) -> dict[str, Any]:
    return {"name": name, "subject": subject, "version": version}


def write(cluster: LocalCluster, subject: str, *values: dict[str, Any]) -> None:
    """The records of the registry's topic, read without the registry."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for value in values:
        key = {"keytype": "SCHEMA", "subject": subject, "version": value["version"], "magic": 1}
        producer.produce("_schemas", orjson.dumps({"subject": subject, **value}), orjson.dumps(key))
    assert producer.flush(60) == 0

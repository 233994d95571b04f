"""The audit of a secured cluster of three: whatever broker it happens on, it is in the one topic."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from moldau.testing import LocalCluster
from moldau.testing.cluster_security import Security

WAIT_S = 60
USERS = {"admin": "admin-secret", "bob": "bob-secret"}
TOPIC = "_moldau_audit"


@pytest.fixture
def cluster() -> Iterator[LocalCluster]:
    security = Security(protocol="SASL_PLAINTEXT", users=USERS, acls=True)
    settings = {"moldau.audit.enable": "true", "default.replication.factor": "3"}
    with LocalCluster(brokers=3, security=security, settings=settings) as running:
        yield running


def events(cluster: LocalCluster, wanted: set[str]) -> list[dict[str, Any]]:
    """All events, once there is one of each of these kinds."""
    consumer = Consumer(
        {**cluster.client_settings("admin"), "group.id": "audit", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([TOPIC])
    found: list[dict[str, Any]] = []
    deadline = time.monotonic() + WAIT_S
    try:
        while not wanted <= {label(event) for event in found}:
            assert time.monotonic() < deadline, {label(event) for event in found}
            message = consumer.poll(0.5)
            if message is not None and message.error() is None:
                assert dict(message.headers() or [])["content-type"].startswith(
                    b"application/cloudevents+json"
                )
                found.append(json.loads(message.value()))
    finally:
        consumer.close()
    return found


def label(event: dict[str, Any]) -> str:
    data = event["data"]
    detail = data.get("request") or ("in" if data.get("succeeded") else "out")
    return f"{event['type'].rpartition('.')[2]} {data.get('principal')} {detail}"


def test_logins_denials_and_changes_of_every_broker(cluster: LocalCluster) -> None:
    admin = AdminClient(cluster.client_settings("admin"))
    for future in admin.create_topics([NewTopic("orders", 3, 3)]).values():
        future.result(WAIT_S)
    bob = Producer(cluster.client_settings("bob"))
    bob.produce("orders", b"x")
    bob.flush(1)
    wrong = {**cluster.client_settings("bob"), "sasl.password": "wrong-secret"}
    intruder = AdminClient(wrong)
    with pytest.raises(KafkaException):
        intruder.list_topics(timeout=2)
    found = events(
        cluster,
        {
            "login User:admin in",
            "login User:bob in",
            "login None out",
            "change User:admin CreateTopics",
            "denial User:bob Metadata",
        },
    )
    assert len({event["id"] for event in found}) == len(found)
    assert all(event["specversion"] == "1.0" and event["source"].startswith("urn:kafka:") for event in found)
    text = json.dumps(found)
    assert "secret" not in text
    (change,) = [event for event in found if event["type"] == "moldau.audit.change"]
    assert change["data"]["details"]["topics"][0]["name"] == "orders" and change["data"]["errors"] == []

"""The rights that the guide says a proxy needs in a cluster with ACLs: these and no others."""

import re
from pathlib import Path

from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from documents import GUIDES, Page
from e2e.mqtt.mqtt_proxy import MqttProxy
from e2e.mqtt.wire_client import V5, Wire
from moldau.proxies.mqtt.codec.packets import PubAck, Publish
from moldau.proxies.mqtt.codec.properties import Property
from moldau.proxies.mqtt.codec.reason_codes import Reason
from moldau.testing import LocalCluster
from moldau.testing.cluster_security import Security

ROW = re.compile(
    r"^\| (topic|groups|transactional id) \| `([^`]+)`(, prefixed)? \| ([A-Za-z, ]+) \|$", re.MULTILINE
)
KINDS = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "transactional id": ResourceType.TRANSACTIONAL_ID,
}


def rights_of_the_guide() -> list[AclBinding]:
    found = []
    for kind, name, prefixed, operations in ROW.findall(Page(GUIDES / "mqtt.md").text):
        pattern = ResourcePatternType.PREFIXED if prefixed else ResourcePatternType.LITERAL
        for operation in operations.split(", "):
            found.append(
                AclBinding(
                    KINDS[kind.removesuffix("s")],
                    name,
                    pattern,
                    "User:mqtt",
                    "*",
                    AclOperation[re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation).upper()],
                    AclPermissionType.ALLOW,
                )
            )
    return found


def test_a_proxy_with_the_rights_of_the_guide(tmp_path: Path) -> None:
    rights = rights_of_the_guide()
    assert len(rights) == 14
    security = Security(users={"admin": "admin-secret", "mqtt": "mqtt-secret"}, acls=True)
    with LocalCluster(security=security) as cluster:
        admin = AdminClient(cluster.client_settings("admin"))
        for future in admin.create_acls(rights).values():
            future.result(60)
        settings = dict(cluster.client_settings("mqtt"))
        servers = settings.pop("bootstrap.servers")
        kafka = {f"kafka.{name}": str(value) for name, value in settings.items()}
        rules = {
            "mapping.rules": "secret",
            "mapping.secret.filter": "secret/#",
            "mapping.secret.topic": "secret-{2}",
        }
        cluster.create_topic("secret-x")
        with MqttProxy(tmp_path / "proxy", servers, {**kafka, **rules}) as proxy:
            with Wire(proxy.port, V5) as wire:
                wire.connect("device", clean_start=False, properties={Property.SESSION_EXPIRY: 600})
                wire.subscribe("plain/#", "$share/group/shared/#")
                for number, qos in enumerate((1, 2, 1), 1):
                    wire.publish("plain/x", b"%d" % number, qos, number, retain=number == 3)
                    assert wire.message().payload == b"%d" % number
                wire.publish("shared/x", b"shared", 1, 9)
                assert wire.message().payload == b"shared"
                wire.send(Publish("secret/x", b"x", 1, packet_id=7))
                answer = wire.expect(PubAck)
                assert (answer.packet_id, answer.reason) == (7, Reason.NOT_AUTHORIZED)
            assert proxy.stop() == 0
            assert "Group authorization failed" not in proxy.log_text()

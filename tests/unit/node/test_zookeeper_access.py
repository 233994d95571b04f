"""What is said of settings for ZooKeeper that cannot work."""

import pytest

from moldau.core.errors import ConfigError
from moldau.core.settings.static_layer import static_layer
from moldau.node.zookeeper_access import JAAS_SETTING as JAAS
from moldau.node.zookeeper_access import zookeeper_protection


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"zookeeper.set.acl": "true"}, f"neither logs in .* set {JAAS}="),
        ({JAAS: "DigestLoginModule required username=a;"}, f"{JAAS} has no password"),
        ({JAAS: "PlainLoginModule required username=a password=b;"}, "ZooKeeper has .*DigestLoginModule"),
        ({JAAS: 'Krb5LoginModule required keyTab="/nowhere" principal="a@B";'}, "no file /nowhere"),
        (
            {"zookeeper.ssl.client.enable": "true", "zookeeper.ssl.truststore.location": "/nowhere"},
            r"cannot read /nowhere \(zookeeper\.ssl\.truststore\.location\)",
        ),
        (
            {
                "zookeeper.ssl.client.enable": "true",
                "zookeeper.clientCnxnSocket": "org.apache.zookeeper.ClientCnxnSocketNIO",
            },
            "has no TLS",
        ),
        ({"zookeeper.ssl.client.enable": "true", "zookeeper.ssl.ocsp.enable": "true"}, "OCSP"),
        ({"zookeeper.ssl.client.enable": "true", "zookeeper.ssl.crl.enable": "true"}, "no revocation list"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, str], complaint: str) -> None:
    layers = static_layer(overrides=[f"{name}={value}" for name, value in settings.items()])
    with pytest.raises(ConfigError, match=complaint):
        protection = zookeeper_protection(layers.settings())
        assert protection.tls is not None
        protection.tls()

"""Settings of one listener, and of one SASL mechanism on it."""

import pytest

from moldau.core.errors import ConfigError
from moldau.core.settings.listener_keys import broker_key, listener_setting, mechanism_setting
from moldau.core.settings.static_layer import static_layer

PROPERTIES = """
listeners=PLAINTEXT://:9092,CLIENTS.EAST://:9093
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CLIENTS.EAST:SASL_PLAINTEXT
sasl.enabled.mechanisms=PLAIN
connections.max.reauth.ms=5000
listener.name.clients.east.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256
listener.name.clients.east.plain.connections.max.reauth.ms=1000
listener.name.clients.east.plain.sasl.jaas.config=Module required secret="s";
"""


def test_a_value_for_the_mechanism_counts_before_the_listeners_and_the_brokers() -> None:
    settings = static_layer(PROPERTIES).settings()
    assert listener_setting(settings, "CLIENTS.EAST", "sasl.enabled.mechanisms") == ("PLAIN", "SCRAM-SHA-256")
    assert listener_setting(settings, "PLAINTEXT", "sasl.enabled.mechanisms") == ("PLAIN",)
    assert listener_setting(settings, "CLIENTS.EAST", "connections.max.reauth.ms", "PLAIN") == 1000
    assert listener_setting(settings, "CLIENTS.EAST", "connections.max.reauth.ms", "SCRAM-SHA-256") == 5000
    assert mechanism_setting(settings, "CLIENTS.EAST", "sasl.jaas.config", "PLAIN").startswith("Module")
    assert mechanism_setting(settings, "CLIENTS.EAST", "sasl.jaas.config", "SCRAM-SHA-256") is None


def test_the_declaration_of_a_key_for_one_listener_is_the_brokers() -> None:
    key = broker_key("listener.name.clients.east.scram-sha-256.sasl.jaas.config")
    assert key is not None
    assert key.sensitive
    assert broker_key("listener.name.internal.nonsense") is None


def test_a_wrong_value_for_one_listener_is_refused_with_its_line() -> None:
    with pytest.raises(ConfigError, match=r"line 1.*ssl\.client\.auth"):
        static_layer("listener.name.x.ssl.client.auth=perhaps")


NAMED = "listeners=PARTNERS://:9094,CONTROLLER://:9093\nlistener.security.protocol.map=PARTNERS:PLAINTEXT\n"


def test_a_setting_for_a_listener_that_does_not_exist_is_refused() -> None:
    wrong = "listener.name.partnersss.ssl.client.auth"
    with pytest.raises(ConfigError, match=r"line 3: .*the listener partnersss,.*did you mean partners\?"):
        static_layer(f"{NAMED}{wrong}=required")
    with pytest.raises(ConfigError, match=r"--override .*did you mean partners\?"):
        static_layer(NAMED, overrides=[f"{wrong}=required"])
    with pytest.raises(ConfigError, match=r"listener zoo, .*there are: partners, controller"):
        static_layer(f"{NAMED}listener.name.zoo.plain.sasl.jaas.config=M required;")
    with pytest.raises(ConfigError, match="there are: plaintext"):
        static_layer("listener.name.zoo.max.connections=2")


def test_a_setting_for_a_mechanism_that_does_not_exist_is_refused() -> None:
    key = "listener.name.clients.east.plian.sasl.jaas.config=Module required;"
    with pytest.raises(
        ConfigError, match=r"line 9: listener.name.*: plian is not a SASL mechanism; did you mean plain\?"
    ):
        static_layer(f"{PROPERTIES.strip()}\n\n{key}".replace("\n\n", "\n#\n"))
    with pytest.raises(
        ConfigError, match=r"--override .* zoo is not a SASL mechanism; there are: plain, scram-sha-256"
    ):
        static_layer(NAMED, overrides=["listener.name.partners.zoo.connections.max.reauth.ms=1"])
    static_layer(NAMED, overrides=["listener.name.partners.PLAIN.connections.max.reauth.ms=1"])
    # A listener may be named like the beginning of another one.
    two = "listeners=CLIENTS://:9094,CLIENTS.EAST://:9093\n"
    protocols = "listener.security.protocol.map=CLIENTS:PLAINTEXT,CLIENTS.EAST:PLAINTEXT\n"
    static_layer(f"{two}{protocols}listener.name.clients.east.max.connections=2")


def test_listeners_of_controllers_may_have_settings() -> None:
    setting = "listener.name.controller.ssl.client.auth=required\n"
    static_layer(f"{NAMED}{setting}controller.listener.names=CONTROLLER")
    # A process that is a broker alone names the controllers' listener, but does not open it.
    static_layer(f"{setting}controller.listener.names=CONTROLLER")


def test_a_dynamic_change_may_be_for_a_listener_to_come() -> None:
    layers = static_layer(NAMED + "controller.listener.names=CONTROLLER\n")
    layers._replace(dynamic={"listener.name.later.max.connections": "3"}).settings()

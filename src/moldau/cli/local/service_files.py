"""The settings of the services that `moldau up --secure` starts beside the brokers: HTTPS or TLS, who may log in, and
how they themselves log in to the brokers and to each other.

The users of the cluster log in. At registry, Connect and SQL roles decide; the REST proxy passes logins on. MQTT has
users of its own, and its clients reach one topic unless rules say otherwise.
"""

from typing import Final

from moldau.cli.local.secure_folder import (
    ADMIN,
    DEMO,
    PLATFORM,
    USERS,
    SecureFolder,
    properties_text,
    write_secret,
)

FILE_CONNECTORS: Final = "FileStreamSource,FileStreamSink,FileSource,FileSink"
LOGIN: Final = ("sasl.username", "sasl.password")


def write_service_files(made: SecureFolder) -> None:
    login = {"username": PLATFORM, "password": made.passwords[PLATFORM]}
    write_secret(made.mqtt_users, _mqtt_users(made))
    write_secret(made.connect_login, properties_text(login))
    for name, settings in _settings(made).items():
        write_secret(made.service_file(name), properties_text(settings))


def connector_limits(trust_file: str) -> dict[str, str]:
    """Who may write a connector must not read the keys and passwords beside the worker. Converters may read whom they
    trust. `--connect-override` changes both."""
    # The worker would read a comma as the end of a path, and allow what is before it.
    allowed = "" if "," in trust_file else trust_file
    return {"plugins.disabled": FILE_CONNECTORS, "connector.allowed.paths": allowed}


def _settings(made: SecureFolder) -> dict[str, dict[str, str]]:
    """By service. Each has its own names for the settings of its Kafka clients."""
    client = made.client_settings(PLATFORM)
    tls = {"ssl.keystore.location": made.key_store}
    guarded = {
        "authentication.method": "BASIC",
        "authentication.users": "CLUSTER",
        "authorization.enabled": "true",
        "super.users": f"User:{ADMIN};User:{PLATFORM}",
    }
    of_users = {name: text for name, text in client.items() if name not in LOGIN}
    return {
        "registry": tls | guarded | _prefixed("kafkastore.", client),
        "rest": {
            **tls,
            "client.login.passthrough": "true",
            **_prefixed("client.", of_users),
            "schema.registry.login.passthrough": "true",
            "schema.registry.ssl.ca.location": made.trust_file,
        },
        # `ssl.*` are the clients' there.
        "connect": {
            "listeners.https.ssl.keystore.location": made.key_store,
            **guarded,
            **client,
            **connector_limits(made.trust_file),
        },
        "sql": {
            **tls,
            **guarded,
            **client,
            "ksql.schema.registry.basic.auth.user.info": f"{PLATFORM}:{made.passwords[PLATFORM]}",
            "ksql.schema.registry.ssl.ca.location": made.trust_file,
            "ksql.connect.ssl.truststore.location": made.trust_file,
            "ksql.connect.basic.auth.credentials.source": "FILE",
            "ksql.connect.basic.auth.credentials.file": str(made.connect_login.resolve()),
        },
        "mqtt": {
            **tls,
            "authentication.method": "BASIC",
            "authentication.users.file": str(made.mqtt_users.resolve()),
            **_prefixed("kafka.", client),
        },
    }


def _prefixed(prefix: str, settings: dict[str, str]) -> dict[str, str]:
    return {f"{prefix}{name}": text for name, text in settings.items()}


def _mqtt_users(made: SecureFolder) -> str:
    """With those that somebody has added to the file."""
    present = made.mqtt_users.read_text().splitlines() if made.mqtt_users.exists() else []
    added = [line for line in present if line.strip() and line.partition(":")[0].strip() not in USERS]
    ours = [f"{name}: {made.passwords[name]}" for name in (ADMIN, DEMO)]
    return "".join(f"{line}\n" for line in [*ours, *added])

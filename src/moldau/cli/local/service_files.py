"""The settings of the services that `moldau up --secure` starts beside the brokers: HTTPS or TLS, who may log in, and
how they themselves log in to the brokers and to each other.

At registry, Connect and SQL the users of the cluster log in, and roles decide. The REST proxy acts with all rights, so
only the admin may use it. MQTT's clients reach one topic, unless rules say otherwise: the demo user may, too.
"""

from pathlib import Path

from moldau.cli.local.secure_folder import (
    ADMIN,
    DEMO,
    PLATFORM,
    USERS,
    SecureFolder,
    properties_text,
    write_secret,
)


def write_service_files(made: SecureFolder) -> None:
    login = {"username": PLATFORM, "password": made.passwords[PLATFORM]}
    write_secret(made.rest_users, _users(made, made.rest_users, ADMIN))
    write_secret(made.mqtt_users, _users(made, made.mqtt_users, ADMIN, DEMO))
    write_secret(made.connect_login, properties_text(login))
    for name, settings in _settings(made).items():
        write_secret(made.service_file(name), properties_text(settings))


def _settings(made: SecureFolder) -> dict[str, dict[str, str]]:
    """By service. Each has its own names for the settings of its Kafka clients."""
    client = made.client_settings(PLATFORM)
    tls = {"ssl.keystore.location": made.key_store, "authentication.method": "BASIC"}
    guarded = {
        "authentication.users": "CLUSTER",
        "authorization.enabled": "true",
        "super.users": f"User:{ADMIN};User:{PLATFORM}",
    }
    registry = {
        "basic.auth.user.info": f"{PLATFORM}:{made.passwords[PLATFORM]}",
        "ssl.ca.location": made.trust_file,
    }
    return {
        "registry": tls | guarded | _prefixed("kafkastore.", client),
        "rest": {
            **tls,
            "authentication.users.file": str(made.rest_users.resolve()),
            **_prefixed("client.", client),
            **_prefixed("schema.registry.", registry),
        },
        # `ssl.*` are the clients' there.
        "connect": {
            "listeners.https.ssl.keystore.location": made.key_store,
            "authentication.method": "BASIC",
            **guarded,
            **client,
        },
        "sql": {
            **tls,
            **guarded,
            **client,
            **_prefixed("ksql.schema.registry.", registry),
            "ksql.connect.ssl.truststore.location": made.trust_file,
            "ksql.connect.basic.auth.credentials.source": "FILE",
            "ksql.connect.basic.auth.credentials.file": str(made.connect_login.resolve()),
        },
        "mqtt": {
            **tls,
            "authentication.users.file": str(made.mqtt_users.resolve()),
            **_prefixed("kafka.", client),
        },
    }


def _prefixed(prefix: str, settings: dict[str, str]) -> dict[str, str]:
    return {f"{prefix}{name}": text for name, text in settings.items()}


def _users(made: SecureFolder, file: Path, *names: str) -> str:
    """With the users that somebody has added to the file."""
    present = file.read_text().splitlines() if file.exists() else []
    added = [line for line in present if line.strip() and line.partition(":")[0].strip() not in USERS]
    return "".join(f"{line}\n" for line in [*(f"{name}: {made.passwords[name]}" for name in names), *added])

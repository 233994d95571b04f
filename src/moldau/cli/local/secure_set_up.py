"""What `moldau up --secure` makes before it starts anything: an authority, certificates, users, and files for clients.

    certs/                  the authority, the certificate of the brokers
    broker.properties       TLS, logins and the authorizer, for every broker
    registry.properties...  for each HTTP service: how it logs in to the brokers, and who may log in to it
    http-users              who may use the HTTP services: the admin, because they act with all rights
    netrc                   the same for curl
    users.json              the passwords, made once
    clients/USER...         files that connect as USER: for confluent-kafka (.json), `moldau` (.properties), kcat, Java
                            and Spark

All of it is for its owner's eyes alone, and is kept for the next start. Start reading at `prepare`.
"""

import contextlib
import ipaddress
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click
import orjson
from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialUpsertion,
)

from moldau.cli.failures import Failure
from moldau.cli.local.own_addresses import own_names
from moldau.core.errors import ConfigError
from moldau.security.certificates.certificate_folder import CertificateFolder, hosts_of

PROTOCOL: Final = "SASL_SSL"
MECHANISM: Final = "SCRAM-SHA-512"
BROKER: Final = "broker"
PLATFORM: Final = "platform"
ADMIN: Final = "admin"
DEMO: Final = "demo"
SUPER_USERS: Final = (BROKER, PLATFORM, ADMIN)
DEMO_PREFIX: Final = "demo-"
SECRET_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
OTHERS: Final = 0o077
"""All that anybody but the owner may do."""
SUFFIX: Final = "-security"
STATE_SUFFIXES: Final = ("-connect", "-sql", SUFFIX)
"""Of the folders beside the data directory."""
DATA_SIGNS: Final = ("meta.properties", "zookeeper")
"""One of them is in every data directory."""
ITERATIONS: Final = 8192
ANSWER_S: Final = 60.0
PLAIN_MODULE: Final = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM_MODULE: Final = "org.apache.kafka.common.security.scram.ScramLoginModule"


@dataclass(frozen=True, repr=False)
class SecureSetUp:
    """The files, and what follows from them."""

    folder: Path
    passwords: Mapping[str, str]
    certificates: CertificateFolder

    @property
    def broker_file(self) -> Path:
        return self.folder / "broker.properties"

    @property
    def protocol(self) -> str:
        return PROTOCOL

    @property
    def broker_client(self) -> dict[str, str]:
        """With which this command connects before there are other users."""
        return self.client_settings(BROKER)

    @property
    def admin_file(self) -> Path:
        return self.client_file(ADMIN)

    @property
    def netrc(self) -> Path:
        return self.folder / "netrc"

    def service_file(self, name: str) -> Path:
        """The settings of `registry`, `rest`, `connect` or `sql`."""
        return self.folder / f"{name}.properties"

    def client_file(self, user: str, form: str = "properties") -> Path:
        return self.folder / "clients" / f"{user}.{form}"

    def client_settings(self, user: str) -> dict[str, str]:
        """For confluent-kafka, kcat and everything else on librdkafka. Brokers log in by PLAIN, because their user must
        exist before there is a cluster to keep it; all others by SCRAM."""
        return {
            "security.protocol": PROTOCOL,
            "ssl.ca.location": str(self.certificates.trust.resolve()),
            "sasl.mechanism": "PLAIN" if user == BROKER else MECHANISM,
            "sasl.username": user,
            "sasl.password": self.passwords[user],
        }

    def add_users(self, bootstrap_servers: str) -> None:
        """Writes the users and the rules of the demo user into the running cluster."""
        settings = {**self.client_settings(BROKER), "bootstrap.servers": bootstrap_servers, "log_level": "0"}
        admin = AdminClient(dict(settings))
        kinds = (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)
        try:
            for kind in kinds:  # A user may be named once in a request.
                changes: list[UserScramCredentialAlteration] = [
                    UserScramCredentialUpsertion(
                        user, ScramCredentialInfo(kind, ITERATIONS), self.passwords[user].encode()
                    )
                    for user in (PLATFORM, ADMIN, DEMO)
                ]
                for future in admin.alter_user_scram_credentials(changes).values():
                    future.result(ANSWER_S)
            for created in admin.create_acls(demo_rules()).values():
                created.result(ANSWER_S)
        except KafkaException as error:
            raise Failure(
                f"the users could not be written into the cluster: {error.args[0].str()}.",
                "The log of the broker may say why.",
            ) from None

    def write_client_files(self, bootstrap_servers: str) -> None:
        for user in (ADMIN, DEMO):
            settings = {"bootstrap.servers": bootstrap_servers, **self.client_settings(user)}
            plain = settings | {"sasl.mechanism": "PLAIN"}
            java = {"bootstrap.servers": bootstrap_servers, **self.java_settings(user)}
            spark = {f"kafka.{name}": text for name, text in java.items()}
            _write(self.client_file(user, "kcat.properties"), _properties(plain))
            _write(self.client_file(user), _properties(settings))
            _write(
                self.client_file(user, "json"), orjson.dumps(settings, option=orjson.OPT_INDENT_2).decode()
            )
            _write(self.client_file(user, "java.properties"), _properties(java))
            _write(
                self.client_file(user, "spark.json"), orjson.dumps(spark, option=orjson.OPT_INDENT_2).decode()
            )

    def java_settings(self, user: str) -> dict[str, str]:
        login = f'{SCRAM_MODULE} required username="{user}" password="{self.passwords[user]}";'
        return {
            "security.protocol": PROTOCOL,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.certificates.trust.resolve()),
            "sasl.mechanism": MECHANISM,
            "sasl.jaas.config": login,
        }


def prepare(folder: Path, host: str) -> SecureSetUp:
    """Makes what is missing, and keeps what is there. `host`: the address the brokers listen on. From now on only the
    owner can read what this process and those it starts create."""
    os.umask(OTHERS)
    try:
        _close_to_others(folder)
        for each in (folder, folder / "clients"):
            each.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        set_up = SecureSetUp(folder, _passwords(folder / "users.json"), CertificateFolder(folder / "certs"))
        certificates = set_up.certificates
        if not certificates.is_made:
            certificates.create("Moldau up")
        covered = _covered(certificates)
        # What it has beside stays: `moldau certs issue broker` may have added the name of a proxy.
        hosts = list(dict.fromkeys([*_hosts(host), *covered]))
        if not set(hosts) <= set(covered):
            certificates.issue(BROKER, hosts)
        _write(set_up.broker_file, _properties(_broker_settings(set_up)))
        _write(folder / "http-users", f"{ADMIN}: {set_up.passwords[ADMIN]}\n")
        _write(set_up.netrc, _netrc(set_up.passwords[ADMIN]))
        for name, settings in _service_settings(set_up).items():
            _write(set_up.service_file(name), _properties(settings))
        click.echo(f"hosts     {' '.join(_covered(certificates))} are in the certificate of the brokers")
    except ConfigError as error:
        raise Failure(f"{error}.", f"Or remove {folder}, for new certificates and passwords.") from None
    except OSError as error:
        raise Failure(
            f"cannot write {error.filename}: {error.strerror}.", "Choose another --data directory."
        ) from None
    return set_up


def _close_to_others(folder: Path) -> None:
    """Folders of an earlier start, which may have been without --secure. What is created later follows the umask."""
    data = str(folder).removesuffix(SUFFIX)
    ours = [Path(data + suffix) for suffix in STATE_SUFFIXES]
    ours += [folder / "clients", folder / "certs"]
    # Somebody may have named a directory that has other things in it, too.
    names = set(os.listdir(data)) if Path(data).is_dir() else set()
    if not names or not names.isdisjoint(DATA_SIGNS):
        ours.append(Path(data))
    for each in ours:
        if each.is_dir():
            each.chmod(FOLDER_MODE)


def demo_rules() -> list[AclBinding]:
    """The demo user may do anything with topics, groups and transactions whose names begin with `demo-`."""
    kinds = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
    return [
        AclBinding(
            kind,
            DEMO_PREFIX,
            ResourcePatternType.PREFIXED,
            f"User:{DEMO}",
            "*",
            AclOperation.ALL,
            AclPermissionType.ALLOW,
        )
        for kind in kinds
    ]


def _broker_settings(set_up: SecureSetUp) -> dict[str, str]:
    certificates = set_up.certificates
    # The users are known to PLAIN, too: the librdkafka of many distributions is too old for SCRAM (CVE-2024-56128).
    users = " ".join(f'user_{user}="{set_up.passwords[user]}"' for user in (BROKER, ADMIN, DEMO))
    own = f'username="{BROKER}" password="{set_up.passwords[BROKER]}" {users}'
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificates.store(BROKER).resolve()),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificates.trust.resolve()),
        "security.inter.broker.protocol": PROTOCOL,
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        f"listener.name.{PROTOCOL.lower()}.plain.sasl.jaas.config": f"{PLAIN_MODULE} required {own};",
        "authorizer.class.name": "acl",
        "super.users": ";".join(f"User:{user}" for user in SUPER_USERS),
    }


def _service_settings(set_up: SecureSetUp) -> dict[str, dict[str, str]]:
    """By service. Each has its own names for the settings of its Kafka clients."""
    client = set_up.client_settings(PLATFORM)
    login = f"{ADMIN}:{set_up.passwords[ADMIN]}"
    guarded = {
        "authentication.method": "BASIC",
        "authentication.users.file": str((set_up.folder / "http-users").resolve()),
    }
    return {
        "registry": {**guarded, **{f"kafkastore.{name}": text for name, text in client.items()}},
        "rest": {
            **guarded,
            **{f"client.{name}": text for name, text in client.items()},
            "schema.registry.basic.auth.user.info": login,
        },
        "connect": {**guarded, **client},
        "sql": {**guarded, **client, "ksql.schema.registry.basic.auth.user.info": login},
    }


def _netrc(password: str) -> str:
    hosts = ("127.0.0.1", "localhost")
    return "".join(f"machine {host} login {ADMIN} password {password}\n" for host in hosts)


def _hosts(host: str) -> list[str]:
    """The names under which clients may reach the brokers."""
    host = host.removeprefix("[").removesuffix("]")
    with contextlib.suppress(ValueError):  # It is a name.
        host = str(ipaddress.ip_address(host))
    names = ["localhost", "127.0.0.1", "::1"]
    if host in ("0.0.0.0", "::", ""):  # noqa: S104 compared, not bound
        names += own_names()
    else:
        names.append(host)
    return list(dict.fromkeys(names))


def _covered(certificates: CertificateFolder) -> list[str]:
    if BROKER not in certificates.names():
        return []
    return hosts_of(certificates.find(BROKER).certificate)


def _passwords(path: Path) -> dict[str, str]:
    users = (BROKER, PLATFORM, ADMIN, DEMO)
    found: dict[str, str] = {}
    if path.exists():
        try:
            found = {str(name): str(text) for name, text in orjson.loads(path.read_bytes()).items()}
        except (ValueError, AttributeError):
            raise Failure(f"{path} is damaged.", "Remove it, for new passwords.") from None
    missing = [user for user in users if user not in found]
    if missing:
        found |= {user: secrets.token_urlsafe(18) for user in missing}
        _write(path, orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    return found


def _properties(settings: Mapping[str, str]) -> str:
    return "".join(f"{name}={text}\n" for name, text in settings.items())


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, SECRET_MODE), "w") as file:
        file.write(text)
    temporary.replace(path)

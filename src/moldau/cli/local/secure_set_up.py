"""What `moldau up --secure` makes before it starts anything: an authority, certificates, users, and files for clients.

    certs/                  the authority, the certificate of the brokers and services
    broker.properties       TLS, logins and the authorizer, for every broker
    registry.properties...  for each service: TLS, who may log in to it, and how it logs in to the brokers
    mqtt-users              who may use the MQTT proxy
    netrc                   the login of the admin, for programs that look a host up there
    users.json              the passwords, made once
    clients/USER...         files that connect as USER, see `client_files.py`

All of it is for its owner's eyes alone, and is kept for the next start. Start reading at `prepare`.
"""

import contextlib
import ipaddress
import os
import secrets
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
from moldau.cli.local.client_files import write_http_files
from moldau.cli.local.own_addresses import own_names
from moldau.cli.local.secure_folder import (
    ADMIN,
    BROKER,
    DEMO,
    PLATFORM,
    PROTOCOL,
    USERS,
    SecureFolder,
    properties_text,
    write_secret,
)
from moldau.cli.local.service_files import write_service_files
from moldau.core.errors import ConfigError
from moldau.security.access.model import Pattern
from moldau.security.certificates.certificate_folder import CertificateFolder
from moldau.security.roles.model import Binding, Role, ServiceKind, make_binding

SUPER_USERS: Final = (BROKER, PLATFORM, ADMIN)
DEMO_PREFIX: Final = "demo-"
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


def prepare(folder: Path, host: str) -> SecureFolder:
    """Makes what is missing, and keeps what is there. `host`: the address the brokers listen on. From now on only the
    owner can read what this process and those it starts create."""
    os.umask(OTHERS)
    try:
        _close_to_others(folder)
        for each in (folder, folder / "clients"):
            each.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        certificates = CertificateFolder(folder / "certs")
        made = SecureFolder(folder, _passwords(folder / "users.json"), certificates)
        if not certificates.is_made:
            certificates.create("Moldau up")
        covered = made.hosts
        # What it has beside stays: `moldau certs issue broker` may have added the name of a proxy.
        hosts = list(dict.fromkeys([*_hosts(host), *covered]))
        if not set(hosts) <= set(covered):
            certificates.issue(BROKER, hosts)
        write_secret(made.broker_file, properties_text(_broker_settings(made)))
        write_service_files(made)
        write_http_files(made)
        click.echo(f"hosts     {' '.join(made.hosts)} are in the certificate of brokers and services")
    except ConfigError as error:
        raise Failure(f"{error}.", f"Or remove {folder}, for new certificates and passwords.") from None
    except OSError as error:
        raise Failure(
            f"cannot write {error.filename}: {error.strerror}.", "Choose another --data directory."
        ) from None
    return made


def add_users(made: SecureFolder, bootstrap_servers: str) -> None:
    """Writes the users and the rules of the demo user into the running cluster."""
    settings = {**made.client_settings(BROKER), "bootstrap.servers": bootstrap_servers, "log_level": "0"}
    admin = AdminClient(dict(settings))
    kinds = (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)
    try:
        for kind in kinds:  # A user may be named once in a request.
            changes: list[UserScramCredentialAlteration] = [
                UserScramCredentialUpsertion(
                    user, ScramCredentialInfo(kind, ITERATIONS), made.passwords[user].encode()
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


def demo_role() -> Binding:
    """The demo user owns the subjects of the registry whose names begin with `demo-`."""
    return make_binding(
        f"User:{DEMO}", Role.RESOURCE_OWNER, ServiceKind.SUBJECT, DEMO_PREFIX, Pattern.PREFIXED
    )


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


def _broker_settings(made: SecureFolder) -> dict[str, str]:
    # The users are known to PLAIN, too: the librdkafka of many distributions is too old for SCRAM (CVE-2024-56128).
    users = " ".join(f'user_{user}="{made.passwords[user]}"' for user in (BROKER, ADMIN, DEMO))
    own = f'username="{BROKER}" password="{made.passwords[BROKER]}" {users}'
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": made.key_store,
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": made.trust_file,
        "security.inter.broker.protocol": PROTOCOL,
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        f"listener.name.{PROTOCOL.lower()}.plain.sasl.jaas.config": f"{PLAIN_MODULE} required {own};",
        "authorizer.class.name": "acl",
        "super.users": ";".join(f"User:{user}" for user in SUPER_USERS),
    }


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


def _passwords(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    if path.exists():
        try:
            found = {str(name): str(text) for name, text in orjson.loads(path.read_bytes()).items()}
        except (ValueError, AttributeError):
            raise Failure(f"{path} is damaged.", "Remove it, for new passwords.") from None
    missing = [user for user in USERS if user not in found]
    if missing:
        found |= {user: secrets.token_urlsafe(18) for user in missing}
        write_secret(path, orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    return found

"""Names in certificates, and what rules make of them: the same as Java's `X500Principal` and Kafka's
`SslPrincipalMapper`, on generated names and rules."""

import base64
import json
import subprocess
from datetime import UTC, datetime
from random import Random

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from compat.apache_kafka import java_command
from compat.java_client import _classes
from kafka_jars import KafkaJarsUnavailable
from moldau.core.errors import ConfigError
from moldau.security.certificates.authority import create_authority, issue
from moldau.security.tls.principal_names import NoMatchingRule, PrincipalNames, distinguished_name

pytestmark = [pytest.mark.java, pytest.mark.slow]

NAMES = 200
ATTRIBUTES = (
    NameOID.COMMON_NAME,
    NameOID.ORGANIZATION_NAME,
    NameOID.ORGANIZATIONAL_UNIT_NAME,
    NameOID.LOCALITY_NAME,
    NameOID.STATE_OR_PROVINCE_NAME,
    NameOID.STREET_ADDRESS,
    NameOID.DOMAIN_COMPONENT,
    NameOID.USER_ID,
    NameOID.EMAIL_ADDRESS,
    NameOID.SERIAL_NUMBER,
    NameOID.TITLE,
    NameOID.GIVEN_NAME,
)
ASCII_ALONE = (NameOID.DOMAIN_COMPONENT, NameOID.EMAIL_ADDRESS)
LETTERS = 'abcXYZ 019,+"\\<>;=#/-.@' + "äß√"
RULES = (
    "DEFAULT",
    "",
    "RULE:^CN=(.*?),.*$/$1/",
    "RULE:^CN=(.*?),.*$/$1/L, DEFAULT",
    "RULE:^CN=([^,]*).*$/$1/U,RULE:^.*OU=([^,]*).*$/unit-$1@$2/L",
    r"RULE:^.*?O=([a-z]*).*$/$1\/$0$/,DEFAULT",
    "RULE:.*/$12/,DEFAULT",
    "RULE:(.*)/$12x/",
    "RULE:^.*(CN)=(?<who>[^,]*).*$/${who}-$1/",
    "RULE:^CN=.*$/all/  ,  DEFAULT",
    "RULE:a/b",
    "RULE:^CN=((.*)$/x/",
    "RULE:.*/x/LU",
    "DEFAULT,RULE:.*/never/",
    "default",
)


def generated_name(rng: Random) -> x509.Name:
    parts = []
    for _ in range(rng.randrange(1, 5)):
        chosen = rng.sample(ATTRIBUTES, rng.randrange(1, 3) if rng.random() < 0.2 else 1)
        parts.append(
            x509.RelativeDistinguishedName(
                [x509.NameAttribute(attribute, generated_value(rng, attribute)) for attribute in chosen]
            )
        )
    return x509.Name(parts)


def generated_value(rng: Random, attribute: x509.ObjectIdentifier) -> str:
    letters = LETTERS
    if attribute == NameOID.SERIAL_NUMBER:
        letters = "abcXYZ 019,+=/-."
    elif attribute in ASCII_ALONE:
        letters = "".join(each for each in LETTERS if each.isascii())
    return "".join(rng.choice(letters) for _ in range(rng.randrange(1, 12)))


def principal(rules: str, name: str) -> str | None:
    try:
        return PrincipalNames(rules).name_of(name)
    except ConfigError:
        return "!"
    except NoMatchingRule:
        return None


def test_names_and_principals() -> None:
    try:
        command = [*java_command("-Xmx128m", classpath=[_classes()]), "compat.CertificateNames"]
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    rng, now = Random(4), datetime.now(UTC)
    authority = create_authority("CA", now=now)
    certificates = [issue(authority, generated_name(rng), now=now).certificate for _ in range(NAMES)]
    asked = [
        {"certificate": base64.b64encode(each.public_bytes(Encoding.DER)).decode(), "rules": RULES}
        for each in certificates
    ]
    done = subprocess.run(
        command,
        input="".join(json.dumps(each) + "\n" for each in asked),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for certificate, line in zip(certificates, done.stdout.splitlines(), strict=True):
        answer = json.loads(line)
        name = distinguished_name(certificate.subject)
        assert name == answer["name"]
        ours = {rules: principal(rules, name) for rules in RULES}
        assert ours == dict(zip(RULES, answer["principals"], strict=True)), name

"""Names from certificates, by Java's rules and Kafka's, and Java's names of cipher suites."""

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from moldau.core.errors import ConfigError
from moldau.security.tls.cipher_names import cipher_suites
from moldau.security.tls.principal_names import NoMatchingRule, PrincipalNames, distinguished_name

DUKE = "CN=Duke,OU=ServiceUsers,O=Org,C=US"


def test_a_distinguished_name_is_written_as_java_writes_it() -> None:
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.COUNTRY_NAME, "CZ"),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, 'Mill, "Ltd." '),
            x509.NameAttribute(NameOID.EMAIL_ADDRESS, "a@b"),
            x509.NameAttribute(NameOID.COMMON_NAME, "#alice+bob"),
        ]
    )
    assert distinguished_name(name) == (
        r"CN=\#alice\+bob,1.2.840.113549.1.9.1=#1603614062,O=Mill\, \"Ltd.\"\ ,C=CZ"
    )


@pytest.mark.parametrize(
    ("rules", "name"),
    [
        # The examples of Kafka's documentation (KIP-371).
        ("RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/", "Duke"),
        ("RULE:^CN=(.*?),OU=(.*?),O=(.*?),C=(.*?)$/$1@$2/L", "duke@serviceusers"),
        ("RULE:^CN=(.*?),OU=SME.*$/$1/, RULE:^.*CN=(.*?),O.*$/$1@$2/U, DEFAULT", "DUKE@$2"),
        ("RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/L,DEFAULT", "duke"),
        ("RULE:^CN=(?<who>.*?),.*$/${who}/,DEFAULT", "Duke"),
        ("RULE:^cn=(.*?),.*$/$1/,DEFAULT", DUKE),
        (r"RULE:^CN=(.*?),.*$/a\/b-$12/", "a/b-Duke2"),
        ("DEFAULT", DUKE),
    ],
)
def test_mapping_rules(rules: str, name: str) -> None:
    assert PrincipalNames(rules).name_of(DUKE) == name


def test_a_name_without_a_rule_is_refused() -> None:
    with pytest.raises(NoMatchingRule, match="DEFAULT"):
        PrincipalNames("RULE:^CN=admin$/admin/").name_of(DUKE)


@pytest.mark.parametrize("rules", ["RULE:^CN=(.*?)/$1", "deault", "RULE:^CN=((.*?)/$1/", "RULE:a/b/X"])
def test_wrong_rules_are_refused(rules: str) -> None:
    with pytest.raises(ConfigError, match=r"ssl\.principal\.mapping\.rules"):
        PrincipalNames(rules)


def test_cipher_suites_in_javas_words() -> None:
    found = cipher_suites(
        [
            "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
            "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
            "TLS_DHE_RSA_WITH_AES_128_CBC_SHA256",
            "TLS_RSA_WITH_AES_128_CBC_SHA",
            "TLS_AES_128_GCM_SHA256",
        ]
    )
    assert found.has_1_3
    assert found.older == (
        "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES128-SHA256:AES128-SHA"
    )
    with pytest.raises(ConfigError, match="TLS_NULL"):
        cipher_suites(["TLS_NULL"])

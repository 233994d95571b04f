"""Names of Kerberos principals, by the rules that Kafka documents."""

import pytest

from moldau.core.errors import ConfigError
from moldau.security.sasl.kerberos_names import parse_rules, short_name

REALM = "EXAMPLE.COM"


@pytest.mark.parametrize(
    ("rules", "principal", "user"),
    [
        (["DEFAULT"], "alice@EXAMPLE.COM", "alice"),
        (["DEFAULT"], "kafka/host.example.com@EXAMPLE.COM", "kafka"),
        (["DEFAULT"], "alice@OTHER.ORG", None),
        (["DEFAULT"], "a/b/c@EXAMPLE.COM", None),
        (["RULE:[1:$1]"], "alice@OTHER.ORG", "alice"),
        (["RULE:[1:$1@$0](.*@OTHER.ORG)s/@.*//", "DEFAULT"], "bob@OTHER.ORG", "bob"),
        (["RULE:[1:$1@$0](.*@OTHER.ORG)s/@.*//", "DEFAULT"], "bob@EXAMPLE.COM", "bob"),
        (["RULE:[1:$1@$0](.*@OTHER.ORG)s/@.*//"], "bob@EXAMPLE.COM", None),
        (["RULE:[2:$1-$2](kafka-.*)s/kafka-(.*)/broker-$1/"], "kafka/host@EXAMPLE.COM", "broker-host"),
        (["RULE:[2:$2]"], "kafka/host@EXAMPLE.COM", "host"),
        (["RULE:[1:$1](.*)s/a/b/g"], "banana@EXAMPLE.COM", "bbnbnb"),
        (["RULE:[1:$1](.*)s/a/b/"], "banana@EXAMPLE.COM", "bbnana"),
        (["RULE:[1:$1]/L"], "Alice@EXAMPLE.COM", "alice"),
        (["RULE:[1:$1](.*)s/x//U"], "alice@EXAMPLE.COM", "ALICE"),
        (["RULE:[1:$1@$0]"], "alice@EXAMPLE.COM", None),
        (["RULE:[1:$2]", "DEFAULT"], "alice@EXAMPLE.COM", "alice"),
        ([], "alice@EXAMPLE.COM", None),
    ],
)
def test_names(rules: list[str], principal: str, user: str | None) -> None:
    assert short_name(principal, parse_rules(rules), REALM) == user


@pytest.mark.parametrize(
    "rule", ["default", "RULE:", "RULE:[x:$1]", "RULE:[1:$1](()", "RULE:[1:$1](.*)s/[/x/"]
)
def test_malformed_rules(rule: str) -> None:
    with pytest.raises(ConfigError, match=r"principal\.to\.local\.rules"):
        parse_rules([rule])

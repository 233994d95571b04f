"""The settings that all three converters have, under Confluent's names, and those of the registry client. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import one_of
from moldau.core.settings.key import Importance, boolean, class_name, password, string, strings
from moldau.pipeline.connect.declarations import Declaration

_PACKAGE: Final = "io.confluent.kafka.serializers.subject"
STRATEGIES: Final = ("TopicNameStrategy", "RecordNameStrategy", "TopicRecordNameStrategy")
_STORES: Final = {
    "schema.registry.ssl.truststore": ("ssl.ca.location",),
    "schema.registry.ssl.keystore": ("ssl.certificate.location", "ssl.key.location"),
}


def _registry(key: Any, **more: Any) -> Declaration:
    return Declaration(key, group="Schema Registry", **more)


def _strategy(use: str) -> Declaration:
    return _registry(
        class_name(
            f"{use}.subject.name.strategy",
            f"{_PACKAGE}.{STRATEGIES[0]}",
            f"How the subject of a {use}'s schema is named: {', '.join(STRATEGIES)}.",
            importance=Importance.MEDIUM,
        ),
        recommends=lambda _: [f"{_PACKAGE}.{one}" for one in STRATEGIES],
    )


COMMON: Final = (
    _registry(
        strings("schema.registry.url", (), "Where the schema registry is.", importance=Importance.HIGH),
        is_required=True,
    ),
    _registry(
        boolean(
            "auto.register.schemas",
            True,
            "Whether a schema that the registry does not have is registered.",
            importance=Importance.MEDIUM,
        )
    ),
    _registry(
        boolean(
            "use.latest.version",
            False,
            "Write with the newest schema of the subject. Needs auto.register.schemas=false.",
            importance=Importance.LOW,
        )
    ),
    _registry(
        boolean(
            "normalize.schemas", False, "Whether the registry normalizes schemas before it compares them."
        )
    ),
    _strategy("key"),
    _strategy("value"),
    _registry(
        string(
            "basic.auth.credentials.source",
            "URL",
            "Where name and password for the registry are: in the URL, or in basic.auth.user.info.",
            check=one_of("URL", "USER_INFO", "SASL_INHERIT"),
        )
    ),
    _registry(password("basic.auth.user.info", "`name:password` for the registry.")),
    _registry(password("schema.registry.basic.auth.user.info", "The older name of basic.auth.user.info.")),
    _registry(string("schema.registry.ssl.truststore.location", None, "CA certificates, as PEM.")),
    _registry(string("schema.registry.ssl.truststore.type", "PEM", "PEM is what can be read here.")),
    _registry(string("schema.registry.ssl.keystore.location", None, "Certificate and key, as PEM.")),
    _registry(string("schema.registry.ssl.keystore.type", "PEM", "PEM is what can be read here.")),
    _registry(password("schema.registry.ssl.key.password", "The password of the key.")),
)


def url_of(settings: Mapping[str, Any]) -> str:
    return ",".join(settings["schema.registry.url"])


def client_settings(settings: Mapping[str, Any]) -> dict[str, str]:
    """Of confluent-kafka's registry client. Raises ConfigError for what it cannot do."""
    found: dict[str, str] = {}
    source = settings["basic.auth.credentials.source"]
    if source == "SASL_INHERIT":
        raise ConfigError(
            "basic.auth.credentials.source=SASL_INHERIT is not supported: set it to USER_INFO and give "
            "basic.auth.user.info"
        )
    if source == "USER_INFO":
        user = settings["basic.auth.user.info"] or settings["schema.registry.basic.auth.user.info"]
        if not user:
            raise ConfigError(
                "basic.auth.credentials.source=USER_INFO needs basic.auth.user.info=name:password"
            )
        found["basic.auth.user.info"] = user
    for store, names in _STORES.items():
        location: str | None = settings[f"{store}.location"]
        if location is None:
            continue
        if settings[f"{store}.type"].upper() != "PEM":
            raise ConfigError(
                f"{store}.type={settings[f'{store}.type']} cannot be read here: convert the store to PEM, for instance "
                f"with `keytool` and `openssl`, and set {store}.type=PEM"
            )
        found |= dict.fromkeys(names, location)
    if key := settings["schema.registry.ssl.key.password"]:
        found["ssl.key.password"] = key
    return found


def strategy_of(settings: Mapping[str, Any], use: str) -> str:
    """Its short name."""
    setting = f"{use}.subject.name.strategy"
    name = str(settings[setting]).rpartition(".")[2]
    if name not in STRATEGIES:
        raise ConfigError(
            f"Invalid value {settings[setting]} for configuration {setting}: there are {', '.join(STRATEGIES)}"
        )
    return name


def subject_of(strategy: str, topic: str, use: str, record: str | None) -> str | None:
    """None where the strategy needs the name of a record and there is none."""
    if strategy == STRATEGIES[0]:
        return f"{topic}-{use}"
    if not record:
        return None
    return record if strategy == STRATEGIES[1] else f"{topic}-{record}"

"""The settings that both HTTP connectors have: how to reach the service, and who is asking."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import one_of
from moldau.core.settings.key import Importance, boolean, integer, password, string, strings
from moldau.pipeline.connect.declarations import Declaration

_LOW: Final = Importance.LOW
_LOGIN_IN_URL: Final = re.compile(r"//[^/?#\s]*@")
_STATUS_RANGE: Final = re.compile(r"(\d{3})(?:-(\d{3}))?|(\d)xx")

CONNECTION: Final = (
    Declaration(
        string(
            "http.authorization.type",
            "none",
            "Who is asking: none; static sends http.headers.authorization; basic sends http.user and "
            "http.password; oauth2 asks oauth2.access.token.url for a token.",
            check=one_of("none", "static", "basic", "oauth2", ignore_case=True),
        ),
        group="Authorization",
        display_name="Authorization",
    ),
    Declaration(
        password("http.headers.authorization", "The header Authorization, such as Bearer 1234."),
        group="Authorization",
        display_name="Header",
    ),
    Declaration(string("http.user", "", "For basic."), group="Authorization", display_name="User"),
    Declaration(password("http.password", "For basic."), group="Authorization", display_name="Password"),
    Declaration(
        string("oauth2.access.token.url", "", "Where a token is to be had with the client's id and secret."),
        group="Authorization",
        display_name="Token address",
    ),
    Declaration(string("oauth2.client.id", "", "The client."), group="Authorization", display_name="Client"),
    Declaration(
        password("oauth2.client.secret", "Its secret."), group="Authorization", display_name="Secret"
    ),
    Declaration(
        string("oauth2.client.scope", "", "What the token is for. Empty: not said."),
        group="Authorization",
        display_name="Scope",
    ),
    Declaration(
        string(
            "oauth2.client.authorization.mode",
            "header",
            "Where the token's request has id and secret: in its header (basic) or in its form (url).",
            check=one_of("header", "url", ignore_case=True),
            importance=_LOW,
        ),
        group="Authorization",
        display_name="Client in",
    ),
    Declaration(
        integer("http.timeout", 30, "Seconds until a request without an answer has failed.", at_least=1),
        group="Connection",
        display_name="Timeout (s)",
    ),
    Declaration(
        string("http.proxy", "", "The address of a proxy, such as http://proxy:3128.", importance=_LOW),
        group="Connection",
        display_name="Proxy",
    ),
    Declaration(
        string("http.ssl.ca", "", "A file with certificates to trust. Empty: those that are well known."),
        group="Connection",
        display_name="Trusted certificates",
    ),
    Declaration(
        string("http.ssl.cert", "", "A file with the client's certificate and key."),
        group="Connection",
        display_name="Client certificate",
    ),
    Declaration(
        boolean(
            "http.ssl.trust.all.certs",
            False,
            "Servers are not asked for a good certificate: only for tests.",
            importance=_LOW,
        ),
        group="Connection",
        display_name="Trust all",
    ),
    Declaration(
        strings(
            "http.headers.additional",
            (),
            "More headers, as name:value, with commas in between.",
        ),
        group="Request",
        display_name="Headers",
    ),
    Declaration(
        strings(
            "retry.on.status.codes",
            ("408", "429", "5xx"),
            "Answers after which the same request is made again, such as 429,500-503 or 5xx.",
        ),
        group="Retries",
        display_name="Retried answers",
    ),
)


@dataclass(frozen=True, slots=True)
class Access:
    """How a service is reached. Nothing of it is shown: it has secrets."""

    authorization: str
    header: str = field(repr=False)
    user: str
    password: str = field(repr=False)
    token_url: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str
    is_client_in_form: bool
    timeout_s: float
    proxy: str
    ca: str
    certificate: str
    trusts_all: bool
    headers: Mapping[str, str] = field(repr=False)
    retried: Sequence[range]
    url_setting: str
    """What messages say that a person should look at."""
    ca_setting: str

    @classmethod
    def of(cls, values: Mapping[str, Any], url_setting: str) -> "Access":
        """Raises ConfigError for settings that do not fit together."""
        kind = values["http.authorization.type"].lower()
        needed = {
            "static": ("http.headers.authorization",),
            "basic": ("http.user", "http.password"),
            "oauth2": ("oauth2.access.token.url", "oauth2.client.id", "oauth2.client.secret"),
        }.get(kind, ())
        for name in needed:
            if not values[name]:
                raise ConfigError(f"http.authorization.type={kind} needs {name}: set it")
        return cls(
            authorization=kind,
            header=values["http.headers.authorization"] or "",
            user=values["http.user"],
            password=values["http.password"] or "",
            token_url=values["oauth2.access.token.url"],
            client_id=values["oauth2.client.id"],
            client_secret=values["oauth2.client.secret"] or "",
            scope=values["oauth2.client.scope"],
            is_client_in_form=values["oauth2.client.authorization.mode"].lower() == "url",
            timeout_s=values["http.timeout"],
            proxy=values["http.proxy"],
            ca=values["http.ssl.ca"],
            certificate=values["http.ssl.cert"],
            trusts_all=values["http.ssl.trust.all.certs"],
            headers=headers_of(values["http.headers.additional"]),
            retried=[_statuses(one) for one in values["retry.on.status.codes"]],
            url_setting=url_setting,
            ca_setting="http.ssl.ca",
        )


def headers_of(texts: Sequence[str]) -> dict[str, str]:
    found = {}
    for one in texts:
        name, separator, value = one.partition(":")
        if not separator or not name.strip():
            raise ConfigError(
                f"Invalid value {one} for configuration http.headers.additional: it takes name:value"
            )
        found[name.strip()] = value.strip()
    return found


def _statuses(text: str) -> range:
    found = _STATUS_RANGE.fullmatch(text.strip())
    if found is None:
        raise ConfigError(
            f"Invalid value {text} for configuration retry.on.status.codes: it takes numbers such as 429, "
            "ranges such as 500-503, or 5xx"
        )
    if found[3]:
        return range(int(found[3]) * 100, int(found[3]) * 100 + 100)
    return range(int(found[1]), int(found[2] or found[1]) + 1)


def without_login(text: str) -> str:
    """A text for people: addresses in it have no user and password."""
    return _LOGIN_IN_URL.sub("//[hidden]@", text)


def check_url(name: str, text: str) -> None:
    """An address, perhaps with placeholders. They do not choose the host."""
    if not re.match(r"https?://[^/$?#]+(?:[/?#]|$)", text):
        # Whatever is before it may be a password.
        known = f"[hidden]@{text.rpartition('@')[2]}" if "@" in text else text
        raise ConfigError(
            f"Invalid value {known} for configuration {name}: it takes an address such as https://service/orders"
        )

"""The settings of the sink, under the names of Confluent's connector."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import one_of
from moldau.core.settings.key import Importance, boolean, integer, password, string, strings
from moldau.pipeline.connect.connectors.http.settings import Access, check_url
from moldau.pipeline.connect.declarations import Declaration

_NOT_IN_INDEX: Final = re.compile(r'[\\/*?"<>| ,#:]')
RETRIED: Final = (range(408, 409), range(429, 430), range(500, 600))

DECLARATIONS: Final = (
    Declaration(
        strings(
            "connection.url",
            (),
            "The addresses of nodes, such as http://search:9200, with commas in between. One after the other "
            "is asked until one answers.",
            importance=Importance.HIGH,
        ),
        is_required=True,
        group="Connection",
        display_name="Addresses",
    ),
    Declaration(string("connection.username", "", "The user."), group="Connection", display_name="User"),
    Declaration(
        password("connection.password", "The user's password."), group="Connection", display_name="Password"
    ),
    Declaration(
        string(
            "elastic.https.ssl.ca", "", "A file with certificates to trust. Empty: those that are well known."
        ),
        group="Connection",
        display_name="Trusted certificates",
    ),
    Declaration(
        integer("read.timeout.ms", 30_000, "How long to wait for an answer.", at_least=1),
        group="Connection",
        display_name="Timeout (ms)",
    ),
    Declaration(
        string(
            "index.name",
            "",
            "The index. Empty: that of the topic, in lower case. ${topic} is the topic.",
            importance=Importance.MEDIUM,
        ),
        group="Documents",
        display_name="Index",
    ),
    Declaration(
        boolean(
            "key.ignore",
            False,
            "Documents get topic+partition+offset as their id, and every record is a document of its own. "
            "Otherwise the key is the id, and a later record of the same key replaces the document.",
            importance=Importance.HIGH,
        ),
        group="Documents",
        display_name="Ignore keys",
    ),
    Declaration(
        string(
            "write.method",
            "INSERT",
            "INSERT replaces documents, UPSERT merges the fields of a record into the document that is there.",
            check=one_of("INSERT", "UPSERT", ignore_case=True),
        ),
        group="Documents",
        display_name="Write method",
    ),
    Declaration(
        string(
            "behavior.on.null.values",
            "FAIL",
            "What to do with a record without a value: IGNORE it, DELETE the document of its key, or FAIL.",
            check=one_of("IGNORE", "DELETE", "FAIL", ignore_case=True),
        ),
        group="Documents",
        display_name="Null values",
    ),
    Declaration(
        string(
            "behavior.on.malformed.documents",
            "FAIL",
            "What to do with a document that the index does not take: FAIL reports the record, so that "
            "errors.tolerance decides; WARN logs it and IGNORE passes it over.",
            check=one_of("IGNORE", "WARN", "FAIL", ignore_case=True),
        ),
        group="Documents",
        display_name="Refused documents",
    ),
    Declaration(
        integer("batch.size", 2_000, "How many documents a request has at most.", at_least=1),
        group="Requests",
        display_name="Documents in a request",
    ),
    Declaration(
        integer(
            "bulk.size.bytes", 5 << 20, "How large a request becomes, but for a single document.", at_least=1
        ),
        group="Requests",
        display_name="Bytes of a request",
    ),
    Declaration(
        integer(
            "max.retries",
            -1,
            "How often in a row a request may fail for a reason that may pass, before the task fails. -1: no limit.",
            at_least=-1,
        ),
        group="Requests",
        display_name="Retries",
    ),
)


def access_of(values: Mapping[str, Any]) -> Access:
    """Raises ConfigError for settings that do not fit together."""
    for one in values["connection.url"]:
        check_url("connection.url", one)
    user, secret = values["connection.username"], values["connection.password"]
    if bool(user) != bool(secret):
        raise ConfigError("connection.username and connection.password belong together: set both or neither")
    return Access(
        authorization="basic" if user else "none",
        header="",
        user=user,
        password=secret or "",
        token_url="",
        client_id="",
        client_secret="",
        scope="",
        is_client_in_form=False,
        timeout_s=values["read.timeout.ms"] / 1_000,
        proxy="",
        ca=values["elastic.https.ssl.ca"],
        certificate="",
        trusts_all=False,
        headers={},
        retried=RETRIED,
        url_setting="connection.url",
        ca_setting="elastic.https.ssl.ca",
    )


def index_of(pattern: str, topic: str) -> str:
    """A name that an index may have."""
    name = (pattern or "${topic}").replace("${topic}", topic).lower()
    return _NOT_IN_INDEX.sub("-", name).lstrip("-_+.") or "topic"


def addresses(values: Mapping[str, Any]) -> Sequence[str]:
    return [one.rstrip("/") for one in values["connection.url"]]

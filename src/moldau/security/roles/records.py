"""The records of the topic `_moldau_roles`: one for each grant and one for each member of a group.

Key and value are JSON. The key says everything, so that two administrators never overwrite each other; an empty value
ends the grant or the membership. The topic is compacted.
"""

import json
from typing import Any, Final, NamedTuple

from moldau.security.access.model import ANYONE, Pattern
from moldau.security.roles.model import (
    GROUP_PREFIX,
    ROLES_TOPIC,
    Binding,
    Role,
    ServiceKind,
    check_principal,
    make_binding,
    parse_kind,
)

VERSION: Final = 1
"""Of keys and values. Records of later versions are rejected, not guessed at."""
PRESENT: Final = json.dumps({"version": VERSION}, separators=(",", ":")).encode()
"""The value of a grant or a membership in force."""


class RecordError(ValueError):
    """A record that cannot be read. A follower logs it and goes on; nothing is granted by it."""


class Member(NamedTuple):
    """Somebody in a group."""

    group: str
    principal: str


class Change(NamedTuple):
    """What a record says."""

    subject: Binding | Member
    is_present: bool
    """False: it has ended."""


def key_of(subject: Binding | Member) -> bytes:
    """Equal subjects have equal bytes, as compaction needs it."""
    if isinstance(subject, Member):
        content = {"type": "member", "group": subject.group, "principal": subject.principal}
    else:
        kind = subject.kind
        content = {
            "type": "binding",
            "principal": subject.principal,
            "role": subject.role.value,
            "resource_type": kind.value.upper() if isinstance(kind, ServiceKind) else kind.name,
            "resource_name": subject.name,
            "pattern_type": subject.pattern.name,
        }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def parse_record(key: bytes | None, value: bytes | None) -> Change:
    """RecordError if it is not one of ours."""
    content = _object(key, "key")
    if value:
        version = _object(value, "value").get("version")
        if version != VERSION:
            raise RecordError(
                f"a record of {ROLES_TOPIC} has version {version!r}; this program reads version {VERSION}"
            )
    try:
        subject = _subject(content)
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"a key of {ROLES_TOPIC} cannot be used, {_shown(key)}: {error}") from error
    return Change(subject, bool(value))


def make_member(group: str, principal: str) -> Member:
    """ValueError if the group has no name, or the member is no user."""
    if not group:
        raise ValueError("the name of a group is not empty")
    check_principal(principal)
    if principal == ANYONE:
        raise ValueError(f"{principal} cannot be a member: grant the role to {principal} itself")
    if principal.startswith(GROUP_PREFIX):
        raise ValueError(f"{principal} cannot be a member: groups contain users, not groups")
    return Member(group, principal)


def _subject(content: dict[str, Any]) -> Binding | Member:
    if content["type"] == "member":
        return make_member(_text(content, "group"), _text(content, "principal"))
    if content["type"] != "binding":
        raise ValueError(f"type is {content['type']!r}, not binding or member")
    kind = parse_kind(_text(content, "resource_type"))
    pattern = Pattern[_text(content, "pattern_type")]
    return make_binding(
        _text(content, "principal"),
        Role(_text(content, "role")),
        kind,
        _text(content, "resource_name"),
        pattern,
    )


def _text(content: dict[str, Any], field: str) -> str:
    text = content[field]
    if not isinstance(text, str):
        raise TypeError(f"{field} is not a text")
    return text


def _object(data: bytes | None, what: str) -> dict[str, Any]:
    try:
        content = json.loads(data or b"null")
    except (ValueError, RecursionError) as error:
        raise RecordError(f"a {what} of {ROLES_TOPIC} is not JSON, {_shown(data)}: {error}") from error
    if not isinstance(content, dict):
        raise RecordError(f"a {what} of {ROLES_TOPIC} is not a JSON object, {_shown(data)}")
    return content


def _shown(data: bytes | None) -> str:
    return repr((data or b"")[:200])

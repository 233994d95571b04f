"""The principal of a client certificate: its distinguished name as Java writes it, and `ssl.principal.mapping.rules`.

Pure. The rules are those of Kafka's `SslPrincipalMapper`.
"""

import re
from collections.abc import Callable
from typing import Final

from cryptography import x509
from cryptography.x509.name import _ASN1Type
from cryptography.x509.oid import NameOID

from moldau.core.errors import ConfigError

# The attributes that RFC 2253 gives a name. Java writes all others as their number with the value in hexadecimal.
_KEYWORDS: Final = {
    NameOID.COMMON_NAME: "CN",
    NameOID.COUNTRY_NAME: "C",
    NameOID.LOCALITY_NAME: "L",
    NameOID.STATE_OR_PROVINCE_NAME: "ST",
    NameOID.STREET_ADDRESS: "STREET",
    NameOID.ORGANIZATION_NAME: "O",
    NameOID.ORGANIZATIONAL_UNIT_NAME: "OU",
    NameOID.DOMAIN_COMPONENT: "DC",
    NameOID.USER_ID: "UID",
}
_ESCAPED: Final = re.compile(r'[,=+<>#;"\\]')
"""Java escapes some that RFC 2253 leaves alone."""
_BLANKS: Final = " \r"
_RULE: Final = r"(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?).*?|(?:.*?)"
_SPLITTER: Final = re.compile(rf"\s*({_RULE})\s*(?:,\s*|$)")
_PARSER: Final = re.compile(r"(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?)")
_REFERENCE: Final = re.compile(r"\\(.)|\$(\d+)|\$\{(\w+)\}|\$", re.DOTALL)
_JAVA_GROUP: Final = re.compile(r"\(\?<(?=[A-Za-z])")

Rule = Callable[[str], str | None]


class NoMatchingRule(ValueError):
    """No rule gives the certificate a principal: the client is refused."""


def distinguished_name(name: x509.Name) -> str:
    """The name as `X500Principal.getName()` of Java gives it, which is RFC 2253: the last part first."""
    return ",".join("+".join(_attribute(each) for each in part) for part in reversed(name.rdns))


def _attribute(attribute: x509.NameAttribute[str | bytes]) -> str:
    keyword = _KEYWORDS.get(attribute.oid)
    value = attribute.value
    if keyword is None or isinstance(value, bytes):
        return f"{attribute.oid.dotted_string}=#{_der(attribute).hex()}"
    return f"{keyword}={_escape(value)}"


def _escape(value: str) -> str:
    escaped = _ESCAPED.sub(lambda match: f"\\{match[0]}", value).replace("\0", "\\00")
    inner = escaped.strip(_BLANKS)
    if not inner:
        return "".join(f"\\{each}" for each in escaped)
    begin = escaped.index(inner)
    before, after = escaped[:begin], escaped[begin + len(inner) :]
    return "".join(f"\\{each}" for each in before) + inner + "".join(f"\\{each}" for each in after)


def _der(attribute: x509.NameAttribute[str | bytes]) -> bytes:
    kind = attribute._type  # The library says it nowhere else.
    value = attribute.value
    if isinstance(value, str):
        encodings = {_ASN1Type.BMPString: "utf-16-be", _ASN1Type.UniversalString: "utf-32-be"}
        value = value.encode(encodings.get(kind, "utf-8"))
    size = len(value)
    if size < 0x80:
        return bytes([kind.value, size]) + value
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([kind.value, 0x80 | len(length)]) + length + value


class PrincipalNames:
    """From a certificate's distinguished name to the name of a principal, by rules."""

    def __init__(self, rules: str) -> None:
        """ConfigError names the rule that is wrong."""
        self._text = rules
        self._rules = [rule for text in _split(rules) if (rule := _parse(text)) is not None]

    def name_of(self, distinguished: str) -> str:
        """NoMatchingRule if no rule applies."""
        for rule in self._rules:
            found = rule(distinguished)
            if found is not None:
                return found
        raise NoMatchingRule(
            f"no rule of ssl.principal.mapping.rules={self._text} applies to the certificate of {distinguished}; add "
            "DEFAULT as the last rule, or one that matches"
        )


def _split(rules: str) -> list[str]:
    return [match[1] for match in _SPLITTER.finditer(rules.strip())]


def _parse(text: str) -> Rule | None:
    if not text:
        return None
    match = _PARSER.fullmatch(text)
    if match is None:
        raise ConfigError(
            f"ssl.principal.mapping.rules: {text!r} is neither DEFAULT nor of the form RULE:pattern/replacement/ with "
            "L or U at the end, for example RULE:^CN=(.*?),.*$/$1/L"
        )
    if match[1]:
        return lambda name: name
    try:
        pattern = re.compile(_JAVA_GROUP.sub("(?P<", match[2]))
    except re.error as error:
        raise ConfigError(f"ssl.principal.mapping.rules: the pattern of {text!r} is wrong: {error}") from None
    change = {"L": str.lower, "U": str.upper}.get(match[4], str)
    replacement = match[3]

    def apply(name: str) -> str | None:
        if pattern.fullmatch(name) is None:
            return None
        return change(pattern.sub(lambda found: _expand(replacement, found), name))

    return apply


def _expand(replacement: str, found: re.Match[str]) -> str:
    """Java's `$1` and `${name}`. A number without such a group stays as it is, as in Kafka."""
    groups = found.re.groups

    def expand(match: re.Match[str]) -> str:
        if match[1] is not None:
            return match[1]
        if match[3] is not None:
            if match[3] not in found.re.groupindex:
                raise _no_such_group(replacement, match[0])
            return found.group(match[3]) or ""
        if match[2] is None:
            raise _no_such_group(replacement, match[0])
        digits: str = match[2]
        used = len(digits)
        while used > 1 and int(digits[:used]) > groups:
            used -= 1
        number = int(digits[:used])
        if number > groups:
            if not groups:
                raise _no_such_group(replacement, match[0])
            return match[0]
        return (found.group(number) or "") + digits[used:]

    return _REFERENCE.sub(expand, replacement)


def _no_such_group(replacement: str, reference: str) -> NoMatchingRule:
    return NoMatchingRule(
        f"ssl.principal.mapping.rules: the replacement {replacement!r} names {reference}, and its pattern has no such "
        "group; correct the rule"
    )

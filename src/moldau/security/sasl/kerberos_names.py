"""From Kerberos principals to user names: `sasl.kerberos.principal.to.local.rules`. Pure.

A rule is `DEFAULT`, which takes the first part of a principal of the broker's own realm, or
`RULE:[n:form](pattern)s/from/to/g/L`: it applies to principals of n parts, written in the form ($0 is the realm, $1 the
first part), if the pattern matches all of that. Then what matches `from` is replaced. `g` replaces all of it, `L` and
`U` change case. The first rule that applies counts.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from moldau.core.errors import ConfigError

RULES_KEY: Final = "sasl.kerberos.principal.to.local.rules"
_RULE: Final = re.compile(
    r"DEFAULT|RULE:\[(\d+):([^\]]*)\](?:\((.*?)\))?(?:s/([^/]*)/([^/]*)/(g)?)?/?(L|U)?", re.DOTALL
)
_PRINCIPAL: Final = re.compile(r"([^/@]+)(?:/([^/@]+))?(?:@([^/@]+))?")
_PLACE: Final = re.compile(r"\$(\d)")


class PrincipalName(NamedTuple):
    parts: tuple[str, ...]
    realm: str


class NameRule(NamedTuple):
    length: int | None = None
    """How many parts a principal has that it applies to; None: it is DEFAULT."""
    form: str = ""
    pattern: re.Pattern[str] | None = None
    replaced: re.Pattern[str] | None = None
    replacement: str = ""
    is_global: bool = False
    case: str = ""

    def applied(self, name: PrincipalName, own_realm: str) -> str | None:
        """None if the rule does not apply."""
        if self.length is None:
            return name.parts[0] if name.realm == own_realm else None
        if self.length != len(name.parts):
            return None
        fields = (name.realm, *name.parts)
        places = [int(place) for place in _PLACE.findall(self.form)]
        if any(place >= len(fields) for place in places):
            return None
        text = _PLACE.sub(lambda found: fields[int(found[1])], self.form)
        if self.pattern is not None and self.pattern.fullmatch(text) is None:
            return None
        if self.replaced is not None:
            text = self.replaced.sub(self.replacement, text, count=0 if self.is_global else 1)
        return text.lower() if self.case == "L" else text.upper() if self.case == "U" else text


def parse_rules(texts: Sequence[str], setting: str = RULES_KEY) -> list[NameRule]:
    """ConfigError names the rule that is malformed."""
    rules = []
    for text in texts:
        match = _RULE.fullmatch(text.strip())
        if match is None:
            raise ConfigError(
                f"{setting}: {text!r} is neither DEFAULT nor a rule such as RULE:[2:$1](.*)s/^x//; correct it"
            )
        count, form, pattern, replaced, replacement, is_global, case = match.groups()
        if count is None:
            rules.append(NameRule())
            continue
        try:
            rules.append(
                NameRule(
                    int(count),
                    form,
                    None if pattern is None else re.compile(pattern),
                    None if replaced is None else re.compile(replaced),
                    re.sub(r"\$(\d)", r"\\\1", replacement or ""),
                    is_global is not None,
                    case or "",
                )
            )
        except re.error as error:
            raise ConfigError(f"{setting}: {text!r} has a malformed pattern: {error}; correct it") from None
    return rules


def parse_principal(text: str) -> PrincipalName | None:
    match = _PRINCIPAL.fullmatch(text)
    if match is None:
        return None
    first, second, realm = match.groups()
    return PrincipalName((first,) if second is None else (first, second), realm or "")


def short_name(principal: str, rules: Sequence[NameRule], own_realm: str) -> str | None:
    """The user of a principal; None if no rule applies, or what it makes is no name."""
    name = parse_principal(principal)
    if name is None:
        return None
    for rule in rules:
        found = rule.applied(name, own_realm)
        if found is not None:
            return found if found and not re.search("[/@]", found) else None
    return None

"""JAAS texts as Kafka's settings have them: `class required option="value" ...;`.

Only the module's name and its options matter here: the class is Java's, and each mechanism has one.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from moldau.core.errors import ConfigError
from moldau.security.credentials.scram_credential import MECHANISMS
from moldau.security.sasl.exchange import GSSAPI, OAUTHBEARER, PLAIN

PLAIN_MODULE: Final = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM_MODULE: Final = "org.apache.kafka.common.security.scram.ScramLoginModule"
KERBEROS_MODULE: Final = "com.sun.security.auth.module.Krb5LoginModule"
OAUTHBEARER_MODULE: Final = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
MODULES: Final = {
    PLAIN: PLAIN_MODULE,
    OAUTHBEARER: OAUTHBEARER_MODULE,
    GSSAPI: KERBEROS_MODULE,
} | dict.fromkeys(MECHANISMS, SCRAM_MODULE)
"""The login module of each mechanism."""
USER_PREFIX: Final = "user_"
_FLAGS: Final = ("required", "requisite", "sufficient", "optional")
_TOKEN: Final = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|([=;])|([^\s="\';]+)', re.DOTALL)
_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class LoginModule(NamedTuple):
    name: str
    options: Mapping[str, str]

    def __repr__(self) -> str:
        return f"<LoginModule {self.name}>"

    @property
    def passwords(self) -> dict[str, str]:
        """The users of PLAIN: the options `user_NAME="password"`."""
        return {
            name.removeprefix(USER_PREFIX): value
            for name, value in self.options.items()
            if name.startswith(USER_PREFIX)
        }


def parse_jaas(text: str, setting: str) -> LoginModule:
    """ConfigError names the setting and never shows the text: it has passwords."""
    tokens = list(_tokens(text, setting))
    if len(tokens) < 3 or tokens[-1] != (";", False):
        raise _malformed(setting, "it does not end with a semicolon")
    (name, _), (flag, _), *rest = tokens[:-1]
    if flag.lower() not in _FLAGS:
        raise _malformed(setting, f"the second word is not one of {', '.join(_FLAGS)}")
    if (";", False) in rest:
        raise _malformed(setting, "it names more than one login module")
    if len(rest) % 3:
        raise _malformed(setting, "an option is not of the form name=value")
    options: dict[str, str] = {}
    for option, equals, value in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        if equals != ("=", False) or value == ("=", False) or option == ("=", False):
            raise _malformed(setting, "an option is not of the form name=value")
        options[option[0]] = value[0]
    return LoginModule(name, options)


def check_module(module: LoginModule, mechanism: str, setting: str) -> None:
    """ConfigError if the module belongs to another mechanism."""
    expected = MODULES.get(mechanism)
    if expected is not None and module.name.rpartition(".")[2] != expected.rpartition(".")[2]:
        raise ConfigError(
            f"{setting} names the login module {module.name}, but that of {mechanism} is {expected}; correct it"
        )


def client_credentials(module: LoginModule, setting: str) -> tuple[str, str]:
    """The user and the password to log in with."""
    missing = [name for name in ("username", "password") if not module.options.get(name)]
    if missing:
        raise ConfigError(
            f"{setting} has no {' and no '.join(missing)}, which this broker needs to log in to the others; "
            'add username="..." password="..."'
        )
    return module.options["username"], module.options["password"]


def _tokens(text: str, setting: str) -> list[tuple[str, bool]]:
    """The words, and whether each was quoted."""
    tokens: list[tuple[str, bool]] = []
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        comment = _COMMENT.match(text, position)
        if comment is not None:
            position = comment.end()
            continue
        match = _TOKEN.match(text, position)
        if match is None:
            raise _malformed(setting, "a quote is not closed")
        quoted = match[1] if match[1] is not None else match[2]
        if quoted is not None:
            tokens.append((re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL), True))
        else:
            tokens.append((match[0], False))
        position = match.end()
    return tokens


def _malformed(setting: str, why: str) -> ConfigError:
    return ConfigError(
        f"{setting} is not a login module: {why}. For example: {PLAIN_MODULE} required "
        'username="admin" password="..." user_alice="...";'
    )

"""What Kafka's scripts hand to Java in `KAFKA_OPTS` and matters here: the JAAS file, the Kerberos configuration.

A JAAS file has sections: `KafkaServer`, or `<listener>.KafkaServer`, for the logins of clients, `Client` for the login
to ZooKeeper. Its login modules become the settings that say the same; settings in the broker's file win.
"""

import logging
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from moldau.core.errors import ConfigError
from moldau.core.settings.listeners import broker_listeners
from moldau.core.settings.resolve import BrokerLayers
from moldau.node.secret_files import warn_if_readable
from moldau.node.zookeeper_access import JAAS_SETTING
from moldau.security.sasl.jaas import MODULES, parse_jaas
from moldau.security.sasl.listener_logins import jaas_setting

VARIABLE: Final = "KAFKA_OPTS"
JAAS_FILE: Final = "java.security.auth.login.config"
KERBEROS_FILE: Final = "java.security.krb5.conf"
ZOOKEEPER_SECTION: Final = "zookeeper.sasl.clientconfig"
_TOKEN: Final = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[{};]|[^\s{};"']+|(?P<open>["'])""", re.DOTALL
)
_log = logging.getLogger("moldau.node")


def with_java_options(layers: BrokerLayers, environment: Mapping[str, str]) -> BrokerLayers:
    """ConfigError if the options name a file that cannot be used."""
    options = _system_properties(environment.get(VARIABLE, ""))
    if KERBEROS_FILE in options:
        os.environ.setdefault("KRB5_CONFIG", options[KERBEROS_FILE])
    path = options.get(JAAS_FILE)
    if path is None:
        return layers
    warn_if_readable(path)
    texts = _settings(layers, _sections(_read(path), path), options.get(ZOOKEEPER_SECTION, "Client"), path)
    added = {name: text for name, text in texts.items() if name not in layers.static}
    if added:
        _log.info("from the JAAS file %s, which %s names: %s", path, VARIABLE, ", ".join(sorted(added)))
    return layers._replace(static={**added, **layers.static})


def _system_properties(text: str) -> dict[str, str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ConfigError(f"the environment variable {VARIABLE} cannot be read: {error}") from None
    pairs = (word.removeprefix("-D").partition("=") for word in words if word.startswith("-D"))
    return {name: value for name, _, value in pairs}


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(
            f"cannot read the JAAS file {path}, which {VARIABLE} names: {why}; correct the path, or let this user "
            "read the file"
        ) from None


def _settings(
    layers: BrokerLayers, sections: Mapping[str, list[str]], zookeeper_section: str, path: str
) -> dict[str, str]:
    texts = {}
    settings = layers.settings()
    if settings.zookeeper_connect and (modules := sections.get(zookeeper_section)):
        texts[JAAS_SETTING] = modules[0]
    for listener in broker_listeners(settings):
        if not listener.protocol.has_sasl:
            continue
        own = sections.get(f"{listener.name.lower()}.KafkaServer")
        for module in own if own is not None else sections.get("KafkaServer", ()):
            name = parse_jaas(module, f"the JAAS file {path}").name.rpartition(".")[2]
            for mechanism, expected in MODULES.items():
                if expected.rpartition(".")[2] == name:
                    texts[jaas_setting(listener.name, mechanism)] = module
    return texts


def _sections(text: str, path: str) -> dict[str, list[str]]:
    """The texts of the login modules, each with its semicolon, by section."""
    sections: dict[str, list[str]] = {}
    words = _words(text, path)
    for name in words:
        is_open = next(words, "") == "{"
        modules, module = sections.setdefault(name, []), list[str]()
        for word in words if is_open else ():
            if word == "}":
                break
            module.append(word)
            if word == ";":
                modules.append(" ".join(module))
                module = []
        if module or not is_open or next(words, "") != ";":
            raise ConfigError(
                f"the JAAS file {path} is malformed at {name}; a section is of the form "
                "`KafkaServer { module required option=value; };`"
            )
    return sections


def _words(text: str, path: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        if match["open"]:
            line = text.count("\n", 0, match.start()) + 1
            raise ConfigError(f"the JAAS file {path}, line {line}: a quote is not closed")
        if not match[0].startswith(("//", "/*")):
            yield match[0]

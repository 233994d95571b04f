"""SASL GSSAPI on the server (RFC 4752): Kerberos, without a security layer, for which there is TLS.

Needs the package `gssapi`, which uses the Kerberos library of the system and its configuration (`KRB5_CONFIG`). The
login module is Java's: `com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true keyTab="..."
principal="kafka/host@REALM";`. Keys are read from a file, so logins run on a worker thread.
"""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.security.sasl.exchange import Login, LoginRefused, shown
from moldau.security.sasl.jaas import LoginModule
from moldau.security.sasl.kerberos_names import parse_principal

NO_LAYER: Final = b"\x01\x00\x00\x00"
"""Offers no security layer, and messages of no size under it."""
LAYER_BYTES: Final = 4


class KerberosExchange:
    """Tokens until both sides have a context, then one message each that says: no security layer."""

    problem: str | None = None

    def __init__(self, accept: Callable[[], Any], user_of: Callable[[str], str | None]) -> None:
        self._accept = accept
        self._context: Any = None
        self._user_of = user_of
        self._has_offered = False
        self.login: Login | None = None

    def is_slow(self, message: bytes) -> bool:
        return True

    def answer(self, message: bytes) -> bytes:
        try:
            return self._answer(message)
        except gssapi_package().exceptions.GSSError as error:
            raise LoginRefused(f"Kerberos refuses it: {' '.join(str(error).split())}") from None

    def _answer(self, message: bytes) -> bytes:
        if self._context is None:
            if not message:
                raise LoginRefused("the first Kerberos message is empty")
            self._context = self._accept()
        context = self._context
        if not context.complete:
            token: bytes = context.step(message) or b""
            if token or not context.complete:
                return token
            message = b""
        if not self._has_offered:
            if message:
                raise LoginRefused(
                    "a message came where the end of the Kerberos exchange was to be confirmed"
                )
            self._has_offered = True
            offer: bytes = context.wrap(NO_LAYER, False).message
            return offer
        self._finish(bytes(context.unwrap(message).message))
        return b""

    def _finish(self, choice: bytes) -> None:
        if len(choice) < LAYER_BYTES or choice[0] != NO_LAYER[0]:
            raise LoginRefused("the client wants a security layer of GSSAPI; set sasl.qop=auth and use TLS")
        # As whom the client wants to act is in the rest of the message. It is ignored, as in Kafka: the Python clients
        # put the name of the service there.
        principal = str(self._context.initiator_name)
        user = self._user_of(principal)
        if user is None:
            raise LoginRefused(
                f"no rule of sasl.kerberos.principal.to.local.rules makes a name of principal {shown(principal)}"
            )
        self.login = Login(user)


class KerberosKeys:
    """The broker's own principal, and its keys in a file."""

    def __init__(self, module: LoginModule, setting: str) -> None:
        """ConfigError if they cannot be used."""
        gssapi = gssapi_package(setting)
        missing = [name for name in ("keyTab", "principal") if not module.options.get(name)]
        if missing:
            raise ConfigError(f'{setting} has no {" and no ".join(missing)}; add {missing[0]}="..."')
        self._key_file, self._principal = module.options["keyTab"], module.options["principal"]
        if not Path(self._key_file).is_file():
            raise ConfigError(f"{setting}: there is no file {self._key_file}; correct keyTab")
        name = gssapi.Name(self._principal, gssapi.NameType.kerberos_principal)
        try:
            gssapi.Credentials(name=name, usage="accept", store={"keytab": self._key_file})
        except gssapi.exceptions.GSSError as error:
            why = " ".join(str(error).split())
            raise ConfigError(
                f"{setting}: the keys of {self._principal} cannot be read from {self._key_file}: {why}; make them with "
                "`ktadd` in kadmin"
            ) from None
        self._name = name

    @property
    def realm(self) -> str:
        name = parse_principal(self._principal)
        return "" if name is None else name.realm

    def accept(self) -> Any:
        """A context for one login. Blocks."""
        gssapi = gssapi_package()
        credentials = gssapi.Credentials(name=self._name, usage="accept", store={"keytab": self._key_file})
        context = gssapi.SecurityContext(usage="accept", creds=credentials)
        # A refused token, such as a recorded one, is an error at once and not with the next token.
        context.__DEFER_STEP_ERRORS__ = False
        return context


def gssapi_package(setting: str = "sasl.enabled.mechanisms") -> Any:
    """ConfigError if it is not installed."""
    try:
        return importlib.import_module("gssapi")
    except ImportError as error:
        raise ConfigError(
            f"{setting}: GSSAPI needs the Python package gssapi ({error}); install it with `pip install gssapi`, after "
            "libkrb5-dev or krb5-devel of the system"
        ) from None

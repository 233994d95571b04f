"""The login to ZooKeeper by Kerberos: SASL GSSAPI (RFC 4752), without a security layer, for which there is TLS.

Needs the package `gssapi`, which uses the Kerberos library of the system and its configuration (`KRB5_CONFIG`).
"""

import importlib
from pathlib import Path
from typing import Any, Final

from moldau.coordination.digest_md5 import SaslLogin
from moldau.core.errors import ConfigError, PeerError
from moldau.security.sasl.jaas import LoginModule

SERVICE: Final = "zookeeper"
NO_LAYER: Final = b"\x01\x00\x00\x00"
"""Accepts no security layer, and messages of no size under it."""


def uses_ticket_cache(module: LoginModule) -> bool:
    """Whether there are tickets already, which somebody else renews."""
    return module.options.get("useTicketCache", "").lower() == "true"


def check_kerberos(module: LoginModule, setting: str) -> None:
    """ConfigError if there can be no login."""
    _gssapi(setting)
    if not uses_ticket_cache(module) and not Path(module.options["keyTab"]).is_file():
        raise ConfigError(f"{setting}: there is no file {module.options['keyTab']}; correct keyTab")


def kerberos_login(module: LoginModule, host: str, setting: str) -> SaslLogin:
    """To the service `zookeeper` on the host, or the one that the option `serviceName` names. Asks the realm's servers
    for tickets, so it blocks. PeerError says why Kerberos refuses it."""
    gssapi = _gssapi(setting)
    try:
        service = f"{module.options.get('serviceName', SERVICE)}@{host}"
        context = gssapi.SecurityContext(
            name=gssapi.Name(service, gssapi.NameType.hostbased_service),
            creds=_tickets(gssapi, module),
            usage="initiate",
            mech=gssapi.MechType.kerberos,
        )
        answer: bytes | None = None
        while not context.complete:
            answer = yield context.step(answer) or b""
        assert answer is not None, "the last step has had an answer"
        offer = bytes(context.unwrap(answer).message)
        if len(offer) < len(NO_LAYER) or not offer[0] & NO_LAYER[0]:
            raise PeerError("the server demands a security layer of GSSAPI; use TLS")
        yield bytes(context.wrap(NO_LAYER, False).message)
    except gssapi.exceptions.GSSError as error:
        raise PeerError(f"Kerberos refuses it: {' '.join(str(error).split())}") from None


def _tickets(gssapi: Any, module: LoginModule) -> Any:
    if uses_ticket_cache(module):
        return gssapi.Credentials(usage="initiate")
    return gssapi.Credentials(
        name=gssapi.Name(module.options["principal"], gssapi.NameType.kerberos_principal),
        usage="initiate",
        # In memory: the tickets of the user who has started the broker stay as they are.
        store={"client_keytab": module.options["keyTab"], "ccache": "MEMORY:moldau-zookeeper"},
    )


def _gssapi(setting: str) -> Any:
    try:
        return importlib.import_module("gssapi")
    except ImportError as error:
        raise ConfigError(
            f"{setting}: GSSAPI needs the Python package gssapi ({error}); install it with `pip install gssapi`, "
            "after libkrb5-dev or krb5-devel of the system"
        ) from None

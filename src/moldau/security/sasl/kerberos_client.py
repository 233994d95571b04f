"""The client's side of SASL GSSAPI (RFC 4752): Kerberos, without a security layer, for which there is TLS.

Needs the package `gssapi`, as the server's side does. The login module is Java's, with a file of keys or with the
tickets that somebody else has got and renews. With a file the Kerberos library gets tickets when it needs them, which
asks the realm's servers: the steps of such a login block.
"""

from pathlib import Path
from typing import Any

from moldau.core.errors import ConfigError, PeerError
from moldau.security.sasl.client_login import ClientLogin
from moldau.security.sasl.jaas import LoginModule
from moldau.security.sasl.kerberos import LAYER_BYTES, NO_LAYER, gssapi_package


def check_initiator(module: LoginModule, setting: str) -> None:
    """ConfigError if there can be no login."""
    gssapi_package(setting)
    if uses_ticket_cache(module):
        return
    missing = [name for name in ("keyTab", "principal") if not module.options.get(name)]
    if missing:
        raise ConfigError(f'{setting} has no {" and no ".join(missing)}; add {missing[0]}="..."')
    if not Path(module.options["keyTab"]).is_file():
        raise ConfigError(f"{setting}: there is no file {module.options['keyTab']}; correct keyTab")


def uses_ticket_cache(module: LoginModule) -> bool:
    """Whether there are tickets already, which somebody else renews."""
    return module.options.get("useTicketCache", "").lower() == "true"


def kerberos_login(module: LoginModule, service: str, host: str, setting: str) -> ClientLogin:
    """To a service on a host. PeerError says why Kerberos refuses it."""
    gssapi = gssapi_package(setting)
    try:
        context = gssapi.SecurityContext(
            name=gssapi.Name(f"{service}@{host}", gssapi.NameType.hostbased_service),
            creds=_tickets(gssapi, module),
            usage="initiate",
            mech=gssapi.MechType.kerberos,
        )
        answer: bytes | None = None
        while not context.complete:
            answer = yield context.step(answer) or b""
        assert answer is not None, "the last step has had an answer"
        offer = bytes(context.unwrap(answer).message)
        if len(offer) < LAYER_BYTES or not offer[0] & NO_LAYER[0]:
            raise PeerError("the server demands a security layer of GSSAPI; use TLS")
        yield bytes(context.wrap(NO_LAYER, False).message)
    except gssapi.exceptions.GSSError as error:
        raise PeerError(
            f"Kerberos refuses the login to {service}@{host}: {' '.join(str(error).split())}"
        ) from None


def _tickets(gssapi: Any, module: LoginModule) -> Any:
    if uses_ticket_cache(module):
        return gssapi.Credentials(usage="initiate")
    principal = module.options["principal"]
    return gssapi.Credentials(
        name=gssapi.Name(principal, gssapi.NameType.kerberos_principal),
        usage="initiate",
        # In memory: the tickets of the user who has started this process stay as they are.
        store={"client_keytab": module.options["keyTab"], "ccache": f"MEMORY:moldau-{principal}"},
    )

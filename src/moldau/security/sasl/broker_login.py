"""How this broker logs in to the others: read from the settings.

The mechanism is `sasl.mechanism.inter.broker.protocol`. Its login module is that of the listener between brokers,
which also has what the server's side needs.
"""

from typing import Final

from moldau.core.errors import ConfigError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listener_keys import listener_setting
from moldau.security.sasl.client_login import SUPPORTED, ClientLogin, client_login, token_login
from moldau.security.sasl.exchange import GSSAPI, OAUTHBEARER
from moldau.security.sasl.jaas import LoginModule, client_credentials
from moldau.security.sasl.kerberos_client import check_initiator, kerberos_login
from moldau.security.sasl.listener_logins import jaas_setting, login_module
from moldau.security.sasl.token_sources import TokenSources

SERVICE_KEY: Final = "sasl.kerberos.service.name"
MECHANISM_KEY: Final = "sasl.mechanism.inter.broker.protocol"
_NEEDED: Final = {
    OAUTHBEARER: "how to get a token",
    GSSAPI: "the principal and the file of its keys",
}


def broker_login(settings: BrokerSettings, listener: str, host: str, tokens: TokenSources) -> ClientLogin:
    """A login to the broker at the host. Its steps may block. ConfigError if the settings do not say how."""
    mechanism = settings.sasl_mechanism_inter_broker_protocol
    if mechanism not in (*SUPPORTED, *_NEEDED):
        raise ConfigError(
            f"brokers cannot log in to each other with {mechanism}; set {MECHANISM_KEY} to one of "
            f"{', '.join((*SUPPORTED, *_NEEDED))}"
        )
    setting = jaas_setting(listener, mechanism)
    module = login_module(settings, listener, mechanism)
    if module is None:
        example = "..." if mechanism in _NEEDED else 'username="..." password="..."'
        raise ConfigError(
            f"brokers log in to each other with {mechanism} on {listener}, but {setting} is not set; it names "
            f"{_NEEDED.get(mechanism, 'the user and the password')}: ... required {example};"
        )
    if mechanism == OAUTHBEARER:
        return token_login(tokens.source(settings, listener, module).token)
    if mechanism == GSSAPI:
        check_initiator(module, setting)
        return kerberos_login(module, _service(settings, listener, module, setting), host, setting)
    return client_login(mechanism, *client_credentials(module, setting))


def _service(settings: BrokerSettings, listener: str, module: LoginModule, setting: str) -> str:
    """The first part of the other broker's principal."""
    named: str | None = listener_setting(settings, listener, SERVICE_KEY, GSSAPI)
    of_module = module.options.get("serviceName")
    if named and of_module and named != of_module:
        raise ConfigError(
            f"{SERVICE_KEY} is {named}, but serviceName in {setting} is {of_module}; keep one of them"
        )
    service = named or of_module
    if not service:
        raise ConfigError(
            f"brokers log in to each other with {GSSAPI} on {listener}, but {SERVICE_KEY} is not set; set it to the "
            "first part of the brokers' principals: kafka for kafka/host@REALM"
        )
    return service

"""TLS and the login towards ZooKeeper, from the settings."""

import secrets
import ssl
from collections.abc import Callable
from typing import Final

from moldau.coordination.digest_md5 import digest_md5_login
from moldau.coordination.zookeeper_protection import Protection
from moldau.core.errors import ConfigError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.security.sasl.client_login import ClientLogin
from moldau.security.sasl.jaas import KERBEROS_MODULE, parse_jaas
from moldau.security.sasl.kerberos_client import check_initiator, kerberos_login
from moldau.security.tls.contexts import TlsMaterial, client_context
from moldau.security.tls.stores import key_from_file, trust_from_file

JAAS_SETTING: Final = "moldau.zookeeper.sasl.jaas.config"
DIGEST_MODULE: Final = "org.apache.zookeeper.server.auth.DigestLoginModule"
SOCKET_WITH_TLS: Final = "org.apache.zookeeper.ClientCnxnSocketNetty"
SERVICE: Final = "zookeeper"
"""The first part of the principals of ZooKeeper's servers."""
NONCE_BYTES: Final = 24


def zookeeper_protection(settings: BrokerSettings) -> Protection:
    """ConfigError if a setting is wrong. Blocks: reads key stores."""
    login = _login(settings)
    make_context = _tls(settings)
    shows_certificate = make_context is not None and settings.zookeeper_ssl_keystore_location
    if settings.zookeeper_set_acl and login is None and not shows_certificate:
        raise ConfigError(
            "zookeeper.set.acl=true, but this broker neither logs in to ZooKeeper nor shows it a certificate, so that "
            f"nodes could be nobody's; set {JAAS_SETTING}={DIGEST_MODULE} required "
            'username="broker" password="...";, or zookeeper.ssl.client.enable=true and zookeeper.ssl.keystore.location'
        )
    return Protection(make_context, login, settings.zookeeper_set_acl)


def _tls(settings: BrokerSettings) -> Callable[[], ssl.SSLContext] | None:
    if not settings.zookeeper_ssl_client_enable:
        return None
    wanted = settings.zookeeper_client_cnxn_socket
    if wanted and wanted != SOCKET_WITH_TLS:
        raise ConfigError(
            f"zookeeper.clientCnxnSocket={wanted} has no TLS, but zookeeper.ssl.client.enable=true; set it to "
            f"{SOCKET_WITH_TLS} or remove the line"
        )
    if settings.zookeeper_ssl_ocsp_enable:
        raise ConfigError(
            "zookeeper.ssl.ocsp.enable=true: certificates are not checked by OCSP here; remove the line, and put "
            "revocation lists into the trust store, which must be PEM for that"
        )
    return lambda: _context(settings)


def _context(settings: BrokerSettings) -> ssl.SSLContext:
    key = trust = None
    try:
        if path := settings.zookeeper_ssl_keystore_location:
            key = key_from_file(path, settings.zookeeper_ssl_keystore_password, None)
        if path := settings.zookeeper_ssl_truststore_location:
            trust = trust_from_file(path, settings.zookeeper_ssl_truststore_password)
        context = client_context(
            TlsMaterial(
                key=key,
                trust=trust,
                protocols=settings.zookeeper_ssl_enabled_protocols,
                ciphers=settings.zookeeper_ssl_cipher_suites or (),
                checks_host=settings.zookeeper_ssl_endpoint_identification_algorithm.lower() == "https",
            )
        )
    except ConfigError as error:
        # The stores are those of listeners too, whose settings the texts name.
        raise ConfigError(str(error).replace("ssl.", "zookeeper.ssl.")) from None
    if settings.zookeeper_ssl_crl_enable and (trust is None or not trust.revocation_lists):
        raise ConfigError(
            "zookeeper.ssl.crl.enable=true, but the trust store has no revocation list; add one to "
            "zookeeper.ssl.truststore.location, which must be PEM for that, or remove the line"
        )
    return context


def _login(settings: BrokerSettings) -> Callable[[str], ClientLogin] | None:
    text = settings.moldau_zookeeper_sasl_jaas_config
    if not text:
        return None
    module = parse_jaas(text, JAAS_SETTING)
    name = module.name.rpartition(".")[2]
    if name == DIGEST_MODULE.rpartition(".")[2]:
        user, password = (module.options.get(each, "") for each in ("username", "password"))
        if not user or not password:
            missing = "password" if user else "username"
            raise ConfigError(f'{JAAS_SETTING} has no {missing}; add {missing}="..."')
        return lambda _host: digest_md5_login(user, password, secrets.token_urlsafe(NONCE_BYTES))
    if name == KERBEROS_MODULE.rpartition(".")[2]:
        check_initiator(module, JAAS_SETTING)
        service = module.options.get("serviceName", SERVICE)
        return lambda host: kerberos_login(module, service, host, JAAS_SETTING)
    raise ConfigError(
        f"{JAAS_SETTING} names the login module {module.name}; ZooKeeper has {DIGEST_MODULE} and {KERBEROS_MODULE}"
    )

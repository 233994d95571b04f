"""TLS: keys, certificates and what is offered."""

from moldau.core.settings.checks import one_of
from moldau.core.settings.inert import JVM, VERSIONS_BY_LIST
from moldau.core.settings.key import Importance, Scope, boolean, class_name, password, string, strings
from moldau.core.settings.view import SettingsView

PER_BROKER = Scope.PER_BROKER
LOW = Importance.LOW


class TlsKeys(SettingsView):
    ssl_allow_dn_changes = boolean(
        "ssl.allow.dn.changes",
        False,
        "Whether a new certificate may change the distinguished name.",
        importance=LOW,
    )
    ssl_allow_san_changes = boolean(
        "ssl.allow.san.changes",
        False,
        "Whether a new certificate may drop alternative names.",
        importance=LOW,
    )
    ssl_cipher_suites = strings(
        "ssl.cipher.suites",
        (),
        "Cipher suites; empty takes the library's.",
        scope=PER_BROKER,
    )
    ssl_client_auth = string(
        "ssl.client.auth",
        "none",
        "Whether clients must, may or need not present a certificate.",
        check=one_of("required", "requested", "none"),
        scope=PER_BROKER,
    )
    ssl_enabled_protocols = strings(
        "ssl.enabled.protocols",
        (
            "TLSv1.2",
            "TLSv1.3",
        ),
        "TLS versions offered.",
        scope=PER_BROKER,
    )
    ssl_endpoint_identification_algorithm = string(
        "ssl.endpoint.identification.algorithm",
        "https",
        "How a server's name is checked against its certificate; empty does not.",
        scope=PER_BROKER,
        importance=LOW,
    )
    ssl_engine_factory_class = class_name(
        "ssl.engine.factory.class",
        None,
        "A class that creates TLS engines.",
        scope=PER_BROKER,
        importance=LOW,
        inert=JVM,
    )
    ssl_key_password = password("ssl.key.password", "Password of the private key.", scope=PER_BROKER)
    ssl_keymanager_algorithm = string(
        "ssl.keymanager.algorithm", "SunX509", "Java key manager algorithm.", scope=PER_BROKER, inert=JVM
    )
    ssl_keystore_certificate_chain = password(
        "ssl.keystore.certificate.chain", "Certificate chain, PEM.", scope=PER_BROKER
    )
    ssl_keystore_key = password("ssl.keystore.key", "Private key, PEM.", scope=PER_BROKER)
    ssl_keystore_location = string("ssl.keystore.location", None, "Key store file.", scope=PER_BROKER)
    ssl_keystore_password = password("ssl.keystore.password", "Password of the key store.", scope=PER_BROKER)
    ssl_keystore_type = string(
        "ssl.keystore.type",
        "JKS",
        "Kind of key store: JKS, PKCS12 or PEM.",
        scope=PER_BROKER,
    )
    ssl_principal_mapping_rules = string(
        "ssl.principal.mapping.rules",
        "DEFAULT",
        "Rules that turn a certificate's name into a principal.",
        importance=LOW,
    )
    ssl_protocol = string(
        "ssl.protocol",
        "TLSv1.3",
        "TLS version tried first.",
        scope=PER_BROKER,
        inert=VERSIONS_BY_LIST,
    )
    ssl_provider = string(
        "ssl.provider", None, "Java security provider for TLS.", scope=PER_BROKER, inert=JVM
    )
    ssl_secure_random_implementation = string(
        "ssl.secure.random.implementation",
        None,
        "Java random generator for TLS.",
        scope=PER_BROKER,
        importance=LOW,
        inert=JVM,
    )
    ssl_trustmanager_algorithm = string(
        "ssl.trustmanager.algorithm", "PKIX", "Java trust manager algorithm.", scope=PER_BROKER, inert=JVM
    )
    ssl_truststore_certificates = password(
        "ssl.truststore.certificates", "Trusted certificates, PEM.", scope=PER_BROKER
    )
    ssl_truststore_location = string("ssl.truststore.location", None, "Trust store file.", scope=PER_BROKER)
    ssl_truststore_password = password(
        "ssl.truststore.password", "Password of the trust store.", scope=PER_BROKER
    )
    ssl_truststore_type = string(
        "ssl.truststore.type",
        "JKS",
        "Kind of trust store: JKS, PKCS12 or PEM.",
        scope=PER_BROKER,
    )

"""The connection to ZooKeeper. The keys are those of Kafka's versions on ZooKeeper, and one of ours for the login."""

from moldau.core.settings.inert import ONE_REQUEST, ZOOKEEPER_VERSIONS_BY_LIST
from moldau.core.settings.key import Importance, boolean, integer, password, string, strings
from moldau.core.settings.view import SettingsView

HIGH = Importance.HIGH
LOW = Importance.LOW


class ZooKeeperKeys(SettingsView):
    zookeeper_connect = string(
        "zookeeper.connect",
        None,
        "The ZooKeeper servers as `host:port`, comma separated, with an optional chroot.",
    )
    zookeeper_connection_timeout_ms = integer(
        "zookeeper.connection.timeout.ms",
        None,
        "How long to wait for a connection to ZooKeeper.",
    )
    zookeeper_session_timeout_ms = integer(
        "zookeeper.session.timeout.ms",
        18_000,
        "How long ZooKeeper waits for a ping before it expires the session.",
    )
    zookeeper_max_in_flight_requests = integer(
        "zookeeper.max.in.flight.requests",
        10,
        "Unanswered requests to ZooKeeper.",
        at_least=1,
        inert=ONE_REQUEST,
    )
    zookeeper_set_acl = boolean(
        "zookeeper.set.acl",
        False,
        "Whether only those who log in to ZooKeeper as this broker does may change the nodes that it creates. All may "
        "read them, but for the settings of users and brokers.",
        importance=HIGH,
    )
    moldau_zookeeper_sasl_jaas_config = password(
        "moldau.zookeeper.sasl.jaas.config",
        "Login module with which the broker logs in to ZooKeeper: the content of the section `Client` of a JAAS file, "
        "DigestLoginModule or Krb5LoginModule.",
    )
    zookeeper_ssl_client_enable = boolean(
        "zookeeper.ssl.client.enable", False, "Whether the connection to ZooKeeper has TLS."
    )
    zookeeper_client_cnxn_socket = string(
        "zookeeper.clientCnxnSocket",
        None,
        "Java's class for the connection. Only that of Netty can have TLS, as in Kafka.",
    )
    zookeeper_ssl_keystore_location = string(
        "zookeeper.ssl.keystore.location",
        None,
        "Key store with the certificate that the broker shows to ZooKeeper.",
    )
    zookeeper_ssl_keystore_password = password(
        "zookeeper.ssl.keystore.password", "Password of that key store and its key."
    )
    zookeeper_ssl_keystore_type = string(
        "zookeeper.ssl.keystore.type",
        None,
        "Kind of that key store: JKS, PKCS12 or PEM. The content alone decides.",
    )
    zookeeper_ssl_truststore_location = string(
        "zookeeper.ssl.truststore.location",
        None,
        "Trust store for ZooKeeper's certificate. Without one, the authorities of the system are trusted.",
    )
    zookeeper_ssl_truststore_password = password(
        "zookeeper.ssl.truststore.password", "Password of that trust store."
    )
    zookeeper_ssl_truststore_type = string(
        "zookeeper.ssl.truststore.type",
        None,
        "Kind of that trust store: JKS, PKCS12 or PEM. The content alone decides.",
    )
    zookeeper_ssl_protocol = string(
        "zookeeper.ssl.protocol",
        "TLSv1.2",
        "TLS version tried first.",
        importance=LOW,
        inert=ZOOKEEPER_VERSIONS_BY_LIST,
    )
    zookeeper_ssl_enabled_protocols = strings(
        "zookeeper.ssl.enabled.protocols",
        ("TLSv1.2", "TLSv1.3"),
        "TLS versions towards ZooKeeper.",
        importance=LOW,
    )
    zookeeper_ssl_cipher_suites = strings(
        "zookeeper.ssl.cipher.suites",
        None,
        "Cipher suites towards ZooKeeper, with Java's names. Unset takes the library's.",
        importance=LOW,
    )
    zookeeper_ssl_endpoint_identification_algorithm = string(
        "zookeeper.ssl.endpoint.identification.algorithm",
        "HTTPS",
        "How ZooKeeper's host is compared with its certificate; empty does not.",
        importance=LOW,
    )
    zookeeper_ssl_crl_enable = boolean(
        "zookeeper.ssl.crl.enable",
        False,
        "Whether the trust store must have revocation lists. In PEM it may; where it has some, they count.",
        importance=LOW,
    )
    zookeeper_ssl_ocsp_enable = boolean(
        "zookeeper.ssl.ocsp.enable",
        False,
        "Whether ZooKeeper's certificate is checked by OCSP. It cannot be here: with true the broker does not start.",
        importance=LOW,
    )

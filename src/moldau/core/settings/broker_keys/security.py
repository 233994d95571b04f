"""SASL, delegation tokens and authorization."""

from moldau.core.settings.checks import one_of
from moldau.core.settings.inert import (
    JVM,
    KRAFT,
    RETRIED_AT_ONE_PACE,
    RETRIED_WITH_CONNECTION,
    TICKETS_ON_DEMAND,
)
from moldau.core.settings.key import (
    Importance,
    Scope,
    boolean,
    class_name,
    double,
    integer,
    long,
    password,
    short,
    string,
    strings,
)
from moldau.core.settings.view import SettingsView

PER_BROKER = Scope.PER_BROKER
HIGH = Importance.HIGH
LOW = Importance.LOW


class SecurityKeys(SettingsView):
    authorizer_class_name = string(
        "authorizer.class.name",
        "",
        "The authorizer, which checks permissions. Empty allows everything.",
        importance=LOW,
    )
    super_users = string(
        "super.users",
        "",
        "Principals that may do everything, as `User:name`, separated by semicolons.",
    )
    allow_everyone_if_no_acl_found = boolean(
        "allow.everyone.if.no.acl.found",
        False,
        "Whether everyone may access a resource without ACLs.",
    )
    moldau_audit_enable = boolean(
        "moldau.audit.enable",
        False,
        "Whether logins, denials and administrative changes are written to the topic `_moldau_audit`, as CloudEvents.",
    )
    moldau_plain_scram_enable = boolean(
        "moldau.plain.scram.enable",
        True,
        "Whether the users of SCRAM and API keys may log in with PLAIN too. Users of the login module come first.",
        scope=PER_BROKER,
    )
    principal_builder_class = class_name(
        "principal.builder.class",
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
        "A class that turns a connection into a principal.",
        scope=PER_BROKER,
        inert=JVM,
    )
    security_inter_broker_protocol = string(
        "security.inter.broker.protocol",
        "PLAINTEXT",
        "Security protocol between brokers, when no `inter.broker.listener.name` is given.",
        check=one_of("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    )
    security_providers = string(
        "security.providers", None, "Java security providers.", importance=LOW, inert=JVM
    )
    delegation_token_expiry_check_interval_ms = long(
        "delegation.token.expiry.check.interval.ms",
        3_600_000,
        "How often expired delegation tokens are dropped.",
        at_least=1,
        importance=LOW,
    )
    delegation_token_expiry_time_ms = long(
        "delegation.token.expiry.time.ms",
        84375 << 10,
        "How long a delegation token lives until it must be renewed.",
        at_least=1,
    )
    delegation_token_max_lifetime_ms = long(
        "delegation.token.max.lifetime.ms",
        590625 << 10,
        "Longest life of a delegation token.",
        at_least=1,
    )
    delegation_token_secret_key = password(
        "delegation.token.secret.key",
        "Secret that signs delegation tokens, the same on every broker.",
    )
    sasl_enabled_mechanisms = strings(
        "sasl.enabled.mechanisms",
        ("GSSAPI",),
        "SASL mechanisms offered.",
        scope=PER_BROKER,
    )
    sasl_mechanism_controller_protocol = string(
        "sasl.mechanism.controller.protocol",
        "GSSAPI",
        "SASL mechanism towards controllers.",
        importance=HIGH,
        inert=KRAFT,
    )
    sasl_mechanism_inter_broker_protocol = string(
        "sasl.mechanism.inter.broker.protocol",
        "GSSAPI",
        "SASL mechanism between brokers.",
        scope=PER_BROKER,
    )
    sasl_jaas_config = password(
        "sasl.jaas.config",
        "Login module and its options, as in a JAAS file.",
        scope=PER_BROKER,
    )
    sasl_client_callback_handler_class = class_name(
        "sasl.client.callback.handler.class", None, "Callback handler of SASL clients.", inert=JVM
    )
    sasl_server_callback_handler_class = class_name(
        "sasl.server.callback.handler.class",
        None,
        "For PLAIN, the name of a Python entry point in the group `moldau.password_checks`, which checks passwords in "
        "place of the users in the login module. Java classes have no effect.",
    )
    sasl_login_callback_handler_class = class_name(
        "sasl.login.callback.handler.class", None, "Callback handler of logins.", inert=JVM
    )
    sasl_login_class = class_name("sasl.login.class", None, "Login class.", inert=JVM)
    sasl_server_max_receive_size = integer(
        "sasl.server.max.receive.size",
        512 << 10,
        "The largest message accepted before a client is authenticated.",
    )
    sasl_login_connect_timeout_ms = integer(
        "sasl.login.connect.timeout.ms",
        None,
        "Timeout towards an identity provider, where `sasl.login.read.timeout.ms` is not set.",
        importance=LOW,
    )
    sasl_login_read_timeout_ms = integer(
        "sasl.login.read.timeout.ms",
        None,
        "Timeout towards an identity provider; 10 seconds if neither is set.",
        importance=LOW,
    )
    sasl_login_refresh_buffer_seconds = short(
        "sasl.login.refresh.buffer.seconds",
        300,
        "Seconds before a credential expires in which no refresh is begun.",
        scope=PER_BROKER,
    )
    sasl_login_refresh_min_period_seconds = short(
        "sasl.login.refresh.min.period.seconds",
        60,
        "Fewest seconds between two refreshes of a credential.",
        scope=PER_BROKER,
    )
    sasl_login_refresh_window_factor = double(
        "sasl.login.refresh.window.factor",
        0.8,
        "Share of a credential's life after which it is refreshed.",
        scope=PER_BROKER,
    )
    sasl_login_refresh_window_jitter = double(
        "sasl.login.refresh.window.jitter",
        0.05,
        "Random share added to that.",
        scope=PER_BROKER,
    )
    sasl_login_retry_backoff_max_ms = long(
        "sasl.login.retry.backoff.max.ms",
        10_000,
        "Longest wait between attempts to log in.",
        importance=LOW,
        inert=RETRIED_WITH_CONNECTION,
    )
    sasl_login_retry_backoff_ms = long(
        "sasl.login.retry.backoff.ms",
        100,
        "First wait between attempts to log in.",
        importance=LOW,
        inert=RETRIED_WITH_CONNECTION,
    )
    sasl_kerberos_kinit_cmd = string(
        "sasl.kerberos.kinit.cmd",
        "/usr/bin/kinit",
        "Path of kinit.",
        scope=PER_BROKER,
        inert=TICKETS_ON_DEMAND,
    )
    sasl_kerberos_min_time_before_relogin = long(
        "sasl.kerberos.min.time.before.relogin",
        60_000,
        "Shortest time between two Kerberos logins.",
        scope=PER_BROKER,
        inert=TICKETS_ON_DEMAND,
    )
    sasl_kerberos_principal_to_local_rules = strings(
        "sasl.kerberos.principal.to.local.rules",
        ("DEFAULT",),
        "Rules that turn Kerberos principals into short names.",
        scope=PER_BROKER,
    )
    sasl_kerberos_service_name = string(
        "sasl.kerberos.service.name",
        None,
        "Kerberos service name of the brokers.",
        scope=PER_BROKER,
    )
    sasl_kerberos_ticket_renew_jitter = double(
        "sasl.kerberos.ticket.renew.jitter",
        0.05,
        "Random share added to the renewal time of tickets.",
        scope=PER_BROKER,
        inert=TICKETS_ON_DEMAND,
    )
    sasl_kerberos_ticket_renew_window_factor = double(
        "sasl.kerberos.ticket.renew.window.factor",
        0.8,
        "Share of a ticket's life after which it is renewed.",
        scope=PER_BROKER,
        inert=TICKETS_ON_DEMAND,
    )
    sasl_oauthbearer_assertion_algorithm = string(
        "sasl.oauthbearer.assertion.algorithm",
        "RS256",
        "Algorithm that signs OAuth assertions.",
        check=one_of("ES256", "RS256", ignore_case=True),
    )
    sasl_oauthbearer_assertion_claim_aud = string(
        "sasl.oauthbearer.assertion.claim.aud",
        None,
        "Audience claim of assertions.",
    )
    sasl_oauthbearer_assertion_claim_exp_seconds = integer(
        "sasl.oauthbearer.assertion.claim.exp.seconds",
        300,
        "Seconds until an assertion expires.",
        at_least=0,
        at_most=86_400,
        importance=LOW,
    )
    sasl_oauthbearer_assertion_claim_iss = string(
        "sasl.oauthbearer.assertion.claim.iss",
        None,
        "Issuer claim of assertions.",
    )
    sasl_oauthbearer_assertion_claim_jti_include = boolean(
        "sasl.oauthbearer.assertion.claim.jti.include",
        False,
        "Whether assertions carry a unique id.",
    )
    sasl_oauthbearer_assertion_claim_nbf_seconds = integer(
        "sasl.oauthbearer.assertion.claim.nbf.seconds",
        60,
        "Seconds an assertion is valid before now.",
        at_least=0,
        at_most=3600,
        importance=LOW,
    )
    sasl_oauthbearer_assertion_claim_sub = string(
        "sasl.oauthbearer.assertion.claim.sub",
        None,
        "Subject claim of assertions.",
    )
    sasl_oauthbearer_assertion_file = string(
        "sasl.oauthbearer.assertion.file",
        None,
        "File with a ready assertion.",
    )
    sasl_oauthbearer_assertion_private_key_file = string(
        "sasl.oauthbearer.assertion.private.key.file",
        None,
        "File with the key that signs assertions.",
    )
    sasl_oauthbearer_assertion_private_key_passphrase = password(
        "sasl.oauthbearer.assertion.private.key.passphrase",
        "Passphrase of that key.",
    )
    sasl_oauthbearer_assertion_template_file = string(
        "sasl.oauthbearer.assertion.template.file",
        None,
        "File with a template of assertions.",
    )
    sasl_oauthbearer_client_credentials_client_id = string(
        "sasl.oauthbearer.client.credentials.client.id",
        None,
        "Client id for the client credentials grant.",
    )
    sasl_oauthbearer_client_credentials_client_secret = password(
        "sasl.oauthbearer.client.credentials.client.secret",
        "Client secret for the client credentials grant.",
    )
    sasl_oauthbearer_clock_skew_seconds = integer(
        "sasl.oauthbearer.clock.skew.seconds",
        30,
        "Allowed difference between clocks.",
        importance=LOW,
    )
    sasl_oauthbearer_expected_audience = strings(
        "sasl.oauthbearer.expected.audience",
        (),
        "Audiences a token may name.",
        importance=LOW,
    )
    sasl_oauthbearer_expected_issuer = string(
        "sasl.oauthbearer.expected.issuer",
        None,
        "Issuer a token must name.",
        importance=LOW,
    )
    sasl_oauthbearer_jwks_endpoint_refresh_ms = long(
        "sasl.oauthbearer.jwks.endpoint.refresh.ms",
        3_600_000,
        "How often the provider's keys are fetched again.",
        importance=LOW,
    )
    sasl_oauthbearer_jwks_endpoint_retry_backoff_max_ms = long(
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
        10_000,
        "Longest wait between attempts to fetch the keys.",
        importance=LOW,
    )
    sasl_oauthbearer_jwks_endpoint_retry_backoff_ms = long(
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
        100,
        "First wait between attempts to fetch the keys.",
        importance=LOW,
        inert=RETRIED_AT_ONE_PACE,
    )
    sasl_oauthbearer_jwks_endpoint_url = string(
        "sasl.oauthbearer.jwks.endpoint.url", None, "URL of the provider's keys."
    )
    sasl_oauthbearer_jwt_retriever_class = class_name(
        "sasl.oauthbearer.jwt.retriever.class",
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
        "A class that fetches tokens.",
        inert=JVM,
    )
    sasl_oauthbearer_jwt_validator_class = class_name(
        "sasl.oauthbearer.jwt.validator.class",
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
        "A class that checks tokens.",
        inert=JVM,
    )
    sasl_oauthbearer_scope = string(
        "sasl.oauthbearer.scope",
        None,
        "Scope requested.",
    )
    sasl_oauthbearer_scope_claim_name = string(
        "sasl.oauthbearer.scope.claim.name",
        "scope",
        "Name of the scope claim.",
        importance=LOW,
    )
    sasl_oauthbearer_sub_claim_name = string(
        "sasl.oauthbearer.sub.claim.name",
        "sub",
        "Name of the subject claim.",
        importance=LOW,
    )
    sasl_oauthbearer_token_endpoint_url = string(
        "sasl.oauthbearer.token.endpoint.url",
        None,
        "URL of the token endpoint.",
    )

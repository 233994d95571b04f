"""The files with which clients connect to what `moldau up --secure` has started: one set for each user."""

import orjson

from moldau.cli.local.secure_folder import ADMIN, DEMO, SecureFolder, properties_text, write_secret

MOSQUITTO_PROGRAMS = ("mosquitto_pub", "mosquitto_sub", "mosquitto_rr")


def write_kafka_files(made: SecureFolder, bootstrap_servers: str) -> None:
    """For confluent-kafka, `moldau` and others on librdkafka, kcat, Java and Spark."""
    servers = {"bootstrap.servers": bootstrap_servers}
    for user in (ADMIN, DEMO):
        settings = servers | made.client_settings(user)
        # The librdkafka of many distributions is too old for SCRAM.
        plain = settings | {"sasl.mechanism": "PLAIN"}
        java = servers | made.java_settings(user)
        spark = {f"kafka.{name}": text for name, text in java.items()}
        write_secret(made.client_file(user), properties_text(settings))
        write_secret(made.client_file(user, "kcat.properties"), properties_text(plain))
        write_secret(made.client_file(user, "java.properties"), properties_text(java))
        write_secret(made.client_file(user, "json"), _json(settings))
        write_secret(made.client_file(user, "spark.json"), _json(spark))


def write_http_files(made: SecureFolder) -> None:
    """For curl; and the admin's login in a file as curl, `moldau` and Python's requests read it."""
    for user in (ADMIN, DEMO):
        login = f"{user}:{made.passwords[user]}"
        curl = f'cacert = "{made.trust_file}"\nuser = "{login}"\nsilent\nshow-error\n'
        write_secret(made.client_file(user, "curl"), curl)
    password = made.passwords[ADMIN]
    logins = (f"machine {host} login {ADMIN} password {password}\n" for host in made.hosts)
    write_secret(made.netrc, "".join(logins))


def write_registry_files(made: SecureFolder, url: str) -> None:
    """For the registry's client of confluent-kafka."""
    for user in (ADMIN, DEMO):
        settings = {
            "url": url,
            "basic.auth.user.info": f"{user}:{made.passwords[user]}",
            "ssl.ca.location": made.trust_file,
        }
        write_secret(made.client_file(user, "registry.json"), _json(settings))


def write_mqtt_files(made: SecureFolder, host: str, port: str) -> None:
    """For mosquitto's programs: each finds its defaults under its own name in the folder that XDG_CONFIG_HOME names."""
    for user in (ADMIN, DEMO):
        folder = made.client_file(user, "mosquitto")
        folder.mkdir(exist_ok=True)
        options = {
            "-h": host,
            "-p": port,
            "-u": user,
            "-P": made.passwords[user],
            "--cafile": made.trust_file,
        }
        for program in MOSQUITTO_PROGRAMS:
            write_secret(folder / program, "".join(f"{name} {text}\n" for name, text in options.items()))


def _json(settings: dict[str, str]) -> str:
    return orjson.dumps(settings, option=orjson.OPT_INDENT_2).decode()

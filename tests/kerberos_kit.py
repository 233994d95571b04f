"""A Kerberos realm of one's own: a KDC of MIT's in a folder, with principals and files of their keys."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from compat.server_process import free_port, wait_until

REALM = "MOLDAU.TEST"
SBIN = "/usr/sbin:/usr/local/sbin"


class KerberosMissing(Exception):
    """Says why; tests skip with this text."""


class Realm:
    def __init__(self, folder: Path) -> None:
        path = f"{os.environ['PATH']}:{SBIN}"
        self._tools = {
            name: shutil.which(name, path=path) for name in ("krb5kdc", "kdb5_util", "kadmin.local")
        }
        if None in self._tools.values():
            raise KerberosMissing("MIT's KDC is not installed: apt-get install krb5-kdc krb5-admin-server")
        self._folder = folder
        self._port = free_port()
        self.config = folder / "krb5.conf"
        self.environment = {
            "KRB5_CONFIG": str(self.config),
            "KRB5_KDC_PROFILE": str(folder / "kdc.conf"),
            # Each process has tickets and a replay cache of its own.
            "KRB5CCNAME": f"FILE:{folder / 'tickets'}",
            "KRB5RCACHEDIR": str(folder),
        }
        self._write_files()
        self.run("kdb5_util", "create", "-s", "-r", REALM, "-P", "master")

    def run(self, tool: str, *arguments: str) -> None:
        command = [str(self._tools[tool]), *arguments]
        done = subprocess.run(
            command, env={**os.environ, **self.environment}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def keys_of(self, principal: str) -> Path:
        """A new principal's keys, in a file."""
        keys = self._folder / f"{principal.replace('/', '-')}.keytab"
        self.run("kadmin.local", "-r", REALM, "-q", f"addprinc -randkey {principal}@{REALM}")
        self.run("kadmin.local", "-r", REALM, "-q", f"ktadd -k {keys} {principal}@{REALM}")
        return keys

    @contextmanager
    def serving(self) -> Iterator[None]:
        command = [str(self._tools["krb5kdc"]), "-n", "-r", REALM]
        with (self._folder / "kdc.log").open("wb") as log:
            kdc = subprocess.Popen(
                command, env={**os.environ, **self.environment}, stdout=log, stderr=subprocess.STDOUT
            )
        try:
            wait_until(self._is_reachable, "the KDC answers")
            yield
        finally:
            kdc.terminate()
            kdc.wait(60)

    def _is_reachable(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0

    def _write_files(self) -> None:
        self.config.write_text(
            f"""[libdefaults]
 default_realm = {REALM}
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
[realms]
 {REALM} = {{
  kdc = 127.0.0.1:{self._port}
 }}
[domain_realm]
 localhost = {REALM}
"""
        )
        (self._folder / "kdc.conf").write_text(
            f"""[kdcdefaults]
 kdc_listen = 127.0.0.1:{self._port}
 kdc_tcp_listen = 127.0.0.1:{self._port}
[realms]
 {REALM} = {{
  database_name = {self._folder}/principal
  key_stash_file = {self._folder}/stash
  acl_file = {self._folder}/acl
 }}
"""
        )

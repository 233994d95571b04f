"""What `moldau up --secure` makes before it starts anything."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from moldau.cli.local.own_addresses import own_names
from moldau.cli.local.secure_set_up import prepare
from moldau.security.certificates.certificate_folder import CertificateFolder, hosts_of


@pytest.fixture(autouse=True)
def _umask_afterwards() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_state_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    names = ("data", "data-connect", "data-sql")
    for name in names:
        (tmp_path / name).mkdir(mode=0o755)
    (tmp_path / "data" / "meta.properties").touch()
    set_up = prepare(tmp_path / "data-security", "127.0.0.1")
    for path in (*(tmp_path / name for name in names), set_up.folder, set_up.certificates.path):
        assert mode(path) == 0o700, path
    made = tmp_path / "by-a-child"
    script = "import os, sys; os.makedirs(sys.argv[1], mode=0o755); open(sys.argv[1] + '/f', 'w').close()"
    subprocess.run([sys.executable, "-c", script, str(made)], check=True)
    assert (mode(made), mode(made / "f")) == (0o700, 0o600)


def test_a_directory_with_other_things_keeps_its_mode(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    (shared / "of-somebody").touch()
    prepare(tmp_path / "shared-security", "127.0.0.1")
    assert mode(shared) == 0o755


def test_users_that_were_added_stay(tmp_path: Path) -> None:
    folder = tmp_path / "data-security"
    users = prepare(folder, "127.0.0.1").mqtt_users
    first = users.read_text()
    with users.open("a") as file:
        file.write("boiler: hot\n")
    prepare(folder, "127.0.0.1")
    assert users.read_text() == f"{first}boiler: hot\n"
    assert mode(users) == 0o600


def hosts(folder: Path) -> list[str]:
    return hosts_of(CertificateFolder(folder / "certs").find("broker").certificate)


@pytest.mark.parametrize(
    ("host", "found"), [("kafka.example.org", "kafka.example.org"), ("[2001:DB8::7]", "2001:db8::7")]
)
def test_the_certificate_has_the_host(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], host: str, found: str
) -> None:
    prepare(tmp_path / "data-security", host)
    assert hosts(tmp_path / "data-security") == ["localhost", "127.0.0.1", "::1", found]
    assert f"localhost 127.0.0.1 ::1 {found} are in the certificate" in capsys.readouterr().out


def test_for_all_interfaces_the_certificate_has_the_addresses_of_the_machine(tmp_path: Path) -> None:
    folder = tmp_path / "data-security"
    prepare(folder, "kafka.example.org")
    prepare(folder, "0.0.0.0")
    assert {*own_names(), "localhost", "kafka.example.org"} <= set(hosts(folder))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no route to others")
        assert probe.getsockname()[0] in hosts(folder)
    before = CertificateFolder(folder / "certs").find("broker").certificate
    prepare(folder, "0.0.0.0")
    assert CertificateFolder(folder / "certs").find("broker").certificate == before

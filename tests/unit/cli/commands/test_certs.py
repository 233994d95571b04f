"""`moldau certs`: from the authority to stores, and through a change of authority."""

import contextlib
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from cryptography import x509

from moldau.cli.commands.certs import command
from moldau.security.certificates.authority import KeyKind, common_name, issue
from moldau.security.certificates.certificate_folder import CertificateFolder
from moldau.security.tls.stores import key_from_file, trust_from_file


def run(folder: Path, *arguments: str, code: int = 0, stdin: str = "") -> str:
    result: Result = CliRunner().invoke(command, [*arguments, "--folder", str(folder)], input=stdin)
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "certs"
    run(folder, "init")
    run(folder, "issue", "broker", "--host", "localhost", "--host", "127.0.0.1")
    run(folder, "issue", "alice", "--subject", "CN=alice,O=Mill")
    return folder


def handshake(folder: Path, client: str) -> None:
    """Between the broker and a client, in memory."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "broker.pem")
    server.load_verify_locations(folder / "trust.pem")
    server.verify_mode = ssl.CERT_REQUIRED
    if "X509 CRL" in (folder / "trust.pem").read_text():
        server.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
    context = ssl.create_default_context(cafile=str(folder / "trust.pem"))
    context.load_cert_chain(folder / f"{client}.pem")
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        context.wrap_bio(back, there, server_hostname="localhost"),
        server.wrap_bio(there, back, server_side=True),
    ]
    for _ in range(4):
        for end in ends:
            with contextlib.suppress(ssl.SSLWantReadError):
                end.do_handshake()


def test_keys_are_for_their_owner_alone(folder: Path) -> None:
    for path in folder.iterdir():
        is_secret = "PRIVATE KEY" in path.read_text()
        assert path.stat().st_mode & 0o777 == (0o600 if is_secret else 0o644), path
    handshake(folder, "alice")


def test_list_and_verify(folder: Path) -> None:
    listed = run(folder, "list")
    assert "CN=alice,O=Mill" in listed and "localhost 127.0.0.1" in listed
    assert "All 3 certificates are valid" in run(folder, "verify")
    run(folder, "renew", "alice", "--days", "7")
    assert "expires in 6 days" in run(folder, "verify", code=1)
    assert '"valid_until"' in run(folder, "list", "--output", "json")
    other = CertificateFolder(folder).find("broker")
    (folder / "alice.key").write_text(other.key_pem)
    assert "belongs to another certificate" in run(folder, "verify", code=1)


def test_revoked_is_refused(folder: Path) -> None:
    run(folder, "issue", "bob")
    assert "was not revoked" in run(folder, "revoke", "bob", code=1)
    handshake(folder, "bob")
    run(folder, "revoke", "bob", "--yes")
    with pytest.raises(ssl.SSLError, match="revoked"):
        handshake(folder, "bob")
    handshake(folder, "alice")
    assert "revoked" in run(folder, "list")
    run(folder, "renew", "bob")
    handshake(folder, "bob")


def test_replaced_certificates_are_revoked_too(folder: Path, tmp_path: Path) -> None:
    copies = []
    run(folder, "issue", "bob")
    for number, again in enumerate((["issue", "bob"], ["renew", "bob"], [])):
        copies.append(f"copy-{number}")
        (folder / f"{copies[-1]}.pem").write_bytes((folder / "bob.pem").read_bytes())
        if again:
            run(folder, *again)
    assert run(folder, "list").count("replaced, not revoked") == 2
    run(folder, "revoke", "bob", "--yes")
    assert run(folder, "list").count("replaced, revoked") == 2
    for copy in copies:
        with pytest.raises(ssl.SSLError, match="revoked"):
            handshake(folder, copy)
    handshake(folder, "alice")


def test_a_folder_without_records_knows_what_its_files_have(folder: Path) -> None:
    (folder / "old.pem").write_bytes((folder / "alice.pem").read_bytes())
    (folder / "authority.json").unlink()
    run(folder, "renew", "alice")
    run(folder, "revoke", "alice", "--yes")
    for copy in ("old", "alice"):
        with pytest.raises(ssl.SSLError, match="revoked"):
            handshake(folder, copy)


def test_verify_reports_what_is_revoked(folder: Path) -> None:
    run(folder, "revoke", "alice", "--yes")
    assert "alice: revoked" in run(folder, "verify", code=1)
    run(folder, "renew", "alice")
    assert "All 3 certificates are valid" in run(folder, "verify")


def test_each_step_of_a_rotation_leaves_everyone_able_to_connect(folder: Path, tmp_path: Path) -> None:
    before = tmp_path / "before"
    before.mkdir()
    run(folder, "issue", "gone")
    run(folder, "revoke", "gone", "--yes")
    for step in ("Step 1", "Step 2", "Step 3"):
        for path in folder.glob("*.pem"):
            (before / path.name).write_bytes(path.read_bytes())
        assert step in run(folder, "rotate")
        handshake(folder, "alice")
        # Whoever has the files of the step before still gets in.
        mixed = tmp_path / f"mixed-{step[-1]}"
        mixed.mkdir()
        for name in ("broker.pem", "trust.pem"):
            (mixed / name).write_bytes((folder / name).read_bytes())
        (mixed / "alice.pem").write_bytes((before / "alice.pem").read_bytes())
        handshake(mixed, "alice")
    assert not (folder / "old-ca.key").exists()


@pytest.mark.parametrize("form", ["pem", "pkcs12", "jks"])
def test_export(folder: Path, tmp_path: Path, form: str) -> None:
    store, trust = tmp_path / "store", tmp_path / "trust"
    password = ("--password-file", "-")
    run(folder, "export", "alice", "--format", form, "--to", str(store), *password, stdin="geheim\n")
    run(folder, "export", "trust", "--format", form, "--to", str(trust), *password, stdin="geheim\n")
    found = key_from_file(str(store), "geheim", None)
    certificate = x509.load_pem_x509_certificate((folder / "alice.crt").read_bytes())
    assert found.certificate == certificate
    assert len(trust_from_file(str(trust), "geheim").certificates) == 1
    assert store.stat().st_mode & 0o777 == 0o600


def test_export_without_a_terminal(folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    said = run(folder, "export", "alice", "--to", str(store), code=1)
    assert "nobody to ask" in said
    assert "--password-file -" in said
    assert not store.exists()
    store.touch(mode=0o644)
    run(folder, "export", "alice", "--format", "pem", "--to", str(store))
    assert store.stat().st_mode & 0o777 == 0o600


def test_what_is_wrong_is_said(folder: Path, tmp_path: Path) -> None:
    assert "already" in run(folder, "init", code=1)
    assert "certs init" in run(tmp_path / "none", "issue", "x", code=1)
    assert "cannot be the name" in run(folder, "issue", "../x", code=1)
    assert "cannot be the name" in run(folder, "issue", "ca", code=1)
    assert "there are: alice, broker" in run(folder, "renew", "carol", code=1)
    assert "not a distinguished name" in run(folder, "issue", "x", "--subject", "nonsense", code=2)
    assert "names of hosts" in run(folder, "issue", "x", "--host", "mühle.example", code=1)
    short = run(
        folder, "export", "alice", "--to", str(tmp_path / "s"), "--password-file", "-", stdin="abc\n", code=1
    )
    assert "6 characters" in short


def test_a_certificate_ends_with_its_authority(tmp_path: Path) -> None:
    folder = CertificateFolder(tmp_path / "short")
    authority = folder.create("short", days=2, kind=KeyKind.RSA)
    issued = issue(authority, common_name("x"), now=datetime.now(UTC), days=365)
    assert issued.certificate.not_valid_after_utc <= datetime.now(UTC) + timedelta(days=2)

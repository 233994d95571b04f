"""Keys and trusted certificates from PEM, PKCS12 and JKS, and what is said of files that cannot be used."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat

from moldau.core.errors import ConfigError
from moldau.security.certificates.authority import Issued, KeyKind, common_name, create_authority, issue
from moldau.security.tls.jks import JksKey, write_jks
from moldau.security.tls.stores import key_from_file, key_from_text, trust_from_file, trust_from_text
from tls_files import PASSWORD, TlsFiles, make_tls_files, pkcs12_store


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> TlsFiles:
    return make_tls_files(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def broker(files: TlsFiles) -> Issued:
    return files.issue("broker2", hosts=("localhost",))


def der(issued: Issued) -> bytes:
    return issued.certificate.public_bytes(Encoding.DER)


def pkcs8(issued: Issued) -> bytes:
    return issued.key_pem.encode()


def jks(broker: Issued, authority: Issued) -> bytes:
    from cryptography.hazmat.primitives.serialization import NoEncryption

    key = broker.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    entry = JksKey("broker", key, (der(broker), der(authority)))
    return write_jks(PASSWORD, keys=[entry], certificates=[der(authority)], now_ms=1_700_000_000_000)


def test_a_key_store_in_each_form_gives_the_same_key(tmp_path: Path, files: TlsFiles, broker: Issued) -> None:
    forms = {
        "broker.p12": pkcs12_store(broker, files.authority),
        "broker.jks": jks(broker, files.authority),
        "broker.pem": (broker.key_pem + broker.certificate_pem).encode(),
    }
    for name, data in forms.items():
        (tmp_path / name).write_bytes(data)
        found = key_from_file(str(tmp_path / name), PASSWORD, None)
        assert found.key == broker.key_pem
        assert found.chain[0] == der(broker)
        if name != "broker.pem":
            assert found.chain[1:] == (der(files.authority),)


def test_a_trust_store_in_each_form(tmp_path: Path, files: TlsFiles) -> None:
    store = write_jks(PASSWORD, certificates=[der(files.authority)], now_ms=0)
    (tmp_path / "trust.jks").write_bytes(store)
    (tmp_path / "trust.p12").write_bytes(pkcs12_store(files.authority, files.authority))
    for path in (tmp_path / "trust.jks", tmp_path / "trust.p12", files.ca):
        assert der(files.authority) in trust_from_file(str(path), PASSWORD).certificates


def test_pem_within_settings_may_have_lost_its_line_ends(files: TlsFiles, broker: Issued) -> None:
    encrypted = broker.key.private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(PASSWORD.encode())
    ).decode()
    chain = broker.certificate_pem.replace("\n", " ")
    found = key_from_text(chain, encrypted.replace("\n", " "), PASSWORD)
    assert found.key == broker.key_pem
    assert trust_from_text(files.ca.read_text().replace("\n", " ")).certificates == (der(files.authority),)
    with pytest.raises(ConfigError, match=r"ssl\.key\.password is not set"):
        key_from_text(chain, encrypted, None)


@pytest.mark.parametrize("kind", list(KeyKind))
def test_every_kind_of_key(tmp_path: Path, kind: KeyKind) -> None:
    now = datetime.now(UTC)
    issued = issue(create_authority("CA", now=now), common_name("x"), now=now, kind=kind)
    path = tmp_path / "x.pem"
    path.write_text(issued.key_pem + issued.certificate_pem)
    assert key_from_file(str(path), None, None).key == issued.key_pem


def test_what_cannot_be_used_is_named(tmp_path: Path, files: TlsFiles, broker: Issued) -> None:
    path = tmp_path / "store"
    with pytest.raises(ConfigError, match=r"store \(ssl.keystore.location\): No such file"):
        key_from_file(str(path), None, None)
    for data in (b"", b"\xce\xce\xce\xce", b"\x30\x80nonsense", jks(broker, files.authority)[:-30]):
        path.write_bytes(data)
        with pytest.raises(ConfigError, match=r"ssl.keystore.location.*ssl.keystore.password") as failed:
            key_from_file(str(path), PASSWORD, None)
        assert PASSWORD not in str(failed.value)
    for data in (pkcs12_store(broker, files.authority), jks(broker, files.authority)):
        path.write_bytes(data)
        with pytest.raises(ConfigError, match="password"):
            key_from_file(str(path), "wrong", None)
    with pytest.raises(ConfigError, match="no certificate"):
        trust_from_text("nothing")


def test_a_key_does_not_show_in_texts(broker: Issued) -> None:
    found = key_from_text(broker.certificate_pem, broker.key_pem, None)
    assert "PRIVATE" not in repr(found)
    assert "PRIVATE" not in repr(broker)

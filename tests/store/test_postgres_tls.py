"""A database on another machine is used over TLS with a verified certificate."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from tests.databases.postgres import PostgresProcess, running_postgres
from toolcrib.errors import DatabaseUnavailable
from toolcrib.features.workflows.engine.database import RunDatabase
from toolcrib.store.postgres.server import TLS_HINT, connect

HOST = "db.test"


@dataclass(frozen=True)
class Secured:
    """A server whose certificate an authority of its own has issued to `db.test`."""

    server: PostgresProcess
    authority: Path
    stranger: Path
    """An authority that has issued nothing here."""

    def url(self, **more: str) -> str:
        """Reached at loopback under the name of another machine, which is what its certificate must have."""
        given = {"host": HOST, "hostaddr": "127.0.0.1", "port": str(self.server.port), **more}
        return "postgresql://postgres@/postgres?" + "&".join(f"{key}={value}" for key, value in given.items())


def _openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def _authority(folder: Path, name: str) -> Path:
    subject = ["-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.crt"]
    _openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject)
    return folder / f"{name}.crt"


def _certificate(folder: Path, authority: str) -> tuple[Path, Path]:
    (folder / "names").write_text(f"subjectAltName=DNS:{HOST}\n")
    asked = ["-subj", f"/CN={HOST}", "-keyout", "server.key", "-out", "server.csr"]
    _openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", *asked)
    signed = ["-CA", f"{authority}.crt", "-CAkey", f"{authority}.key", "-CAcreateserial", "-extfile", "names"]
    _openssl(folder, "x509", "-req", "-in", "server.csr", "-days", "2", *signed, "-out", "server.crt")
    return folder / "server.crt", folder / "server.key"


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("certificates")
    authority, stranger = _authority(folder, "authority"), _authority(folder, "stranger")
    with running_postgres() as server:
        for file in _certificate(folder, "authority"):
            target = Path(shutil.copy(file, server.folder / "data" / file.name))
            target.chmod(0o600)
            if server.account is not None:
                os.chown(target, server.account.pw_uid, server.account.pw_gid)
        server.stop()
        with (server.folder / "data" / "postgresql.conf").open("a") as settings:
            settings.write("ssl = on\n")
        server.start()
        yield Secured(server, authority, stranger)


def test_a_verified_certificate_is_used(secure: Secured) -> None:
    connection = connect(secure.url(sslrootcert=str(secure.authority)))
    try:
        used = connection.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").fetchone()
        parameters = connection.raw.info.dsn
    finally:
        connection.raw.close()

    assert used == (True,)
    assert "sslmode=verify-full" in parameters


@pytest.mark.parametrize("which", ["stranger", "none", "other name"])
def test_another_certificate_is_refused(secure: Secured, which: str) -> None:
    url = {
        "stranger": secure.url(sslrootcert=str(secure.stranger)),
        "none": secure.url(),
        "other name": secure.url(sslrootcert=str(secure.authority), host="other.test"),
    }[which]

    with pytest.raises(DatabaseUnavailable, match="certificate") as caught:
        connect(url)

    assert caught.value.hint == TLS_HINT
    with pytest.raises(sa.exc.OperationalError, match="certificate"), RunDatabase(url).engine.connect():
        raise AssertionError


def test_a_server_without_tls_is_refused_unless_the_url_says_so(secure: Secured) -> None:
    with running_postgres() as plain:
        bare = Secured(plain, secure.authority, secure.stranger)
        with pytest.raises(DatabaseUnavailable) as caught:
            connect(bare.url(sslrootcert=str(secure.authority)))
        connect(bare.url(sslmode="disable")).raw.close()

    assert caught.value.hint == TLS_HINT


def test_workflows_use_the_same_connection_parameters(secure: Secured) -> None:
    url = secure.url(sslrootcert=str(secure.authority), password="Hash%23Pw")
    database = RunDatabase(url)
    try:
        with database.engine.connect() as connection:
            raw = connection.connection.dbapi_connection
            assert isinstance(raw, psycopg.Connection)
            assert "sslmode=verify-full" in raw.info.dsn
            assert connection.execute(
                sa.text("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
            ).scalar()
    finally:
        database.close()

    assert "Hash" not in database.url

"""Archives that are damaged, foreign or hostile are refused with a reason, and change nothing."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import pickle
import sqlite3
import stat
import zipfile
from base64 import b64encode
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from toolcrib.config.paths import Paths, find_paths
from toolcrib.features.backup.archive import MANIFEST, SIGNATURE
from toolcrib.features.backup.create import create_backup
from toolcrib.features.backup.manifest import FORMAT, BackupRefused
from toolcrib.features.backup.restore import open_restore

Entries = list[tuple[zipfile.ZipInfo, bytes]]
Tamper = Callable[[Entries, dict[str, Any]], None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("made")
    asyncio.run(create_backup(find_paths(folder / "home"), folder / "good.zip"))
    return (folder / "good.zip").read_bytes()


@pytest.fixture
def backup(made: bytes, tmp_path: Path) -> Path:
    (tmp_path / "good.zip").write_bytes(made)
    return tmp_path / "good.zip"


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return find_paths(tmp_path / "home")


def entries(file: Path) -> Entries:
    with zipfile.ZipFile(file) as archive:
        return [(info, archive.read(info)) for info in archive.infolist()]


def write(file: Path, content: Entries) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, data in content:
            archive.writestr(info, data)


def info(name: str, kind: int = stat.S_IFREG) -> zipfile.ZipInfo:
    found = zipfile.ZipInfo(name)
    found.external_attr = (kind | 0o600) << 16
    return found


def listed(name: str, data: bytes) -> dict[str, Any]:
    return {"name": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def put(content: Entries, manifest: dict[str, Any], name: str, data: bytes) -> None:
    """Replace or add a file, with the size and the hash that fit."""
    content[:] = [one for one in content if one[0].filename != name]
    manifest["files"] = [file for file in manifest["files"] if file["name"] != name]
    content.append((info(name), data))
    manifest["files"].append(listed(name, data))


def tampered(good: Path, change: Tamper) -> Path:
    content = entries(good)
    manifest = json.loads(next(data for one, data in content if one.filename == MANIFEST))
    change(content, manifest)
    bad = good.with_name("bad.zip")
    kept = [(one, data) for one, data in content if one.filename != MANIFEST]
    write(bad, [*kept, (info(MANIFEST), json.dumps(manifest).encode())])
    return bad


async def refusal(paths: Paths, file: Path) -> BackupRefused:
    before = sorted(paths.home.rglob("*")) if paths.home and paths.home.exists() else []
    with pytest.raises(BackupRefused) as caught:
        async with open_restore(paths, file):
            pass
    assert paths.home is not None
    left = [path for path in paths.home.rglob("*") if path.is_file() and path not in before]
    assert left == []
    assert caught.value.hint
    return caught.value


def add(name: str, data: bytes = b"{}", kind: int = stat.S_IFREG) -> Tamper:
    def change(content: Entries, manifest: dict[str, Any]) -> None:
        content.append((info(name, kind), data))
        manifest["files"].append(listed(name, data))

    return change


def set_key(key: str, value: object) -> Tamper:
    return lambda content, manifest: manifest.__setitem__(key, value)


def change_file(name: str, data: bytes) -> Tamper:
    return lambda content, manifest: put(content, manifest, name, data)


def drop(name: str) -> Tamper:
    def change(content: Entries, manifest: dict[str, Any]) -> None:
        content[:] = [one for one in content if one[0].filename != name]

    return change


def unlisted(content: Entries, manifest: dict[str, Any]) -> None:
    content.append((info("workflows/extra.json"), b"{}"))


def wrong_hash(content: Entries, manifest: dict[str, Any]) -> None:
    manifest["files"][0]["sha256"] = "0" * 64


def wrong_size(content: Entries, manifest: dict[str, Any]) -> None:
    manifest["files"][0]["size"] += 1


def bomb(content: Entries, manifest: dict[str, Any]) -> None:
    content[:] = [one for one in content if one[0].filename != "toolcrib.db"]
    packed = zipfile.ZipInfo("toolcrib.db")
    packed.compress_type = zipfile.ZIP_DEFLATED
    data = bytes(70 * 1024 * 1024)
    content.append((packed, data))
    manifest["files"] = [file for file in manifest["files"] if file["name"] != "toolcrib.db"]
    manifest["files"].append(listed("toolcrib.db", data))


HOSTILE: dict[str, tuple[Tamper, str]] = {
    "parent folder": (add("../evil.json"), "belong"),
    "parent folder in a part": (add("workflows/../../evil.json"), "belong"),
    "absolute": (add("/etc/cron.d/evil"), "belong"),
    "backslash": (add("workflows\\evil.json"), "belong"),
    "own token": (add("secrets.json"), "belong"),
    "lock": (add("workflows/.flow.json.lock"), "belong"),
    "line break": (add("workflows/a\n.json"), "belong"),
    "unicode digit": (add("workflows/\u0661.json"), "belong"),
    "deep": (add("artifacts/run/deep/file.png"), "belong"),
    "link": (add("workflows/link.json", b"/etc/passwd", stat.S_IFLNK), "plain file"),
    "device": (add("workflows/null.json", b"", stat.S_IFCHR), "plain file"),
    "pipe": (add("workflows/pipe.json", b"", stat.S_IFIFO), "plain file"),
    "folder": (add("workflows/", b""), "plain file"),
    "unlisted": (unlisted, "not listed"),
    "missing": (drop("mcp.json"), "missing"),
    "hash": (wrong_hash, "changed"),
    "size": (wrong_size, "size"),
    "bomb": (bomb, "expands"),
    "other product": (set_key("product", "other"), "not a backup"),
    "newer": (set_key("format", FORMAT + 1), "newer"),
    "newer part": (set_key("parts", ["toolcrib.db", "mcp.json", "dreams"]), "does not know|belong"),
    "unknown key": (set_key("surprise", 1), "invalid"),
    "huge number": (set_key("secrets", 1), "secrets"),
    "no database": (set_key("files", []), "not listed"),
    "config": (change_file("mcp.json", b"{"), "config file"),
    "settings": (change_file("mcp.json", b'{"toolcrib": {"audit_days": "x"}}'), "config file"),
    "accounts": (change_file("accounts.json", b"[" * 100_000), "damaged"),
    "database": (change_file("toolcrib.db", b"SQLite format 3\0" + bytes(4000)), "damaged|schema"),
    "empty database": (change_file("toolcrib.db", b""), "schema"),
    "no mac": (drop(SIGNATURE), "list of contents"),
}


@pytest.mark.parametrize("case", HOSTILE)
async def test_a_hostile_archive_is_refused_with_a_reason(case: str, backup: Path, paths: Paths) -> None:
    change, reason = HOSTILE[case]

    error = await refusal(paths, tampered(backup, change))

    assert any(word in error.message for word in reason.split("|")), error.message


async def test_a_file_that_is_there_twice_is_refused(backup: Path, paths: Paths) -> None:
    content = entries(backup)
    with pytest.warns(UserWarning, match="Duplicate"):
        write(backup, [*content, (info("mcp.json"), b"{}")])
    assert "twice" in (await refusal(paths, backup)).message

    write(backup, [*content, (info("MCP.json"), b"{}")])
    assert "twice" in (await refusal(paths, backup)).message


async def test_every_truncation_is_refused(backup: Path, paths: Paths) -> None:
    whole = backup.read_bytes()
    for size in {0, 1, 21, 22, *range(0, len(whole), max(1, len(whole) // 40)), len(whole) - 1}:
        backup.write_bytes(whole[:size])
        await refusal(paths, backup)


async def test_every_changed_byte_is_noticed_or_harmless(backup: Path, paths: Paths) -> None:
    """A changed byte is refused, or the content is the same (as in the time of an entry)."""
    whole = backup.read_bytes()
    refused = 0
    positions = range(0, len(whole), max(1, len(whole) // 60))
    for position in positions:
        backup.write_bytes(whole[:position] + bytes([whole[position] ^ 0x55]) + whole[position + 1 :])
        try:
            async with open_restore(paths, backup) as restore:
                config = (restore.folder / "mcp.json").read_bytes()
                assert hashlib.sha256(config).hexdigest() in str(restore.plan.manifest.files)
        except BackupRefused:
            refused += 1
    assert refused > len(positions) // 2


async def test_what_is_no_plain_file_is_refused_without_waiting(tmp_path: Path, paths: Paths) -> None:
    os.mkfifo(tmp_path / "pipe")
    await refusal(paths, tmp_path / "pipe")
    await refusal(paths, tmp_path)
    await refusal(paths, Path("/dev/zero"))


async def database_with(backup: Path, statements: str) -> bytes:
    file = backup.with_name("changed.db")
    file.write_bytes(next(data for one, data in entries(backup) if one.filename == "toolcrib.db"))
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(statements)
    return file.read_bytes()


@pytest.mark.parametrize(
    "statements",
    [
        "CREATE TRIGGER approve AFTER INSERT ON calls BEGIN INSERT INTO trust VALUES ('x', '{}', 1); END",
        "CREATE VIEW everything AS SELECT * FROM trust",
        "DROP TABLE trust; CREATE VIEW trust AS SELECT 'x' AS server, '{}' AS launch, 1 AS agreed_at",
        "CREATE TABLE extra (a)",
        "CREATE TABLE chat_words_trap (a)",
        "CREATE TRIGGER sqlite AFTER DELETE ON chats BEGIN DELETE FROM trust; END",
        "DROP INDEX calls_by_time",
        "PRAGMA user_version = 3",
        "PRAGMA user_version = 0",
    ],
)
async def test_a_database_with_another_schema_is_refused(statements: str, backup: Path, paths: Paths) -> None:
    data = await database_with(backup, statements)

    error = await refusal(paths, tampered(backup, change_file("toolcrib.db", data)))

    assert "schema" in error.message


async def test_a_database_of_a_newer_version_is_refused(backup: Path, paths: Paths) -> None:
    data = await database_with(backup, "PRAGMA user_version = 999")

    error = await refusal(paths, tampered(backup, change_file("toolcrib.db", data)))

    assert "newer" in error.message


@pytest.mark.parametrize(
    "statements",
    [
        "CREATE TABLE workflow_status (inputs TEXT, serialization TEXT);"
        "INSERT INTO workflow_status VALUES ('{pickled}', 'py_pickle')",
        "CREATE TABLE a (b); CREATE TRIGGER c AFTER INSERT ON a BEGIN DELETE FROM a; END",
        "CREATE VIEW a AS SELECT 1",
        "CREATE VIRTUAL TABLE a USING fts5 (b)",
    ],
)
async def test_a_database_of_runs_that_would_run_code_is_refused(
    statements: str, backup: Path, paths: Paths
) -> None:
    file = backup.with_name("runs.db")
    pickled = b64encode(pickle.dumps(print)).decode()
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(statements.replace("{pickled}", pickled))

    await refusal(paths, tampered(backup, change_file("runs.sqlite", file.read_bytes())))

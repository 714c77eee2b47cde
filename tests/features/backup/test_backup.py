"""A backup contains what cannot be downloaded again, and a restore brings it back, all or nothing."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from tests.config.killed_process import killed_at
from toolcrib.clock import SystemClock
from toolcrib.config.database_key import VARIABLE, Signer
from toolcrib.config.paths import Paths, find_paths
from toolcrib.config.secrets import SecretStore
from toolcrib.errors import HostRunning, UsageError
from toolcrib.features.backup.create import BackupRequest, create_backup
from toolcrib.features.backup.manifest import BackupRefused
from toolcrib.features.backup.restore import Restore, open_restore
from toolcrib.host import open_host
from toolcrib.store.database import open_database
from toolcrib.store.shared_profiles import add_profiles

PASSPHRASE = "correct horse battery"
SERVER = {"command": "/bin/false", "args": ["--serve"]}


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")


def execute(file: Path, *statements: str) -> list[tuple[object, ...]]:
    """The rows of the last statement."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        rows = [connection.execute(statement).fetchall() for statement in statements]
    return rows[-1]


async def filled_home(home: Path, mark: str) -> Paths:
    paths = find_paths(home).ensure()
    async with open_database(paths.database):
        pass
    allow = json.dumps({"effect": "allow", "server": mark})
    execute(
        paths.database,
        f"INSERT INTO chats (id, title, model, created, updated) VALUES ('c', '{mark}', 'm', 1, 1)",
        "INSERT INTO trust VALUES ('own', '{}', 1, '')",
        "INSERT INTO page_keys VALUES ('k', 'h', 'browser', 1, 1, '')",
        f"INSERT INTO approval_rules VALUES ('r', '{allow}', 1, 0, '')",
        """INSERT INTO approval_rules VALUES ('d', '{"effect": "deny"}', 1, 0, '')""",
        "INSERT INTO workflow_triggers VALUES ('w', 't', 1, 'f', 1, '', 'm', '', '', '')",
        "INSERT INTO workflow_starts VALUES ('r1', 'w', 't', 'o', 'pending', '{}', 1, 1, '', '')",
    )
    document = {
        "mcpServers": {"own": SERVER, "files": _filesystem(paths.files)},
        "toolcrib": {"approvals": {"mode": "off"}, "audit_days": 7},
    }
    write(paths.config_file, json.dumps(document))
    write(paths.accounts_file, json.dumps({"version": 1, "mark": mark}))
    write(paths.workflows / "daily.json", f'"{mark}"')
    write(paths.workflows / ".versions" / "daily" / "20260101T000000.000000Z-abc.json", "{}")
    write(paths.workflows / f"notes-{mark}.txt", "of the user")
    write(paths.data / "desktop" / "macros" / "login.json", f'"{mark}"')
    write(paths.runs / "artifacts" / "run-1" / "0123456789abcdef.png", mark)
    execute(
        paths.runs / "runs.sqlite",
        "CREATE TABLE workflow_status (workflow_uuid TEXT, status TEXT, serialization TEXT)",
        "INSERT INTO workflow_status VALUES ('1', 'PENDING', 'toolcrib_json'), ('2', 'SUCCESS', NULL)",
    )
    SecretStore(paths).set("token", f"value of {mark}")
    return paths


def _filesystem(files: Path) -> dict[str, object]:
    return {"type": "inprocess", "module": "toolcrib.bundled.filesystem", "args": [str(files)]}


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def state(paths: Paths) -> dict[str, str]:
    """Everything that a restore replaces."""
    folders = (paths.workflows, paths.data / "desktop" / "macros", paths.runs / "artifacts")
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    texts = {str(file): file.read_text() for file in (*files, paths.config_file, paths.accounts_file)}
    chats = execute(paths.database, "SELECT title FROM chats")
    rules = execute(paths.database, "SELECT rule, off FROM approval_rules ORDER BY id")
    runs = execute(paths.runs / "runs.sqlite", "SELECT * FROM workflow_status ORDER BY 1")
    return {**texts, "chats": str(chats), "rules": str(rules), "runs": str(runs)}


async def apply(paths: Paths, file: Path, *, keep: bool = False, passphrase: str = "") -> Restore:
    async with open_restore(paths, file) as restore:
        if passphrase:
            await restore.unlock(passphrase)
        with restore.locked():
            restore.apply(keep_approvals=keep)
        return restore


async def test_a_backup_of_this_home_brings_everything_back_with_its_approvals(tmp_path: Path) -> None:
    paths = await filled_home(tmp_path / "home", "first")
    before = state(paths)
    await create_backup(paths, tmp_path / "b.zip")
    execute(paths.database, "UPDATE chats SET title = 'changed'", "DELETE FROM trust")
    write(paths.workflows / "daily.json", '"changed"')
    write(paths.workflows / "later.json", "{}")
    write(paths.config_file, "{}")

    restore = await apply(paths, tmp_path / "b.zip")

    after = state(paths)
    assert restore.plan.own
    assert {key: value for key, value in after.items() if key != "runs"} == {
        key: value for key, value in before.items() if key != "runs"
    }
    assert execute(paths.database, "SELECT server FROM trust") == [("own",)]
    assert execute(paths.database, "SELECT id FROM page_keys") == [("k",)]
    assert not (paths.workflows / "later.json").exists()
    private = [paths.database, paths.config_file, paths.accounts_file, paths.workflows / "daily.json"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in (*private, tmp_path / "b.zip")} == {0o600}


async def test_a_home_that_cannot_store_the_key_is_saved_as_that_of_another_home(tmp_path: Path) -> None:
    paths = await filled_home(tmp_path / "home", "first")
    (paths.state / ".backup-key.lock").mkdir()  # as on a read-only disk, the file cannot be opened

    await create_backup(paths, tmp_path / "b.zip")

    assert (tmp_path / "b.zip").exists()
    assert not (paths.state / "backup-key").exists()


async def test_a_restore_starts_nothing_by_itself(tmp_path: Path) -> None:
    paths = await filled_home(tmp_path / "home", "first")
    await create_backup(paths, tmp_path / "b.zip")

    await apply(paths, tmp_path / "b.zip", keep=True)

    assert execute(paths.database, "SELECT active FROM workflow_triggers") == [(0,)]
    assert execute(paths.database, "SELECT state FROM workflow_starts") == [("skipped",)]
    statuses = execute(paths.runs / "runs.sqlite", "SELECT status FROM workflow_status ORDER BY 1")
    assert statuses == [("CANCELLED",), ("SUCCESS",)]


async def test_a_backup_of_another_home_brings_no_approvals_unless_the_user_agrees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOOLCRIB_TRUST_CONFIG", raising=False)
    source = await filled_home(tmp_path / "old", "first")
    await create_backup(source, tmp_path / "b.zip")
    paths = find_paths(tmp_path / "new")

    restore = await apply(paths, tmp_path / "b.zip")

    assert not restore.plan.own
    assert restore.plan.launches["own"]["command"] == "/bin/false"
    assert restore.plan.settings == {"approvals": {"mode": "off"}}
    for table in ("trust", "page_keys", "tool_pins", "approval_requests"):
        assert execute(paths.database, f"SELECT * FROM {table}") == []
    assert execute(paths.database, "SELECT id, off FROM approval_rules ORDER BY id") == [("d", 0), ("r", 1)]
    config = json.loads(paths.config_file.read_text())
    assert config["toolcrib"] == {"audit_days": 7}
    assert config["mcpServers"]["files"]["args"] == [str(paths.files)]
    async with open_host(tmp_path / "new", only=["own"]) as host:
        assert host.servers.status("own").state == "needs-trust"

    await apply(paths, tmp_path / "b.zip", keep=True)

    assert execute(paths.database, "SELECT server FROM trust") == [("own",)]
    assert execute(paths.database, "SELECT * FROM page_keys") == []
    assert execute(paths.database, "SELECT off FROM approval_rules") == [(0,), (0,)]


async def test_a_changed_backup_of_this_home_counts_as_that_of_another(tmp_path: Path) -> None:
    paths = await filled_home(tmp_path / "home", "first")
    await create_backup(paths, tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip") as good, zipfile.ZipFile(tmp_path / "c.zip", "w") as bad:
        for info in good.infolist():
            content = good.read(info)
            changed = (
                content.replace(b'"left_out"', b' "left_out"')
                if "manifest.json" in info.filename
                else content
            )
            bad.writestr(info, changed)

    async with open_restore(paths, tmp_path / "c.zip") as restore:
        assert not restore.plan.own


async def test_secrets_are_in_a_backup_only_with_a_passphrase(tmp_path: Path) -> None:
    paths = await filled_home(tmp_path / "home", "first")
    entry = {**SERVER, "env": {"API_KEY": "sk-literal-0123456789abcdef"}}
    write(paths.config_file, json.dumps({"mcpServers": {"own": entry}}))

    await create_backup(paths, tmp_path / "plain.zip")
    await create_backup(paths, tmp_path / "sealed.zip", BackupRequest(passphrase=PASSPHRASE))

    for name in ("plain.zip", "sealed.zip"):
        with zipfile.ZipFile(tmp_path / name) as archive:
            content = b"".join(archive.read(info) for info in archive.infolist())
        assert b"value of first" not in content
        assert b"sk-literal" not in content
    new = find_paths(tmp_path / "new")
    with pytest.raises(BackupRefused, match="passphrase is wrong"):
        await apply(new, tmp_path / "sealed.zip", passphrase="another passphrase")
    assert SecretStore(new).names() == ()

    await apply(new, tmp_path / "sealed.zip", passphrase=PASSPHRASE)

    restored = SecretStore(new)
    assert restored.get("token") == "value of first"
    reference = json.loads(new.config_file.read_text())["mcpServers"]["own"]["env"]["API_KEY"]
    assert restored.get(reference.removeprefix("${secret:").removesuffix("}")) == entry["env"]["API_KEY"]


async def test_a_secret_that_this_home_has_is_not_replaced(tmp_path: Path) -> None:
    paths = await filled_home(tmp_path / "home", "first")
    await create_backup(paths, tmp_path / "b.zip", BackupRequest(passphrase=PASSPHRASE))
    SecretStore(paths).set("token", "newer")

    restore = await apply(paths, tmp_path / "b.zip", passphrase=PASSPHRASE)

    assert restore.plan.secrets_kept == ["token"]
    assert SecretStore(paths).get("token") == "newer"


async def test_a_weak_passphrase_and_an_existing_file_are_refused(tmp_path: Path) -> None:
    paths = find_paths(tmp_path / "home")
    with pytest.raises(UsageError, match="passphrase"):
        await create_backup(paths, tmp_path / "b.zip", BackupRequest(passphrase="short"))
    write(tmp_path / "b.zip", "mine")
    with pytest.raises(UsageError, match="exists"):
        await create_backup(paths, tmp_path / "b.zip")
    assert (tmp_path / "b.zip").read_text() == "mine"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["b.zip"]


@pytest.mark.acceptance
async def test_a_restore_that_is_killed_at_any_point_leaves_the_old_or_the_new_state_whole(
    tmp_path: Path,
) -> None:
    paths = await filled_home(tmp_path / "home", "old")
    other = await filled_home(tmp_path / "other", "new")
    await create_backup(other, tmp_path / "b.zip", BackupRequest(passphrase=PASSPHRASE))
    shutil.copytree(tmp_path / "home", tmp_path / "template")
    old = state(paths)
    await apply(paths, tmp_path / "b.zip")
    new = state(paths)
    outcomes = []
    async with open_restore(paths, tmp_path / "b.zip") as restore:
        shutil.copytree(restore.folder, tmp_path / "unpacked")
        for number in range(0, 2000, 3):
            _reset(paths, restore.folder, tmp_path)

            def work(one: Restore = restore) -> None:
                with one.locked():
                    one.apply(keep_approvals=False)

            killed = killed_at(number, work)
            paths.ensure()
            assert state(paths) in (old, new), number
            outcomes.append(state(paths) == new)
            if not killed:
                break
    assert outcomes == sorted(outcomes)
    assert len(outcomes) > 20
    assert outcomes[0] is False
    assert outcomes[-1] is True


def _reset(paths: Paths, unpacked: Path, tmp_path: Path) -> None:
    """The home as it was, with the backup unpacked in it."""
    assert paths.home is not None
    shutil.rmtree(paths.home)
    shutil.copytree(tmp_path / "template", paths.home)
    shutil.copytree(tmp_path / "unpacked", unpacked)


async def test_a_home_in_use_is_not_replaced(tmp_path: Path) -> None:
    paths = await filled_home(tmp_path / "home", "first")
    await create_backup(paths, tmp_path / "b.zip")
    execute(paths.database, "UPDATE chats SET title = 'kept'")

    async with open_host(tmp_path / "home", exclusive=True, only=[]):
        with pytest.raises(HostRunning):
            await apply(paths, tmp_path / "b.zip")

    assert execute(paths.database, "SELECT title FROM chats") == [("kept",)]


async def test_the_present_state_is_backed_up_first_and_three_backups_are_kept(tmp_path: Path) -> None:
    paths = await filled_home(tmp_path / "home", "first")
    await create_backup(paths, tmp_path / "b.zip")
    execute(paths.database, "UPDATE chats SET title = 'second'")

    async with open_restore(paths, tmp_path / "b.zip") as restore:
        made = [await restore.back_up_present() for _ in range(5)]

    assert [file for file in made if file.exists()] == made[2:]
    await apply(paths, tmp_path / "b.zip")
    assert execute(paths.database, "SELECT title FROM chats") == [("first",)]
    await apply(paths, made[-1])
    assert execute(paths.database, "SELECT title FROM chats") == [("second",)]
    assert list(paths.database.parent.glob(".restore-*")) == []


async def test_an_old_database_is_migrated_by_the_restore(tmp_path: Path) -> None:
    from toolcrib.store.migrations import STEPS, apply_steps

    paths = find_paths(tmp_path / "home").ensure()
    with closing(sqlite3.connect(paths.database, isolation_level=None)) as connection:
        apply_steps(connection, STEPS[:6])
        connection.execute("INSERT INTO trust VALUES ('own', '{}', 1)")
    await create_backup(paths, tmp_path / "b.zip")

    await apply(paths, tmp_path / "b.zip")

    assert execute(paths.database, "PRAGMA user_version") == [(len(STEPS),)]
    assert execute(paths.database, "SELECT server FROM trust") == [("own",)]


async def test_a_shared_database_is_copied_and_restored_to_a_file(tmp_path: Path, postgres_url: str) -> None:
    paths = find_paths(tmp_path / "home").ensure()
    write(paths.config_file, json.dumps({"toolcrib": {"database": postgres_url}}))
    key = Signer.read(os.environ[VARIABLE])
    async with open_database(postgres_url, key) as database:
        insert = "INSERT INTO chats (id, title, model, created, updated) VALUES ('c', 'shared', 'm', 1, 1)"
        await database.run(lambda connection: connection.execute(insert))
        profile = {"team": {"tools": ["a"]}}
        await database.run(lambda c: add_profiles(profile, SystemClock(), database.decisions, c))

    manifest = await create_backup(paths, tmp_path / "b.zip")
    new = find_paths(tmp_path / "new")
    await apply(new, tmp_path / "b.zip")

    assert manifest.database_url == postgres_url
    assert any("workflow runs" in text for text in manifest.left_out)
    assert execute(new.database, "SELECT title FROM chats") == [("shared",)]
    own = json.loads(new.config_file.read_text())["toolcrib"]
    assert own == {"profiles": {"team": {"tools": ["a"]}}}

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from toolcrib.config.paths import Paths
from toolcrib.config.safe_files import exclusive
from toolcrib.config.store import ConfigStore
from toolcrib.errors import ConfigError, UnknownServer, UsageError


def write(store: ConfigStore, text: str) -> None:
    store.path.parent.mkdir(parents=True, exist_ok=True)
    store.path.write_text(text)


def servers(store: ConfigStore) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(store.path.read_text())["mcpServers"]
    return found


def leftovers(store: ConfigStore) -> list[str]:
    return [path.name for path in store.path.parent.iterdir() if path.name.endswith(".tmp")]


def test_a_new_home_has_the_bundled_servers_on(store: ConfigStore, paths: Paths) -> None:
    config = store.read()

    assert list(config.servers) == ["demo", "filesystem", "websearch"]
    assert all(entry.enabled and entry.type == "inprocess" for entry in config.servers.values())
    assert config.servers["demo"].raw["module"] == "toolcrib.bundled.demo"
    assert config.servers["filesystem"].raw["args"] == [str(paths.files)]
    assert paths.files.is_dir()
    assert store.path.exists()
    assert store.read() == config


def test_files_are_for_this_user_alone_on_a_permissive_umask(store: ConfigStore) -> None:
    before = os.umask(0)
    try:
        store.read()
        store.set_global_enabled(False)
    finally:
        os.umask(before)

    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode) for path in store.path.parent.iterdir() if path.is_file()
    }
    assert set(modes) == {"mcp.json", "mcp.json.bak", ".mcp.json.lock"}
    assert set(modes.values()) == {0o600}


def test_a_bad_entry_harms_only_itself(store: ConfigStore) -> None:
    write(
        store,
        '{"mcpServers": {\n'
        '  "good": {"command": "x"},\n'
        '  "bad": {"command": "x",\n'
        '     "args": "one two"},\n'
        '  "worse": 5\n'
        "}}",
    )

    config = store.read()

    assert list(config.servers) == ["good"]
    assert list(config.broken) == ["bad", "worse"]
    assert (config.broken["bad"].line, config.broken["bad"].column) == (4, 6)
    assert "mcp.json, line 4, column 6: Server 'bad': args must be" in config.broken["bad"].message
    assert config.broken["worse"].line == 5


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ('{"mcpServers": {\n"a": {"command": "x"},\n"a": {"command": "y"}}}', 3),
        ('{\n"mcpServers": []}', 2),
        ('{"toolcrib": {\n"callWait": "long"}}', 2),
        ('{"mcpServers": {\n', 2),
    ],
)
def test_a_file_that_cannot_be_used_says_where_and_is_never_overwritten(
    store: ConfigStore, text: str, line: int
) -> None:
    write(store, text)

    with pytest.raises(ConfigError) as caught:
        store.read()
    assert caught.value.line == line
    with pytest.raises(ConfigError):
        store.add_server("new", {"command": "x"})
    assert store.path.read_text() == text


def test_a_file_without_servers_is_a_file_without_servers(store: ConfigStore) -> None:
    for text in ("{}", '{"mcpServers": null}'):
        write(store, text)
        assert store.read().servers == {}
        store.add_server("new", {"command": "x"})
        assert list(servers(store)) == ["new"]


def test_a_change_keeps_order_and_what_we_do_not_know(store: ConfigStore) -> None:
    document = {
        "$schema": "x",
        "mcpServers": {
            "z": {"trust": True, "command": "x", "x-own": {"b": 1, "a": [None, 1.0, 10**20, "ü"]}},
            "a": {"url": "http://x", "autoApprove": []},
        },
        "theme": {"dark": True},
        "toolcrib": {"later": 1},
    }
    write(store, json.dumps(document))

    store.add_server("m", {"command": "new", "unknown": 1})
    store.set_enabled("z", False)

    expected = json.loads(json.dumps(document))
    expected["mcpServers"]["m"] = {"command": "new", "unknown": 1}
    expected["mcpServers"]["z"]["enabled"] = False
    assert store.path.read_text() == json.dumps(expected, indent=2, ensure_ascii=False) + "\n"


def test_the_previous_file_stays_as_a_backup(store: ConfigStore) -> None:
    write(store, '{"mcpServers": {}}')

    store.set_global_enabled(False)

    assert store.path.with_name("mcp.json.bak").read_text() == '{"mcpServers": {}}'


def test_a_commented_file_outlives_the_second_change_too(store: ConfigStore) -> None:
    text = '{"mcpServers": {}} // mine'
    write(store, text)

    store.set_global_enabled(False)
    store.set_global_enabled(True)

    assert store.path.with_name("mcp.json.commented.bak").read_text() == text


def test_a_change_that_changes_nothing_writes_nothing(store: ConfigStore) -> None:
    text = '{"mcpServers": {"a": {"command": "x", "enabled": false}}} // mine'
    write(store, text)

    store.set_enabled("a", False)

    assert store.path.read_text() == text


def test_a_change_that_fails_halfway_leaves_the_file_alone(store: ConfigStore) -> None:
    store.read()
    before = store.path.read_bytes()

    with pytest.raises(ZeroDivisionError), store.edit() as document:
        document["mcpServers"] = 1 / 0

    assert store.path.read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        {"mcpServers": {"demo": {"args": 5}}},
        {"mcpServers": []},
        {"toolcrib": {"auditDays": 0}},
        {"x": object()},
        {"mcpServers": {"a\n": {"command": "x"}}},
        {"x": "\udc80"},
    ],
)
def test_a_change_that_would_break_something_is_refused(store: ConfigStore, change: dict[str, Any]) -> None:
    store.read()
    before = store.path.read_bytes()

    with pytest.raises(ConfigError), store.edit() as document:
        document.update(change)

    assert store.path.read_bytes() == before


def test_a_broken_entry_does_not_keep_others_from_being_changed(store: ConfigStore) -> None:
    write(store, '{"mcpServers": {"bad": {"args": 5}, "worse": 5, "good": {"command": "x"}}}')

    store.set_enabled("good", False)
    store.set_enabled("bad", False)
    assert store.remove_server("worse") == 5

    assert servers(store) == {
        "bad": {"args": 5, "enabled": False},
        "good": {"command": "x", "enabled": False},
    }


def test_switching_on_speaks_one_language(store: ConfigStore) -> None:
    write(store, '{"mcpServers": {"a": {"command": "x", "disabled": true}}}')

    store.set_enabled("a", True)

    assert servers(store)["a"] == {"command": "x", "enabled": True}
    assert store.read().servers["a"].enabled


def test_a_taken_name_is_not_overwritten_unless_asked(store: ConfigStore) -> None:
    with pytest.raises(UsageError, match="already") as caught:
        store.add_server("demo", {"command": "x"})
    assert "toolcrib remove demo" in caught.value.hint

    assert store.add_server("demo", {"command": "x"}, replace=True).type == "stdio"
    assert servers(store)["demo"] == {"command": "x"}


def test_a_wrong_entry_is_not_added(store: ConfigStore) -> None:
    with pytest.raises(ConfigError, match="'new': args"):
        store.add_server("new", {"command": "x", "args": 5})
    assert not store.path.exists()


def test_a_removed_entry_is_given_back(store: ConfigStore) -> None:
    store.read()

    assert store.remove_server("demo") == {"type": "inprocess", "module": "toolcrib.bundled.demo"}
    assert "demo" not in servers(store)


def test_an_unknown_server_brings_a_guess(store: ConfigStore) -> None:
    store.read()
    for act in (lambda: store.remove_server("filesytem"), lambda: store.set_enabled("filesytem", True)):
        with pytest.raises(UnknownServer) as caught:
            act()
        assert caught.value.hint == "Did you mean 'filesystem'?"
    with pytest.raises(UnknownServer) as caught:
        store.remove_server("zzz")
    assert caught.value.hint == "Known: demo, filesystem, websearch."


def test_the_master_switch_is_a_setting_of_the_file(store: ConfigStore) -> None:
    assert store.read().settings.global_enabled
    store.set_global_enabled(False)
    assert not store.read().settings.global_enabled
    store.set_global_enabled(True)
    assert store.read().settings.global_enabled


def test_only_changed_entries_have_another_fingerprint(store: ConfigStore) -> None:
    write(
        store, '{"mcpServers": {"a": {"command": "x", "args": []}, "b": {"command": "y"}, "c": 5, "d": {}}}'
    )
    before = store.read()
    write(
        store,
        '{"mcpServers": {"new": {"command": "n"}, "a": {"args": [], "command": "x"},\n'
        ' "b": {"command": "y", "lazy": true}, "c": 5}, "toolcrib": {}}',
    )
    after = store.read()

    changed = set(before.fingerprints.items()) ^ set(after.fingerprints.items())
    assert {name for name, _ in changed} == {"new", "b", "d"}
    assert after.digest != before.digest


def test_a_file_behind_a_link_is_changed_where_it_lies(store: ConfigStore, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}")
    store.path.parent.mkdir()
    store.path.symlink_to(real)

    ConfigStore(store.path).add_server("a", {"command": "x"})

    assert store.path.is_symlink()
    assert json.loads(real.read_text())["mcpServers"] == {"a": {"command": "x"}}


def test_a_folder_in_the_place_of_the_file_is_an_error(store: ConfigStore) -> None:
    store.path.mkdir(parents=True)

    with pytest.raises(ConfigError, match="cannot be read"):
        store.read()


def test_a_huge_file_is_refused(store: ConfigStore) -> None:
    write(store, "{}")
    os.truncate(store.path, 1_000_000_000)

    with pytest.raises(ConfigError, match="larger"):
        store.read()


EDIT_MANY = """
import sys
from pathlib import Path
from toolcrib.config.store import ConfigStore

store = ConfigStore(Path(sys.argv[1]))
for number in range(50):
    store.add_server(f"{sys.argv[2]}-{number}", {"command": "x"})
    store.set_enabled(f"{sys.argv[2]}-{number}", number % 2 == 0)
"""


def test_two_processes_that_edit_at_once_lose_nothing(store: ConfigStore) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", EDIT_MANY, str(store.path), who]) for who in ("a", "b")
    ]

    assert [process.wait(100) for process in running] == [0, 0]
    config = store.read()
    expected = {f"{who}-{number}": number % 2 == 0 for who in ("a", "b") for number in range(50)}
    expected |= {"demo": True, "filesystem": True, "websearch": True}
    assert {name: entry.enabled for name, entry in config.servers.items()} == expected
    assert leftovers(store) == []


def test_a_reader_never_sees_half_a_file(store: ConfigStore) -> None:
    store.read()
    editing = subprocess.Popen([sys.executable, "-c", EDIT_MANY, str(store.path), "a"])

    while editing.poll() is None:
        assert "demo" in store.read().servers

    assert editing.returncode == 0


FULL_DISK = """
import resource, sys
from pathlib import Path
from toolcrib.config.store import ConfigStore
from toolcrib.errors import ConfigError

store = ConfigStore(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    store.add_server("new", {"command": "x" * 5000})
except ConfigError as error:
    print(error.message, "|", error.hint)
    sys.exit(7)
"""


@pytest.mark.parametrize("room", [0, 10, 4096])
def test_a_full_disk_leaves_the_old_file_whole(store: ConfigStore, room: int) -> None:
    store.read()
    before = store.path.read_bytes()

    ended = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(store.path), str(room)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 7, ended.stderr
    assert "cannot be saved" in ended.stdout
    assert "The file is unchanged" in ended.stdout
    assert store.path.read_bytes() == before
    assert leftovers(store) == []


def test_whoever_waits_too_long_for_the_lock_is_told(store: ConfigStore) -> None:
    store.read()
    with (
        exclusive(store.path),
        pytest.raises(ConfigError, match="another process"),
        exclusive(store.path, patience=0.05),
    ):
        pass
    store.set_global_enabled(False)


def test_threads_of_one_process_take_turns(store: ConfigStore) -> None:
    threads = [
        threading.Thread(target=store.add_server, args=(f"t{number}", {"command": "x"}))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert len(servers(store)) == 11


def test_the_lock_of_a_killed_process_is_free(store: ConfigStore) -> None:
    store.read()
    script = (
        "import sys\nfrom pathlib import Path\nfrom toolcrib.config.store import ConfigStore\n"
        "with ConfigStore(Path(sys.argv[1])).edit() as document:\n"
        "    document.clear()\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(store.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == b"held\n"
    holder.kill()
    holder.wait(60)
    holder.stdout.close()
    holder.stdin.close()

    store.add_server("new", {"command": "x"})

    assert list(servers(store)) == ["demo", "filesystem", "websearch", "new"]

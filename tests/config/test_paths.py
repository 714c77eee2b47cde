from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from toolcrib.config.paths import MAX_SOCKET_BYTES, Paths, close_to_others, find_paths
from toolcrib.errors import ConfigError

AS_ROOT = pytest.mark.as_root("gives files to other users", other_users=True)
STRANGER = 12345


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_everything_lives_under_a_named_home(tmp_path: Path) -> None:
    found = find_paths(environ={"TOOLCRIB_HOME": str(tmp_path)})

    assert found.config_file == tmp_path / "mcp.json"
    assert found.home == tmp_path
    places = [value for name, value in vars(found).items() if name != "socket"]
    assert all(place.is_relative_to(tmp_path) for place in places)


def test_the_argument_wins_over_the_variable(tmp_path: Path) -> None:
    found = find_paths(tmp_path / "a", environ={"TOOLCRIB_HOME": str(tmp_path / "b")})

    assert found.config_file == tmp_path / "a" / "mcp.json"


def test_two_spellings_of_one_home_mean_the_same_places(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    assert find_paths(tmp_path / "link") == find_paths(tmp_path / "real")


def test_without_a_home_the_platform_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))

    found = find_paths(environ={})

    assert found.home is None
    if os.uname().sysname == "Linux":
        assert found.config_file == tmp_path / "config" / "toolcrib" / "mcp.json"
        assert found.database.is_relative_to(tmp_path / "data")
        assert found.logs.is_relative_to(tmp_path / "state")


def test_the_session_does_not_move_lock_and_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    on_the_desktop = find_paths(environ={})
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    assert find_paths(environ={}) == on_the_desktop


def test_folders_are_made_for_this_user_alone_on_a_permissive_umask(paths: Paths) -> None:
    before = os.umask(0)
    try:
        paths.ensure()
    finally:
        os.umask(before)

    assert {mode(place) for place in (paths.data, paths.state, paths.logs, paths.runtime)} == {0o700}
    assert paths.home is not None
    assert mode(paths.home) == 0o700
    assert not paths.files.exists()


def test_a_runtime_folder_that_others_could_enter_is_closed(paths: Paths) -> None:
    paths.ensure()
    paths.runtime.chmod(0o777)

    paths.ensure()

    assert mode(paths.runtime) == 0o700


def test_wide_permissions_of_an_older_home_are_repaired_once(
    paths: Paths, caplog: pytest.LogCaptureFixture
) -> None:
    assert paths.home is not None
    paths.ensure()
    backup = paths.config_file.with_name("mcp.json.bak")
    files = (paths.config_file, backup, paths.secrets_file, paths.database, paths.server_log("demo"))
    for file in files:
        file.touch()
        file.chmod(0o666)
    folders = (paths.home, paths.data, paths.state, paths.logs, paths.cache)
    for folder in folders:
        folder.chmod(0o777)

    paths.ensure()

    assert {mode(folder) for folder in folders} == {0o700}
    assert {mode(file) for file in files} == {0o600}
    assert len(caplog.records) == len(files) + len(folders)
    paths.ensure()
    assert len(caplog.records) == len(files) + len(folders)


def test_a_folder_that_everybody_shares_is_no_home(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)

    with pytest.raises(ConfigError, match="Other users can change") as caught:
        find_paths(tmp_path).ensure()

    assert "chmod" in caught.value.hint
    assert mode(tmp_path) == 0o1777


@AS_ROOT
def test_a_config_file_of_the_system_may_be_read_but_not_changed(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths.ensure()
    paths.config_file.touch()
    paths.config_file.chmod(0o644)
    own = os.getuid()
    monkeypatch.setattr("os.getuid", lambda: own + 1)

    close_to_others(paths.config_file)
    assert mode(paths.config_file) == 0o644

    paths.config_file.chmod(0o666)
    with pytest.raises(ConfigError, match="Other users can change"):
        close_to_others(paths.config_file)


@AS_ROOT
@pytest.mark.parametrize(
    "place", ["home", "data", "logs", "workflows", "config_file", "secrets_file", "database"]
)
def test_what_belongs_to_another_user_is_refused(paths: Paths, place: str) -> None:
    paths.ensure()
    theirs: Path = getattr(paths, place)
    if not theirs.exists():
        theirs.mkdir() if place == "workflows" else theirs.touch()
    os.chown(theirs, STRANGER, STRANGER)
    theirs.chmod(0o700)

    with pytest.raises(ConfigError, match=r"Other users can change|belongs to another user"):
        paths.ensure()


@AS_ROOT
def test_a_home_in_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o755)
    os.chown(theirs, STRANGER, STRANGER)

    with pytest.raises(ConfigError, match="belongs to another user"):
        find_paths(theirs / "deep" / "crib").ensure()
    assert list(theirs.iterdir()) == []


@pytest.mark.parametrize("through_link", [False, True])
def test_a_home_that_everyone_could_replace_is_refused(tmp_path: Path, through_link: bool) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    home = shared / "crib"
    if through_link:
        home = tmp_path / "link"
        home.symlink_to(shared / "crib")

    with pytest.raises(ConfigError, match="Everyone can change the folder") as caught:
        find_paths(home).ensure()
    assert str(shared) in caught.value.hint
    shared.chmod(0o1777)  # as /tmp: only the owner of an entry can replace it
    find_paths(home).ensure()


@pytest.mark.parametrize("place", ["config_file", "secrets_file", "database"])
def test_a_file_that_is_a_link_into_a_shared_folder_is_refused(
    paths: Paths, tmp_path: Path, place: str
) -> None:
    paths.ensure()
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    (shared / "file").touch(mode=0o600)
    getattr(paths, place).symlink_to(shared / "file")

    with pytest.raises(ConfigError, match="Everyone can change the folder"):
        paths.ensure()


def test_workflows_and_data_of_an_older_home_are_closed_to_everyone_else(paths: Paths) -> None:
    paths.ensure()
    paths.workflows.mkdir()
    for folder in (paths.workflows, paths.data):
        folder.chmod(0o755)

    paths.ensure()

    assert (mode(paths.workflows), mode(paths.data)) == (0o700, 0o700)


def test_a_home_that_others_may_only_look_into_stays_as_it_is(paths: Paths) -> None:
    assert paths.home is not None
    paths.home.mkdir(mode=0o755)
    paths.home.chmod(0o755)

    paths.ensure()

    assert mode(paths.home) == 0o755
    assert mode(paths.data) == 0o700


def test_a_runtime_folder_that_is_a_link_is_refused(paths: Paths, tmp_path: Path) -> None:
    paths.runtime.parent.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    paths.runtime.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ConfigError, match="another user") as caught:
        paths.ensure()
    assert "TOOLCRIB_HOME" in caught.value.hint


def test_a_file_where_a_folder_is_needed_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")

    with pytest.raises(ConfigError, match="home"):
        find_paths(tmp_path / "home").ensure()


def test_a_long_home_keeps_its_socket_to_itself(tmp_path: Path) -> None:
    one = find_paths(tmp_path / ("x" * 120) / "one")

    assert len(os.fsencode(one.socket)) > MAX_SOCKET_BYTES
    assert one.socket.parent == one.runtime


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "a b", "ü", "x" * 100, ".", "a\\b"])
def test_any_server_name_gives_one_plain_log_file(paths: Paths, name: str) -> None:
    assert paths.server_log(name).parent == paths.logs
    assert paths.server_log(name) != paths.server_log(name + "!")


def test_a_plain_server_name_is_its_log_files_name(paths: Paths) -> None:
    assert paths.server_log("demo") == paths.logs / "demo.log"

"""What a sandbox shows, decided from the entry alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from toolcrib.schema.servers import SandboxPolicy
from toolcrib.serverkit.sandbox.layout import Layout, State
from toolcrib.servers.sandbox.running import SandboxedCommand, layout_of, named_in_arguments, tree_of


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "user"
    for folder in ("project", ".ssh", "notes"):
        (home / folder).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return home


def launch(home: Path, *args: str, cwd: str | None = None, **policy: object) -> SandboxedCommand:
    return SandboxedCommand(
        server="s",
        program=sys.executable,
        args=args,
        cwd=cwd,
        environment={},
        policy=SandboxPolicy(**policy),  # type: ignore[arg-type]
        own=home.parent / "own",
    )


def state(layout: Layout, path: Path) -> State:
    return layout.state(path) if layout.is_real(path) else State.HIDDEN


def test_a_folder_argument_is_writable_and_the_rest_of_the_home_hidden(home: Path) -> None:
    layout = layout_of(launch(home, str(home / "project")))
    assert state(layout, home / "project/file") is State.WRITE
    assert state(layout, home / "notes") is State.HIDDEN
    assert state(layout, home / ".ssh") is State.HIDDEN


def test_arguments_can_be_left_out(home: Path) -> None:
    layout = layout_of(launch(home, str(home / "project"), arguments=False))
    assert state(layout, home / "project") is State.HIDDEN


def test_named_folders_are_readable_or_writable_and_secrets_stay_hidden(home: Path) -> None:
    layout = layout_of(launch(home, readable=("~",), writable=("~/notes",)))
    assert state(layout, home / "project") is State.READ
    assert state(layout, home / "notes") is State.WRITE
    assert state(layout, home / ".ssh") is State.HIDDEN


def test_the_working_folder_is_writable_and_relative_paths_start_there(home: Path) -> None:
    layout = layout_of(launch(home, "./data/app.db", cwd=str(home / "project"), readable=("../notes",)))
    assert state(layout, home / "project") is State.WRITE
    assert state(layout, home / "notes") is State.READ


def test_a_database_that_does_not_exist_yet_makes_its_folder_writable(home: Path) -> None:
    assert named_in_arguments(launch(home, f"--db={home / 'project/app.db'}")) == [home / "project"]


def test_a_file_in_the_home_does_not_open_the_home(home: Path) -> None:
    (home / "letter.txt").touch()
    assert named_in_arguments(launch(home, str(home / "letter.txt"), str(home / "new.txt"))) == [
        home / "letter.txt"
    ]


@pytest.mark.parametrize("text", ["https://example.com/a", "--verbose", "plain", "-v", "postgres://u@h/db"])
def test_addresses_and_options_name_no_folder(home: Path, text: str) -> None:
    assert named_in_arguments(launch(home, text)) == []


def test_a_script_is_readable_with_its_packages_and_not_writable(home: Path) -> None:
    script = home / "server/node_modules/pkg/dist/index.js"
    script.parent.mkdir(parents=True)
    script.touch()
    layout = layout_of(launch(home, str(script), str(home / "project")))
    assert state(layout, home / "server/node_modules/other") is State.READ
    assert state(layout, script) is State.READ
    assert state(layout, home / "project") is State.WRITE


def test_a_script_in_the_home_itself_shows_only_itself(home: Path) -> None:
    script = home / "server.py"
    script.touch()
    assert tree_of(script, home) == script
    assert state(layout_of(launch(home, str(script))), home / "notes") is State.HIDDEN

"""Every name that is protected is seen in an argument, however it is written; nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.approvals.people import Tools
from toolcrib.approvals.facts import Facts
from toolcrib.approvals.paths import LocalDisk
from toolcrib.approvals.rules.protected_files import check
from toolcrib.serverkit.confined.protected import FOLDERS, NAMES

PATHS = sorted({*NAMES, *map("/".join, FOLDERS)})


@pytest.mark.parametrize("written", ["{}", "./{}", "/home/me/{}", "file:///home/me/{}", "sub/{}/x"])
def test_a_protected_name_is_found_wherever_it_stands(written: str) -> None:
    for name in (*PATHS, *map(str.upper, PATHS)):
        call = Tools().call("files__write", edits=[{"path": written.format(name)}])

        found = check(call, Facts(ours=False))

        assert found is not None, name
        assert found.rule == "protected_files"


@pytest.mark.parametrize(
    "text", ["hello", "See v1.2 for more.", "a_b/c.d", "my.gitignore", "library agents", ""]
)
def test_other_texts_are_let_be(text: str) -> None:
    assert check(Tools().call("files__write", text=text), Facts(ours=False)) is None


@pytest.fixture
def facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Facts:
    monkeypatch.setenv("HOME", str(tmp_path))
    own = tmp_path / "crib" / "data"
    own.mkdir(parents=True)
    (tmp_path / "link").symlink_to(own)
    return Facts(ours=False, protected=(own,), project=str(tmp_path), disk=LocalDisk())


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    "written",
    ["{}/crib/data/x", "{}/CRIB/Data/x", "file://{}/crib/data", "~/crib/data/x", "{}/link/x", "./link/x"],
)
def test_toolcribs_own_files_ask_whether_they_are_changed_or_read(
    facts: Facts, tmp_path: Path, written: str, read_only: bool
) -> None:
    call = Tools().call("files__read" if read_only else "files__write", path=written.format(tmp_path))

    assert check(call, facts) is not None


@pytest.mark.parametrize("path", ["~/crib/files/x", "/crib/data2/x", "crib"])
def test_reading_other_files_asks_for_nothing(facts: Facts, path: str) -> None:
    assert check(Tools().call("files__read", path=path), facts) is None

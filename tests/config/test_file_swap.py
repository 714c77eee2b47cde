"""Files and folders are replaced together: killed at any point, all of them are old, or all are new."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.killed_process import killed_at
from toolcrib.config.file_swap import recovered, replacement, swap
from toolcrib.errors import ConfigError

OLD = {"a.txt": "old a", "folder/b.txt": "old b", "gone.txt": "old gone"}
NEW = {"a.txt": "new a", "folder/c.txt": "new c", "made.txt": "new made"}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def read(folder: Path) -> dict[str, str]:
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_text() for file in files}


def replace_all(home: Path, new: Path, journal: Path) -> None:
    targets = {name: new / name for name in ("a.txt", "folder", "made.txt")}
    with recovered(journal, 5):
        prepared = [replacement(home / name, path) for name, path in targets.items()]
        prepared.append(replacement(home / "gone.txt", None))
        swap(journal, prepared)


def test_a_process_that_is_killed_at_any_point_leaves_all_old_or_all_new_files(tmp_path: Path) -> None:
    outcomes = []
    for number in range(500):
        place = tmp_path / str(number)
        write(place / "home", OLD)
        write(place / "new", NEW)
        journal = place / "state.json"

        killed = killed_at(number, lambda p=place, j=journal: replace_all(p / "home", p / "new", j))  # type: ignore[misc]

        # The recovery may be killed as well, and is then repeated.
        killed_at(3 + number % 11, lambda j=journal: _recover(j))  # type: ignore[misc]
        _recover(journal)
        visible = {name: text for name, text in read(place / "home").items() if ".restore-" not in name}
        assert visible in (OLD, NEW), number
        outcomes.append(visible == NEW)
        if not killed:
            break
    assert outcomes == sorted(outcomes), "a later kill undid what an earlier one kept"
    assert len(outcomes) > 10
    assert outcomes[-1] is True
    assert read(tmp_path / str(len(outcomes) - 1) / "home") == NEW


def _recover(journal: Path) -> None:
    with recovered(journal, 5):
        pass


def test_an_error_in_the_middle_puts_the_old_files_back(tmp_path: Path) -> None:
    write(tmp_path / "home", OLD)
    write(tmp_path / "new", NEW)
    first = replacement(tmp_path / "home" / "a.txt", tmp_path / "new" / "a.txt")
    lost = replacement(tmp_path / "home" / "made.txt", tmp_path / "new" / "made.txt")
    assert lost.staged is not None
    lost.staged.unlink()

    with pytest.raises(FileNotFoundError):
        swap(tmp_path / "state.json", [first, lost])

    assert read(tmp_path / "home") == OLD
    assert not (tmp_path / "state.json").exists()


def test_a_damaged_journal_is_an_error_and_deletes_nothing(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text("{")

    with pytest.raises(ConfigError, match="interrupted restore"), recovered(tmp_path / "state.json", 5):
        pass

    assert (tmp_path / "state.json").exists()

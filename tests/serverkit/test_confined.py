"""The parts of confinement that the tools do not show: which way is chosen, and how names are claimed."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from toolcrib.serverkit.confined import roots
from toolcrib.serverkit.confined.changes import rename_by_claim, rename_new, replace_file, system_rename
from toolcrib.serverkit.confined.roots import (
    FOLDER,
    LISTING,
    READING,
    Escape,
    best_opener,
    open_by_kernel,
    open_by_walk,
)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield descriptor
    os.close(descriptor)


@pytest.fixture
def _fresh_choice() -> Iterator[None]:
    roots.has_openat2.cache_clear()
    yield
    roots.has_openat2.cache_clear()


def failing_with(code: int) -> Callable[..., int]:
    def fail(*_: Any) -> int:
        raise OSError(code, os.strerror(code))

    return fail


@pytest.mark.usefixtures("_fresh_choice")
@pytest.mark.parametrize("code", [errno.ENOSYS, errno.EPERM])
def test_a_system_without_the_call_or_that_forbids_it_gets_the_walk(
    monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(roots, "_openat2", failing_with(code))
    assert best_opener() is open_by_walk


@pytest.mark.usefixtures("_fresh_choice")
def test_a_system_that_does_not_name_its_descriptors_gets_the_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roots, "_names_of", failing_with(errno.ENOENT))
    assert best_opener() is open_by_walk


@pytest.mark.usefixtures("_fresh_choice")
@pytest.mark.parametrize(("machine", "platform"), [("sparc64", "linux"), ("arm64", "darwin")])
def test_an_unknown_machine_gets_the_walk(
    monkeypatch: pytest.MonkeyPatch, machine: str, platform: str
) -> None:
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr("sys.platform", platform)
    assert best_opener() is open_by_walk


def test_a_path_that_changes_while_the_kernel_looks_is_tried_again(
    folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, tries = roots._openat2, []

    def busy(*arguments: Any) -> int:
        tries.append(1)
        if len(tries) < 5:
            raise BlockingIOError(errno.EAGAIN, "again")
        return real(*arguments)

    monkeypatch.setattr(roots, "_openat2", busy)
    os.close(open_by_kernel(folder, [], LISTING)[0])
    assert len(tries) == 5
    monkeypatch.setattr(roots, "_openat2", failing_with(errno.EAGAIN))
    with pytest.raises(BlockingIOError):
        open_by_kernel(folder, [], LISTING)


@pytest.mark.parametrize("opener", [open_by_kernel, open_by_walk], ids=["openat2", "walk"])
def test_a_folder_is_named_without_the_links_on_the_way(opener: Any, folder: int, tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "x").symlink_to("a/../a/./b//")
    for parts, names in (
        (["x"], ("a", "b")),
        (["a", "..", "x", ".."], ("a",)),
        (["x", "..", ".."], ()),
        ([], ()),
    ):
        descriptor, found = opener(folder, parts, FOLDER)
        os.close(descriptor)
        assert found == names


@pytest.mark.parametrize("opener", [open_by_kernel, open_by_walk], ids=["openat2", "walk"])
def test_both_ways_refuse_the_same(opener: Any, folder: int, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "f").touch()
    (tmp_path / "to-root").symlink_to("/")
    (tmp_path / "up").symlink_to("d/../..")
    (tmp_path / "magic").symlink_to("/proc/self/cwd")
    for parts in (["to-root"], ["up"], ["magic"], [".."], ["d", "..", ".."], ["to-root", "etc"]):
        with pytest.raises(Escape):
            opener(folder, parts, READING)
    with pytest.raises(NotADirectoryError):
        opener(folder, ["f", "x"], READING)
    with pytest.raises(FileNotFoundError):
        opener(folder, ["d", "x"], READING)


def test_a_moved_folder_is_not_taken_for_one_inside(folder: int, tmp_path: Path) -> None:
    """What was opened inside and moved out before it was named is refused."""
    names = [Path("/somewhere").parts, Path("/elsewhere/d").parts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(roots, "_names_of", lambda _: names.pop(0))
        (tmp_path / "d").mkdir()
        before = set(Path("/dev/fd").iterdir())
        with pytest.raises(Escape):
            open_by_kernel(folder, ["d"], FOLDER)
        assert set(Path("/dev/fd").iterdir()) == before


@pytest.mark.parametrize("rename", [rename_new, rename_by_claim], ids=["system", "claim"])
class TestRenaming:
    """Both ways to move to a name that must be free."""

    def test_it_moves_files_folders_and_links(self, rename: Any, folder: int, tmp_path: Path) -> None:
        (tmp_path / "f").write_text("x")
        (tmp_path / "d").mkdir()
        (tmp_path / "d" / "inner").touch()
        (tmp_path / "l").symlink_to("nowhere")
        for name in ("f", "d", "l"):
            rename(folder, name, folder, f"{name}2")
        assert (tmp_path / "f2").read_text() == "x"
        assert (tmp_path / "d2" / "inner").exists()
        assert (tmp_path / "l2").readlink() == Path("nowhere")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["d2", "f2", "l2"]

    def test_a_taken_name_is_refused(self, rename: Any, folder: int, tmp_path: Path) -> None:
        for name in ("f", "g"):
            (tmp_path / name).write_text(name)
        for name in ("d", "e"):
            (tmp_path / name).mkdir()
        for source, target in (("f", "g"), ("d", "e"), ("f", "d"), ("d", "g")):
            with pytest.raises(FileExistsError):
                rename(folder, source, folder, target)
        assert (tmp_path / "g").read_text() == "g"
        assert (tmp_path / "f").exists()

    def test_a_folder_moved_into_itself_leaves_nothing_behind(
        self, rename: Any, folder: int, tmp_path: Path
    ) -> None:
        (tmp_path / "d").mkdir()
        inside = os.open(tmp_path / "d", os.O_RDONLY | os.O_DIRECTORY)
        try:
            with pytest.raises(OSError, match="Invalid argument"):
                rename(folder, "d", inside, "x")
        finally:
            os.close(inside)
        assert list((tmp_path / "d").iterdir()) == []

    def test_of_many_that_want_one_name_only_one_gets_it(
        self, rename: Any, folder: int, tmp_path: Path
    ) -> None:
        for number in range(20):
            (tmp_path / f"s{number}").write_text(str(number))
        won: list[int] = []
        start = threading.Barrier(20)

        def compete(number: int) -> None:
            start.wait()
            try:
                rename(folder, f"s{number}", folder, "target")
            except FileExistsError:
                return
            won.append(number)

        threads = [threading.Thread(target=compete, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(won) == 1
        assert (tmp_path / "target").read_text() == str(won[0])
        assert len(list(tmp_path.iterdir())) == 20


def test_a_file_system_without_such_a_rename_gets_the_other_way(
    folder: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert system_rename() is not None
    monkeypatch.setattr(
        "toolcrib.serverkit.confined.changes.system_rename", lambda: failing_with(errno.EINVAL)
    )
    (tmp_path / "f").touch()
    rename_new(folder, "f", folder, "g")
    assert (tmp_path / "g").exists()


def test_readers_see_the_old_content_or_the_new_never_a_part(folder: int, tmp_path: Path) -> None:
    old, new = b"o" * 300_000, b"n" * 300_000
    replace_file(folder, "f", old)
    seen: set[bytes] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.add((tmp_path / "f").read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(30):
        replace_file(folder, "f", new)
        replace_file(folder, "f", old)
    done.set()
    reader.join()
    assert seen <= {old, new}
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_a_disk_that_is_full_leaves_the_old_file_and_no_rest(
    folder: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_text("old")
    monkeypatch.setattr(os, "fsync", failing_with(errno.ENOSPC))
    with pytest.raises(OSError, match="No space"):
        replace_file(folder, "f", b"new")
    assert (tmp_path / "f").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["f"]

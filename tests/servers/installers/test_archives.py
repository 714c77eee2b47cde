"""Hostile archives are refused before anything of them is written."""

from __future__ import annotations

import stat
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.servers.installers.packages import tarball_of
from toolcrib.servers.installers.engine import archives
from toolcrib.servers.installers.engine.archives import ArchiveRefused


def zip_of(file: Path, *entries: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in entries:
            opened.writestr(name, content)
    return file


def refused(file: Path, tmp_path: Path, word: str) -> None:
    target = tmp_path / "target"
    target.mkdir()
    with pytest.raises(ArchiveRefused, match=word):
        archives.unpack_zip(file, target)
    assert list(target.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["../../PWN", "a/../../PWN", "/abs/PWN", "a\\..\\..\\PWN", "C:/PWN", "..", ""]
)
def test_a_name_that_leads_outside_condemns_the_whole_archive(tmp_path: Path, name: str) -> None:
    info = zipfile.ZipInfo("x")
    info.filename = name
    file = zip_of(tmp_path / "x.mcpb", ("good.txt", b"1"), (info, b"2"))

    refused(file, tmp_path, "relative path|outside the archive")


def test_a_link_and_what_would_go_through_it_are_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("ln")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    file = zip_of(tmp_path / "x.mcpb", (link, b"/etc"), ("ln/PWN", b"x"))

    refused(file, tmp_path, "link or a device")


def test_a_bomb_is_refused_by_what_it_claims(tmp_path: Path) -> None:
    file = zip_of(tmp_path / "x.mcpb", ("zeros", bytes(100 * 1024 * 1024)))

    refused(file, tmp_path, "zip bomb")


def test_a_bomb_that_lies_about_its_size_is_stopped(tmp_path: Path) -> None:
    file = zip_of(tmp_path / "x.mcpb", ("zeros", bytes(40 * 1024 * 1024)))
    content = bytearray(file.read_bytes())
    size = struct.pack("<I", 40 * 1024 * 1024)
    at = content.find(size)
    while at >= 0:
        content[at : at + 4] = struct.pack("<I", 10)
        at = content.find(size)
    file.write_bytes(content)
    target = tmp_path / "target"
    target.mkdir()

    with pytest.raises(ArchiveRefused):
        archives.unpack_zip(file, target)

    assert sum(one.stat().st_size for one in target.rglob("*")) <= 64 * 1024


@pytest.mark.parametrize("names", [("manifest.json", "manifest.json"), ("A", "a"), ("a", "a/")])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_entries_of_one_name_are_refused(tmp_path: Path, names: tuple[str, str]) -> None:
    file = zip_of(tmp_path / "x.mcpb", (names[0], b"1"), (names[1], b"" if names[1].endswith("/") else b"2"))

    refused(file, tmp_path, "occurs twice")


def test_too_many_entries_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_ENTRIES", 10)
    file = zip_of(tmp_path / "x.mcpb", *((f"f{number}", b"") for number in range(11)))

    refused(file, tmp_path, "more than 10 entries")


def test_odd_permissions_become_plain_ones(tmp_path: Path) -> None:
    program = zipfile.ZipInfo("run")
    program.external_attr = (stat.S_IFREG | 0o6777) << 16
    plain = zipfile.ZipInfo("text")
    plain.external_attr = (stat.S_IFREG | 0o666) << 16
    file = zip_of(tmp_path / "x.mcpb", (program, b"#!"), (plain, b""))
    (tmp_path / "target").mkdir()

    archives.unpack_zip(file, tmp_path / "target")

    assert stat.S_IMODE((tmp_path / "target" / "run").stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "target" / "text").stat().st_mode) == 0o644


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 but no more", b"\x00" * 1000])
def test_what_is_no_archive_is_said_so(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x.mcpb"
    file.write_bytes(content)

    with pytest.raises(ArchiveRefused, match="not a complete zip"):
        archives.check_zip(file)
    with pytest.raises(ArchiveRefused, match="not a complete tar"):
        archives.check_tarball(file)


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.mark.parametrize(
    "bad",
    [
        ("package/../../PWN", b"x"),
        ("/abs/PWN", b"x"),
        member("package/ln", tarfile.SYMTYPE, "/etc/passwd"),
        member("package/ln", tarfile.LNKTYPE, "../../x"),
        member("package/dev", tarfile.CHRTYPE),
        member("package/fifo", tarfile.FIFOTYPE),
    ],
    ids=["traversal", "absolute", "symlink", "hard-link", "device", "pipe"],
)
def test_a_tarball_of_anything_but_plain_files_is_refused(
    tmp_path: Path, bad: tarfile.TarInfo | tuple[str, bytes]
) -> None:
    file = tarball_of(tmp_path / "x.tgz", ("package/package.json", b"{}"), bad)

    with pytest.raises(ArchiveRefused):
        archives.check_tarball(file)


def test_a_tarball_that_grows_without_end_is_refused(tmp_path: Path) -> None:
    file = tarball_of(tmp_path / "x.tgz", ("package/zeros", bytes(64 * 1024 * 1024)))

    with pytest.raises(ArchiveRefused, match="zip bomb"):
        archives.check_tarball(file)

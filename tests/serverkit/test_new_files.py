"""New files get safe names and replace nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcrib.serverkit.confined import Roots
from toolcrib.serverkit.confined.new_files import MAX_NAME, safe_name, save_new


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("plan.pdf", "plan.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\x\\plan.pdf", "plan.pdf"),
        ("a\x00b\n.txt", "a_b_.txt"),
        ("exe\u202etxt.pdf", "exe_txt.pdf"),
        ("..", "file"),
        ("", "file"),
        ("con.txt", "file-con.txt"),
        ("Über uns.txt", "Über uns.txt"),
    ],
)
def test_a_name_becomes_one_plain_part(given: str, made: str) -> None:
    assert safe_name(given) == made


def test_long_names_keep_their_ending() -> None:
    name = safe_name("ä" * 300 + ".pdf")

    assert name.endswith(".pdf")
    assert len(name.encode()) <= MAX_NAME


def test_a_taken_name_gets_a_number_and_a_link_is_not_followed(tmp_path: Path) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    folder.mkdir()
    (folder / "a.txt").write_text("old")
    (folder / "a (2).txt").symlink_to(outside)
    roots = Roots([folder])
    try:
        path = save_new(roots, "a.txt", b"new")
    finally:
        roots.close()

    assert path.name == "a (3).txt"
    assert path.read_bytes() == b"new"
    assert (folder / "a.txt").read_text() == "old"
    assert not outside.exists()


def test_protected_names_are_not_written(tmp_path: Path) -> None:
    assert not safe_name(".bashrc").startswith(".")

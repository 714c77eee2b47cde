"""Limits count what is read, whatever a file says about its size."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from toolcrib.cli.call_arguments import read_words
from toolcrib.config.paste.parser import _path
from toolcrib.errors import UsageError
from toolcrib.features.workflows.commands.workflow import read_source
from toolcrib.serverkit.bounded_read import read_bounded, read_bounded_text


def test_a_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 10)

    assert read_bounded(file, 10) == b"x" * 10
    with pytest.raises(OSError, match="larger than 9 bytes") as refused:
        read_bounded(file, 9)
    assert refused.value.errno == errno.EFBIG


def test_line_breaks_are_read_as_in_text_files(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\xef\xbb\xbfa\r\nb\rc")

    assert read_bounded_text(tmp_path / "file", 100, encoding="utf-8-sig") == "a\nb\nc"


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/null", "/proc/self"])
def test_devices_and_folders_are_refused_at_once(device: str) -> None:
    with pytest.raises(OSError, match=r"regular file|directory"):
        read_bounded(device, 1000, pipes=True)


def test_a_link_to_a_device_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "flow.json").symlink_to("/dev/zero")

    with pytest.raises(UsageError, match="not a regular file"):
        read_source(str(tmp_path / "flow.json"))
    with pytest.raises(UsageError, match="not a regular file"):
        read_words([f"a=@{tmp_path / 'flow.json'}"])
    with pytest.raises(UsageError, match="not a regular file"):
        _path(tmp_path / "flow.json")


def test_a_file_without_a_size_is_read_by_its_content() -> None:
    assert b"Name:" in read_bounded("/proc/self/status", 100_000)
    with pytest.raises(OSError, match="larger"):
        read_bounded("/proc/self/status", 10)


def test_a_pipe_without_a_writer_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")

    assert read_bounded(tmp_path / "pipe.json", 100, pipes=True) == b""
    with pytest.raises(OSError, match="not a regular file"):
        read_bounded(tmp_path / "pipe.json", 100)


def test_the_output_of_a_command_is_read_up_to_the_limit() -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, b"{}")
        os.close(writing)
        assert read_source(f"/dev/fd/{reading}") == "{}"
    finally:
        os.close(reading)


def test_an_endless_pipe_ends_at_the_limit() -> None:
    reading, writing = os.pipe()

    def write() -> None:
        try:
            while True:
                os.write(writing, b"x" * 65_536)
        except BrokenPipeError:
            os.close(writing)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with pytest.raises(OSError, match="larger than 1 MB"):
            read_bounded(f"/dev/fd/{reading}", 1_000_000, pipes=True)
    finally:
        os.close(reading)
        writer.join(30)
    assert not writer.is_alive()


def test_a_link_is_refused_where_others_wrote_the_file(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"token": 1}')
    (tmp_path / "result.json").symlink_to(tmp_path / "secret.json")

    with pytest.raises(OSError, match="symbolic links"):
        read_bounded(tmp_path / "result.json", 100, links=False)

"""A server's log: what is kept, what is dropped, and what never gets there."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcrib.servers.processes import log, log_lines
from toolcrib.servers.processes.log import FILE_SIZE, KEPT_FILES, LONGEST_LINE, MASK, ServerLog
from toolcrib.servers.processes.log_lines import output_in, read_line, write_event

SECRET = "tok-3n-0f-great-value"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "server.log"


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time as the log sees it."""
    time = [1000.0]
    monkeypatch.setattr(log.time, "monotonic", lambda: time[0])
    return time


def written(file: Path) -> str:
    """What the server wrote, as it is in the file, without the times."""
    return "".join(f"{line}\n" for line in output_in(file.read_text()))


def test_each_line_has_its_time_and_is_told_apart_from_what_happened(
    file: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(log_lines.time, "time", lambda: 1_763_199_680.1234)
    server_log = ServerLog(file)
    server_log.feed(b"one\n2026-01-01T00:00:00.000Z = Started, process 1.\n")
    write_event(file, "Exited with\ncode 3.")
    server_log.close()
    time = "2025-11-15T09:41:20.123Z"
    assert [read_line(line) for line in file.read_text().splitlines()] == [
        (time, False, "one"),
        (time, False, "2026-01-01T00:00:00.000Z = Started, process 1."),
        (time, True, "Exited with code 3."),
    ]
    assert output_in(file.read_text()) == ["one", "2026-01-01T00:00:00.000Z = Started, process 1."]


def test_a_line_of_an_earlier_version_has_no_time():
    line = "2026-11-15T09:41:20.123Z error: old"
    assert read_line(line) == (None, False, line)
    assert read_line("") == (None, False, "")


def test_lines_reach_the_ring_and_the_file(file: Path):
    server_log = ServerLog(file)
    server_log.feed(b"one\ntw")
    server_log.feed(b"o\r\ncaf\xe9\n")
    server_log.line("[stdout] three")
    assert list(server_log.lines) == ["one", "two", "caf�", "[stdout] three"]
    assert written(file) == "one\ntwo\ncaf�\n[stdout] three\n"
    assert file.stat().st_mode & 0o777 == 0o600


def test_the_tail_ends_with_an_unfinished_line(file: Path):
    server_log = ServerLog(file)
    server_log.feed(b"one\ntwo\nfatal: no key")
    assert server_log.tail(2) == ["two", "fatal: no key"]
    server_log.close()
    assert written(file) == "one\ntwo\nfatal: no key\n"
    assert server_log.tail(1) == ["fatal: no key"]


def test_without_a_file_there_is_still_the_ring():
    server_log = ServerLog()
    server_log.feed(b"one\n")
    server_log.close()
    assert server_log.tail() == ["one"]


def test_the_ring_is_bounded():
    server_log = ServerLog()
    server_log.feed(b"".join(b"%d\n" % number for number in range(2000)))
    assert list(server_log.lines) == [str(number) for number in range(1500, 2000)]


def test_nothing_is_written_after_the_end(file: Path):
    server_log = ServerLog(file)
    server_log.feed(b"one\n")
    server_log.close()
    server_log.feed(b"two\n")
    server_log.close()
    assert written(file) == "one\n"
    assert server_log.tail() == ["one", "two"]


def test_an_overlong_line_is_cut(file: Path):
    server_log = ServerLog(file)
    for _ in range(10):
        server_log.feed(b"x" * 10_000)
    server_log.feed(b"\nshort\n")
    assert [len(line) for line in server_log.lines] == [LONGEST_LINE, 5]


def test_a_full_disk_or_a_folder_in_the_way_takes_nothing_down(file: Path):
    file.mkdir(parents=True)
    server_log = ServerLog(file)
    server_log.feed(b"one\n")
    server_log.close()
    assert server_log.tail() == ["one"]


def test_the_file_rotates_and_the_whole_stays_within_its_bound(file: Path, now: list[float]):
    server_log = ServerLog(file)
    line = b"y" * 999 + b"\n"
    for _ in range(40):
        now[0] += 1
        server_log.feed(line * 500)
    server_log.close()
    files = sorted(file.parent.iterdir())
    assert [path.name for path in files] == ["server.log", *(f"server.log.{n}" for n in range(1, KEPT_FILES))]
    assert all(path.stat().st_size <= FILE_SIZE for path in files)
    assert server_log.dropped_bytes == 0


def test_the_newest_lines_are_in_the_file_without_a_number(file: Path, now: list[float]):
    server_log = ServerLog(file)
    for number in range(200):
        now[0] += 1
        server_log.line(f"{number:03d} " + "z" * 8000)
    server_log.close()
    newest, older = output_in(file.read_text()), output_in(Path(f"{file}.1").read_text())
    assert newest[-1].startswith("199 ")
    assert int(newest[0][:3]) == int(older[-1][:3]) + 1


def test_a_server_that_restarts_for_ever_does_not_grow_its_file_for_ever(file: Path, now: list[float]):
    for _ in range(20):
        now[0] += 10
        server_log = ServerLog(file)
        server_log.feed((b"w" * 99 + b"\n") * 4000)
        server_log.close()
    sizes = [path.stat().st_size for path in file.parent.iterdir()]
    assert max(sizes) <= FILE_SIZE
    assert len(sizes) <= KEPT_FILES


def test_what_exceeds_the_budget_of_a_second_is_counted_and_dropped(file: Path, now: list[float]):
    server_log = ServerLog(file)
    chunk = (b"f" * 63 + b"\n") * 1024
    for _ in range(100):
        server_log.feed(chunk)
    assert len(written(file)) == 8 * len(chunk)
    assert server_log.dropped_bytes == 92 * len(chunk)


def test_after_a_flood_the_log_says_so_and_goes_on(file: Path, now: list[float]):
    server_log = ServerLog(file)
    for _ in range(10):
        server_log.feed((b"f" * 63 + b"\n") * 1024)
    server_log.feed(b"the last of the flood\n")
    now[0] += 1
    server_log.feed(b"calm\n")
    lines = output_in(file.read_text())
    assert lines[-2:] == ["the last of the flood", "calm"]
    assert f"[output too fast: {server_log.dropped_bytes} bytes dropped so far]" in lines


def test_the_last_words_are_heard_even_in_a_flood(file: Path, now: list[float]):
    server_log = ServerLog(file)
    for _ in range(10):
        server_log.feed((b"f" * 63 + b"\n") * 1024)
    server_log.feed(b"fatal: out of ")
    server_log.feed(b"patience")
    assert server_log.tail(1) == ["fatal: out of patience"]
    server_log.close()
    assert output_in(file.read_text())[-1] == "fatal: out of patience"


def test_a_giant_line_in_a_flood_is_simply_gone(now: list[float]):
    server_log = ServerLog()
    for _ in range(20):
        server_log.feed(b"g" * 65536)
    assert server_log.dropped_bytes == 12 * 65536
    assert server_log.tail() == []


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_secrets_are_masked_however_they_arrive(file: Path, piece: int):
    server_log = ServerLog(file, secrets=[SECRET, "ab"])
    data = f"using {SECRET} for ab\nAuthorization: {SECRET}{SECRET}\n".encode()
    for start in range(0, len(data), piece):
        server_log.feed(data[start : start + piece])
    server_log.line(f"[stdout] {SECRET}")
    server_log.feed(f"again {SECRET}".encode())
    assert server_log.tail(1) == [f"again {MASK}"]
    server_log.close()
    text = written(file)
    assert SECRET not in text
    assert text.splitlines() == [
        f"using {MASK} for ab",
        f"Authorization: {MASK}{MASK}",
        f"[stdout] {MASK}",
        f"again {MASK}",
    ]


def test_of_two_secrets_the_longer_is_masked_whole():
    server_log = ServerLog(secrets=["abcd", "abcdefgh"])
    server_log.feed(b"abcdefgh abcd\n")
    assert server_log.tail() == [f"{MASK} {MASK}"]


def test_a_secret_of_several_lines_is_masked_line_by_line():
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQE\n-----END KEY-----"
    server_log = ServerLog(secrets=[key])
    server_log.feed(f"loaded:\n{key}\n".encode())
    assert server_log.tail() == ["loaded:", MASK, MASK, MASK, MASK]


def test_a_secret_across_the_cut_of_a_long_line_does_not_show_its_first_half():
    server_log = ServerLog(secrets=[SECRET])
    data = b"x" * (LONGEST_LINE - 5) + SECRET.encode() + b"y" * 5000
    for start in range(0, len(data), 100):
        server_log.feed(data[start : start + 100])
    server_log.feed(b"\n")
    assert SECRET[:4] not in server_log.tail()[0]


def test_a_secret_in_a_flood_is_masked_too(now: list[float]):
    server_log = ServerLog(secrets=[SECRET])
    for _ in range(10):
        server_log.feed((SECRET.encode() + b" ") * 2000 + b"\n" + (SECRET.encode() + b"\n") * 1000)
    assert set(server_log.tail(100)) <= {MASK, (MASK + " ") * 2000}
    assert SECRET[:6] not in "".join(server_log.tail(500))


def test_no_descriptor_is_left_open(file: Path):
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        server_log = ServerLog(file)
        server_log.feed(b"one\n")
        server_log.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before

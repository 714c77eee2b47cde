"""What the filesystem tools do for someone who means well; over both ways to open things."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from toolcrib.bundled.filesystem import contents, create
from toolcrib.errors import UsageError

MEBIBYTE = 1024 * 1024


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


async def test_a_folder_is_listed_with_the_newest_change_first(world: Any) -> None:
    for age, name in enumerate(("newest", "middle", "oldest")):
        (world.allowed / name).write_text("x" * age)
        os.utime(world.allowed / name, (2_000_000_000 - age, 2_000_000_000 - age))
    (world.allowed / "link").symlink_to("nowhere")
    os.utime(world.allowed / "link", (5, 5), follow_symlinks=False)
    result = await world.call("list_directory", path=".")
    entries = result["structuredContent"]["entries"]
    assert [entry["name"] for entry in entries] == ["newest", "middle", "oldest", "d", "link"]
    assert entries[0] == {
        "name": "newest",
        "kind": "file",
        "size": 0,
        "modified": "2033-05-18T03:33:20.000+00:00",
    }
    assert [entries[3]["kind"], entries[4]["kind"]] == ["folder", "link"]
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


async def test_a_large_folder_is_cut_with_a_note(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "MAX_ENTRIES", 3)
    monkeypatch.setattr(contents, "MAX_LOOKED_AT", 6)
    for index in range(5):
        (world.allowed / "d" / str(index)).touch()
        os.utime(world.allowed / "d" / str(index), (2_000_000_000 + index,) * 2)
    cut = (await world.call("list_directory", path="d"))["structuredContent"]
    assert [entry["name"] for entry in cut["entries"]] == ["4", "3", "2"]
    assert cut["note"] == "The newest 3 of 6 entries."
    (world.allowed / "d" / "more").touch()
    cut = (await world.call("list_directory", path="d"))["structuredContent"]
    assert "holds more" in cut["note"]


async def test_a_name_that_is_no_utf_8_is_shown_with_escapes(world: Any) -> None:
    os.close(os.open(os.fsencode(world.allowed) + b"/bad\xff", os.O_CREAT | os.O_WRONLY))
    assert "bad\\\\xff" in await world.told("list_directory", path=".")


async def test_a_file_is_written_and_read_byte_for_byte(world: Any) -> None:
    content = "Zeile 1\r\nligne 2\n\ttab $& $1 \\1 ${HOME} %s {} 🧰\ufeff"
    assert "Created" in await world.told("write_file", path="new.txt", content=content)
    assert (world.allowed / "new.txt").read_bytes() == content.encode()
    assert await world.told("read_file", path="new.txt") == content
    assert "Replaced" in await world.told("write_file", path="new.txt", content="")
    assert await world.told("read_file", path="new.txt") == ""


async def test_absolute_paths_inside_a_root_and_odd_spellings_work(world: Any) -> None:
    for path in (world.allowed / "d" / "f", "./d//f", "d/./f", "d/../d/f", f"{world.allowed}//d/f"):
        assert await world.told("read_file", path=str(path)) == "fine"
    assert await world.told("list_directory", path=str(world.allowed))
    assert await world.told("list_directory", path="")


async def test_a_relative_path_starts_at_the_first_root_and_others_need_theirs(make_world: Any) -> None:
    world = make_world(["allowed/d", "outside"])
    assert await world.told("read_file", path="f") == "fine"
    assert await world.told("read_file", path=str(world.outside / "f")) == "SECRET"
    assert "outside the allowed folders" in (await world.call("read_file", path="../x"))["content"][0]["text"]


async def test_a_root_may_be_reached_through_a_link(tmp_path: Path, make_world: Any) -> None:
    (tmp_path / "alias").symlink_to("allowed")
    world = make_world(["alias"])
    assert await world.told("read_file", path=str(tmp_path / "alias" / "d" / "f")) == "fine"
    assert await world.told("read_file", path=str(tmp_path / "allowed" / "d" / "f")) == "fine"


async def test_a_long_file_is_read_on_where_the_note_says(world: Any) -> None:
    text = "".join(f"{number:06} ä€🧰\n" for number in range(100_000))
    (world.allowed / "long").write_text(text)
    read, offset = "", 0
    while True:
        content = (await world.call("read_file", path="long", offset=offset))["content"]
        read += content[0]["text"]
        if len(content) == 1:
            break
        assert len(content[0]["text"].encode()) <= MEBIBYTE
        offset = int(content[1]["text"].rpartition("offset=")[2].rstrip(".]"))
    assert read == text


async def test_a_small_limit_never_splits_a_character_and_never_stands_still(world: Any) -> None:
    text = "a🧰bäc€"
    (world.allowed / "t").write_text(text)
    read, offset, rounds = "", 0, 0
    while rounds < 20:
        rounds += 1
        content = (await world.call("read_file", path="t", offset=offset, limit=1))["content"]
        read += content[0]["text"]
        if len(content) == 1:
            break
        offset = int(content[1]["text"].rpartition("offset=")[2].rstrip(".]"))
    assert read == text
    assert await world.told("read_file", path="t", offset=2) == "bäc€"


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("p.png", b"\x89PNG\r\n\x1a\n\x00", "a PNG image of 9 bytes"),
        ("latin.txt", "Gr\xfc\xdfe".encode("latin-1"), "data of type text/plain of 5 bytes"),
        ("utf16", "hi".encode("utf-16"), "text in UTF-16"),
        ("blob", b"\x00\x01\x02", "unknown data of 3 bytes"),
    ],
)
async def test_what_is_not_text_is_said_to_be_what_it_is(
    world: Any, name: str, data: bytes, told: str
) -> None:
    (world.allowed / name).write_bytes(data)
    text = await world.refused("read_file", path=name)
    assert "is not UTF-8 text" in text
    assert told in text


async def test_an_offset_beyond_the_end_and_a_senseless_limit_are_refused(world: Any) -> None:
    assert "has 4 bytes" in await world.refused("read_file", path="d/f", offset=5)
    assert await world.told("read_file", path="d/f", offset=4) == ""
    await world.refused("read_file", path="d/f", offset=-1)
    await world.refused("read_file", path="d/f", limit=0)


async def test_a_folder_is_created_in_a_folder(world: Any) -> None:
    await world.told("create_folder", path="d", folder_name="new")
    assert (world.allowed / "d" / "new").is_dir()
    assert "already exists" in await world.refused("create_folder", path="d", folder_name="new")
    assert "does not exist" in await world.refused("create_folder", path="nope", folder_name="x")


async def test_files_and_folders_are_moved_under_their_name(world: Any) -> None:
    (world.allowed / "e").mkdir()
    assert "Moved" in await world.told("move_file", source_path="d/f", destination_folder="e")
    await world.told("move_file", source_path="d", destination_folder="e")
    assert tree(world.allowed) == {"e", "e/f", "e/d"}


async def test_moving_never_overwrites_unless_asked(world: Any) -> None:
    (world.allowed / "f").write_text("mine")
    text = await world.refused("move_file", source_path="f", destination_folder="d")
    assert "'d/f' already exists" in text
    assert (world.allowed / "d" / "f").read_text() == "fine"
    await world.told("move_file", source_path="f", destination_folder="d", overwrite=True)
    assert (world.allowed / "d" / "f").read_text() == "mine"
    assert not (world.allowed / "f").exists()


async def test_a_folder_is_not_moved_into_itself_nor_over_a_full_one(world: Any) -> None:
    (world.allowed / "d" / "sub").mkdir()
    assert "into itself" in await world.refused("move_file", source_path="d", destination_folder="d/sub")
    (world.allowed / "e" / "d").mkdir(parents=True)
    (world.allowed / "e" / "d" / "kept").touch()
    await world.refused("move_file", source_path="d", destination_folder="e", overwrite=True)
    assert (world.allowed / "e" / "d" / "kept").exists()
    assert tree(world.allowed / "d") == {"f", "sub"}


async def test_a_file_is_renamed_in_place_and_never_over_another(world: Any) -> None:
    await world.told("rename_file", source_path="d/f", new_name="g")
    assert tree(world.allowed) == {"d", "d/g"}
    (world.allowed / "d" / "h").write_text("kept")
    assert "'h' already exists" in await world.refused("rename_file", source_path="d/g", new_name="h")
    assert (world.allowed / "d" / "h").read_text() == "kept"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../x", "/x", "a\0b"])
async def test_a_new_name_is_a_single_name(world: Any, name: str) -> None:
    assert "is not a single name" in await world.refused("rename_file", source_path="d/f", new_name=name)
    assert "is not a single name" in await world.refused("create_folder", path="d", folder_name=name)
    assert tree(world.allowed) == {"d", "d/f"}


async def test_errors_say_what_and_what_to_do(world: Any) -> None:
    assert "does not exist" in await world.refused("read_file", path="nope")
    assert "Use list_directory" in await world.refused("read_file", path="d")
    assert "Use list_directory" in await world.refused("write_file", path="d", content="x")
    assert "not a folder" in await world.refused("list_directory", path="d/f")
    assert "not a folder" in await world.refused("read_file", path="d/f/x")
    refused = await world.refused("write_file", path="no/such/x", content="x")
    assert "The folder 'no/such' does not exist." in refused
    assert "too long" in await world.refused("write_file", path="n" * 300, content="x")
    assert "null character" in await world.refused("read_file", path="a\0b")
    assert "UTF-8" in await world.refused("write_file", path="s", content="\udc80")
    assert "file name" in await world.refused("read_file", path="\ud800")


async def test_a_failed_write_leaves_no_trace(world: Any) -> None:
    before = tree(world.allowed)
    for path in ("d", "no/x", "n" * 300, "../x"):
        await world.refused("write_file", path=path, content="x")
    assert tree(world.allowed) == before


async def test_a_file_marked_read_only_is_not_replaced(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (world.allowed / "d" / "f").chmod(0o444)
    monkeypatch.setattr(os, "access", lambda *_, **__: False)  # the tests may run as root, who may write all
    assert "permission denied" in await world.refused("write_file", path="d/f", content="x")


def test_every_tool_says_what_it_does_to_the_world() -> None:
    server = create([str(Path.cwd())])
    try:
        hints = {
            name: (
                tool.definition["annotations"]["readOnlyHint"],
                tool.definition["annotations"]["destructiveHint"],
            )
            for name, tool in server.tools.items()
        }
    finally:
        server.close()
    assert hints == {
        "list_directory": (True, False),
        "read_file": (True, False),
        "write_file": (False, True),
        "create_folder": (False, False),
        "move_file": (False, True),
        "rename_file": (False, False),
    }


def test_parameters_have_the_names_that_people_know() -> None:
    server = create([str(Path.cwd())])
    try:
        parameters = {
            name: list(tool.definition["inputSchema"]["properties"]) for name, tool in server.tools.items()
        }
    finally:
        server.close()
    assert parameters == {
        "list_directory": ["path"],
        "read_file": ["path", "offset", "limit"],
        "write_file": ["path", "content"],
        "create_folder": ["path", "folder_name"],
        "move_file": ["source_path", "destination_folder", "overwrite"],
        "rename_file": ["source_path", "new_name"],
    }


@pytest.mark.parametrize(
    ("arguments", "told"),
    [([], "at least one folder"), (["/nowhere/at/all"], "cannot be used"), (["--what", "."], "--what")],
)
def test_a_server_without_usable_folders_is_refused(arguments: list[str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        create(arguments)


def test_a_file_cannot_be_a_root(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    with pytest.raises(UsageError, match="cannot be used"):
        create([str(tmp_path), str(tmp_path / "f")])


def test_closing_lets_go_of_every_folder(tmp_path: Path) -> None:
    before = set(Path("/dev/fd").iterdir())
    create([str(tmp_path), str(tmp_path)]).close()
    assert set(Path("/dev/fd").iterdir()) == before

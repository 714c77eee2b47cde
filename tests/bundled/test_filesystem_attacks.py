"""Group A of the security cases, one by one, over both ways to open things."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from toolcrib.serverkit.own_places import claimed

OUTSIDE = "is outside the allowed folders"
PROTECTED = "is protected"


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize(
    "path", ["../outside/f", "d/../../outside/f", "../../../../../../etc/passwd", "d/../.."]
)
async def test_a1_dots_do_not_lead_out(world: Any, path: str) -> None:
    for tool, key in (("read_file", "path"), ("list_directory", "path")):
        assert OUTSIDE in await world.refused(tool, **{key: path})
    await world.refused("write_file", path=path, content="x")
    await world.refused("move_file", source_path=path, destination_folder="d")
    await world.refused("move_file", source_path="d/f", destination_folder=path)
    await world.refused("create_folder", path=path, folder_name="x")
    await world.refused("rename_file", source_path=path, new_name="x")
    assert (world.outside / "f").read_text() == "SECRET"
    assert tree(world.outside) == {"f"}


async def test_a1_an_absolute_path_elsewhere_is_refused_whether_or_not_it_exists(world: Any) -> None:
    told = [
        await world.refused("read_file", path=path)
        for path in ("/etc/passwd", "/no/such/thing", str(world.outside / "f"), "/")
    ]
    assert all(OUTSIDE in text for text in told)


async def test_a3_a_neighbour_with_the_same_beginning_is_outside(world: Any) -> None:
    for name in ("allowed-evil", "allowed2", "allowedd"):
        evil = world.allowed.with_name(name)
        evil.mkdir()
        (evil / "x").write_text("SECRET")
        assert OUTSIDE in await world.refused("read_file", path=str(evil / "x"))
        assert OUTSIDE in await world.refused("read_file", path=f"../{name}/x")


async def test_a5_a_link_to_a_file_outside_is_not_followed(world: Any) -> None:
    (world.allowed / "relative").symlink_to("../outside/f")
    (world.allowed / "absolute").symlink_to(world.outside / "f")
    (world.allowed / "chain").symlink_to("relative")
    for name in ("relative", "absolute", "chain"):
        assert OUTSIDE in await world.refused("read_file", path=name)
        assert OUTSIDE in await world.refused("write_file", path=name, content="x")
    assert (world.outside / "f").read_text() == "SECRET"


async def test_a5_a_dangling_link_creates_nothing_outside(world: Any) -> None:
    (world.allowed / "l").symlink_to("../outside/new")
    assert OUTSIDE in await world.refused("write_file", path="l", content="x")
    assert tree(world.outside) == {"f"}


async def test_a6_nothing_is_created_through_a_link_to_a_folder_outside(world: Any) -> None:
    (world.allowed / "l").symlink_to("../outside")
    (world.allowed / "abs").symlink_to(world.outside)
    for link in ("l", "abs"):
        assert OUTSIDE in await world.refused("list_directory", path=link)
        assert OUTSIDE in await world.refused("read_file", path=f"{link}/f")
        assert OUTSIDE in await world.refused("write_file", path=f"{link}/x", content="x")
        assert OUTSIDE in await world.refused("create_folder", path=link, folder_name="x")
        assert OUTSIDE in await world.refused("move_file", source_path="d/f", destination_folder=link)
        assert OUTSIDE in await world.refused("rename_file", source_path=f"{link}/f", new_name="x")
        assert OUTSIDE in await world.refused("move_file", source_path=f"{link}/f", destination_folder="d")
    assert tree(world.outside) == {"f"}


async def test_a7_links_that_stay_inside_are_followed(world: Any) -> None:
    (world.allowed / "in").symlink_to("d")
    (world.allowed / "d" / "up").symlink_to("../d/f")
    (world.allowed / "to-new").symlink_to("d/new")
    assert await world.told("read_file", path="in/f") == "fine"
    assert await world.told("read_file", path="in/up") == "fine"
    assert await world.told("list_directory", path="in")
    await world.told("write_file", path="in/up", content="written")
    assert (world.allowed / "d" / "up").is_symlink()
    assert (world.allowed / "d" / "f").read_text() == "written"
    await world.told("write_file", path="to-new", content="made")
    assert (world.allowed / "d" / "new").read_text() == "made"
    await world.told("create_folder", path="in", folder_name="sub")
    assert (world.allowed / "d" / "sub").is_dir()


async def test_a7_links_without_an_end_are_refused(world: Any) -> None:
    (world.allowed / "a").symlink_to("b")
    (world.allowed / "b").symlink_to("a")
    for tool, extra in (("read_file", {}), ("list_directory", {}), ("write_file", {"content": "x"})):
        assert "a loop of links" in await world.refused(tool, path="a", **extra)


async def test_a8_an_absolute_link_is_refused_even_when_it_points_inside(world: Any) -> None:
    (world.allowed / "abs").symlink_to(world.allowed / "d")
    assert OUTSIDE in await world.refused("read_file", path="abs/f")
    assert OUTSIDE in await world.refused("write_file", path="abs/x", content="x")


async def test_a_link_itself_can_be_moved_and_renamed_without_being_followed(world: Any) -> None:
    (world.allowed / "l").symlink_to("../outside")
    await world.told("rename_file", source_path="l", new_name="m")
    await world.told("move_file", source_path="m", destination_folder="d")
    assert (world.allowed / "d" / "m").is_symlink()
    assert tree(world.outside) == {"f"}


SWAPPER = """
import os, sys
os.chdir(sys.argv[1])
os.rename("d", "real")
print("swapping", flush=True)
while True:
    for target in ("real", "../outside"):
        os.symlink(target, "next")
        os.rename("next", "d")
"""


@contextmanager
def swapping(allowed: Path) -> Iterator[None]:
    """`d` is a link to a folder inside and to one outside, in turn, as fast as a process can do it."""
    with subprocess.Popen([sys.executable, "-c", SWAPPER, str(allowed)], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"swapping\n"
            yield
        finally:
            process.kill()


ATTEMPTS = 1000
MOST_ATTEMPTS = 20_000


async def raced(world: Any, tool: str, **arguments: Any) -> tuple[int, int]:
    """Call until both outcomes were seen, so that the race is known to have happened."""
    good = refused = attempt = 0
    while attempt < ATTEMPTS or not (good and refused):
        attempt += 1
        assert attempt < MOST_ATTEMPTS, (good, refused)
        result = await world.call(tool, **{key: value.format(attempt) for key, value in arguments.items()})
        assert "SECRET" not in result["content"][0]["text"]
        good, refused = good + (not result["isError"]), refused + result["isError"]
    return good, refused


@pytest.mark.acceptance
async def test_a10_a_folder_swapped_while_reading_leaks_nothing(world: Any) -> None:
    with swapping(world.allowed):
        await raced(world, "read_file", path="d/f")
        await raced(world, "list_directory", path="d/../d")


@pytest.mark.acceptance
async def test_a11_a_folder_swapped_while_writing_lets_nothing_out(world: Any) -> None:
    with swapping(world.allowed):
        written, _ = await raced(world, "write_file", path="d/w{}", content="x")
        made, _ = await raced(world, "create_folder", path="d", folder_name="m{}")
    assert tree(world.outside) == {"f"}
    assert (world.outside / "f").read_text() == "SECRET"
    assert len(tree(world.allowed / "real")) == 1 + written + made


@pytest.mark.acceptance
async def test_a11_a_folder_swapped_while_moving_lets_nothing_out(world: Any) -> None:
    for number in range(1, MOST_ATTEMPTS // 10):
        (world.allowed / f"v{number}").touch()
    with swapping(world.allowed):
        moved, _ = await raced(world, "move_file", source_path="v{}", destination_folder="d")
    assert tree(world.outside) == {"f"}
    assert len(tree(world.allowed / "real")) == 1 + moved


@pytest.mark.parametrize(
    "path", ["．．/outside/f", "%2e%2e%2foutside%2ff", "..%2foutside/f", "d/．．/．．/outside/f"]
)
async def test_a14_look_alikes_are_plain_names(world: Any, path: str) -> None:
    assert "does not exist" in await world.refused("read_file", path=path)


async def test_a14_two_spellings_of_one_letter_are_two_files(world: Any) -> None:
    await world.told("write_file", path="\u00e9", content="composed")
    await world.told("write_file", path="e\u0301", content="decomposed")
    assert await world.told("read_file", path="\u00e9") == "composed"


async def test_a15_another_case_gets_no_further(world: Any) -> None:
    (world.allowed / "Link").symlink_to("../outside")
    for path in ("Link/f", "link/f", "LINK/f", str(world.outside / "F"), str(world.allowed).upper() + "/d/f"):
        await world.refused("read_file", path=path)


async def test_a16_special_files_are_refused_without_waiting(world: Any) -> None:
    os.mkfifo(world.allowed / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(world.allowed / "socket"))
        (world.allowed / "in").symlink_to("pipe")
        for name in ("pipe", "socket", "in"):
            assert "not a regular file" in await world.refused("read_file", path=name)
            assert "not a regular file" in await world.refused("write_file", path=name, content="x")
    assert stat.S_ISFIFO((world.allowed / "pipe").lstat().st_mode)
    assert "special" in await world.told("list_directory", path=".")


async def test_a16_a_device_is_refused_by_its_type(make_world: Any) -> None:
    make_world()
    devices = make_world(["/dev"])
    for name in ("zero", "null", "/dev/zero"):
        assert "not a regular file" in await devices.refused("read_file", path=name)


async def test_a17_writing_to_a_hard_link_leaves_the_other_name_untouched(world: Any) -> None:
    os.link(world.outside / "f", world.allowed / "h")
    await world.told("write_file", path="h", content="mine")
    assert (world.outside / "f").read_text() == "SECRET"
    assert (world.allowed / "h").read_text() == "mine"


async def test_a18_a_huge_file_is_read_in_parts(world: Any) -> None:
    with (world.allowed / "huge").open("wb") as huge:
        huge.write(b"line\n" * 500_000)
        huge.truncate(4 * 1024**3)
    content = (await world.call("read_file", path="huge"))["content"]
    assert len(content[0]["text"]) == 1024 * 1024
    assert content[1]["text"] == "[Bytes 0 to 1048576 of 4294967296. Continue with offset=1048576.]"


@pytest.mark.parametrize("path", ["~", "~/x", "~root/.ssh", "$HOME/x", "${HOME}/x", "%HOME%/x"])
async def test_a22_nothing_is_expanded(world: Any, path: str) -> None:
    assert "does not exist" in await world.refused("read_file", path=path)


async def test_a22_a_tilde_is_a_name_like_any_other(world: Any) -> None:
    await world.told("create_folder", path=".", folder_name="~")
    await world.told("write_file", path="~/x", content="here")
    assert (world.allowed / "~" / "x").read_text() == "here"


async def test_a23_a_new_file_obeys_the_umask_and_an_old_one_keeps_its_mode(world: Any) -> None:
    before = os.umask(0o027)
    try:
        await world.told("write_file", path="new", content="x")
        await world.told("create_folder", path=".", folder_name="folder")
    finally:
        os.umask(before)
    assert stat.S_IMODE((world.allowed / "new").stat().st_mode) == 0o640
    assert stat.S_IMODE((world.allowed / "folder").stat().st_mode) == 0o750
    (world.allowed / "new").chmod(0o6755)
    await world.told("write_file", path="new", content="y")
    assert stat.S_IMODE((world.allowed / "new").stat().st_mode) == 0o755
    (world.allowed / "new").chmod(0o600)
    await world.told("write_file", path="new", content="z")
    assert stat.S_IMODE((world.allowed / "new").stat().st_mode) == 0o600


async def test_a24_a_root_stays_where_it_is(world: Any) -> None:
    for path in (".", "", str(world.allowed), "d/.."):
        await world.refused("move_file", source_path=path, destination_folder="d")
        await world.refused("rename_file", source_path=path, new_name="x")
    assert (world.allowed / "d" / "f").exists()


async def test_a24_a_root_inside_another_stays_too_and_so_does_the_way_to_it(make_world: Any) -> None:
    world = make_world(["allowed"])
    (world.allowed / "a" / "b").mkdir(parents=True)
    nested = make_world(["allowed", "allowed/a/b"])
    for path in ("a", "a/b"):
        assert "cannot be moved" in await nested.refused("rename_file", source_path=path, new_name="x")
        assert "cannot be moved" in await nested.refused(
            "move_file", source_path=path, destination_folder="d"
        )
    await nested.refused("rename_file", source_path=str(world.allowed / "a" / "b"), new_name="x")
    assert (world.allowed / "a" / "b").is_dir()


async def test_a25_replacement_signs_are_written_as_they_are(world: Any) -> None:
    for content in ("$&", "$1 $$ $` $'", "\\0 \\g<1>", "%(x)s {0}"):
        await world.told("write_file", path="t", content=content)
        assert await world.told("read_file", path="t") == content


async def test_a26_a_client_cannot_widen_the_roots(world: Any) -> None:
    session = world.server.session()
    said: list[Any] = []
    opening = {"protocolVersion": "2025-11-25", "capabilities": {"roots": {"listChanged": True}}}
    opening["roots"] = [{"uri": "file:///"}]
    for message in (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening},
        {"jsonrpc": "2.0", "method": "notifications/roots/list_changed", "params": {"roots": ["file:///"]}},
        {"jsonrpc": "2.0", "id": 2, "result": {"roots": [{"uri": "file:///"}]}},
    ):
        await session.respond(message, said.append)
    call = {"name": "read_file", "arguments": {"path": "/etc/passwd"}, "roots": [{"uri": "file:///"}]}
    answer = await session.respond(
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call}, said.append
    )
    assert answer["result"]["isError"] is True
    assert said == []


CONFIGS = [
    "mcp.json",
    ".mcp.json",
    ".env",
    ".env.local",
    ".bashrc",
    ".profile",
    ".zshrc",
    ".envrc",
    ".npmrc",
    ".gitconfig",
    "authorized_keys",
    ".ssh/config",
    ".git/config",
    ".git/hooks/pre-commit",
    ".git/modules/m/hooks/post-checkout",
    ".cursor/mcp.json",
    ".vscode/tasks.json",
    ".config/systemd/user/x.service",
    ".config/autostart/x.desktop",
    "MCP.JSON",
    ".Git/hooks/x",
    ".BASHRC",
]


@pytest.mark.parametrize("path", CONFIGS)
async def test_a27_files_that_make_others_act_are_not_written(world: Any, path: str) -> None:
    target = world.allowed / "d" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    assert PROTECTED in await world.refused("write_file", path=f"d/{path}", content="x")
    assert not target.exists()


@pytest.mark.parametrize("name", [".git", ".ssh", ".bashrc", "mcp.json", ".env", ".vscode"])
async def test_a27_nothing_becomes_such_a_file_by_moving_renaming_or_creating(world: Any, name: str) -> None:
    (world.allowed / "e" / "hooks").mkdir(parents=True)
    (world.allowed / "e" / name).mkdir()
    (world.allowed / "other").mkdir()
    assert PROTECTED in await world.refused("rename_file", source_path="d", new_name=name)
    assert PROTECTED in await world.refused("create_folder", path=".", folder_name=name)
    assert PROTECTED in await world.refused("move_file", source_path=f"e/{name}", destination_folder="other")
    assert PROTECTED in await world.refused(
        "move_file", source_path="e/hooks", destination_folder=f"e/{name}"
    )
    assert PROTECTED in await world.refused("rename_file", source_path=f"e/{name}", new_name="plain")


async def test_a27_a_link_to_such_a_place_does_not_help(world: Any) -> None:
    (world.allowed / ".git" / "hooks").mkdir(parents=True)
    (world.allowed / "h").symlink_to(".git/hooks")
    (world.allowed / "rc").symlink_to(".bashrc")
    assert PROTECTED in await world.refused("write_file", path="h/pre-commit", content="x")
    assert PROTECTED in await world.refused("move_file", source_path="d/f", destination_folder="h")
    assert PROTECTED in await world.refused("create_folder", path="h", folder_name="x")
    assert PROTECTED in await world.refused("write_file", path="rc", content="x")
    assert tree(world.allowed / ".git") == {"hooks"}


async def test_a27_ordinary_neighbours_are_written(world: Any) -> None:
    for path in (".gitignore", ".env.example", "environment", "config", "mcp.json.md", "bashrc", ".github"):
        await world.told("write_file", path=path, content="x")


async def test_a27_whoever_starts_the_server_can_allow_it(make_world: Any) -> None:
    world = make_world(allow_protected=True)
    await world.told("write_file", path=".env", content="x")
    assert (world.allowed / ".env").read_text() == "x"


async def test_a27_our_own_home_is_protected_except_for_a_root_inside_it(
    make_world: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "allowed" / "crib"
    (home / "files").mkdir(parents=True)
    monkeypatch.setenv("TOOLCRIB_HOME", str(home))
    world = make_world(["allowed", "allowed/crib/files"])
    assert PROTECTED in await world.refused("write_file", path="crib/secrets.json", content="x")
    assert PROTECTED in await world.refused("create_folder", path="crib", folder_name="x")
    await world.refused("rename_file", source_path="crib", new_name="x")
    await world.told("write_file", path=str(home / "files" / "note"), content="x")
    assert tree(home) == {"files", "files/note"}


def make_home(home: Path) -> None:
    """A home as a host leaves it."""
    for name in ("data", "run", "state", "logs", "files"):
        (home / name).mkdir(parents=True, exist_ok=True)
    for name in (
        "mcp.json",
        "mcp.json.bak",
        "secrets.json",
        "data/toolcrib.db",
        "run/host.lock",
        "logs/a.log",
    ):
        (home / name).write_text("SECRET")
    (home / "files" / "note").write_text("fine")


OWN = ["mcp.json", "mcp.json.bak", "secrets.json", "data/toolcrib.db", "logs/a.log", "new"]


@pytest.mark.parametrize("path", OWN)
async def test_a27_a_toolcrib_home_of_any_name_is_neither_read_nor_changed(world: Any, path: str) -> None:
    make_home(world.allowed / "crib")
    before = tree(world.allowed)

    for spelled in (f"crib/{path}", f"d/../crib/{path}", str(world.allowed / "crib" / path)):
        await world.refused("read_file", path=spelled)
        await world.refused("write_file", path=spelled, content="x")
        await world.refused("move_file", source_path="d/f", destination_folder=str(Path(spelled).parent))
        await world.refused("move_file", source_path=spelled, destination_folder="d")
        await world.refused("rename_file", source_path=spelled, new_name="x")
    await world.refused("rename_file", source_path="crib", new_name="x")
    await world.refused("move_file", source_path="crib", destination_folder="d", overwrite=True)
    await world.refused("list_directory", path="crib/data")
    await world.refused("create_folder", path="crib/run", folder_name="x")

    assert tree(world.allowed) == before
    assert await world.told("read_file", path="crib/files/note") == "fine"
    await world.told("write_file", path="crib/files/note", content="new")


async def test_a27_a_home_that_is_the_allowed_folder_is_protected(world: Any) -> None:
    make_home(world.allowed)

    for path in ("secrets.json", "data/toolcrib.db", "mcp.json"):
        assert PROTECTED in await world.refused("read_file", path=path)
        assert PROTECTED in await world.refused("write_file", path=path, content="x")
    assert await world.told("read_file", path="files/note") == "fine"


async def test_a27_a_link_to_a_home_does_not_help(world: Any) -> None:
    make_home(world.allowed / "crib")
    (world.allowed / "way").symlink_to("crib")
    (world.allowed / "key").symlink_to("crib/secrets.json")

    for path in ("way/secrets.json", "key", "way/data/toolcrib.db"):
        assert PROTECTED in await world.refused("read_file", path=path)
        assert PROTECTED in await world.refused("write_file", path=path, content="x")


async def test_a27_a_claimed_home_is_protected_under_hard_links_and_in_another_case(
    make_world: Any, tmp_path: Path
) -> None:
    home = tmp_path / "allowed" / "Crib"
    make_home(home)
    (home / "data" / "toolcrib.db").unlink()
    (home / "run" / "host.lock").unlink()
    os.link(home / "secrets.json", tmp_path / "allowed" / "innocent")
    (home / "data" / "backups").mkdir()
    (home / "data" / "backups" / "1.db").write_text("SECRET")
    os.link(home / "data" / "backups" / "1.db", tmp_path / "allowed" / "older")
    (tmp_path / "allowed" / "CRIB").mkdir()  # what a file system that ignores case takes for the home
    (tmp_path / "allowed" / "CRIB" / "x").write_text("SECRET")
    with claimed([home]):
        world = make_world()
        for path in ("innocent", "older", "Crib/logs/a.log", "CRIB/x"):
            assert PROTECTED in await world.refused("read_file", path=path)
        assert PROTECTED in await world.refused("write_file", path="CRIB/x", content="x")
    assert await world.told("read_file", path="innocent") == "SECRET"


async def test_a27_allowing_protected_files_opens_no_home(make_world: Any, tmp_path: Path) -> None:
    make_home(tmp_path / "allowed" / "crib")
    world = make_world(allow_protected=True)
    assert PROTECTED in await world.refused("read_file", path="crib/secrets.json")
    assert PROTECTED in await world.refused("write_file", path="crib/data/toolcrib.db", content="x")


async def test_a27_a_project_with_an_mcp_json_is_no_home(world: Any) -> None:
    (world.allowed / "mcp.json").write_text("{}")
    (world.allowed / "secrets.json").write_text("{}")
    (world.allowed / "data").mkdir()
    assert await world.told("read_file", path="secrets.json") == "{}"
    await world.told("write_file", path="data/x", content="x")


async def test_a27_further_folders_can_be_protected(make_world: Any, tmp_path: Path) -> None:
    world = make_world(protect=[tmp_path / "allowed" / "d"])
    assert PROTECTED in await world.refused("write_file", path="d/f", content="x")
    assert PROTECTED in await world.refused("rename_file", source_path="d", new_name="x")
    await world.told("write_file", path="other", content="x")


async def test_an_unreadable_way_leaks_no_descriptors(world: Any) -> None:
    (world.allowed / "loop").symlink_to("loop")
    (world.allowed / "l").symlink_to("../outside")
    before = set(Path("/dev/fd").iterdir())
    for path in ("d/f", "d/../d/f", "l/f", "loop", "nope/x", "../x", "d/f/x"):
        await world.call("read_file", path=path)
        await world.call("write_file", path=path, content="x")
        await world.call("list_directory", path=path)
        await world.call("move_file", source_path=path, destination_folder="l")
        await world.call("create_folder", path=path, folder_name="f")
    assert set(Path("/dev/fd").iterdir()) == before

"""The wheel as users install it, with pip, pipx, uv tool and uvx, on each supported Python; and a newer
version in its place."""

from __future__ import annotations

import os
import shutil
import sys
import tarfile
from pathlib import Path

import pytest

from tests.distribution.building import PYTHONS, build, find_python, run
from tests.distribution.installed import Installed, take_first_steps
from toolcrib.serverkit.extras.index_settings import index_settings
from toolcrib.version import __version__

pytestmark = pytest.mark.acceptance

BIN = Path(sys.executable).parent
NEXT = "0.999.0"


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path


def with_uv(folder: Path) -> dict[str, str]:
    """uv, with pip's index, and its tools in this folder."""
    places = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    return {**os.environ, **index_settings(os.environ), **places}


@pytest.mark.parametrize(
    "python",
    PYTHONS,
    ids=lambda version: version if find_python(version) else f"{version}-is-not-on-this-machine",
)
def test_pip_installs_it_into_a_bare_environment(python: str, dist: dict[str, Path], folder: Path) -> None:
    found = find_python(python)
    if found is None:
        assert_all_packages_are_wheels(python, dist[".whl"], folder)
        return
    environment = folder / "environment"
    # `python -m venv` would look for Debian's own wheel of pip, which a Python in a folder does not have.
    run([str(BIN / "uv"), "venv", "--seed", "--python", found, str(environment)], env=with_uv(folder))
    pip = [str(environment / "bin" / "python"), "-m", "pip"]
    run([*pip, "install", "--quiet", str(dist[".whl"])])
    toolcrib = Installed((str(environment / "bin" / "toolcrib"),), folder / "home")

    take_first_steps(toolcrib, __version__)

    run([*pip, "uninstall", "--quiet", "--yes", "toolcrib"])
    assert not Path(toolcrib.command[0]).exists()
    assert toolcrib.home.joinpath("mcp.json").exists()


def assert_all_packages_are_wheels(python: str, wheel: Path, folder: Path) -> None:
    """What can be said without that Python: nothing would have to be compiled."""
    wanted = folder / "wanted.in"
    wanted.write_text(f"toolcrib @ {wheel.as_uri()}\n")
    uv = [str(BIN / "uv"), "pip", "compile", "--quiet", "--no-header", "--python-version", python]
    found = run([*uv, "--only-binary", ":all:", str(wanted)], env=with_uv(folder))
    assert {"cryptography", "jsonschema-rs", "onnxruntime", "pydantic-core"} <= {
        line.partition("==")[0] for line in found.splitlines()
    }


def test_pipx_installs_and_removes_it(dist: dict[str, Path], folder: Path) -> None:
    run([sys.executable, "-m", "venv", str(folder / "pipx")])
    run([str(folder / "pipx" / "bin" / "pip"), "install", "--quiet", "pipx"])
    places = {"PIPX_HOME": "tools", "PIPX_BIN_DIR": "bin", "PIPX_MAN_DIR": "man"}
    environment = {**os.environ, **{name: str(folder / place) for name, place in places.items()}}
    pipx = [str(folder / "pipx" / "bin" / "pipx")]
    run([*pipx, "install", "--python", sys.executable, str(dist[".whl"])], env=environment)
    toolcrib = Installed((str(folder / "bin" / "toolcrib"),), folder / "home")

    take_first_steps(toolcrib, __version__)

    run([*pipx, "uninstall", "toolcrib"], env=environment)
    assert list((folder / "bin").iterdir()) == []


def test_uv_tool_installs_and_removes_it(dist: dict[str, Path], folder: Path) -> None:
    uv, environment = str(BIN / "uv"), with_uv(folder)
    run([uv, "tool", "install", "--python", sys.executable, str(dist[".whl"])], env=environment)
    toolcrib = Installed((str(folder / "bin" / "toolcrib"),), folder / "home")

    take_first_steps(toolcrib, __version__)

    run([uv, "tool", "uninstall", "toolcrib"], env=environment)
    assert list((folder / "bin").iterdir()) == []


def test_uvx_runs_it_without_installing_it(dist: dict[str, Path], folder: Path) -> None:
    uvx = (str(BIN / "uvx"), "--quiet", "--python", sys.executable, "--from", str(dist[".whl"]), "toolcrib")
    toolcrib = Installed(uvx, folder / "home", tuple(with_uv(folder).items()))

    take_first_steps(toolcrib, __version__)

    assert not (folder / "bin").exists()


def test_the_next_version_keeps_the_home(dist: dict[str, Path], folder: Path) -> None:
    uv, environment = str(BIN / "uv"), with_uv(folder)
    run([uv, "tool", "install", "--python", sys.executable, str(dist[".whl"])], env=environment)
    toolcrib = Installed((str(folder / "bin" / "toolcrib"),), folder / "home")
    toolcrib("call", "demo__add", "a=20", "b=3")
    toolcrib("ask", "What is 17 plus 25?", "--model", "demo")
    toolcrib("add", "notes", "--yes", "--as-is", "--disabled", "--", "notes-server")
    before = kept_in(toolcrib)

    run([uv, "tool", "install", str(next_wheel(dist[".tar.gz"], folder))], env=environment)

    assert toolcrib.json("version")["version"] == NEXT
    assert kept_in(toolcrib) == before
    assert toolcrib("call", "demo__add", "a=1", "b=2") == "3\n"


def kept_in(toolcrib: Installed) -> dict[str, object]:
    """What a user would miss."""
    return {
        "servers": [server["name"] for server in toolcrib.json("servers", "--wait", "0")],
        "calls": toolcrib.json("audit"),
        "chats": toolcrib.json("chat", "--list"),
        "settings": toolcrib.json("settings", "list"),
    }


def next_wheel(archive: Path, folder: Path) -> Path:
    """The same with a higher version."""
    with tarfile.open(archive) as sources:
        sources.extractall(folder / "next", filter="data")
    (sources_folder,) = (folder / "next").iterdir()
    for file in ("pyproject.toml", "src/toolcrib/version.py"):
        path = sources_folder / file
        path.write_text(
            path.read_text()
            .replace(f'ersion = "{__version__}"', f'ersion = "{NEXT}"', 1)
            .replace(f'__version__ = "{__version__}"', f'__version__ = "{NEXT}"')
        )
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=sources_folder)
    shutil.rmtree(folder / "next")
    (wheel,) = folder.glob("*.whl")
    return wheel

"""Packages of PyPI: an environment of their own, from wheels, with the code compiled beforehand."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from tests.servers.installers.conftest import Tell
from tests.servers.installers.packages import wheel
from toolcrib.errors import InstallFailed, NotFound, UsageError
from toolcrib.servers.installers.engine.archives import WheelContent, choose_program
from toolcrib.servers.installers.engine.installations import Installations
from toolcrib.servers.installers.engine.plan import Options


def sdist(folder: Path, mark: Path, name: str = "evil") -> Path:
    """A source distribution that leaves a mark when it is built."""
    setup = f"from pathlib import Path\nPath({str(mark)!r}).touch()\nfrom setuptools import setup\nsetup()\n"
    files = {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        "setup.py": setup,
        "setup.cfg": f"[metadata]\nname = {name}\nversion = 1.0\n",
    }
    target = folder / f"{name}-1.0.tar.gz"
    with tarfile.open(target, "w:gz") as archive:
        for file, text in files.items():
            info = tarfile.TarInfo(f"{name}-1.0/{file}")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return target


async def test_a_package_gets_an_environment_of_its_own_and_is_compiled(
    installations: Installations, tell: Tell, tool_catalog: Path
) -> None:
    wheel(tool_catalog)
    wheel(tool_catalog, "1.1.0")

    plan = await installations.plan("pypi:tiny-server", "tiny", args=["--fast"])
    installed = await installations.apply(plan)

    assert (plan.version, plan.fetches) == ("1.1.0", ("tiny-server==1.1.0",))
    assert plan.entry["module"] == "tiny_server"
    told = await tell("tiny", plan.entry)
    assert (told["version"], told["args"]) == ("1.1.0", ["--fast"])
    assert told["python"] == str(installed.folder / "venv")
    assert list(installed.folder.glob("venv/lib/*/site-packages/__pycache__/tiny_server.*.pyc"))
    assert "--hash=sha256:" in (installed.folder / "requirements.lock").read_text()


async def test_a_wheel_is_installed_with_what_it_needs(
    installations: Installations, tell: Tell, tool_catalog: Path, tmp_path: Path
) -> None:
    wheel(tool_catalog, name="other-part")
    own = wheel(tmp_path / "mine", requires="other-part")

    plan = await installations.plan(str(own), "tiny")
    installed = await installations.apply(plan)

    assert plan.fetches == ("tiny-server==1.0.0", "other-part==1.0.0")
    assert (await tell("tiny", plan.entry))["version"] == "1.0.0"
    assert list(installed.folder.glob("venv/lib/*/site-packages/other_part.py"))


async def test_a_source_distribution_is_not_built_unless_allowed_by_name(
    installations: Installations, tool_catalog: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "ran"
    sdist(tool_catalog, mark)
    wheel(tool_catalog, requires="evil")

    with pytest.raises(InstallFailed) as caught:
        await installations.plan("pypi:tiny-server", "tiny")

    assert "--allow-build" in caught.value.hint
    assert not mark.exists()


@pytest.mark.acceptance
async def test_an_allowed_build_is_named_in_the_plan(
    installations: Installations, tell: Tell, environ: dict[str, str], tool_catalog: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "ran"
    sdist(tool_catalog, mark)
    wheel(tool_catalog, requires="evil")
    # The build system comes from the index that the machine has.
    for name in ("PIP_CONFIG_FILE", "PIP_NO_INDEX"):
        del environ[name]

    plan = await installations.plan("pypi:tiny-server==1.0.0", "tiny", Options(allow_build=("evil",)))
    await installations.apply(plan)

    assert plan.builds == ("evil",)
    assert mark.exists()
    assert (await tell("tiny", plan.entry))["version"] == "1.0.0"


async def test_a_requirement_that_the_package_forgot_can_be_added(
    installations: Installations, tool_catalog: Path
) -> None:
    wheel(tool_catalog, requires="other-part")
    for version in ("1.5.0", "2.5.0"):
        wheel(tool_catalog, version, name="other-part")

    plan = await installations.plan("pypi:tiny-server", "tiny", Options(also=("other-part<2",)))

    assert "other-part==1.5.0" in plan.fetches
    for bad in ("--index-url=x", "other @ file:///etc", "a\n--index-url x", "../x", "x;y"):
        with pytest.raises(UsageError):
            await installations.plan("pypi:tiny-server", "tiny", Options(also=(bad,)))


async def test_a_look_alike_is_shown_as_one(installations: Installations, tool_catalog: Path) -> None:
    wheel(tool_catalog, name="mcp-sever-git")

    plan = await installations.plan("pypi:mcp-sever-git", "git")

    assert "mcp-sever-git is not the well-known mcp-server-git, despite the similar name." in plan.remarks


async def test_an_unknown_package_or_version_is_not_found(
    installations: Installations, tool_catalog: Path
) -> None:
    wheel(tool_catalog)

    for reference in ("pypi:no-such-package", "pypi:tiny-server==9"):
        with pytest.raises((NotFound, InstallFailed)):
            await installations.plan(reference, "tiny")


async def test_a_wheel_that_changed_after_it_was_shown_is_not_installed(
    installations: Installations, tool_catalog: Path, tmp_path: Path
) -> None:
    own = wheel(tmp_path / "mine")
    plan = await installations.plan(str(own), "tiny")
    wheel(tmp_path / "other", requires="other").replace(own)

    with pytest.raises(InstallFailed, match="has changed"):
        await installations.apply(plan)


async def test_another_python_that_is_not_there_is_said_so(
    installations: Installations, tool_catalog: Path
) -> None:
    wheel(tool_catalog)

    with pytest.raises(InstallFailed):
        await installations.plan("pypi:tiny-server", "tiny", Options(python="9.9"))


def test_the_program_is_the_one_called_like_the_package() -> None:
    several = WheelContent("a-b", "1", {"other": "x:y", "a_b": "a.b:main"})

    assert choose_program(several, None) == ("a_b", "a.b:main")
    assert choose_program(several, "other") == ("other", "x:y")
    assert choose_program(WheelContent("n", "1", {}, ("n",)), None) == ("", "n")
    for content in (WheelContent("n", "1", {"x": "x", "y": "y"}), WheelContent("n", "1")):
        with pytest.raises(UsageError):
            choose_program(content, None)

"""Packages that need another Python than ours: resolved for it, and installed with it where it can be had."""

from __future__ import annotations

import os
import pwd
import sys
from pathlib import Path

import pytest

from tests.servers.installers.conftest import Tell
from tests.servers.installers.packages import wheel
from toolcrib.errors import InstallFailed, NotFound
from toolcrib.servers.installers.engine.contract import CommandRunner, InstallContext
from toolcrib.servers.installers.engine.installations import Installations
from toolcrib.servers.installers.engine.plan import Options
from toolcrib.servers.installers.engine.uv import PythonRange, find_python, ranges_in

pytestmark = pytest.mark.acceptance

NEXT = f"3.{sys.version_info[1] + 1}"
REFUSALS = [
    ("Because a==1.0 requires Python >=3.13 and only a==1.0 is available", (">=3.13",)),
    ("does not satisfy Python>=3.10,<3.11 and a==1 depends on Python>=3.10,<3.11", (">=3.10,<3.11",)),
    ("a<2 requires Python >=3.12 and a==2 requires Python >=3.13, <4", (">=3.12", ">=3.13,<4")),
    (
        "hint: You require CPython 3.11 (`cp311`), but we only found wheels for `a` (v1) with the following "
        "Python implementation tags: `cp312`, `cp313`",
        ("==3.13.*", "==3.12.*"),
    ),
    ("a was not found in the package registry", ()),
]


@pytest.mark.parametrize(("line", "wanted"), REFUSALS)
def test_the_versions_of_python_are_read_from_a_refusal(line: str, wanted: tuple[str, ...]) -> None:
    assert tuple(one.text for one in ranges_in([line])) == wanted


@pytest.mark.parametrize(
    ("wanted", "fitting", "unfit"),
    [
        (">=3.12", [(3, 12), (3, 12, 0), (3, 14)], [(3, 11, 9), (3, 11)]),
        (">=3.10,<3.12", [(3, 11, 7), (3, 10)], [(3, 12), (3, 9, 18)]),
        ("<=3.11", [(3, 11, 7), (3, 11)], [(3, 12)]),
        ("==3.12.*", [(3, 12), (3, 12, 4)], [(3, 13), (3, 11)]),
        ("~=3.11", [(3, 11), (3, 13, 1)], [(3, 10)]),
        (">=3.11,!=3.12.*", [(3, 11), (3, 13)], [(3, 12), (3, 12, 1)]),
        (">3.11", [(3, 12)], [(3, 10)]),
    ],
)
def test_a_range_accepts_the_versions_in_it(
    wanted: str, fitting: list[tuple[int, ...]], unfit: list[tuple[int, ...]]
) -> None:
    assert [PythonRange(wanted).accepts(one) for one in fitting] == [True] * len(fitting)
    assert [PythonRange(wanted).accepts(one) for one in unfit] == [False] * len(unfit)


async def test_a_package_that_needs_another_python_gets_it(
    installations: Installations, tell: Tell, environ: dict[str, str], tool_catalog: Path, tmp_path: Path
) -> None:
    wheel(tool_catalog, python=f">={NEXT}")
    context = InstallContext(
        runtimes=tmp_path, cache=tmp_path, place=tmp_path, runner=CommandRunner(environ=environ)
    )
    here = await find_python(context, PythonRange(f">={NEXT}"))

    plan = await installations.plan("pypi:tiny-server", "tiny")

    version = here[1] if here else NEXT
    minor = ".".join(version.split(".")[:2])
    assert plan.options.needed_python == version
    assert plan.runtimes == (() if here else (f"Python {version} (about 30 MB)",))
    if here is None:  # uv would have to fetch one, and has no network in a test
        with pytest.raises(InstallFailed, match=f"Python =={version}"):
            await installations.apply(plan)
        return
    installed = await installations.apply(plan)
    assert (await tell("tiny", plan.entry))["version"] == "1.0.0"
    assert installed.record.options.needed_python == version
    assert list(installed.folder.glob(f"venv/lib/python{minor}"))


async def test_a_floor_with_a_patch_number_is_met_by_the_release_that_is_installed(
    installations: Installations, environ: dict[str, str], tool_catalog: Path, tmp_path: Path
) -> None:
    environ["HOME"] = pwd.getpwuid(os.getuid()).pw_dir  # HOME may name an empty one, without its Pythons
    context = InstallContext(
        runtimes=tmp_path, cache=tmp_path, place=tmp_path, runner=CommandRunner(environ=environ)
    )
    here = await find_python(context, PythonRange(f">={NEXT}"))
    assert here is not None, "a Python newer than this one is needed, such as one of pyenv"
    wheel(tool_catalog, python=f">={here[1]}")

    plan = await installations.plan("pypi:tiny-server", "tiny")

    assert plan.options.needed_python == here[1]
    assert plan.runtimes == ()
    minor = ".".join(here[1].split(".")[:2])
    chosen = await installations.plan("pypi:tiny-server", "tiny", Options(python=minor))
    assert chosen.version == "1.0.0"


def test_a_floor_with_a_patch_number_is_a_version_that_exists() -> None:
    assert PythonRange(">=3.12.1").lowest() == "3.12.1"
    assert PythonRange(">=3.12.1,<4").lowest(["3.12.1"]) == "3.13"


async def test_the_python_is_kept_for_an_update(installations: Installations, tool_catalog: Path) -> None:
    wheel(tool_catalog, python=f">={NEXT}")
    first = await installations.plan("pypi:tiny-server", "tiny")
    wheel(tool_catalog, "1.1.0", python=f">={NEXT}")

    again = await installations.plan("pypi:tiny-server", "tiny", first.options)

    assert (again.version, again.options) == ("1.1.0", first.options)


async def test_without_a_fitting_python_the_error_names_it_and_how_to_get_it(
    installations: Installations, environ: dict[str, str], tool_catalog: Path
) -> None:
    wheel(tool_catalog, python=">=3.29")
    environ["UV_PYTHON_DOWNLOADS"] = "never"

    with pytest.raises(InstallFailed, match=r"needs Python >=3\.29") as caught:
        await installations.plan("pypi:tiny-server", "tiny")

    assert "uv python install 3.29" in caught.value.hint


async def test_a_python_that_was_chosen_is_not_replaced(
    installations: Installations, tool_catalog: Path
) -> None:
    wheel(tool_catalog, python=">=3.29")

    with pytest.raises(InstallFailed, match=r"needs another Python \(>=3\.29\)"):
        await installations.plan("pypi:tiny-server", "tiny", Options(python=sys.executable))


async def test_a_project_of_ones_own_gets_the_python_that_it_requires(
    installations: Installations, environ: dict[str, str], tool_catalog: Path, tmp_path: Path
) -> None:
    project = tmp_path / "mine"
    project.mkdir()
    text = '[project]\nname = "mine"\nversion = "1"\nrequires-python = ">=3.29"\n'
    (project / "pyproject.toml").write_text(text + '[project.scripts]\nmine = "mine:main"\n')
    environ["UV_PYTHON_DOWNLOADS"] = "never"

    with pytest.raises(InstallFailed, match=r"needs Python >=3\.29"):
        await installations.plan(str(project), "mine")


async def test_a_package_whose_versions_were_all_yanked_is_called_yanked(
    installations: Installations, environ: dict[str, str], tool_catalog: Path, tmp_path: Path
) -> None:
    file = wheel(tool_catalog)
    page = tmp_path / "index" / "tiny-server" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text(f'<a href="{file.as_uri()}" data-yanked="broken">{file.name}</a>')
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS"):
        del environ[name]
    environ["PIP_INDEX_URL"] = (tmp_path / "index").as_uri()

    with pytest.raises(NotFound, match="yanked") as caught:
        await installations.plan("pypi:tiny-server", "tiny")

    assert "allow-build" not in caught.value.hint


async def test_a_package_without_wheels_whose_versions_were_all_yanked_is_called_yanked(
    installations: Installations, environ: dict[str, str], tmp_path: Path
) -> None:
    page = tmp_path / "index" / "tiny-server" / "index.html"
    page.parent.mkdir(parents=True)
    source = page.with_name("tiny_server-1.0.0.tar.gz")
    source.write_bytes(b"never read")
    page.write_text(f'<a href="{source.as_uri()}" data-yanked="superseded">{source.name}</a>')
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS"):
        environ.pop(name, None)
    environ["PIP_INDEX_URL"] = (tmp_path / "index").as_uri()

    with pytest.raises(NotFound, match="yanked") as caught:
        await installations.plan("pypi:tiny-server", "tiny")

    assert "allow-build" not in caught.value.hint

"""Installing runs no code of the package or of its dependencies; what would run at the start is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.servers.installers.conftest import Tell
from tests.servers.installers.packages import bundle, manifest, npm_package, wheel
from toolcrib.errors import InstallFailed, UsageError
from toolcrib.servers.installers.engine.installations import Installations
from toolcrib.servers.installers.engine.plan import Options


def hooks(mark: Path, name: str = "evil") -> dict[str, str]:
    """Files that every start of the environment's Python runs; each leaves a mark."""
    code = f"open({str(mark)!r}, 'a').write('ran ')"
    return {
        f"{name}.pth": f"import os; {code}\n",
        "sitecustomize.py": f"{code}\n",
        "usercustomize.py": f"{code}\n",
    }


@pytest.mark.parametrize("setting", ["", "UV_COMPILE_BYTECODE", "UV_NO_CACHE"])
async def test_start_hooks_of_a_wheel_do_not_run_while_it_is_installed(
    installations: Installations,
    environ: dict[str, str],
    tell: Tell,
    tool_catalog: Path,
    tmp_path: Path,
    setting: str,
) -> None:
    if setting:
        environ[setting] = "1"
    mark = tmp_path / "ran"
    wheel(tool_catalog, name="other-part", more=hooks(mark))
    own = wheel(tmp_path / "mine", requires="other-part", more={"own.pth": hooks(mark)["evil.pth"]})

    plan = await installations.plan(str(own), "tiny")
    installed = await installations.apply(plan)

    assert not mark.exists()
    assert any("own.pth" in remark for remark in plan.remarks)
    (named,) = installed.record.remarks
    assert "evil.pth, own.pth, sitecustomize.py, usercustomize.py" in named
    assert list(installed.folder.glob("venv/lib/*/site-packages/__pycache__/tiny_server.*.pyc"))
    await tell("tiny", plan.entry)
    assert mark.exists()


async def test_start_hooks_of_an_update_are_named_and_do_not_run(
    installations: Installations, tool_catalog: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "ran"
    wheel(tool_catalog)
    first = await installations.apply(await installations.plan("pypi:tiny-server", "tiny"))
    wheel(tool_catalog, "2.0.0", more=hooks(mark))

    plan = await installations.plan("pypi:tiny-server", "tiny")
    second = await installations.apply(plan)

    assert first.record.remarks == ()
    assert any("evil.pth" in remark and "sitecustomize.py" in remark for remark in plan.remarks)
    assert "evil.pth" in "".join(second.record.remarks)
    assert not mark.exists()


@pytest.mark.parametrize(
    "file",
    [
        "{info}.data/scripts/python",
        "{info}.data/scripts/python3",
        "{info}.data/data/bin/python3",
        "{info}.data/data/bin/activate",
        "{info}.data/data/bin/python",
        "{info}.data/data/pyvenv.cfg",
    ],
)
async def test_a_package_cannot_replace_the_interpreter_of_its_environment(
    installations: Installations, tool_catalog: Path, tmp_path: Path, file: str
) -> None:
    mark = tmp_path / "ran"
    evil = {file.format(info="other_part-1.0.0"): f"#!/bin/sh\ntouch {mark}\n"}
    wheel(tool_catalog, name="other-part", more=evil)
    wheel(tool_catalog, requires="other-part")

    with pytest.raises(InstallFailed, match=Path(file).name):
        await installations.apply(await installations.plan("pypi:tiny-server", "tiny"))

    assert not mark.exists()
    assert installations.names() == []


@pytest.mark.parametrize(
    "line",
    ["-e {evil}", "--editable={evil}", "ok\n-e {evil}", "-r {evil}/x.txt", "x @ file://{evil}", "{evil}"],
)
@pytest.mark.parametrize("kind", ["project", "bundle"])
async def test_a_dependency_cannot_be_an_option_of_the_installer(
    installations: Installations, tool_catalog: Path, tmp_path: Path, line: str, kind: str
) -> None:
    mark, evil = tmp_path / "ran", tmp_path / "evil"
    evil.mkdir()
    (evil / "backend.py").write_text(f"open({str(mark)!r}, 'w')\n")
    system = "requires = []\nbuild-backend = 'backend'\nbackend-path = ['.']"
    (evil / "pyproject.toml").write_text(
        f"[build-system]\n{system}\n[project]\nname = 'x'\ndynamic = ['version']\n"
    )
    project = f"[project]\nname = 'p'\nversion = '1'\ndependencies = [{json.dumps(line.format(evil=evil))}]\n"
    source = tmp_path / "p"
    if kind == "project":
        (source / "p").mkdir(parents=True)
        (source / "p" / "__main__.py").write_text("")
        (source / "pyproject.toml").write_text(project)
    else:
        server = {"type": "uv", "entry_point": "server/main.py"}
        source = bundle(tmp_path / "p.mcpb", manifest(server=server), {"pyproject.toml": project})

    with pytest.raises(UsageError):
        await installations.plan(str(source), "tiny")

    assert not mark.exists()


async def test_an_allowed_script_does_not_run_the_node_of_another_package(
    installations: Installations, tmp_path: Path
) -> None:
    allowed, mark = tmp_path / "allowed", tmp_path / "ran"
    package = npm_package(
        tmp_path / "server",
        bin={"tiny-server": "tiny.js", "node": "node", "sh": "node"},
        scripts={"postinstall": f"node -e \"require('fs').writeFileSync('{allowed}', '')\""},
        files=["tiny.js", "node"],
    )
    (package / "node").write_text(f"#!/bin/sh\ntouch {mark}\n")

    options = Options(allow_scripts=("tiny-server",))
    plan = await installations.plan(str(package), "tiny", options)
    await installations.apply(plan)

    assert any("node" in remark and "sh" in remark for remark in plan.remarks)
    assert allowed.exists()
    assert not mark.exists()

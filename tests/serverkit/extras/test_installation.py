"""An extra is installed once, from the package index that the user set up, and becomes importable."""

from __future__ import annotations

import asyncio
import sys
import zipfile
from pathlib import Path

import pytest

from toolcrib.errors import InstallFailed
from toolcrib.serverkit.context import ToolContext
from toolcrib.serverkit.extras import ensure, installation
from toolcrib.serverkit.extras.index_settings import reasons


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index of one package, and an extra that needs it."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("TOOLCRIB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setattr(installation, "requires", lambda name: ['toolcrib-probe-extra>=1; extra == "probe"'])
    monkeypatch.setattr(sys, "path", list(sys.path))
    return folder


def _publish(folder: Path, **more: str) -> None:
    name = "toolcrib_probe_extra-1.0"
    with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("toolcrib_probe_extra.py", "ANSWER = 42\n")
        wheel.writestr(
            f"{name}.dist-info/METADATA", "Metadata-Version: 2.1\nName: toolcrib-probe-extra\nVersion: 1.0\n"
        )
        wheel.writestr(
            f"{name}.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{name}.dist-info/RECORD", "")
        for file, text in more.items():
            wheel.writestr(file.replace("_", "."), text)


async def test_the_first_use_installs_and_reports_progress(wheels: Path) -> None:
    _publish(wheels)
    reports: list[str | None] = []
    context = ToolContext(on_progress=lambda done, total, message: reports.append(message))

    await asyncio.gather(ensure("probe", context), ensure("probe", context))

    import toolcrib_probe_extra  # type: ignore[import-not-found]

    assert toolcrib_probe_extra.ANSWER == 42
    assert any("toolcrib-probe-extra" in (line or "") for line in reports)
    assert [entry.name for entry in installation.folder_of("probe").parent.iterdir()] == [
        installation.folder_of("probe").name
    ]


async def test_start_hooks_of_an_extra_do_not_run(wheels: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    code = f"open({str(mark)!r}, 'w')\n"
    _publish(wheels, evil_pth=f"import os; {code}", sitecustomize_py=code, usercustomize_py=code)

    await ensure("probe")

    assert (installation.folder_of("probe") / "evil.pth").exists()
    assert not mark.exists()


async def test_a_failure_says_what_to_do_and_leaves_nothing(wheels: Path) -> None:
    with pytest.raises(InstallFailed, match="could not be installed") as caught:
        await ensure("probe")

    assert "pip install 'toolcrib[probe]'" in caught.value.hint
    assert list(installation.folder_of("probe").parent.iterdir()) == []


@pytest.mark.parametrize("filler", ["", "x" * 1480])
def test_passwords_of_an_index_do_not_appear_in_what_an_installer_says(filler: str) -> None:
    said = reasons([f"error: failed to fetch https://ada:hun@ter2@index.test/simple {filler}"])

    assert "ter2" not in said
    assert "index.test" in said


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("linux", ("everywhere>=1", "linux-only>=2")),
        ("darwin", ("everywhere>=1", "mac-only")),
        ("win32", ("everywhere>=1",)),
    ],
)
def test_packages_of_other_platforms_are_not_asked_for(
    monkeypatch: pytest.MonkeyPatch, platform: str, expected: tuple[str, ...]
) -> None:
    listed = [
        "everywhere>=1; extra == 'probe'",
        "linux-only>=2; (sys_platform == 'linux') and extra == 'probe'",
        'mac-only; sys_platform == "darwin" and extra == "probe"',
    ]
    monkeypatch.setattr(installation, "requires", lambda name: listed)
    monkeypatch.setattr(sys, "platform", platform)

    assert installation.requirements_of("probe") == expected

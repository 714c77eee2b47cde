"""The versioned places: a half-done version is never active, and a failed one leaves the old as it was."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.servers.installers.conftest import Tell
from tests.servers.installers.packages import PROGRAMS, npm_tarball
from toolcrib.errors import InstallFailed, NotFound, UsageError
from toolcrib.servers.installers.engine.installations import Installations, find_installer
from toolcrib.servers.installers.engine.plan import Options, Plan
from toolcrib.servers.installers.engine.versions import KEPT

SLOW = {"scripts": {"postinstall": 'node -e "setInterval(() => {}, 1000)"'}}


def program(folder: Path, version: str) -> Path:
    """The tiny server as a program, of this version."""
    folder.mkdir(parents=True, exist_ok=True)
    source = (PROGRAMS / "tiny.py").read_text().replace('VERSION = "1.0.0"', f'VERSION = "{version}"')
    target = folder / "run"
    target.write_text(source)
    target.chmod(0o755)
    return target


async def install(installations: Installations, folder: Path, version: str) -> Plan:
    plan = await installations.plan(str(program(folder, version)), "tiny")
    await installations.apply(plan)
    return plan


async def test_the_version_before_is_one_step_away(
    installations: Installations, tell: Tell, tmp_path: Path
) -> None:
    plans = [await install(installations, tmp_path / "mine", version) for version in ("1", "2", "3")]
    entry = plans[0].entry

    assert (await tell("tiny", entry))["version"] == "3"
    for expected in ("2", "1"):
        installations.rollback("tiny")
        assert (await tell("tiny", entry))["version"] == expected
    with pytest.raises(NotFound, match="has no earlier version") as caught:
        installations.rollback("tiny")
    assert "Kept" in caught.value.hint
    installations.rollback("tiny", plans[2].version)
    assert (await tell("tiny", entry))["version"] == "3"


async def test_only_the_newest_few_are_kept(installations: Installations, tmp_path: Path) -> None:
    for number in range(KEPT + 3):
        await install(installations, tmp_path / "mine", str(number))

    assert len(installations.place("tiny").versions()) == KEPT + 1


async def test_a_failed_installation_leaves_the_old_version_working(
    installations: Installations, tell: Tell, tmp_path: Path
) -> None:
    good = await install(installations, tmp_path / "mine", "1")
    plan = await installations.plan(str(program(tmp_path / "mine", "2")), "tiny")
    (tmp_path / "mine" / "run").write_text("something else")

    with pytest.raises(InstallFailed):
        await installations.apply(plan)

    assert (await tell("tiny", good.entry))["version"] == "1"
    assert [record.version for record in installations.place("tiny").versions()] == [good.version]
    assert not Path(plan.place).exists()


async def test_a_cancelled_installation_leaves_nothing_of_itself(
    installations: Installations, tmp_path: Path
) -> None:
    reached = asyncio.Event()
    options = Options(allow_scripts=("tiny-server",))
    plan = await installations.plan(str(npm_tarball(tmp_path, **SLOW)), "tiny", options, offline=True)

    def watch(step: object) -> None:
        if getattr(step, "stage", "") == "scripts":
            reached.set()

    work = asyncio.create_task(installations.apply(plan, watch, offline=True))
    async with asyncio.timeout(60):
        await reached.wait()
    work.cancel()

    with pytest.raises(asyncio.CancelledError):
        await work
    assert list((installations.place("tiny").folder / "versions").iterdir()) == []
    assert installations.names() == []


async def test_an_installation_that_takes_too_long_is_ended(
    installations: Installations, tmp_path: Path
) -> None:
    options = Options(allow_scripts=("tiny-server",))
    plan = await installations.plan(str(npm_tarball(tmp_path, **SLOW)), "tiny", options, offline=True)

    with pytest.raises(InstallFailed, match="took longer"):
        await installations.apply(plan, offline=True, deadline=5)

    assert installations.names() == []


async def test_a_half_done_version_is_swept_and_never_started(
    installations: Installations, tmp_path: Path
) -> None:
    place = installations.place("tiny")
    half = place.version_folder("20260101-000000-half")
    half.mkdir(parents=True)
    (half / "launch.json").write_text(json.dumps({"command": "/bin/false"}))

    assert (place.current, place.versions(), installations.names()) == (None, [], [])
    await install(installations, tmp_path / "mine", "1")
    assert not half.exists()


async def test_two_installations_of_one_server_do_not_meet(
    installations: Installations, tmp_path: Path
) -> None:
    plan = await installations.plan(str(program(tmp_path / "mine", "1")), "tiny")

    with installations.place("tiny").locked(), pytest.raises(InstallFailed, match="another process"):
        await installations.apply(plan)


@pytest.mark.parametrize("name", ["../../evil", "a/b", "..", "ünïcode", "x" * 100])
async def test_any_name_of_a_server_stays_inside(
    installations: Installations, tell: Tell, tmp_path: Path, name: str
) -> None:
    plan = await installations.plan(str(program(tmp_path / "mine", "1")), name)
    installed = await installations.apply(plan)

    assert installed.folder.parent.parent.parent == installations.installs
    assert installations.names() == [name]
    assert (await tell(name, plan.entry))["version"] == "1"
    assert installations.uninstall(name)
    assert list(installations.installs.iterdir()) == []


async def test_only_a_plan_that_was_shown_can_be_agreed_to(
    installations: Installations, tmp_path: Path
) -> None:
    plan = await installations.plan(str(program(tmp_path / "mine", "1")), "tiny")

    assert installations.agreed(plan.digest) == plan
    kept = next((installations.cache / "plans").iterdir())
    kept.write_text(kept.read_text().replace("/content/run", "/content/evil"))
    for digest in (plan.digest, "../../x", "0" * 64):
        with pytest.raises(NotFound):
            installations.agreed(digest)


async def test_a_plan_of_another_home_is_refused(installations: Installations, tmp_path: Path) -> None:
    plan = await installations.plan(str(program(tmp_path / "mine", "1")), "tiny")

    with pytest.raises(UsageError):
        await installations.apply(plan.model_copy(update={"place": str(tmp_path / "elsewhere")}))


@pytest.mark.parametrize("reference", ["nothing", "ftp://x/y", "/no/such/file", ""])
def test_what_nobody_knows_is_said_so(reference: str) -> None:
    with pytest.raises(UsageError, match="cannot be installed") as caught:
        find_installer(reference)
    assert "npm:" in caught.value.hint

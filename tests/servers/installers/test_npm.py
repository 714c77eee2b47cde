"""Packages of npm: nothing of theirs runs while they are installed; what runs later is what was planned."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.servers.installers.conftest import Tell
from tests.servers.installers.packages import npm_package, npm_tarball
from toolcrib.errors import InstallFailed, NotFound, UsageError
from toolcrib.servers.installers.engine import node
from toolcrib.servers.installers.engine.contract import CommandRunner, InstallContext
from toolcrib.servers.installers.engine.installations import Installations
from toolcrib.servers.installers.engine.plan import Options

pytestmark = pytest.mark.acceptance

NOBODY = "http://127.0.0.1:9/"


async def test_a_tarball_is_installed_offline_and_started_by_its_path(
    installations: Installations, tell: Tell, tmp_path: Path
) -> None:
    plan = await installations.plan(str(npm_tarball(tmp_path)), "tiny", args=["--fast"], offline=True)
    installed = await installations.apply(plan, offline=True)

    assert (plan.package, plan.version, plan.entry["type"]) == ("tiny-server", "1.0.0", "npm")
    launch = json.loads((installations.place("tiny").folder / "current" / "launch.json").read_text())
    assert Path(launch["command"]).name == "node"
    assert launch["args"] == [str(installed.folder / "node_modules/tiny-server/tiny.js")]
    told = await tell("tiny", plan.entry)
    assert (told["version"], told["args"]) == ("1.0.0", ["--fast"])


@contextmanager
def empty_registry() -> Iterator[str]:
    """A registry that has no package at all."""

    class Nothing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, *words: object) -> None:
            """Not into the output of the tests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Nothing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


async def test_an_optional_package_that_cannot_be_had_is_left_out(
    installations: Installations, tell: Tell, environ: dict[str, str], tmp_path: Path
) -> None:
    tarball = npm_tarball(tmp_path, optionalDependencies={"no-such-optional-part": "1.0.0"})
    with empty_registry() as address:
        environ["npm_config_registry"] = address
        plan = await installations.plan(str(tarball), "tiny")
        await installations.apply(plan)

    assert plan.fetches == ("tiny-server@1.0.0",)
    assert (await tell("tiny", plan.entry))["version"] == "1.0.0"


async def test_a_package_that_is_needed_and_cannot_be_had_is_named_without_npms_usage(
    installations: Installations, environ: dict[str, str], tmp_path: Path
) -> None:
    tarball = npm_tarball(tmp_path, dependencies={"no-such-needed-part": "1.0.0"})
    with empty_registry() as address:
        environ["npm_config_registry"] = address
        with pytest.raises(NotFound, match="no-such-needed-part") as caught:
            await installations.plan(str(tarball), "tiny")

    assert "Usage" not in caught.value.message


async def test_a_plan_installs_nothing(installations: Installations, tmp_path: Path) -> None:
    plan = await installations.plan(str(npm_tarball(tmp_path)), "tiny", offline=True)

    assert not Path(plan.place).exists()
    assert installations.names() == []


async def test_install_scripts_do_not_run_unless_allowed_for_that_package(
    installations: Installations, tmp_path: Path
) -> None:
    mark = tmp_path / "ran"
    tarball = npm_tarball(tmp_path, scripts={"postinstall": f"touch {mark}"})
    plan = await installations.plan(str(tarball), "tiny", offline=True)
    await installations.apply(plan, offline=True)

    assert plan.scripts_refused == ("tiny-server",)
    assert not mark.exists()

    other = Options(allow_scripts=("something-else",))
    await installations.apply(
        await installations.plan(str(tarball), "tiny", other, offline=True), offline=True
    )
    assert not mark.exists()

    allowed = await installations.plan(
        str(tarball), "tiny", Options(allow_scripts=("tiny-server",)), offline=True
    )
    await installations.apply(allowed, offline=True)
    assert (allowed.scripts_refused, allowed.scripts_allowed) == ((), ("tiny-server",))
    assert mark.exists()


async def test_an_allowed_script_sees_no_token(
    installations: Installations, environ: dict[str, str], tmp_path: Path
) -> None:
    environ |= {"NPM_TOKEN": "npm-secret", "OPENAI_API_KEY": "other-secret"}
    seen = tmp_path / "seen"
    tarball = npm_tarball(tmp_path, scripts={"postinstall": f"env > {seen}"})
    options = Options(allow_scripts=("tiny-server",))

    await installations.apply(
        await installations.plan(str(tarball), "tiny", options, offline=True), offline=True
    )

    assert "secret" not in seen.read_text()


@pytest.mark.parametrize("source", ["git+https://127.0.0.1:9/evil/x.git", "http://127.0.0.1:9/x.tgz"])
async def test_a_dependency_from_elsewhere_is_refused(
    installations: Installations, tmp_path: Path, source: str
) -> None:
    tarball = npm_tarball(tmp_path, dependencies={"other": source})

    with pytest.raises(InstallFailed):
        await installations.plan(str(tarball), "tiny")


async def test_settings_inside_a_package_are_not_ours(
    installations: Installations, tell: Tell, tmp_path: Path
) -> None:
    package = npm_package(tmp_path / "package")
    (package / ".npmrc").write_text(f"registry={NOBODY}\nignore-scripts=false\nscript-shell=/bin/false\n")

    plan = await installations.plan(str(package), "tiny", offline=True)
    await installations.apply(plan, offline=True)

    assert (await tell("tiny", plan.entry))["version"] == "1.0.0"


async def test_a_tarball_that_changed_after_it_was_shown_is_not_installed(
    installations: Installations, tmp_path: Path
) -> None:
    tarball = npm_tarball(tmp_path)
    plan = await installations.plan(str(tarball), "tiny", offline=True)
    npm_tarball(tmp_path / "other", description="changed").replace(tarball)

    with pytest.raises(InstallFailed, match="has changed"):
        await installations.apply(plan, offline=True)

    assert installations.names() == []


async def test_a_tampered_lock_is_noticed(installations: Installations, tmp_path: Path) -> None:
    plan = await installations.plan(str(npm_tarball(tmp_path)), "tiny", offline=True)
    lock = json.loads(plan.lock)
    lock["packages"]["node_modules/tiny-server"]["integrity"] = f"sha512-{'A' * 86}=="

    with pytest.raises(InstallFailed, match="does not match its hash"):
        await installations.apply(plan.model_copy(update={"lock": json.dumps(lock)}), offline=True)


async def test_several_programs_need_a_choice(
    installations: Installations, tell: Tell, tmp_path: Path
) -> None:
    tarball = npm_tarball(tmp_path, bin={"one": "tiny.js", "two": "tiny.js"})

    with pytest.raises(UsageError, match="one, two"):
        await installations.plan(str(tarball), "tiny", offline=True)
    plan = await installations.plan(str(tarball), "tiny", Options(program="two"), offline=True)
    assert plan.launch.args[0].endswith("tiny.js")


@pytest.mark.parametrize("target", ["../../../bin/sh", "/bin/sh"])
async def test_a_program_outside_the_package_never_becomes_the_command(
    installations: Installations, tmp_path: Path, target: str
) -> None:
    tarball = npm_tarball(tmp_path, bin={"tiny-server": target})

    with pytest.raises(InstallFailed):
        await installations.apply(await installations.plan(str(tarball), "tiny", offline=True), offline=True)

    assert installations.names() == []


async def test_offline_and_never_fetched_says_so(installations: Installations) -> None:
    with pytest.raises((InstallFailed, NotFound)) as caught:
        await installations.plan("npm:toolcrib-never-fetched-package", "x", offline=True)

    assert "--offline" in caught.value.hint


async def test_an_unreachable_registry_fails_within_the_deadline(
    installations: Installations, environ: dict[str, str]
) -> None:
    environ |= {
        "npm_config_registry": NOBODY,
        "npm_config_fetch_retries": "0",
        "npm_config_cache": "/dev/null/x",
    }

    async with asyncio.timeout(60):
        with pytest.raises(InstallFailed):
            await installations.plan("npm:toolcrib-never-fetched-package", "x")


async def test_a_missing_file_is_said_to_be_missing(installations: Installations, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="does not exist"):
        await installations.plan(str(tmp_path / "absent.tgz"), "x")


async def test_a_package_that_wants_a_newer_node_gets_one(
    installations: Installations, tell: Tell, tmp_path: Path
) -> None:
    tarball = npm_tarball(tmp_path, engines={"node": ">=24"})

    plan = await installations.plan(str(tarball), "tiny")
    await installations.apply(plan)

    version = subprocess.run([plan.launch.command, "--version"], capture_output=True, text=True, check=True)
    assert int(version.stdout[1:].split(".")[0]) >= 24
    assert not Path(plan.launch.command).read_bytes().startswith(b"#!")
    assert (await tell("tiny", plan.entry))["version"] == "1.0.0"
    # What node compiled is kept for the next start.
    assert list((Path(plan.place) / "compiled").iterdir())


async def test_node_is_fetched_where_there_is_none_and_its_real_binary_called(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    runtimes = tmp_path / "runtimes"
    context = InstallContext(
        runtimes=runtimes, cache=tmp_path, place=tmp_path / "place", runner=CommandRunner(environ=environ)
    )

    fetched = await node._fetch(context, 20)

    program = Path(fetched.program)
    assert program.is_relative_to(runtimes)
    assert program.read_bytes()[:4] == b"\x7fELF" or program.stat().st_size > 10_000_000
    done = await context.runner.run([*fetched.npm, "--version"], cwd=tmp_path)
    assert done.code == 0
    assert [folder.name for folder in runtimes.iterdir()] == [f"node-{'.'.join(map(str, fetched.version))}"]

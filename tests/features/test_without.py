"""Each feature can be deleted: the rest imports, keeps its layers and passes the tests of the kernel."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.web.browsing import browsing
from toolcrib import plugins
from toolcrib.feature import FEATURES
from toolcrib.operations.index import FEATURE_COMMANDS, SUBJECTS
from toolcrib.operations.registry import feature_of

pytestmark = pytest.mark.acceptance

ROOT = Path(__file__).parents[2]
FOLDERS = plugins.names(FEATURES)
IMPORT_ALL = """
import importlib, pkgutil, sys, toolcrib
assert toolcrib.__file__.startswith(sys.argv[1]), toolcrib.__file__
for module in pkgutil.walk_packages(toolcrib.__path__, "toolcrib."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
PAGES = {
    "workflows": ["Workflows"],
    "accounts": ["Settings"],
    "clients": ["Connect"],
    "backup": [],
    "service": [],
}
"""Where each feature appears on the page; some have commands only."""
LAYERS = "from importlinter.cli import lint_imports_command; lint_imports_command()"
ASK = """
import json, sys
from toolcrib.errors import ToolcribError
from toolcrib.operations.registry import find_operation, operations
from toolcrib.web.answers import error_json
def ask(name):
    try:
        find_operation(name)
    except ToolcribError as error:
        return error_json(error)["error"]["kind"]
list(operations())
print(json.dumps([ask(name) for name in json.loads(sys.argv[1])]))
"""


class Copy:
    """The tree without a feature, with an environment whose Python uses it."""

    def __init__(self, folder: Path, feature: str) -> None:
        self.folder = folder
        for name in ("src", "tests", "docs", "examples"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        for name in ("src/toolcrib/features", "tests/features"):
            shutil.rmtree(folder / name / feature, ignore_errors=True)
        venv.create(folder / "environment", symlinks=True)
        self.python = folder / "environment" / "bin" / "python"
        # What is installed beside the program; the program itself is the copy's.
        installed = sysconfig.get_path("purelib")
        site = sysconfig.get_path("purelib", vars={"base": str(folder / "environment")})
        Path(site, "copy.pth").write_text(f"{folder / 'src'}\n{installed}\n")
        script = self.python.with_name("toolcrib")
        script.write_text(f"#!{self.python}\nfrom toolcrib.cli import main\nmain()\n")
        script.chmod(0o755)

    @property
    def environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "TOOLCRIB"))}
        return {**kept, "TOOLCRIB_HOME": str(self.folder / "home"), "TOOLCRIB_KEYRING": "off"}

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.python, *words],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=1200,
        )

    @contextmanager
    def page(self) -> Iterator[str]:
        """Run the host; yields the address that signs in."""
        with subprocess.Popen(
            [self.python, "-m", "toolcrib", "up", "--no-browser", "--json", "--port", "0"],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
        ) as host:
            assert host.stdout
            try:
                yield json.loads(host.stdout.readline())["url"]
            finally:
                host.terminate()

    def check(self, *words: str) -> str:
        done = self.run(*words)
        assert done.returncode == 0, f"{done.stdout[-8000:]}\n{done.stderr[-8000:]}"
        return done.stdout


@pytest.fixture(scope="module", params=FOLDERS)
def feature(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def copy(feature: str, tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy(tmp_path_factory.mktemp(feature).resolve(), feature)


def test_everything_else_can_be_imported(copy: Copy) -> None:
    copy.check("-c", IMPORT_ALL, str(copy.folder))


def test_the_layers_are_kept(copy: Copy) -> None:
    copy.check("-c", LAYERS)


@pytest.mark.timeout(1200)
def test_the_kernel_passes_its_flows_and_contracts(copy: Copy) -> None:
    copy.check("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "tests/flows", "tests/contracts")


def test_commands_say_that_it_is_not_installed(copy: Copy, feature: str) -> None:
    for name in (name for name, module in FEATURE_COMMANDS.items() if feature_of(module) == feature):
        done = copy.run("-m", "toolcrib", name)

        assert done.returncode == 3, done.stderr
        assert f"The feature {feature} is not installed." in done.stderr


def test_the_page_says_that_it_is_not_installed(copy: Copy, feature: str) -> None:
    with copy.page() as url, browsing() as browser:
        page = browser.new_page()
        page.goto(url)
        page.get_by_role("link", name="Chat").first.wait_for(timeout=60_000)
        for name in PAGES[feature]:
            page.get_by_role("link", name=name, exact=True).first.click()
            page.get_by_text(f"The feature {feature} is not installed.").first.wait_for(timeout=60_000)


def test_its_operations_say_that_it_is_not_installed(copy: Copy, feature: str) -> None:
    theirs = [name for name, module in SUBJECTS.items() if feature_of(module) == feature]

    kinds = json.loads(copy.check("-c", ASK, json.dumps(theirs)))

    assert kinds == ["feature_missing"] * len(theirs)


def test_the_help_is_shown(copy: Copy) -> None:
    assert "toolcrib" in copy.check("-m", "toolcrib", "--help")

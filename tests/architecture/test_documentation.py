"""The documentation is true: programs run, JSON parses, links lead somewhere, every page can be reached.

A ```python block runs alone as a program, in a folder and home of its own, without the variables that only
tests set. A ```python no-run block is only compiled: use it for what cannot run here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.architecture.documented import CONTRIBUTING, PAGES, README, ROOT, Block, blocks, label

WITHOUT_EXTRAS = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""
"""Makes Python start as in an installation without extras."""
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
LINK = re.compile(r"\[[^\]]*\]\((?!\w+:|#)(?P<target>[^)#\s]+)")


def environment_of_a_user(folder: Path) -> dict[str, str]:
    """What a user's shell has: a home of its own, and no variable that only tests set."""
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
    return {**kept, "HOME": str(folder), "TOOLCRIB_HOME": str(folder / "home"), "NO_COLOR": "1"}


def run(program: Path, folder: Path) -> None:
    done = started(program, folder, environment_of_a_user(folder))
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def started(program: Path, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(program)],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
    )


def modules_of_extras() -> dict[str, set[str]]:
    """The extras that bring a module, by its name; none that an installation without extras has."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    present = {name_of(line) for line in (ROOT / "requirements" / "runtime.txt").read_text().splitlines()}
    brought: dict[str, set[str]] = {}
    for extra, requirements in project["optional-dependencies"].items():
        for requirement in {name_of(line) for line in requirements} - present:
            brought.setdefault(requirement, set()).add(extra)
    return {
        module: set().union(*(brought.get(name_of(one), set()) for one in names))
        for module, names in packages_distributions().items()
        if any(name_of(one) in brought for one in names)
    }


def name_of(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


@pytest.mark.acceptance
@pytest.mark.parametrize("block", list(blocks("python")), ids=label)
def test_a_program_in_the_documentation_runs(block: Block, tmp_path: Path) -> None:
    """Without extras, unless the page says above the program which one to install."""
    program, extras = tmp_path / "block.py", modules_of_extras()
    program.write_text(block.text)
    bare = {**environment_of_a_user(tmp_path), "PYTHONPATH": str(tmp_path / "bare")}
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "sitecustomize.py").write_text(WITHOUT_EXTRAS.format(names=sorted(extras)))

    done = started(program, tmp_path, bare)

    missing = re.search(r"No module named '(\w+)", done.stderr)
    if missing is None:
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return
    above = "\n".join((ROOT / block.page).read_text().splitlines()[: block.line])
    named = set(re.findall(r"pip install 'toolcrib\[([\w-]+)\]'", above))
    assert extras[missing[1]] & named, f"{block.page} does not say how to install {missing[1]}."
    run(program, tmp_path)


@pytest.mark.acceptance
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    run(example, tmp_path)


@pytest.mark.acceptance
def test_an_example_runs_beside_a_running_host(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "toolcrib", "up", "--json"]
    environment = environment_of_a_user(tmp_path)
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        try:
            host.stdout.readline()  # the host is up
            run(ROOT / "examples" / "call_a_tool.py", tmp_path)
        finally:
            host.terminate()
            host.communicate(timeout=60)


def test_programs_that_cannot_run_here_are_at_least_python() -> None:
    for block in blocks("python no-run"):
        compile(block.text, label(block), "exec")


def test_json_in_the_documentation_is_json() -> None:
    for block in blocks("json"):
        try:
            json.loads(block.text)
        except ValueError as error:
            pytest.fail(f"{label(block)}: {error}")


def test_every_relative_link_leads_to_a_file() -> None:
    broken = [
        f"{page.relative_to(ROOT)} → {found['target']}"
        for page in PAGES
        for found in LINK.finditer(page.read_text(encoding="utf-8"))
        if not (page.parent / found["target"]).exists()
    ]

    assert broken == []


def test_every_folder_and_contract_that_contributing_names_exists() -> None:
    rows = [line for line in CONTRIBUTING.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    named = [path for row in rows[2:] for path in re.findall(r"`((?:src|tests|benchmarks)/[^`]*)`", row)]
    inside = [path for row in rows for path in re.findall(r"`((?:[a-z]+/)+[a-z_]+\.py)`", row)]

    missing = [path for path in named if not (ROOT / path.partition("<")[0]).exists()]
    missing += [
        path for path in inside if not any((top / path).exists() for top in (ROOT, ROOT / "src/toolcrib"))
    ]

    assert len(named) > 30
    assert missing == []


def test_every_folder_of_extensions_has_its_row_in_contributing() -> None:
    text = CONTRIBUTING.read_text(encoding="utf-8")
    contracts = {file.name for file in (ROOT / "tests" / "contracts").glob("test_*.py")}

    assert [name for name in sorted(contracts) if f"tests/contracts/{name}" not in text] == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, left = set[Path](), [README]
    while left:
        page = left.pop()
        if page in reached or page.suffix != ".md" or not page.exists():
            continue
        reached.add(page)
        left += [(page.parent / found["target"]).resolve() for found in LINK.finditer(page.read_text())]

    assert [str(page.relative_to(ROOT)) for page in PAGES if page not in reached] == []


def test_the_readme_is_short_and_opens_with_the_two_commands() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()

    assert len(lines) <= 150
    assert any(line.startswith("make run") for line in lines[:20])
    assert any(line.startswith("make test") for line in lines[:20])

"""Which tests `--changed` runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.changed import affected, changed_files

FILES = {
    "src/toolcrib/__init__.py": "if TYPE_CHECKING:\n    from toolcrib.host import Host\n",
    "src/toolcrib/host.py": "from toolcrib.servers.pool import Pool\n",
    "src/toolcrib/servers/pool.py": "def start():\n    from toolcrib.servers import restarts\n",
    "src/toolcrib/servers/restarts.py": "if TYPE_CHECKING:\n    from toolcrib.llm.prices import Price\n",
    "src/toolcrib/servers/names.toml": "",
    "src/toolcrib/llm/prices.py": "",
    "tests/conftest.py": "import pytest\nimport toolcrib\n@pytest.fixture\ndef crib(): ...\n",
    "tests/servers/data.json": "{}",
    "tests/servers/test_pool.py": "from toolcrib.servers.pool import Pool\n",
    "tests/servers/test_names.py": "",
    "tests/llm/test_prices.py": "COMMAND = 'python -m toolcrib.llm.prices'\n",
    "tests/flows/test_host.py": "def test_it(crib): ...\n",
    "tests/architecture/test_layers.py": "",
    "docs/index.md": "",
}
LAYERS, FLOW, PRICES = (
    "tests/architecture/test_layers.py",
    "tests/flows/test_host.py",
    "tests/llm/test_prices.py",
)
SERVERS = ["tests/servers/test_names.py", "tests/servers/test_pool.py"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("src/toolcrib/servers/restarts.py", [LAYERS, FLOW, *SERVERS]),
        ("src/toolcrib/servers/names.toml", [LAYERS, FLOW, *SERVERS]),
        ("src/toolcrib/llm/prices.py", [LAYERS, PRICES]),
        ("src/toolcrib/llm/removed.py", [LAYERS, PRICES]),
        ("tests/llm/test_prices.py", [PRICES]),
        ("tests/servers/data.json", SERVERS),
        ("tests/conftest.py", [LAYERS, FLOW, PRICES, *SERVERS]),
        ("docs/index.md", [LAYERS]),
        ("Makefile", None),
    ],
)
def test_a_change_runs_what_it_can_affect(tree: Path, changed: str, tests: list[str] | None) -> None:
    assert affected(tree, {changed}) == tests


@pytest.mark.acceptance
def test_the_changes_of_a_branch_and_of_the_folder_are_found(tree: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=tree, check=True, capture_output=True)

    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    git("init", "-q", "-b", "main")
    for message, name in (("one", "docs/index.md"), ("two", "src/toolcrib/host.py")):
        git("add", name)
        git(*who, "commit", "-qm", message)
    (tree / ".gitignore").write_text("tests\nsrc/toolcrib/[!h]*\n")
    assert changed_files(tree) == {".gitignore", "src/toolcrib/host.py"}
    git("checkout", "-qb", "topic")
    (tree / "docs/index.md").write_text("more")
    git(*who, "commit", "-qam", "three")
    (tree / "src/toolcrib/host.py").write_text("")
    assert changed_files(tree) == {".gitignore", "docs/index.md", "src/toolcrib/host.py"}
    assert changed_files(tree, "HEAD") == {".gitignore", "src/toolcrib/host.py"}

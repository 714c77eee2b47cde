"""Why an installed server did not start is recognised where another installation would help."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolcrib.servers.installers.engine.plan import Options, merged
from toolcrib.servers.installers.engine.remedies import find_remedy

LOCK = "mcp==2.3.0\npydantic==2.14.3\nsome-lib==0.7.1\nother==3.1\nhttpx==1.0\n"
MCP_2 = "No module named 'mcp.server.fastmcp'. This is mcp 2.x … or pin 'mcp<2' to keep running v1 code."


@pytest.mark.parametrize(
    ("said", "values"),
    [
        (f"x exited with code 1. Last output: ModuleNotFoundError: {MCP_2}", ("mcp<2",)),
        ("ImportError: cannot import name 'McpError' from 'mcp.shared.exceptions' (/x.py)", ("mcp<2",)),
        ("AttributeError: 'Server' object has no attribute 'list_tools'", ("mcp<2",)),
        ("AttributeError: module 'mcp.types' has no attribute 'Thing'", ("mcp<2",)),
        ("pydantic.errors.PydanticUserError: a field was annotated", ("pydantic<2.12",)),
        ("ImportError: cannot import name 'x' from 'other' (/x.py)", ("other<3",)),
        ("ModuleNotFoundError: No module named 'requests'", ("requests",)),
        ("ModuleNotFoundError: No module named 'a_strange_one'", None),
        ("ImportError: cannot import name 'x' from 'not_installed'", None),
        ("ValueError: mcp must be set", None),
        ("the key is missing", None),
    ],
)
def test_a_server_that_broke_on_a_newer_package_gets_a_bound(
    tmp_path: Path, said: str, values: tuple[str, ...] | None
) -> None:
    (tmp_path / "requirements.lock").write_text(LOCK)

    found = find_remedy(tmp_path, Options(), said)

    assert (found.values if found else None) == values
    if found:
        assert found.option == "also"
        assert find_remedy(tmp_path, Options(also=found.values), said) is None


def test_an_older_package_is_not_bounded_again(tmp_path: Path) -> None:
    (tmp_path / "requirements.lock").write_text("mcp==1.20.0\n")

    assert find_remedy(tmp_path, Options(), "ImportError: cannot import name 'x' from 'mcp.types'") is None


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ("Error: Cannot find module '../build/Release/keytar.node'", ("keytar",)),
        ("Error: Cannot find module '/x/node_modules/sharp/lib/x.js'", ("sharp",)),
        ("Error: Could not locate the bindings file. Tried: …", ("keytar", "sharp")),
        ("Error: API_KEY is not set", None),
    ],
)
def test_refused_install_scripts_are_named_when_they_are_the_cause(
    tmp_path: Path, said: str, values: tuple[str, ...] | None
) -> None:
    packages = {
        "": {},
        "node_modules/keytar": {"hasInstallScript": True},
        "node_modules/a/node_modules/sharp": {"hasInstallScript": True},
        "node_modules/plain": {},
    }
    (tmp_path / "package-lock.json").write_text(json.dumps({"packages": packages}))

    found = find_remedy(tmp_path, Options(), said)

    assert (found.values if found else None) == values
    if found:
        assert found.words[:2] == ["--allow-scripts", found.values[0]]


def test_options_of_before_are_kept_beside_those_given_now() -> None:
    before = Options(also=("a<2",), program="serve", python="3.12")

    assert merged(before, Options()) == before
    assert merged(before, Options(also=("b", "a<2"))) == before.model_copy(update={"also": ("a<2", "b")})

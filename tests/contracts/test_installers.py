"""Every installer keeps the contract of `servers/installers/engine/contract.py`; the folder is the list."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tests.servers.installers.packages import bundle, manifest, npm_tarball, wheel
from toolcrib import plugins
from toolcrib.servers.installers.engine.contract import INSTALLERS
from toolcrib.servers.installers.engine.installations import find_installer


@pytest.mark.parametrize("name", plugins.names(INSTALLERS))
def test_an_installer_plans_applies_and_looks_for_newer_ones(name: str) -> None:
    installer = plugins.find(INSTALLERS, name)
    expected = {
        "plan": ["request", "context"],
        "apply": ["plan", "folder", "context"],
        "newest": ["record", "context"],
    }

    for function, parameters in expected.items():
        assert inspect.iscoroutinefunction(getattr(installer, function))
        assert list(inspect.signature(getattr(installer, function)).parameters) == parameters
    assert installer.recognises("") is False


def test_every_kind_of_reference_has_one_installer(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("#!/bin/sh\n")
    (tmp_path / "run").chmod(0o755)
    (tmp_path / "server.json").write_text("{}")
    (tmp_path / "server.py").write_text("")
    (tmp_path / "index.js").write_text("")
    references = {
        "npm:name": "npm",
        str(npm_tarball(tmp_path)): "npm",
        "pypi:name": "python",
        str(wheel(tmp_path)): "python",
        str(bundle(tmp_path / "x.mcpb", manifest())): "bundle",
        str(tmp_path / "server.json"): "registry",
        "https://example.com/server.json": "registry",
        str(tmp_path): "folder",
        str(tmp_path / "run"): "custom",
        str(tmp_path / "server.py"): "script",
        str(tmp_path / "index.js"): "script",
    }

    found = {
        reference: [
            name for name in plugins.names(INSTALLERS) if plugins.find(INSTALLERS, name).recognises(reference)
        ]
        for reference in references
    }

    assert found == {reference: [name] for reference, name in references.items()}
    assert find_installer("npm:name")[1] == "npm"

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import toolcrib.config
from toolcrib.config.document import parse_document
from toolcrib.config.entries import parse_entry
from toolcrib.config.settings import Settings, read_settings
from toolcrib.schema.servers import RestartPolicy

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "configuration.md"
HEAVY = {"mcp", "httpx2", "starlette", "rich", "keyring", "platformdirs", "click"}


def loaded_after(statement: str) -> set[str]:
    script = f"{statement}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(shown.stdout))


def test_importing_the_package_loads_nothing_else() -> None:
    loaded = loaded_after("import toolcrib.config")

    assert not loaded & (HEAVY | {"pydantic"})


def test_reading_the_config_of_a_named_home_loads_nothing_heavy(tmp_path: Path) -> None:
    loaded = loaded_after(
        "from pathlib import Path\n"
        "from toolcrib.config import *\n"
        f"paths = find_paths(Path({str(tmp_path)!r}))\n"
        "config = ConfigStore(paths.config_file, paths.files).read()\n"
        "expand(config.servers['filesystem'].raw, {}, SecretStore(paths).get)\n"
    )

    assert not loaded & HEAVY


def test_every_public_name_is_there() -> None:
    assert all(getattr(toolcrib.config, name) for name in toolcrib.config.__all__)
    with pytest.raises(AttributeError):
        _ = toolcrib.config.nothing


@pytest.mark.parametrize("block", re.findall(r"```jsonc?\n(.*?)```", DOCUMENTATION.read_text(), re.DOTALL))
def test_every_example_of_the_documentation_is_understood(block: str) -> None:
    document = parse_document(block)

    read_settings(document)
    for name, raw in document.data.get("mcpServers", {}).items():
        assert parse_entry(name, raw).name == name


def test_every_setting_is_documented() -> None:
    text = DOCUMENTATION.read_text()
    names = [*Settings().as_json()]
    names += [re.sub(r"_(\w)", lambda m: m.group(1).upper(), name) for name in vars(RestartPolicy())]

    assert [name for name in names if f"`{name}`" not in text] == []

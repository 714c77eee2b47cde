"""Plain scripts: what people write first, run with the packages that they declare or import."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.servers.installers.conftest import Tell
from tests.servers.installers.packages import PROGRAMS, wheel
from toolcrib.errors import InstallFailed, UsageError
from toolcrib.servers.installers.engine.installations import Installations
from toolcrib.servers.installers.engine.plan import Options
from toolcrib.servers.installers.engine.scripts import find_entry, read_needs

TINY = (PROGRAMS / "tiny.py").read_text().removeprefix("#!/usr/bin/env python3\n")
USES_OTHER = "import other_part\n" + TINY
NODE = """
import { createInterface } from "node:readline";
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const said = [{ type: "text", text: JSON.stringify({ version: "3.2.1" }) }];
  const results = {
    initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} },
                  serverInfo: { name: "x", version: "1" } },
    "tools/list": { tools: [{ name: "tell", inputSchema: { type: "object" } }] },
    "tools/call": { content: said },
  };
  const result = results[method];
  const rest = result ? { result } : { error: { code: -32601, message: "unknown" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...rest }) + "\\n");
});
"""
PLAIN_NODE = NODE.replace("import { createInterface } from", "const { createInterface } = require(").replace(
    '"node:readline";', '"node:readline");'
)
INLINE = '# /// script\n# requires-python = ">=3.8"\n# dependencies = ["other-part<2"]\n# ///\n'


def folder_of(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


async def test_a_folder_with_a_plain_server_py_is_a_server(
    installations: Installations, tell: Tell, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path / "mine", server__py=TINY, note__txt="kept")

    plan = await installations.plan(str(folder), "mine", args=["x"])
    installed = await installations.apply(plan)
    shutil.rmtree(folder)

    told = await tell("mine", plan.entry)
    assert (told["args"], told["cwd"]) == (["x"], str(installed.folder / "content"))
    assert (installed.folder / "content" / "note.txt").read_text() == "kept"
    assert "2 files" in plan.copies
    assert not list(installed.folder.glob("venv"))


async def test_the_packages_of_a_requirements_file_are_installed_with_it(
    installations: Installations, tell: Tell, tool_catalog: Path, tmp_path: Path
) -> None:
    wheel(tool_catalog, "1.5.0", name="other-part")
    wheel(tool_catalog, "2.5.0", name="other-part")
    listed = "# what it needs\n-r more.txt\n"
    folder = folder_of(
        tmp_path / "mine", main__py=USES_OTHER, requirements__txt=listed, more__txt="other-part<2 # old\n"
    )

    plan = await installations.plan(str(folder), "mine")
    await installations.apply(plan)

    assert plan.fetches == ("other-part==1.5.0",)
    assert plan.launch.command == f"{plan.place}/venv/bin/python"
    assert (await tell("mine", plan.entry))["version"] == "1.0.0"


async def test_inline_metadata_names_the_packages_of_a_single_script(
    installations: Installations, tell: Tell, tool_catalog: Path, tmp_path: Path
) -> None:
    wheel(tool_catalog, "1.5.0", name="other-part")
    wheel(tool_catalog, "2.5.0", name="other-part")
    folder = folder_of(tmp_path / "many", weather__py=INLINE + USES_OTHER, unrelated__txt="x")

    plan = await installations.plan(str(folder / "weather.py"), "weather")
    installed = await installations.apply(plan)

    assert plan.fetches == ("other-part==1.5.0",)
    assert (await tell("weather", plan.entry))["version"] == "1.0.0"
    assert [one.name for one in (installed.folder / "content").iterdir()] == ["weather.py"]


async def test_a_script_that_imports_its_neighbour_is_copied_with_its_folder(
    installations: Installations, tell: Tell, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path / "mine", server__py="import words\n" + TINY, words__py="import json\n")

    plan = await installations.plan(str(folder / "server.py"), "mine")
    installed = await installations.apply(plan)

    assert (installed.folder / "content" / "words.py").is_file()
    assert (await tell("mine", plan.entry))["version"] == "1.0.0"


async def test_a_project_that_is_no_package_is_run_by_its_script(
    installations: Installations, tell: Tell, tool_catalog: Path, tmp_path: Path
) -> None:
    wheel(tool_catalog, name="other-part")
    project = '[project]\nname = "weather"\nversion = "0.1.0"\ndependencies = ["other-part"]\n'
    folder = folder_of(tmp_path / "weather", weather__py=USES_OTHER, pyproject__toml=project)

    plan = await installations.plan(str(folder), "weather")
    await installations.apply(plan)

    assert plan.fetches == ("other-part==1.0.0",)
    assert (await tell("weather", plan.entry))["version"] == "1.0.0"


@pytest.mark.parametrize("name", ["index.js", "server.js", "server.mjs"])
async def test_a_folder_with_a_script_of_node_is_a_server(
    installations: Installations, tell: Tell, tmp_path: Path, name: str
) -> None:
    source = NODE if name.endswith(".mjs") else PLAIN_NODE
    folder = folder_of(tmp_path / "mine", **{name.replace(".", "__"): source})

    plan = await installations.plan(str(folder), "mine")
    await installations.apply(plan)

    assert (await tell("mine", plan.entry))["version"] == "3.2.1"


@pytest.mark.acceptance
async def test_an_npm_folder_without_a_program_or_a_name_is_run_by_its_main_file(
    installations: Installations, tell: Tell, tmp_path: Path
) -> None:
    script = (PROGRAMS / "tiny.js").read_text()
    folder = folder_of(tmp_path / "My Server", server__js=script, package__json='{"main": "server.js"}')

    plan = await installations.plan(str(folder), "mine", offline=True)
    await installations.apply(plan, offline=True)

    assert (plan.package, plan.version) == ("my-server", "0.0.0")
    assert (await tell("mine", plan.entry))["args"] == []


def test_the_server_among_several_scripts_is_found_by_its_name(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "my-tools", my_tools__py="", helper__py="", test_it__py="", setup__py="")
    assert find_entry(folder) == folder / "my_tools.py"
    (folder / "main.py").touch()
    assert find_entry(folder) == folder / "main.py"
    (folder / "server.py").touch()
    assert find_entry(folder) == folder / "server.py"
    alone = folder_of(tmp_path / "other", one__py="", test_one__py="", conftest__py="")
    assert find_entry(alone) == alone / "one.py"


async def test_of_several_scripts_one_has_to_be_named(
    installations: Installations, tell: Tell, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path / "mine", one__py=TINY, two__py=TINY)

    with pytest.raises(UsageError, match=r"one\.py, two\.py") as caught:
        await installations.plan(str(folder), "mine")
    assert "--program" in caught.value.hint
    plan = await installations.plan(str(folder), "mine", Options(program="two.py"))
    await installations.apply(plan)
    assert (await tell("mine", plan.entry))["version"] == "1.0.0"


@pytest.mark.parametrize(
    ("text", "requirements", "unknown"),
    [
        ("from mcp.server.fastmcp import FastMCP", ("mcp<2",), ()),
        ("from mcp.server.mcpserver import MCPServer\nimport httpx", ("httpx", "mcp"), ()),
        ("import fastmcp, json, os.path", ("fastmcp",), ()),
        ("import some_library.part", (), ("some_library",)),
        ("from . import nothing\nfrom __future__ import annotations", (), ()),
    ],
)
def test_packages_are_guessed_from_imports(
    tmp_path: Path, text: str, requirements: tuple[str, ...], unknown: tuple[str, ...]
) -> None:
    folder = folder_of(tmp_path / "mine", server__py=text)

    needs = read_needs(folder / "server.py")

    assert (needs.requirements, needs.unknown) == (requirements, unknown)


async def test_the_plan_says_what_was_guessed(
    installations: Installations, tool_catalog: Path, tmp_path: Path
) -> None:
    wheel(tool_catalog, name="fastmcp")
    folder = folder_of(tmp_path / "mine", server__py="import fastmcp, strange_one")

    plan = await installations.plan(str(folder), "mine")

    assert plan.fetches == ("fastmcp==1.0.0",)
    assert any("from its imports: fastmcp" in remark for remark in plan.remarks)
    assert any("strange_one" in remark for remark in plan.remarks)


@pytest.mark.parametrize(
    "line",
    ["--index-url https://x", "-e .", "./local", "a @ https://x/a.whl", "-r ../up.txt", "git+https://x/y"],
)
async def test_requirements_from_elsewhere_than_the_index_are_refused(
    installations: Installations, tmp_path: Path, line: str
) -> None:
    (tmp_path / "up.txt").write_text("other\n")
    folder = folder_of(tmp_path / "mine", server__py=TINY, requirements__txt=f"{line}\n")

    with pytest.raises(UsageError, match="requirements"):
        await installations.plan(str(folder), "mine")


async def test_a_script_that_changed_after_it_was_shown_is_not_installed(
    installations: Installations, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path / "mine", server__py=TINY)
    plan = await installations.plan(str(folder), "mine")
    (folder / "server.py").write_text(TINY + "# changed\n")

    with pytest.raises(InstallFailed, match="has changed"):
        await installations.apply(plan)


@pytest.mark.parametrize("whole", [True, False])
async def test_a_changed_script_counts_as_a_newer_version(
    installations: Installations, tmp_path: Path, whole: bool
) -> None:
    folder = folder_of(tmp_path / "mine", server__py=TINY, other__txt="")
    reference = folder if whole else folder / "server.py"
    await installations.apply(await installations.plan(str(reference), "mine"))
    assert not (await installations.newest("mine")).outdated

    (folder / "server.py").write_text(TINY + "# changed\n")

    assert (await installations.newest("mine")).outdated


def test_a_script_of_node_that_needs_packages_says_how_to_get_them(tmp_path: Path) -> None:
    script = 'import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";\nimport fs from "fs";\n'
    folder = folder_of(tmp_path / "mine", index__js=script)

    with pytest.raises(UsageError, match="imports @modelcontextprotocol/sdk") as caught:
        read_needs(folder / "index.js")
    assert "npm install" in caught.value.hint
    manifest = folder / "node_modules" / "@modelcontextprotocol" / "sdk" / "package.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"name": "sdk"}))
    assert read_needs(folder / "index.js").beside

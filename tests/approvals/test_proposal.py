"""What "always" would write is narrow, says so to the letter, and is of use the next time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.approvals.people import AGENT, ALWAYS, NO, Person, Tools, allowed, gate_with
from toolcrib.approvals.gate import ApprovalGate
from toolcrib.approvals.paths import LocalDisk, PathContext
from toolcrib.approvals.proposal import LONG, proposed_rule
from toolcrib.approvals.rule import Rule
from toolcrib.approvals.rule_text import rule_words
from toolcrib.schema.tools import ToolCall

LINES = "one\ntwo\n"


@pytest.fixture
def tools() -> Tools:
    return Tools()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "code" / "src").mkdir(parents=True)
    return tmp_path.resolve() / "code"


def proposed(call: ToolCall, *folders: Path, ours: bool = False, start: str = "") -> Rule:
    ground = PathContext(LocalDisk(), start)
    return proposed_rule(call, ours=ours, ground=ground, folders=[str(one) for one in folders])


def patterns(rule: Rule) -> dict[str, Any]:
    return {name: pattern.as_json() for name, pattern in rule.arguments.items()}


def test_a_file_of_the_project_stands_for_its_folder_and_its_text_is_free(
    tools: Tools, project: Path
) -> None:
    call = tools.call("files__write", path=f"{project}/src/clock.py", content="x = 1", create=True)

    rule = proposed(call, project)

    assert patterns(rule) == {
        "path": {"under": f"{project}/src"},
        "content": {"any": True},
        "create": {"equals": True},
    }
    assert rule.closed
    assert rule.definition == call.tool.hash
    assert rule_words(rule) == (
        f"allow files.write when path in {project}/src/** and create is true"
        " with any content and nothing else"
    )


def test_edits_of_one_file_are_free_and_those_that_name_others_are_not(tools: Tools, project: Path) -> None:
    path = f"{project}/src/clock.py"
    plain = [{"oldText": "a", "newText": "b"}]
    roaming = [{"file": "/etc/passwd", "newText": "b"}]

    assert patterns(proposed(tools.call("files__write", path=path, edits=plain), project))["edits"] == {
        "any": True
    }
    assert patterns(proposed(tools.call("files__write", path=path, edits=roaming), project))["edits"] == {
        "equals": roaming
    }


def test_a_path_outside_a_detour_and_a_protected_file_stand_for_themselves(
    tools: Tools, project: Path
) -> None:
    (project / "way").symlink_to("/etc")
    for path in (
        "/etc/x",
        f"{project}c/a",
        f"{project}/../a",
        f"{project}/way/x",
        f"{project}/.env",
        "a.txt",
    ):
        rule = proposed(tools.call("files__write", path=path, content=LINES), project)
        assert patterns(rule) == {"path": {"equals": path}, "content": {"any": True}}, path


def test_a_folder_stands_for_itself_and_the_project_as_a_whole_is_exact(tools: Tools, project: Path) -> None:
    assert patterns(proposed(tools.call("files__write", path=f"{project}/src"), project)) == {
        "path": {"under": f"{project}/src"}
    }
    assert patterns(proposed(tools.call("files__write", repo=str(project)), project)) == {
        "repo": {"equals": str(project)}
    }


def test_one_file_does_not_open_a_home(tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = f"{tmp_path}/notes.txt"

    for folder in (tmp_path, tmp_path.parent, Path("/")):
        assert patterns(proposed(tools.call("files__write", path=path), folder)) == {"path": {"equals": path}}


def test_our_own_tools_begin_in_the_project(tools: Tools, project: Path) -> None:
    call = tools.call("files__write", path="src/clock.py", content="x")

    assert patterns(proposed(call, project, ours=True, start=str(project)))["path"] == {
        "under": f"{project}/src"
    }
    assert patterns(proposed(call, project))["path"] == {"equals": "src/clock.py"}


@pytest.mark.parametrize(
    ("arguments", "free"),
    [
        ({"to": "bob", "body": "x" * (LONG + 1)}, {"body"}),
        ({"to": "bob", "body": LINES}, {"body"}),
        ({"to": "bob", "body": "Yes."}, set()),
        ({"text": LINES}, set()),
        ({"database": "main", "sql": LINES}, set()),
        ({"host": "a", "script": LINES, "code": LINES}, set()),
        ({"repo": "a", "patch": LINES}, set()),
    ],
)
def test_only_text_that_will_not_come_again_is_free_and_only_beside_something_bound(
    tools: Tools, arguments: dict[str, Any], free: set[str]
) -> None:
    rule = proposed(tools.call("web__post", **arguments))

    assert {name for name, pattern in rule.arguments.items() if pattern.any} == free
    assert all(pattern.any or pattern.exact for pattern in rule.arguments.values())


def test_commands_and_code_stay_exact(tools: Tools, project: Path) -> None:
    command = tools.run(f"cat {project}/src/a.py\nls", cwd=f"{project}/src")
    snippet = tools.call("python", code=LINES, text=LINES)

    assert all(one.exact for one in proposed(command, project, ours=True).arguments.values())
    assert all(one.exact for one in proposed(snippet, project, ours=True).arguments.values())


def test_what_removes_one_file_does_not_remove_its_neighbours(tools: Tools, project: Path) -> None:
    from tests.approvals.people import named

    tools.registry.put("files", "mcp", [named("delete_file")])
    path = f"{project}/src/clock.py"

    assert patterns(proposed(tools.call("files__delete_file", path=path), project)) == {
        "path": {"equals": path}
    }


async def test_always_for_a_file_lets_the_next_one_beside_it_be_written(tools: Tools, project: Path) -> None:
    person = Person(ALWAYS, NO)
    gate = await _gate_in(project, person)
    folder = f"{project}/src"

    assert await allowed(gate, tools.call("files__write", path=f"{folder}/a.py", content="1"))
    assert await allowed(gate, tools.call("files__write", path=f"{folder}/b.py", content="another"))
    assert len(person.questions) == 1
    assert [rule.as_json() for rule in gate.rules.active] == [person.questions[0].rule.as_json()]

    (project / "src" / "out").symlink_to("/etc")
    for path in (
        f"{project}/a.py",
        f"{folder}/../a.py",
        f"{folder}2/a.py",
        f"{folder}/out/a",
        f"{folder}/.env",
    ):
        assert not await allowed(gate, tools.call("files__write", path=path, content="1")), path
    assert not await allowed(gate, tools.call("files__write", path=f"{folder}/a.py", content="1", mode=7))


async def test_a_rule_for_a_folder_leaves_our_own_files_to_be_asked_about(
    tools: Tools, project: Path
) -> None:
    person = Person(ALWAYS, NO)
    gate = await _gate_in(project, person, protected=[project / "src" / "crib"])

    assert await allowed(gate, tools.call("files__write", path=f"{project}/src/a.py", content="1"))
    assert not await allowed(gate, tools.call("files__write", path=f"{project}/src/crib/x.db", content="1"))
    assert person.questions[-1].reasons[0].endswith("controls what runs on this machine.")


async def _gate_in(project: Path, person: Person, **options: Any) -> ApprovalGate:
    gate = gate_with(person, **options)
    gate.begin(AGENT, asker=person, project=str(project))
    return gate

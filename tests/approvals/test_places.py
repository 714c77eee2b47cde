"""A rule for a folder means what lies in it, and nothing that only looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from toolcrib.approvals.paths import LocalDisk, PathContext
from toolcrib.approvals.rule import Examples, Pattern, Rule, read_rule
from toolcrib.approvals.rule_match import check_examples, fits

GROUND = PathContext(LocalDisk())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "b"
    for name in ("b/src", "bc", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    return folder


def allowing(folder: Path, effect: str = "allow") -> Rule:
    return Rule.model_validate({"effect": effect, "arguments": {"path": {"under": str(folder)}}})


def speaks(rule: Rule, path: object, start: str = "") -> bool:
    return fits(rule, {"path": path}, None, PathContext(LocalDisk(), start))


def test_what_lies_in_the_folder_is_meant_at_any_depth(project: Path) -> None:
    rule = allowing(project)

    assert speaks(rule, f"{project}/a.txt")
    assert speaks(rule, f"{project}/src/deep/new.py")
    assert speaks(rule, f"{project}//src/./a.py")
    assert speaks(rule, str(project))
    assert speaks(rule, [f"{project}/a", f"{project}/b"])


def test_neighbours_detours_and_what_is_no_path_are_not_meant(project: Path) -> None:
    rule = allowing(project)

    for path in (
        f"{project}c/a.txt",
        f"{project}/../bc/a.txt",
        f"{project}/src/../a.txt",
        f"{project.parent}",
        f"{project}/a\0b",
        "",
        "a.txt",
        "~/a.txt",
        f"file://{project}/a.txt",
        7,
        None,
        [],
        [f"{project}/a", "/etc/passwd"],
        {"path": f"{project}/a"},
    ):
        assert not speaks(rule, path), path


def test_a_link_counts_for_where_it_leads(project: Path) -> None:
    rule = allowing(project)
    (project / "out").symlink_to(project.parent / "elsewhere")
    (project / "hanging").symlink_to(project.parent / "bc" / "new.txt")
    (project / "again").symlink_to(project / "src")
    (project.parent / "way").symlink_to(project)

    assert not speaks(rule, f"{project}/out/a.txt")
    assert not speaks(rule, f"{project}/hanging")
    assert speaks(rule, f"{project}/again/a.txt")
    assert speaks(rule, f"{project.parent}/way/src/a.txt")


def test_a_folder_that_became_a_link_is_not_followed(project: Path) -> None:
    rule = allowing(project / "src")
    (project / "src").rmdir()
    (project / "src").symlink_to(project.parent / "elsewhere")

    assert not speaks(rule, f"{project}/src/a.txt")


def test_what_each_process_sees_for_itself_is_nowhere(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)

    assert not speaks(allowing(project), "/proc/self/cwd/a.txt")
    assert not speaks(allowing(project), "//proc/self/cwd/a.txt")
    (project.parent / "sly").symlink_to("/proc/self/cwd")
    assert not speaks(allowing(project), f"{project.parent}/sly/a.txt")


def test_a_ring_of_links_leads_nowhere(project: Path) -> None:
    (project / "one").symlink_to(project / "two")
    (project / "two").symlink_to(project / "one")

    assert not speaks(allowing(project), f"{project}/one/a.txt")


def test_a_relative_path_is_meant_only_where_its_beginning_is_known(project: Path) -> None:
    rule = allowing(project / "src")

    assert not speaks(rule, "src/a.py")
    assert speaks(rule, "src/a.py", start=str(project))
    assert not speaks(rule, "a.py", start=str(project))
    assert not speaks(rule, "src/../a.py", start=str(project))


def test_files_that_make_programs_run_are_named_one_by_one(project: Path) -> None:
    rule = allowing(project)

    for name in (".git/hooks/pre-commit", ".env", "web/.vscode/tasks.json", ".bashrc"):
        assert not speaks(rule, f"{project}/{name}"), name
    assert speaks(rule, f"{project}/.env.example")


def test_a_denying_folder_is_read_widely(project: Path) -> None:
    rule = allowing(project, "deny")
    (project.parent / "way").symlink_to(project)

    for path in (
        f"{project}/a.txt",
        f"{project}/.env",
        f"{project.parent}/bc/../b/a.txt",
        f"file://{project}/a.txt",
        f"{project.parent}/way/a.txt",
        ["/elsewhere", f"{project}/a.txt"],
    ):
        assert speaks(rule, path), path
    assert speaks(rule, "a.txt", start=str(project))
    assert not speaks(rule, f"{project}c/a.txt")


def test_examples_of_a_folder_are_checked_without_a_disk() -> None:
    examples = Examples(match=({"path": "/p/q/a"},), not_match=({"path": "/p/qq/a"}, {"path": "/p/q/../a"}))
    rule = Rule(effect="allow", arguments={"path": Pattern(under="/p/q")}, examples=examples)

    check_examples(rule)
    assert read_rule(rule.as_json()) == rule


@pytest.mark.parametrize("folder", ["docs", "~/docs", "/a/../b", "/a//b", "/a/", ""])
def test_a_folder_is_written_whole(folder: str) -> None:
    with pytest.raises(ValidationError):
        Pattern(under=folder)


@pytest.mark.parametrize("wrong", [{"under": "/a", "like": "x"}, {"any": True, "equals": 1}, {"any": False}])
def test_a_pattern_says_one_thing(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Pattern.model_validate(wrong)


def test_rules_that_are_stored_keep_their_ids() -> None:
    stored = Rule(
        effect="allow", server="s", tool="t", arguments={"a": Pattern(equals=1), "b": Pattern(like="x*")}
    )

    assert stored.id == "fd3d85d71db9"

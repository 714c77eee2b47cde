from __future__ import annotations

import asyncio

import pytest

from toolcrib.errors import ConfigError, ServerNotReady, UnknownTool, UsageError
from toolcrib.events import Bus
from toolcrib.schema.events import Event, ToolsChanged
from toolcrib.tools import names as tool_names
from toolcrib.tools.names import PREFIX, public_name
from toolcrib.tools.registry import Registry


def listed(*names: str) -> list[dict[str, object]]:
    return [{"name": name, "description": "Works.", "inputSchema": {"type": "object"}} for name in names]


def test_a_tool_is_found_by_its_public_name_and_knows_where_it_comes_from() -> None:
    registry = Registry()

    problems = registry.put("demo", "mcp", listed("add"))

    tool = registry.resolve("demo__add")
    assert problems == []
    assert (tool.server, tool.definition.name, tool.origin) == ("demo", "add", "mcp")
    assert tool.tokens > 0
    assert registry.snapshot.find("demo", "add") is tool
    assert registry.snapshot.find("demo", "other") is None


@pytest.mark.parametrize("prefix", ["", PREFIX])
def test_a_name_is_found_with_and_without_the_prefix(prefix: str) -> None:
    registry = Registry(prefix=prefix)
    long = "t" * 60
    registry.put("demo", "mcp", listed("add", long))

    assert registry.resolve("demo__add") is registry.resolve("mcp__demo__add")
    assert registry.resolve("demo__add").name == prefix + "demo__add"
    assert registry.resolve(public_name("demo", long)) is registry.resolve(
        public_name("demo", long, prefix=prefix)
    )


def test_only_the_known_prefix_can_be_chosen() -> None:
    with pytest.raises(UsageError):
        Registry(prefix="x__")


def test_a_snapshot_stays_as_it_was_when_the_registry_changes() -> None:
    registry = Registry()
    registry.put("demo", "mcp", listed("add", "divide"))
    before = registry.snapshot

    registry.put("demo", "mcp", listed("add"))

    assert list(before.tools) == ["demo__add", "demo__divide"]
    assert list(registry.snapshot.tools) == ["demo__add"]
    assert registry.snapshot.version == before.version + 1
    with pytest.raises(TypeError):
        before.tools["x"] = before.tools["demo__add"]  # type: ignore[index]


def test_the_order_does_not_depend_on_who_came_first() -> None:
    one, other = Registry(), Registry()
    one.put("b", "mcp", listed("y", "x"))
    one.put("a", "mcp", listed("z"))
    one.put(None, "native", listed("grep"))
    other.put(None, "native", listed("grep"))
    other.put("a", "mcp", listed("z"))
    other.put("b", "mcp", listed("x", "y"))

    assert list(one.snapshot.tools) == list(other.snapshot.tools) == ["grep", "a__z", "b__x", "b__y"]
    assert list(one.snapshot.by_server) == [None, "a", "b"]


async def test_listeners_hear_what_was_added_removed_and_changed() -> None:
    bus: Bus[Event] = Bus()
    registry = Registry(bus)
    registry.put("demo", "mcp", listed("stays", "goes", "changes"))

    with bus.subscribe() as heard:
        changed = [*listed("stays", "comes"), {"name": "changes", "description": "Something else."}]
        registry.put("demo", "mcp", changed)
        first = await asyncio.wait_for(heard.next(), 60)
        registry.put("demo", "mcp", list(reversed(changed)))
        registry.withdraw("demo")
        second = await asyncio.wait_for(heard.next(), 60)

    assert first == ToolsChanged(
        2, "demo", added=("demo__comes",), removed=("demo__goes",), changed=("demo__changes",)
    )
    assert second == ToolsChanged(3, "demo", removed=("demo__changes", "demo__comes", "demo__stays"))


def test_tools_leave_with_their_server_and_come_back_with_it() -> None:
    registry = Registry()
    registry.put("demo", "mcp", listed("add"))
    registry.put("other", "mcp", listed("add"))

    registry.withdraw("demo")

    assert list(registry.snapshot.tools) == ["other__add"]
    with pytest.raises(ServerNotReady, match="belongs to the server demo") as caught:
        registry.resolve("mcp__demo__add")
    assert "toolcrib logs demo" in caught.value.hint
    registry.put("demo", "mcp", listed("add"))
    assert registry.resolve("demo__add").server == "demo"


def test_withdrawing_twice_still_knows_whose_tool_it_was() -> None:
    registry = Registry()
    registry.put("demo", "mcp", listed("add"))
    registry.withdraw("demo")
    registry.withdraw("demo")

    with pytest.raises(ServerNotReady, match="belongs to the server demo"):
        registry.resolve("demo__add")


def test_a_server_that_never_listed_anything_is_named_when_it_is_expected() -> None:
    registry = Registry()
    registry.expect("slow")

    with pytest.raises(ServerNotReady, match="belongs to the server slow"):
        registry.resolve("slow__work")
    registry.forget("slow")
    with pytest.raises(UnknownTool, match="There is no tool called slow__work"):
        registry.resolve("slow__work")


def test_a_forgotten_server_leaves_nothing_behind() -> None:
    registry = Registry()
    registry.put("demo", "mcp", listed("add"))

    registry.forget("demo")
    registry.forget("never_there")

    assert not registry.snapshot.tools
    with pytest.raises(UnknownTool, match="There is no tool called demo__add"):
        registry.resolve("demo__add")


def test_stale_tools_stay_callable_and_are_marked() -> None:
    registry = Registry()
    registry.put("demo", "mcp", listed("add"))

    registry.mark_stale("demo")
    registry.mark_stale("unknown")

    assert registry.resolve("demo__add").stale
    registry.put("demo", "mcp", listed("add"))
    assert not registry.resolve("demo__add").stale


def test_excluded_tools_are_known_but_cannot_be_called() -> None:
    registry = Registry()
    registry.put(
        "fs", "mcp", listed("read_file", "write_file", "list"), include=("*_file",), exclude=("write*",)
    )

    assert [tool.name for tool in registry.snapshot.enabled] == ["fs__read_file"]
    assert len(registry.snapshot.tools) == 3
    with pytest.raises(UnknownTool, match="fs__write_file is disabled") as caught:
        registry.resolve("fs__write_file")
    assert "`tools` (include, exclude) in the entry of fs" in caught.value.hint


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("demo__ad", "Did you mean demo__add?"),
        ("mcp__demo__adds", "Did you mean demo__add?"),
        ("add", "Did you mean demo__add?"),
        ("zzzzzzz", "toolcrib tools"),
        ("x" * 100_000, "toolcrib tools"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_one(asked: str, hint: str) -> None:
    registry = Registry()
    registry.put("demo", "mcp", listed("add"))

    with pytest.raises(UnknownTool) as caught:
        registry.resolve(asked)

    assert hint in caught.value.hint
    assert len(caught.value.message) < 300


def test_an_empty_registry_says_so() -> None:
    with pytest.raises(UnknownTool) as caught:
        Registry().resolve("demo__add")

    assert "No tools are available" in caught.value.hint


def test_bad_definitions_are_reported_and_the_others_registered() -> None:
    registry = Registry()

    problems = registry.put("demo", "mcp", [None, *listed("add")])
    native = registry.put(None, "native", listed("demo__add", "grep"))

    assert [problem.tool for problem in problems] == ["#1"]
    assert [problem.tool for problem in native] == ["demo__add"]
    assert list(registry.snapshot.tools) == ["grep", "demo__add"]


def test_a_name_in_use_by_another_kind_of_server_is_refused() -> None:
    registry = Registry()
    registry.put("terminal", "inline", listed("run"))

    with pytest.raises(ConfigError, match="terminal"):
        registry.put("terminal", "mcp", listed("run"))

    assert registry.resolve("terminal__run").origin == "inline"


def test_two_tools_whose_digests_collide_still_get_two_names(monkeypatch: pytest.MonkeyPatch) -> None:
    def colliding(server: str, tool: str) -> str:
        return "0" * 12 + real(server, tool)

    real = tool_names._digest
    monkeypatch.setattr(tool_names, "_digest", colliding)
    registry = Registry()

    problems = registry.put("demo", "mcp", listed("é", "è"))

    names = list(registry.snapshot.tools)
    assert problems == []
    assert len(names) == 2
    assert all(registry.resolve(name).definition.name in "éè" for name in names)


def test_a_thousand_tools_are_registered_and_one_server_changes_alone() -> None:
    registry = Registry()
    for server in range(100):
        registry.put(f"s{server}", "mcp", listed(*(f"tool{number}" for number in range(10))))
    before = registry.snapshot

    registry.put("s50", "mcp", listed("tool0"))

    after = registry.snapshot
    assert len(before.tools) == 1000
    assert len(after.tools) == 991
    assert after.by_server["s49"] == before.by_server["s49"]
    assert all(after.tools[name] is before.tools[name] for name in after.tools if "s50__" not in name)
    assert registry.snapshot is after


def test_an_unfinished_list_does_not_undo_a_later_change() -> None:
    registry = Registry()
    older = registry.put_in_steps("shop", "mcp", listed(*(f"old_{number}" for number in range(2000))))
    assert next(older, "finished") is None
    registry.put("shop", "mcp", listed("new"))

    list(older)

    assert list(registry.snapshot.tools) == ["shop__new"]


def test_a_list_of_an_unfinished_change_is_replaced_as_a_whole() -> None:
    registry = Registry()
    registry.put("shop", "mcp", listed("before"))
    steps = registry.put_in_steps("shop", "mcp", listed(*(f"tool_{number}" for number in range(2000))))
    seen = {tuple(registry.snapshot.tools) for _ in steps}

    assert seen == {("shop__before",)}
    assert len(registry.snapshot.tools) == 2000

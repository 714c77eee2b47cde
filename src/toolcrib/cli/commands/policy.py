"""`toolcrib policy`: the rules by which calls run, are asked about, or are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolcrib.cli import completion
from toolcrib.cli.call_arguments import read_arguments
from toolcrib.cli.declare import declare
from toolcrib.cli.group import command_of
from toolcrib.cli.output import note, say
from toolcrib.cli.safe_text import revealed
from toolcrib.cli.surface import Surface
from toolcrib.cli.tables import show_table

MODES = ("always", "on_miss", "on_rule", "plan", "session", "off")


@declare()
async def list_(surface: Surface) -> None:
    """Show the rules that are remembered, and who is asked when."""
    async with surface.reach() as crib:
        found = await crib.run("policy_list")
    if surface.answer(found):
        return
    modes = ", ".join(f"{who}: {mode}" for who, mode in found["modes"].items())
    note(f"Mode {found['mode']}; {modes}. Built-in rules: {', '.join(found['built_in'])}.")
    for one in found["broken"]:
        note(f"The rule {one['id']} is not in force: {revealed(one['reason'])}")
    if not found["rules"]:
        note("No rules are remembered.")
        return
    rows = [
        [rule["id"], rule["effect"], _target(rule), _patterns(rule), _scope(rule), _use(rule)]
        for rule in found["rules"]
    ]
    show_table(["ID", "EFFECT", "TOOL", "ARGUMENTS", "SCOPE", "USED"], rows)


@declare()
@click.argument("tool", shell_complete=completion.tools)
@click.option("--args", "document", metavar="JSON", help="The arguments as a JSON object; - reads stdin.")
@click.option(
    "--as", "principal", default="agent", metavar="WHO", help="agent, gateway, workflow, cli or python."
)
@click.option("--mode", type=click.Choice(MODES), help="As if this were the mode.")
@click.option("--project", default="", metavar="DIR", help="As if in this project's folder.")
async def explain(
    surface: Surface, tool: str, document: str | None, principal: str, mode: str | None, project: str
) -> None:
    """Say what would be decided about a call of TOOL, and why, without running anything."""
    params = {
        "tool": tool,
        "arguments": read_arguments(document),
        "principal": principal,
        "mode": mode,
        "project": _folder(project),
    }
    async with surface.reach() as crib:
        found = await crib.run("policy_explain", params)
    if surface.answer(found):
        return
    say(f"{found['decision']}  ({'rule ' + found['rule'] if found['rule'] else 'mode ' + found['mode']})")
    for reason in found["reasons"]:
        say(f"  {revealed(reason)}")


@declare()
@click.argument("effect", type=click.Choice(("allow", "ask", "deny")))
@click.argument("tool", metavar="SERVER/TOOL", shell_complete=completion.targets)
@click.option(
    "--like", "likes", multiple=True, metavar="KEY=PATTERN", help="An argument fits this; repeatable."
)
@click.option(
    "--is", "values", multiple=True, metavar="KEY=JSON", help="An argument is just this; repeatable."
)
@click.option(
    "--in", "folders", multiple=True, metavar="KEY=DIR", help="An argument is a path in DIR; repeatable."
)
@click.option("--project", default="", metavar="DIR", help="Only in this project's folder.")
@click.option("--why", default="", metavar="TEXT", help="Shown when the rule decides.")
@click.option(
    "--match", "matches", multiple=True, metavar="JSON", help="Arguments that must fit; repeatable."
)
@click.option(
    "--not-match", "others", multiple=True, metavar="JSON", help="Arguments that must not; repeatable."
)
async def add(surface: Surface, effect: str, tool: str, **given: Any) -> None:
    """Remember a rule: EFFECT is allow, ask or deny; SERVER and TOOL may hold *.

    A native tool has no server: write /read_file. Commands are compared word by word, and an allowing rule
    lets nothing by that stands beside its command: --like 'command=npm run *'.
    """
    server, _, name = tool.rpartition("/")
    folder = _folder(given["project"])
    rule = {
        "effect": effect,
        "server": server if "/" in tool else "*",
        "tool": name,
        "arguments": _read_patterns(given["likes"], given["values"], given["folders"]),
        "scope": "project" if folder else "always",
        "within": folder,
        "why": given["why"],
        "examples": {
            "match": [read_arguments(one) for one in given["matches"]],
            "not_match": [read_arguments(one) for one in given["others"]],
        },
    }
    async with surface.reach() as crib:
        added = await crib.run("policy_add", {"rule": rule})
    if not surface.answer(added):
        say(f"{added['id']}: {added['effect']} {_target(added)} {_patterns(added)}".rstrip())


@declare(asks=True)
@click.argument("rule")
async def remove(surface: Surface, rule: str) -> None:
    """Forget the RULE of this id."""
    async with surface.reach() as crib:
        # Asked only about what is there.
        found = await crib.run("policy_list")
        if rule in [one["id"] for one in (*found["rules"], *found["broken"])]:
            surface.ask(f"Forget the rule {rule}?", refused=f"{rule} stays.")
        outcome = await crib.run("policy_remove", {"id": rule})
    if not surface.answer(outcome):
        say(f"{rule} is forgotten.")


@declare()
@click.argument("rule")
async def off(surface: Surface, rule: str) -> None:
    """Put the RULE of this id out of force, and keep it."""
    await _switch(surface, rule, False)


@declare()
@click.argument("rule")
async def on(surface: Surface, rule: str) -> None:
    """Put the RULE of this id into force again."""
    await _switch(surface, rule, True)


async def _switch(surface: Surface, rule: str, enabled: bool) -> None:
    async with surface.reach() as crib:
        outcome = await crib.run("policy_switch", {"id": rule, "enabled": enabled})
    if not surface.answer(outcome):
        say(f"{rule} is {'in force' if enabled else 'off'}.")


def _read_patterns(
    likes: tuple[str, ...], values: tuple[str, ...], folders: tuple[str, ...]
) -> dict[str, Any]:
    import json

    from toolcrib.errors import UsageError

    patterns: dict[str, Any] = {}
    for one in likes:
        key, _, pattern = one.partition("=")
        patterns[key] = {"like": pattern}
    for one in folders:
        key, _, folder = one.partition("=")
        patterns[key] = {"under": _folder(folder or ".")}
    for one in values:
        key, _, text = one.partition("=")
        try:
            patterns[key] = {"equals": json.loads(text)}
        except ValueError:
            raise UsageError(
                f"--is {one}: that is no JSON.", hint=f"A text is written {key}='\"text\"'."
            ) from None
    return patterns


def _folder(path: str) -> str:
    return str(Path(path).expanduser().resolve()) if path else ""


def _target(rule: dict[str, Any]) -> str:
    return f"{rule.get('server', '*')}/{rule.get('tool', '*')}"


def _patterns(rule: dict[str, Any]) -> str:
    return ", ".join(revealed(_pattern(name, pattern)) for name, pattern in rule.get("arguments", {}).items())


def _pattern(name: str, pattern: dict[str, Any]) -> str:
    import json

    if "under" in pattern:
        return f"{name} in {pattern['under']}/**"
    if "any" in pattern:
        return f"any {name}"
    if "like" in pattern:
        return f"{name} like {pattern['like']}"
    return f"{name} = {json.dumps(pattern['equals'], ensure_ascii=False)}"


def _use(rule: dict[str, Any]) -> str:
    if not rule["enabled"]:
        return "off"
    if rule["asleep"] is not None:
        return "asleep: its tool changed"
    return str(rule["used"])


def _scope(rule: dict[str, Any]) -> str:
    return " ".join(filter(None, (rule.get("scope", "always"), rule.get("within", ""))))


command = command_of(
    "policy",
    "Tools",
    "The rules by which calls run, are asked about, or are refused.",
    list_,
    explain,
    add,
    remove,
    on,
    off,
)

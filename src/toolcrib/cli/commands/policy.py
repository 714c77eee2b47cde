"""`toolcrib policy`: list, explain and change the approval rules; how a rule's patterns are given as options
and printed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli import completion
from toolcrib.cli.call_arguments import read_arguments
from toolcrib.cli.declare import declare, repeatable
from toolcrib.cli.group import command_of
from toolcrib.cli.output import note, say, show_table
from toolcrib.cli.safe_text import revealed
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.operations.results.policy import PolicyRule, RulePattern, RuleShown
    from toolcrib.schema.approvals import Mode

MODES = ("always", "on_miss", "on_rule", "plan", "session", "off")


@declare()
async def list_(surface: Surface) -> None:
    """List the approval rules and modes."""
    async with surface.reach() as client:
        found = await client.policy_list()
    if surface.answer(found):
        return
    modes = ", ".join(f"{who}: {mode}" for who, mode in found["modes"].items())
    note(f"Mode {found['mode']}; {modes}. Built-in rules: {', '.join(found['built_in'])}.")
    for broken in found["broken"]:
        note(f"The rule {broken['id']} is invalid: {revealed(broken['reason'])}")
    if not found["rules"]:
        note("There are no rules yet.")
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
    "--as", "principal", default="agent", metavar="CALLER", help="agent, gateway, workflow, cli or python."
)
@click.option("--mode", type=click.Choice(MODES), help="Assume this mode.")
@click.option("--project", default="", metavar="DIR", help="Assume this project folder.")
async def explain(
    surface: Surface, tool: str, document: str | None, principal: str, mode: Mode | None, project: str
) -> None:
    """Explain what would happen to a call of TOOL, without running it."""
    async with surface.reach() as client:
        found = await client.policy_explain(
            tool=tool,
            arguments=read_arguments(document),
            principal=principal,
            mode=mode,
            project=_folder(project),
        )
    if surface.answer(found):
        return
    say(f"{found['decision']}  ({'rule ' + found['rule'] if found['rule'] else 'mode ' + found['mode']})")
    for reason in found["reasons"]:
        say(f"  {revealed(reason)}")


@declare()
@click.argument("effect", type=click.Choice(("allow", "ask", "deny")))
@click.argument("tool", metavar="SERVER/TOOL", shell_complete=completion.targets)
@repeatable("--like", "likes", metavar="KEY=PATTERN", help="An argument matches this pattern; repeatable.")
@repeatable("--is", "values", metavar="KEY=JSON", help="An argument equals this value; repeatable.")
@repeatable("--in", "folders", metavar="KEY=DIR", help="An argument is a path in DIR; repeatable.")
@click.option("--project", default="", metavar="DIR", help="Only in this project folder.")
@click.option("--why", default="", metavar="TEXT", help="The reason, shown when the rule applies.")
@repeatable("--match", "matches", metavar="JSON", help="Arguments that the rule must match; repeatable.")
@repeatable(
    "--not-match", "others", metavar="JSON", help="Arguments that the rule must not match; repeatable."
)
async def add(surface: Surface, effect: str, tool: str, **given: Any) -> None:
    """Add a rule: EFFECT is allow, ask or deny; SERVER and TOOL may contain *.

    A native tool has no server: write /read_file. Commands are compared word by word, and an allow rule
    covers only its own command, not others on the same line: --like 'command=npm run *'.
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
            "match": [read_arguments(example) for example in given["matches"]],
            "not_match": [read_arguments(example) for example in given["others"]],
        },
    }
    async with surface.reach() as client:
        added = await client.policy_add(rule=rule)
    if not surface.answer(added):
        say(f"{added['id']}: {added['effect']} {_target(added)} {_patterns(added)}".rstrip())


@declare(asks=True)
@click.argument("rule")
async def remove(surface: Surface, rule: str) -> None:
    """Delete the rule with the id RULE."""
    async with surface.reach() as client:
        # An unknown id fails without asking.
        found = await client.policy_list()
        if rule in [known["id"] for known in (*found["rules"], *found["broken"])]:
            surface.ask(f"Delete the rule {rule}?", refused=f"{rule} was not deleted.")
        outcome = await client.policy_remove(id=rule)
    if not surface.answer(outcome):
        say(f"{rule} is deleted.")


@declare()
@click.argument("rule")
async def off(surface: Surface, rule: str) -> None:
    """Switch the rule with the id RULE off, and keep it."""
    await _switch(surface, rule, False)


@declare()
@click.argument("rule")
async def on(surface: Surface, rule: str) -> None:
    """Switch the rule with the id RULE on again."""
    await _switch(surface, rule, True)


async def _switch(surface: Surface, rule: str, enabled: bool) -> None:
    async with surface.reach() as client:
        outcome = await client.policy_switch(id=rule, enabled=enabled)
    if not surface.answer(outcome):
        say(f"{rule} is {'on' if enabled else 'off'}.")


def _read_patterns(
    likes: tuple[str, ...], values: tuple[str, ...], folders: tuple[str, ...]
) -> dict[str, Any]:
    import json

    from toolcrib.errors import UsageError

    patterns: dict[str, Any] = {}
    for pair in likes:
        key, _, pattern = pair.partition("=")
        patterns[key] = {"like": pattern}
    for pair in folders:
        key, _, folder = pair.partition("=")
        patterns[key] = {"under": _folder(folder or ".")}
    for pair in values:
        key, _, text = pair.partition("=")
        try:
            patterns[key] = {"equals": json.loads(text)}
        except ValueError:
            raise UsageError(
                f"--is {pair}: this is not JSON.", hint=f"Quote a text: {key}='\"text\"'."
            ) from None
    return patterns


def _folder(path: str) -> str:
    return str(Path(path).expanduser().resolve()) if path else ""


def _target(rule: RuleShown) -> str:
    return f"{rule.get('server', '*')}/{rule.get('tool', '*')}"


def _patterns(rule: RuleShown) -> str:
    return ", ".join(revealed(_pattern(name, pattern)) for name, pattern in rule.get("arguments", {}).items())


def _pattern(name: str, pattern: RulePattern) -> str:
    import json

    if "under" in pattern:
        return f"{name} in {pattern['under']}/**"
    if "any" in pattern:
        return f"any {name}"
    if "like" in pattern:
        return f"{name} like {pattern['like']}"
    return f"{name} = {json.dumps(pattern['equals'], ensure_ascii=False)}"


def _use(rule: PolicyRule) -> str:
    if not rule["enabled"]:
        return "off"
    if rule["asleep"] is not None:
        return "inactive: its tool changed"
    if rule["inactive"] is not None:
        return f"inactive: {rule['inactive']}"
    return str(rule["used"])


def _scope(rule: RuleShown) -> str:
    return " ".join(filter(None, (rule.get("scope", "always"), rule.get("within", ""))))


command = command_of(
    "policy",
    "Tools",
    "List and change the approval rules, and explain what they decide.",
    list_,
    explain,
    add,
    remove,
    on,
    off,
)

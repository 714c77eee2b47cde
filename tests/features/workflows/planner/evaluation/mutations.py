"""Mistakes in the answer itself: each function changes a correct answer as real models do.

None if the answer has nothing to change in this way.
"""

from __future__ import annotations

import copy
import random
from typing import Any

Json = dict[str, Any]


def graph_of(answer: Json) -> tuple[list[Json], list[Json]]:
    """The nodes and edges that a model wrote."""
    part = answer.get("workflow") or answer["patch"]
    if "workflow" in answer:
        return part["nodes"], part["edges"]
    return part.setdefault("add_nodes", []), part.setdefault("add_edges", [])


def missing_edge(answer: Json, chance: random.Random) -> Json | None:
    _, edges = graph_of(answer)
    if not edges:
        return None
    edges.pop(chance.randrange(len(edges)))
    return answer


def no_edges(answer: Json, chance: random.Random) -> Json | None:
    _, edges = graph_of(answer)
    edges.clear()
    return answer


def invented_tool(answer: Json, chance: random.Random) -> Json | None:
    return _rename_tool(answer, chance, lambda name: "assistant__" + name.rpartition("__")[2] + "_smart")


def misspelt_tool(answer: Json, chance: random.Random) -> Json | None:
    return _rename_tool(answer, chance, lambda name: name[:-1])


def other_separator(answer: Json, chance: random.Random) -> Json | None:
    return _rename_tool(answer, chance, lambda name: name.replace("__", "."))


def _rename_tool(answer: Json, chance: random.Random, change: Any) -> Json | None:
    calls = [one for one in graph_of(answer)[0] if one["type"] == "McpToolCall"]
    if not calls:
        return None
    settings = chance.choice(calls)["settings"]
    settings["tool"] = change(settings["tool"])
    return answer


def invented_type(answer: Json, chance: random.Random) -> Json | None:
    nodes, _ = graph_of(answer)
    if not nodes:
        return None
    chance.choice(nodes)["type"] = "SmartAction"
    return answer


def other_spelling(answer: Json, chance: random.Random) -> Json | None:
    """snake_case types and camelCase settings."""
    nodes, _ = graph_of(answer)
    for one in nodes:
        one["type"] = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in one["type"])[
            1:
        ]
        one["settings"] = {_camel(key): value for key, value in one["settings"].items()}
    return answer if nodes else None


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def tool_as_type(answer: Json, chance: random.Random) -> Json | None:
    calls = [one for one in graph_of(answer)[0] if one["type"] == "McpToolCall"]
    for one in calls:
        one["type"], one["settings"] = one["settings"]["tool"], one["settings"]["arguments"]
    return answer if calls else None


def beside_settings(answer: Json, chance: random.Random) -> Json | None:
    nodes, _ = graph_of(answer)
    for one in nodes:
        settings = one.pop("settings")
        one.update({key: value for key, value in settings.items() if key not in one})
    return answer if nodes else None


OUTPUTS = {
    "true": "yes",
    "false": "no",
    "next": "success",
    "body": "loop_body",
    "done": "exit",
    "error": "onError",
}


def other_outputs(answer: Json, chance: random.Random) -> Json | None:
    _, edges = graph_of(answer)
    for one in edges:
        one["output"] = OUTPUTS.get(one["output"], one["output"].upper())
    return answer if edges else None


def no_outputs(answer: Json, chance: random.Random) -> Json | None:
    """Edges without their outputs."""
    _, edges = graph_of(answer)
    for one in edges:
        del one["output"]
    return answer if edges else None


def wrong_output(answer: Json, chance: random.Random) -> Json | None:
    """A name that means nothing."""
    _, edges = graph_of(answer)
    branches = [one for one in edges if one["output"] != "next"]
    if not branches:
        return None
    chance.choice(branches)["output"] = "path_a"
    return answer


def cycle(answer: Json, chance: random.Random) -> Json | None:
    nodes, edges = graph_of(answer)
    last = [one for one in edges if one["output"] == "next"]
    if not last or "patch" in answer:
        return None
    edges.append({"from": last[-1]["to"], "to": nodes[0]["id"], "output": "next"})
    return answer


def back_edge(answer: Json, chance: random.Random) -> Json | None:
    """Edges from the body back to the start, without an end node."""
    return _without_ends(answer, keep_edges=True)


def missing_end(answer: Json, chance: random.Random) -> Json | None:
    return _without_ends(answer, keep_edges=False)


def _without_ends(answer: Json, *, keep_edges: bool) -> Json | None:
    nodes, edges = graph_of(answer)
    ends = {one["id"]: one["settings"] for one in nodes if one["type"] in ("EndLoop", "EndMap")}
    if not ends:
        return None
    nodes[:] = [one for one in nodes if one["id"] not in ends]
    for one in list(edges):
        if one["to"] in ends:
            opener = ends[one["to"]].get("loop") or ends[one["to"]].get("map")
            edges.remove(one)
            if keep_edges:
                edges.append({**one, "to": opener})
    return answer


def end_goes_back(answer: Json, chance: random.Random) -> Json | None:
    """The end node leads back to its start, and to what follows."""
    nodes, edges = graph_of(answer)
    ends = [one for one in nodes if one["type"] in ("EndLoop", "EndMap")]
    for end in ends:
        opener = end["settings"].get("loop") or end["settings"]["map"]
        edges.append({"from": end["id"], "to": opener, "output": "next"})
        for one in edges:
            if one["from"] == opener and one["output"] == "done":
                one.update({"from": end["id"], "output": "next"})
    return answer if ends else None


def wrong_arguments(answer: Json, chance: random.Random) -> Json | None:
    calls = [one for one in graph_of(answer)[0] if one["settings"].get("arguments")]
    if not calls:
        return None
    arguments = chance.choice(calls)["settings"]["arguments"]
    name = chance.choice(sorted(arguments))
    arguments[f"my_{name}_value"] = arguments.pop(name)
    return answer


def camel_arguments(answer: Json, chance: random.Random) -> Json | None:
    calls = [one["settings"] for one in graph_of(answer)[0] if one["settings"].get("arguments")]
    changed = [one for one in calls if any("_" in key for key in one["arguments"])]
    for one in changed:
        one["arguments"] = {_camel(key): value for key, value in one["arguments"].items()}
    return answer if changed else None


def bad_ids(answer: Json, chance: random.Random) -> Json | None:
    nodes, edges = graph_of(answer)
    renamed = {one["id"]: f"Step {number}: {one['id'].title()}" for number, one in enumerate(nodes, 1)}
    if not nodes:
        return None
    for one in nodes:
        one["id"] = renamed[one["id"]]
        one["settings"] = _in_texts(one["settings"], renamed)
    for one in edges:
        one["from"], one["to"] = renamed.get(one["from"], one["from"]), renamed.get(one["to"], one["to"])
    return answer


def _in_texts(value: Any, renamed: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {
            key: renamed.get(one, one) if key in ("loop", "map") else _in_texts(one, renamed)
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [_in_texts(one, renamed) for one in value]
    if isinstance(value, str):
        for old, new in renamed.items():
            value = value.replace("{{" + old + ".", "{{" + new + ".")
    return value


def start_and_end(answer: Json, chance: random.Random) -> Json | None:
    if "patch" in answer:
        return None
    nodes, edges = graph_of(answer)
    sources, targets = {one["from"] for one in edges}, {one["to"] for one in edges}
    first = next(one["id"] for one in nodes if one["id"] not in targets)
    last = [one["id"] for one in nodes if one["id"] not in sources and not one["type"].startswith("End")]
    edges.insert(0, {"from": "start", "to": first, "output": "next"})
    edges += [{"from": one, "to": "end", "output": "next"} for one in last if one not in sources]
    nodes.insert(0, {"id": "start", "type": "Start", "settings": {}})
    nodes.append({"id": "end", "type": "End", "settings": {}})
    return answer


SYMBOLS = {"contains": "contains", "equals": "==", "is_empty": "is empty", "is_not_empty": "is not empty"}


def text_conditions(answer: Json, chance: random.Random) -> Json | None:
    nodes, _ = graph_of(answer)
    changed = False
    for one in nodes:
        for key in ("condition", "exit_condition"):
            given = one["settings"].get(key)
            if isinstance(given, dict):
                changed = True
                one["settings"][key] = _as_text(given)
    return answer if changed else None


def _as_text(condition: Json) -> str:
    right = condition.get("right")
    shown = "" if right is None else f" {str(right).lower() if isinstance(right, bool) else repr(right)}"
    return f"{condition['left']} {SYMBOLS[condition['operator']]}{shown}"


def duplicate_id(answer: Json, chance: random.Random) -> Json | None:
    nodes, _ = graph_of(answer)
    if len(nodes) < 2:
        return None
    nodes[1]["id"] = nodes[0]["id"]
    return answer


def nodes_by_id(answer: Json, chance: random.Random) -> Json | None:
    """An object instead of a list, as in the file."""
    part = answer.get("workflow") or answer["patch"]
    key = "nodes" if "workflow" in answer else "add_nodes"
    if not part.get(key):
        return None
    part[key] = {one["id"]: {name: one[name] for name in one if name != "id"} for one in part[key]}
    return answer


def unknown_target(answer: Json, chance: random.Random) -> Json | None:
    _, edges = graph_of(answer)
    if not edges:
        return None
    chance.choice(edges)["to"] = "finish_step"
    return answer


def changed(mutation: Any, answer: Json, seed: str) -> Json | None:
    """A copy of the answer with the mistake."""
    result: Json | None = mutation(copy.deepcopy(answer), random.Random(seed))
    return result

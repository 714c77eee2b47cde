"""Workflows for the tests of the page, and how a test uses the editor."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.web.running import Crib

Json = dict[str, Any]


def chain(name: str, count: int) -> Json:
    """Steps that follow each other, each setting one value."""
    nodes = {f"s{number}": {"type": "Set", "settings": {"values": {"n": number}}} for number in range(count)}
    edges = [{"from": f"s{number}", "to": f"s{number + 1}"} for number in range(count - 1)]
    return {"name": name, "nodes": nodes, "edges": edges}


def asking(name: str) -> Json:
    """A step, a question, and a step that uses the answer."""
    return {
        "name": name,
        "inputs": {"amount": {"type": "number", "default": 812.4}},
        "nodes": {
            "read": {
                "type": "Set",
                "name": "Read the bill",
                "settings": {"values": {"t": "{{input.amount}}"}},
            },
            "approve": {
                "type": "AskUser",
                "name": "Approve this bill",
                "settings": {
                    "message": "Put {{read.t}} EUR in the ledger?",
                    "shown": {"total": "{{read.t}}"},
                },
            },
            "note": {
                "type": "Set",
                "name": "Note the answer",
                "settings": {"values": {"said": "{{approve.choice}}"}},
            },
        },
        "edges": [{"from": "read", "to": "approve"}, {"from": "approve", "to": "note"}],
        "outputs": {"said": "{{note.said}}"},
    }


def mapped(name: str) -> Json:
    """A loop over a list with a branch inside, and an error path."""
    return {
        "name": name,
        "nodes": {
            "bills": {"type": "Set", "name": "Bills", "settings": {"values": {"list": [812, 120]}}},
            "each": {"type": "Map", "name": "For each bill", "settings": {"items": "{{bills.list}}"}},
            "large": {
                "type": "If",
                "name": "Over 500?",
                "settings": {"condition": {"left": "{{item}}", "operator": "greater_than", "right": 500}},
            },
            "big": {"type": "Set", "name": "Large bill", "settings": {"values": {"kind": "large"}}},
            "small": {"type": "Set", "name": "Small bill", "settings": {"values": {"kind": "small"}}},
            "end": {"type": "EndMap", "settings": {"map": "each", "value": "{{item}}"}},
            "send": {"type": "Set", "name": "Send", "settings": {"values": {"count": "{{each.count}}"}}},
            "warn": {
                "type": "Set",
                "name": "Warn",
                "settings": {"values": {"why": "{{bills.error.message}}"}},
            },
        },
        "edges": [
            {"from": "bills", "to": "each"},
            {"from": "bills", "to": "warn", "output": "error"},
            {"from": "each", "to": "large", "output": "body"},
            {"from": "large", "to": "big", "output": "true"},
            {"from": "large", "to": "small", "output": "false"},
            {"from": "big", "to": "end"},
            {"from": "small", "to": "end"},
            {"from": "each", "to": "send", "output": "done"},
        ],
    }


def stored(crib: Crib, workflow: Json) -> str:
    """Save it; its name."""
    crib.run("workflow_save", workflow=workflow, expected_version="")
    return str(workflow["name"])


def opened(page: Page, crib: Crib, name: str, query: str = "") -> Page:
    """The editor of a workflow, once its steps are there."""
    page.goto(f"{crib.base}/workflows/{name}{query}")
    expect(page.get_by_role("heading", name=name, level=1)).to_be_attached()
    expect(page.locator(".react-flow__node, [data-step]").first).to_be_visible()
    return page


def started(page: Page, *, asked: bool = False) -> str:
    """Run the workflow that is open; the id of the run. `asked`: it has inputs, and their defaults do."""
    page.get_by_role("button", name="Run", exact=True).click()
    if asked:
        page.get_by_role("dialog").get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url("**run=*")
    return page.url.partition("run=")[2].partition("&")[0]


def node(page: Page, step: str) -> Locator:
    """A step on the canvas, by its id."""
    return page.locator(f'.react-flow__node[data-id="{step}"]')


def row(page: Page, step: str) -> Locator:
    """A step in the list."""
    return page.locator(f'[data-step="{step}"]')


def panel(page: Page) -> Locator:
    return page.locator(".workflow-panel")


def drag(page: Page, source: Locator, target: Locator, *, drop: bool = True) -> None:
    """Drag with the mouse from the middle of one to the middle of another."""
    one, other = source.bounding_box(), target.bounding_box()
    assert one is not None
    assert other is not None
    page.mouse.move(one["x"] + one["width"] / 2, one["y"] + one["height"] / 2)
    page.mouse.down()
    x, y = other["x"] + other["width"] / 2, other["y"] + other["height"] / 2
    page.mouse.move(x - 6, y - 6, steps=6)
    page.mouse.move(x, y, steps=2)
    if drop:
        page.mouse.up()

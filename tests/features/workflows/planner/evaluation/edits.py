"""Requests to change a workflow; the answers are patches."""

from __future__ import annotations

from collections.abc import Iterator

from tests.features.workflows.planner.evaluation.chains import FILES, PEOPLE, TOPICS
from tests.features.workflows.planner.evaluation.graphs import (
    Case,
    Json,
    call,
    edge,
    node,
    straight,
    when,
    workflow,
)


def edits() -> Iterator[Case]:
    for topic, person, file in zip(TOPICS, PEOPLE, FILES, strict=True):
        search = call("search", "websearch__search_web_pages", query=topic)
        save = call("save", "filesystem__write_file", path=file, content="{{search.text}}")
        send = call("send", "mail__send_email", to=person, subject=topic, body="{{search.text}}")
        post = call("post", "discord__send_message", channel=topic, text="{{search.text}}")
        wait = node("wait", "Wait", seconds=60)
        current = straight("current", search, save)
        yield _edit(
            f"append-{topic}",
            f"Also send the result as an email to {person} at the end.",
            current,
            {"add_nodes": [send], "add_edges": [edge("save", "send")]},
            straight("current", search, save, send),
        )
        yield _edit(
            f"insert-{topic}",
            f"Wait a minute before the file {file} is written.",
            current,
            {
                "add_nodes": [wait],
                "remove_edges": [edge("search", "save")],
                "add_edges": [edge("search", "wait"), edge("wait", "save")],
            },
            straight("current", search, wait, save),
        )
        yield _edit(
            f"remove-{topic}",
            f"Do not write the file {file} any more.",
            straight("current", search, save, send),
            {"remove_nodes": ["save"], "add_edges": [edge("search", "send")]},
            straight("current", search, send),
        )
        changed = call("save", "filesystem__write_file", path="other.txt", content="{{search.text}}")
        yield _edit(
            f"change-{topic}",
            f"Write to the file other.txt instead of {file}.",
            current,
            {"update_nodes": [{"id": "save", "settings": {"arguments": {"path": "other.txt"}}}]},
            straight("current", search, changed),
        )
        check = node("check", "If", condition=when("{{search.text}}", "contains", "release"))
        yield _edit(
            f"condition-{topic}",
            f"Only write {file} if the result contains release, otherwise send a message to the discord "
            f"channel {topic}.",
            current,
            {
                "add_nodes": [check, post],
                "remove_edges": [edge("search", "save")],
                "add_edges": [
                    edge("search", "check"),
                    edge("check", "save", "true"),
                    edge("check", "post", "false"),
                ],
            },
            workflow(
                "current",
                [search, save, check, post],
                [edge("search", "check"), edge("check", "save", "true"), edge("check", "post", "false")],
            ),
        )


def _edit(name: str, text: str, current: Json, patch: Json, expected: Json) -> Case:
    return Case(
        name=f"edit-{name}",
        family="edit",
        text=text,
        answer={"patch": patch},
        current=current,
        expected=expected,
    )

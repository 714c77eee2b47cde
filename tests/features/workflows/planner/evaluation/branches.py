"""Requests with conditions, loops and maps."""

from __future__ import annotations

from collections.abc import Iterator

from tests.features.workflows.planner.evaluation.chains import FILES, PEOPLE, TOPICS
from tests.features.workflows.planner.evaluation.graphs import (
    Case,
    Json,
    before,
    call,
    chain,
    edge,
    node,
    repeated,
    when,
    workflow,
)


def conditions() -> Iterator[Case]:
    for topic, person, file in zip(TOPICS, PEOPLE, FILES, strict=True):
        search = call("search", "websearch__search_web_pages", query=topic)
        found = call("found", "mail__search_emails", query=topic)
        read = call("read", "filesystem__read_file", path=file)
        post = call("post", "discord__send_message", channel=topic, text="Found it")
        send = call("send", "mail__send_email", to=person, subject=topic, body="Nothing found")
        save = call("save", "filesystem__write_file", path=file, content="{{search.text}}")
        yield _branch(
            f"if-search-{topic}",
            f"Search the web for {topic}. If the result contains the word release, send a message to the "
            f"discord channel {topic}, otherwise send an email to {person}.",
            search,
            when("{{search.text}}", "contains", "release"),
            [post],
            [send],
        )
        yield _branch(
            f"if-file-{file}",
            f"Read the file {file}; if it is empty, send an email to {person}.",
            read,
            when("{{read.text}}", "is_empty"),
            [send],
            [],
        )
        yield _branch(
            f"if-mail-{topic}",
            f"Search my emails for {topic}. If there is one, write it to the file {file} and send a message "
            f"to the discord channel {topic}, else send an email to {person}.",
            found,
            when("{{found.text}}", "is_not_empty"),
            [call("save", "filesystem__write_file", path=file, content="{{found.text}}"), post],
            [send],
        )
        yield _branch(
            f"if-not-{topic}",
            f"Search the web for {topic}; unless it contains error, write the result to the file {file}.",
            search,
            when("{{search.text}}", "contains", "error"),
            [],
            [save],
        )
        yield _branch(
            f"if-screen-{file}",
            f"Find the text Login on the screen. If it is found, click it, else send an email to {person}.",
            node("find", "FindText", search_text="Login"),
            when("{{find.found}}", "equals", True),
            [node("click", "Click", target="Login")],
            [send],
        )
        yield _switch(topic, person, file)
        yield _on_error(topic, person, file)


def _branch(name: str, text: str, first: Json, condition: Json, yes: list[Json], no: list[Json]) -> Case:
    check = node("check", "If", condition=condition)
    edges = [edge(first["id"], "check"), *chain(*yes), *chain(*no)]
    edges += [edge("check", path[0]["id"], output) for path, output in ((yes, "true"), (no, "false")) if path]
    graph = workflow(name, [first, check, *yes, *no], edges)
    return Case(name=name, family="condition", text=text, answer={"workflow": graph})


def _switch(topic: str, person: str, file: str) -> Case:
    read = call("read", "filesystem__read_file", path=file)
    cases = [
        {"name": "urgent", "condition": when("{{read.text}}", "contains", "urgent")},
        {"name": "later", "condition": when("{{read.text}}", "contains", "later")},
    ]
    nodes = [
        read,
        node("kind", "Switch", cases=cases),
        call("send", "mail__send_email", to=person, subject=topic, body="{{read.text}}"),
        call("event", "calendar__create_event", title=topic, start="2027-01-01T09:00"),
        call("post", "discord__send_message", channel=topic, text="Nothing to do"),
    ]
    edges = [
        edge("read", "kind"),
        edge("kind", "send", "urgent"),
        edge("kind", "event", "later"),
        edge("kind", "post", "default"),
    ]
    text = (
        f"Read the file {file}. If it says urgent, send an email to {person}; if it says later, create a "
        f"calendar event {topic}; otherwise send a message to the discord channel {topic}."
    )
    name = f"switch-{topic}"
    graph = workflow(name, nodes, edges)
    return Case(name=name, family="switch", text=text, answer={"workflow": graph})


def _on_error(topic: str, person: str, file: str) -> Case:
    nodes = [
        call("page", "websearch__read_website", url="https://example.org"),
        call("save", "filesystem__write_file", path=file, content="{{page.text}}"),
        call("send", "mail__send_email", to=person, subject=topic, body="{{page.error.message}}"),
    ]
    edges = [edge("page", "save"), edge("page", "send", "error")]
    text = (
        f"Read the website https://example.org and write it to the file {file}; if that fails, send an "
        f"email about {topic} to {person}."
    )
    graph = workflow(f"error-{topic}", nodes, edges)
    return Case(name=f"error-{topic}", family="error", text=text, answer={"workflow": graph})


def loops() -> Iterator[Case]:
    for topic, person, file in zip(TOPICS, PEOPLE, FILES, strict=True):
        send = call("send", "mail__send_email", to=person, subject=topic, body="Done")
        read = call("read", "filesystem__read_file", path=file)
        loop = node("until", "Loop", exit_condition=when("{{read.text}}", "contains", "done"))
        yield _repeated(
            f"loop-{file}",
            f"Read the file {file} every 10 seconds until it contains done, then send an email to {person}.",
            "loop",
            repeated(f"loop-{file}", loop, [read, node("pause", "Wait", seconds=10)], [send]),
        )
        unread = call("read", "mail__get_unread_count")
        yield _repeated(
            f"loop-mail-{topic}",
            f"Get the unread count of my mail again and again until it says 0 done, then send a message "
            f"to the discord channel {topic}.",
            "loop",
            repeated(
                f"loop-mail-{topic}",
                loop,
                [unread],
                [call("post", "discord__send_message", channel=topic, text="Done")],
            ),
        )
        yield _repeated(
            f"loop-first-{topic}",
            f"Run the command make, then read the file {file} until it contains done.",
            "loop",
            before(
                [call("run", "terminal__run_command", command="make")],
                repeated(f"loop-first-{topic}", loop, [read], []),
            ),
        )
        yield _inner(topic, person, file)
        screen = node(
            "until", "Loop", exit_condition=when("{{find.found}}", "equals", True), max_iterations=20
        )
        yield _repeated(
            f"loop-screen-{topic}",
            f"Press the key Page_Down until the text {topic} is found on the screen, then click it.",
            "loop",
            repeated(
                f"loop-screen-{topic}",
                screen,
                [node("page", "PressKey", key="Page_Down"), node("find", "FindText", search_text=topic)],
                [node("click", "Click", target=topic)],
            ),
        )


def _inner(topic: str, person: str, file: str) -> Case:
    """A branch inside of a loop."""
    nodes = [
        node("until", "Loop", exit_condition=when("{{read.text}}", "contains", "done")),
        call("read", "filesystem__read_file", path=file),
        node("check", "If", condition=when("{{read.text}}", "contains", "error")),
        call("post", "discord__send_message", channel=topic, text="{{read.text}}"),
        node("end_until", "EndLoop", loop="until"),
        call("send", "mail__send_email", to=person, subject=topic, body="Done"),
    ]
    edges = [
        edge("until", "read", "body"),
        edge("read", "check"),
        edge("check", "post", "true"),
        edge("check", "end_until", "false"),
        edge("post", "end_until"),
        edge("until", "send", "done"),
    ]
    text = (
        f"Read the file {file} until it contains done; whenever it contains error, send a message to the "
        f"discord channel {topic}. At the end send an email to {person}."
    )
    name = f"loop-if-{topic}"
    return Case(name=name, family="loop", text=text, answer={"workflow": workflow(name, nodes, edges)})


def maps() -> Iterator[Case]:
    for topic, person, file in zip(TOPICS, PEOPLE, FILES, strict=True):
        send = call("send", "mail__send_email", to=person, subject=topic, body="Done")
        each = node("each", "Map", items="{{list.data.entries}}")
        listing = call("list", "filesystem__list_directory", path=".")
        yield _repeated(
            f"map-files-{topic}",
            f"List the directory, read every file in it, and then send an email to {person}.",
            "map",
            before(
                [listing],
                repeated(
                    f"map-files-{topic}",
                    each,
                    [call("read", "filesystem__read_file", path="{{item.name}}")],
                    [send],
                ),
            ),
        )
        fixed = node("each", "Map", items=["https://example.org/a", "https://example.org/b"])
        yield _repeated(
            f"map-sites-{file}",
            "Read the websites https://example.org/a and https://example.org/b, each one, and write each "
            f"to the file {file}.",
            "map",
            repeated(
                f"map-sites-{file}",
                fixed,
                [
                    call("page", "websearch__read_website", url="{{item}}"),
                    call("save", "filesystem__write_file", path=file, content="{{page.text}}"),
                ],
                [],
            ),
        )
        yield _repeated(
            f"map-people-{topic}",
            f"Send an email about {topic} to each address of a list that I give, then send a message to the "
            f"discord channel {topic}.",
            "map",
            {
                **repeated(
                    f"map-people-{topic}",
                    node("each", "Map", items="{{input.people}}"),
                    [call("send", "mail__send_email", to="{{item}}", subject=topic, body="Hello")],
                    [call("post", "discord__send_message", channel=topic, text="Sent")],
                ),
                "inputs": [{"name": "people", "type": "array"}],
            },
        )


def filters() -> Iterator[Case]:
    """A branch inside of a map."""
    for topic, file in zip(TOPICS, FILES, strict=True):
        nodes = [
            call("list", "filesystem__list_directory", path="."),
            node("each", "Map", items="{{list.data.entries}}"),
            call("read", "filesystem__read_file", path="{{item.name}}"),
            node("check", "If", condition=when("{{read.text}}", "contains", topic)),
            call("move", "filesystem__move_file", source_path="{{item.name}}", destination_folder=file[:4]),
            node("end_each", "EndMap", map="each"),
        ]
        edges = [
            edge("list", "each"),
            edge("each", "read", "body"),
            edge("read", "check"),
            edge("check", "move", "true"),
            edge("check", "end_each", "false"),
            edge("move", "end_each"),
        ]
        yield _repeated(
            f"map-if-{topic}",
            f"List the directory, read each file and move it to the folder {file[:4]} if it has {topic}.",
            "map",
            workflow(f"map-if-{topic}", nodes, edges),
        )


def _repeated(name: str, text: str, family: str, graph: Json) -> Case:
    return Case(name=name, family=family, text=text, answer={"workflow": graph})

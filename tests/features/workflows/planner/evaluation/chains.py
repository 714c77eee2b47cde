"""Requests for steps one after another, with waits and questions to the user among them."""

from __future__ import annotations

from collections.abc import Iterator

from tests.features.workflows.planner.evaluation.graphs import Case, call, node, straight

TOPICS = ("rust", "quantum computing", "heat pumps", "the euro", "sourdough")
PEOPLE = ("ann@example.org", "bo@example.org", "cy@example.org", "di@example.org", "ed@example.org")
FILES = ("notes.txt", "todo.md", "report.csv", "plan.txt", "log.txt")


def two_steps() -> Iterator[Case]:
    for topic, person, file in zip(TOPICS, PEOPLE, FILES, strict=True):
        search = call("search", "websearch__search_web_pages", query=topic)
        read = call("read", "filesystem__read_file", path=file)
        yield _case(
            f"search-save-{topic}",
            f"Search the web for {topic} and write what you find to the file {file}.",
            search,
            call("save", "filesystem__write_file", path=file, content="{{search.text}}"),
        )
        yield _case(
            f"file-mail-{file}",
            f"Read the file {file} and send it as an email to {person}.",
            read,
            call("send", "mail__send_email", to=person, subject=file, body="{{read.text}}"),
        )
        yield _case(
            f"unread-discord-{topic}",
            f"Get the unread count of my mail and send a message with it to the discord channel {topic}.",
            call("count", "mail__get_unread_count"),
            call("post", "discord__send_message", channel=topic, text="{{count.text}} unread"),
        )
        yield _case(
            f"site-file-{topic}",
            f"Read the website https://example.org/{topic[:4]} and write it to the file {file}.",
            call("page", "websearch__read_website", url=f"https://example.org/{topic[:4]}"),
            call("save", "filesystem__write_file", path=file, content="{{page.text}}"),
        )
        yield _case(
            f"assignments-mail-{person}",
            f"List the assignments of the course {topic} and email them to {person}.",
            call("assignments", "canvas__list_assignments", course=topic),
            call("send", "mail__send_email", to=person, subject=topic, body="{{assignments.text}}"),
        )
        yield _case(
            f"command-file-{file}",
            f"Run the command `uptime` and write its output to the file {file}.",
            call("run", "terminal__run_command", command="uptime"),
            call("save", "filesystem__write_file", path=file, content="{{run.text}}"),
        )
        yield _case(
            f"clipboard-file-{file}",
            f"Read the clipboard of the desktop and write its text to the file {file}.",
            call("clipboard", "desktop__get_clipboard"),
            call("save", "filesystem__write_file", path=file, content="{{clipboard.text}}"),
        )
        yield _case(
            f"search-mail-draft-{topic}",
            f"Search my emails for {topic} and create a draft with the result to {person}.",
            call("found", "mail__search_emails", query=topic),
            call("draft", "mail__create_draft", to=person, subject=topic, body="{{found.text}}"),
        )


def longer() -> Iterator[Case]:
    for topic, person, file in zip(TOPICS, PEOPLE, FILES, strict=True):
        yield _case(
            f"research-{topic}",
            f"Search the web for {topic}, let an AI summarise the result, write it to {file} and "
            f"send an email to {person}.",
            call("search", "websearch__search_web_pages", query=topic),
            node("summary", "AiStep", prompt="Summarise:\n{{search.text}}"),
            call("save", "filesystem__write_file", path=file, content="{{summary.text}}"),
            call("send", "mail__send_email", to=person, subject=topic, body="{{summary.text}}"),
        )
        yield _case(
            f"week-{person}",
            f"Get my calendar events of the next 7 days, write them to the file {file}, move it to "
            f"the folder archive and send a message to the discord channel {topic}.",
            call("events", "calendar__get_events", days=7),
            call("save", "filesystem__write_file", path=file, content="{{events.text}}"),
            call("move", "filesystem__move_file", source_path=file, destination_folder="archive"),
            call("post", "discord__send_message", channel=topic, text="Archived."),
        )
        yield _case(
            f"screen-{file}",
            f"Take a screenshot, find the text Save on the screen, click it and type the text {file}.",
            node("shot", "TakeScreenshot"),
            node("find", "FindText", search_text="Save"),
            node("click", "Click", target="Save"),
            node("type", "TypeText", text=file),
        )
        yield _case(
            f"folder-{topic}",
            f"Create the folder {file.partition('.')[0]}, write the file {file} there with the grades of "
            f"the course {topic}, then list the directory.",
            call("folder", "filesystem__create_folder", path=".", folder_name=file.partition(".")[0]),
            call("grades", "canvas__get_grades", course=topic),
            call(
                "save",
                "filesystem__write_file",
                path=f"{file.partition('.')[0]}/{file}",
                content="{{grades.text}}",
            ),
            call("list", "filesystem__list_directory", path=file.partition(".")[0]),
        )
        yield _case(
            f"event-{person}",
            f"Search my emails for {topic}, read the website https://example.org and create a calendar "
            f"event {topic} tomorrow.",
            call("found", "mail__search_emails", query=topic),
            call("page", "websearch__read_website", url="https://example.org"),
            call(
                "event",
                "calendar__create_event",
                title=topic,
                start="2027-01-01T09:00",
                description="{{page.text}}",
            ),
        )
        yield _case(
            f"sum-{file}",
            f"Add 17 and 25, divide the result by 7 and write it to the file {file}.",
            call("sum", "demo__add", a=17, b=25),
            node("number", "Set", values={"sum": "{{sum.text}}"}),
            call("save", "filesystem__write_file", path=file, content="{{number.sum}}"),
        )


def waits() -> Iterator[Case]:
    for topic, person, file in zip(TOPICS, PEOPLE, FILES, strict=True):
        yield _case(
            f"wait-{topic}",
            f"Send a message to the discord channel {topic}, wait 10 minutes, then read the messages there.",
            call("post", "discord__send_message", channel=topic, text="Hello"),
            node("wait", "Wait", seconds=600),
            call("read", "discord__read_messages", channel=topic),
        )
        yield _case(
            f"approve-{person}",
            f"Search my emails for {topic}, ask me before you go on, and send the result to {person}.",
            call("found", "mail__search_emails", query=topic),
            node("ask", "AskUser", message="Send this?", shown={"mail": "{{found.text}}"}),
            call("send", "mail__send_email", to=person, subject=topic, body="{{found.text}}"),
        )
        yield _case(
            f"event-{file}",
            f"Wait for the event uploaded, then read the file {file}.",
            node("wait", "Wait", event="uploaded"),
            call("read", "filesystem__read_file", path=file),
        )
        yield _case(
            f"form-{topic}",
            f"Ask me for a title and then create a calendar event about {topic} with it.",
            node("ask", "AskUser", message="Which title?", fields={"title": {"type": "string"}}),
            call("event", "calendar__create_event", title="{{ask.values.title}}", start="2027-01-01T09:00"),
        )


def workflows() -> Iterator[Case]:
    for topic, person in zip(TOPICS, PEOPLE, strict=True):
        yield _case(
            f"sub-{topic}",
            f"Run the workflow weekly-report, then send an email about {topic} to {person}.",
            node("report", "SubWorkflow", workflow="weekly-report"),
            call("send", "mail__send_email", to=person, subject=topic, body="It is ready."),
        )


def _case(name: str, text: str, *nodes: dict[str, object]) -> Case:
    return Case(name=name, family="chain", text=text, answer={"workflow": straight(name, *nodes)})

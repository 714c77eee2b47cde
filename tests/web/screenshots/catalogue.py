"""What the servers in the pictures offer: real names and descriptions, and one answer for each tool."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

PICTURE = os.environ.get("PICTURE", "")
READS = {"readOnlyHint": True, "openWorldHint": False}
BROWSES = {"readOnlyHint": True, "openWorldHint": True}


@dataclass(frozen=True, kw_only=True)
class Canned:
    """A tool and what it answers."""

    name: str
    description: str
    needs: dict[str, str] = field(default_factory=dict)
    """Required arguments with their descriptions; text unless the description begins with another type."""
    takes: dict[str, str] = field(default_factory=dict)
    usual: dict[str, Any] = field(default_factory=dict)
    """What arguments are when they are not given."""
    hints: dict[str, bool] = field(default_factory=dict)
    answer: str = "Done."
    fails: bool = False
    steps: int = 0
    until: int = 0
    picture: str = ""

    @property
    def definition(self) -> dict[str, Any]:
        """As a server lists it."""
        both = {**self.needs, **self.takes}
        schema = {
            "type": "object",
            "properties": {name: self._property(name, text) for name, text in both.items()},
            "required": list(self.needs),
        }
        shown = {"name": self.name, "description": self.description, "inputSchema": schema}
        return {**shown, "annotations": self.hints} if self.hints else shown

    def _property(self, name: str, text: str) -> dict[str, Any]:
        usual = {"default": self.usual[name]} if name in self.usual else {}
        return {**_property(text), **usual}


def _property(text: str) -> dict[str, str]:
    kind, mark, rest = text.partition(": ")
    known = mark and kind in ("integer", "number", "boolean", "array", "object")
    return {"type": kind if known else "string", "description": rest if known else text}


_REPOSITORY = {"repo_path": "The folder of the repository"}
_LOG = """4e1c9ab 2026-11-12 Read the time zone with a colon
9d02f4e 2026-11-11 Name the export after its day
77ab310 2026-11-11 Write rows in one statement
02bd1c5 2026-11-10 Keep the last fourteen exports"""

GIT = (
    Canned(
        name="git_status",
        description="Shows the state of the working tree.",
        needs=_REPOSITORY,
        hints=READS,
        answer="On branch release/2026.11\nnothing to commit, working tree clean",
    ),
    Canned(
        name="git_log",
        description="Shows the commit log: what changed, when and by whom, to find out why something broke.",
        needs=_REPOSITORY,
        takes={"since": "Only commits after this day", "path": "Only commits that touch this path"},
        hints=READS,
        answer=_LOG,
    ),
    Canned(
        name="git_diff",
        description="Shows differences between branches or commits.",
        needs={**_REPOSITORY, "target": "A branch or commit to compare with"},
        hints=READS,
        answer="src/export/clock.py | 2 +-",
    ),
    Canned(
        name="git_show",
        description="Shows the contents of a commit.",
        needs={**_REPOSITORY, "revision": "The commit"},
        hints=READS,
    ),
    Canned(
        name="git_branch",
        description="Lists, creates or deletes branches.",
        needs=_REPOSITORY,
        takes={"name": "The branch", "delete": "boolean: Delete it"},
        answer="* release/2026.11\n  main",
    ),
    Canned(
        name="git_branch_rename",
        description="Renames a branch, locally or on a remote.",
        needs={
            **_REPOSITORY,
            "old_name": "The branch as it is called",
            "new_name": "What it shall be called",
        },
        takes={"force": "boolean: Also when the new name is taken"},
        hints={"idempotentHint": True},
        answer='{"renamed": true, "from": "release/2026.10", "to": "release/2026.11", "upstream": null}',
    ),
    Canned(
        name="git_checkout",
        description="Switches branches.",
        needs={**_REPOSITORY, "branch_name": "The branch to go to"},
    ),
    Canned(
        name="git_push",
        description="Updates remote refs with the local ones.",
        needs=_REPOSITORY,
        takes={"remote": "Where to", "branch": "Which branch"},
        hints={"destructiveHint": True, "openWorldHint": True},
    ),
    Canned(
        name="git_fetch",
        description="Downloads what is new from a remote.",
        needs=_REPOSITORY,
        hints={"openWorldHint": True},
    ),
    Canned(
        name="git_commit",
        description="Records changes to the repository.",
        needs={**_REPOSITORY, "message": "What changed and why"},
    ),
    Canned(
        name="git_add",
        description="Adds file contents to the staging area.",
        needs={**_REPOSITORY, "files": "array: The files"},
    ),
    Canned(name="git_reset", description="Unstages all staged changes.", needs=_REPOSITORY),
)

_PAGE = (
    ("browser_navigate", "Opens an address.", {"url": "Where to go"}),
    ("browser_snapshot", "Captures the accessible tree of the page, better than a picture.", {}),
    ("browser_click", "Clicks an element of the page.", {"ref": "The element in the snapshot"}),
    ("browser_type", "Types text into a field.", {"ref": "The field", "text": "What to type"}),
    ("browser_select_option", "Chooses an option of a list.", {"ref": "The list", "values": "array: What"}),
    ("browser_hover", "Moves the pointer over an element.", {"ref": "The element"}),
    ("browser_press_key", "Presses a key.", {"key": "Its name"}),
    ("browser_wait_for", "Waits for a text to come or go.", {"text": "Which"}),
    ("browser_network_requests", "Lists the requests of the page since it was loaded.", {}),
    ("browser_console_messages", "Lists what the page wrote to the console.", {}),
    ("browser_evaluate", "Runs JavaScript in the page.", {"function": "An arrow function"}),
    ("browser_tabs", "Lists, opens, closes or chooses a tab.", {"action": "What to do"}),
    ("browser_pdf_save", "Saves the page as a PDF.", {}),
    ("browser_close", "Closes the page.", {}),
)
PLAYWRIGHT = (
    Canned(
        name="browser_take_screenshot",
        description="Takes a picture of the page or of one element, to show a dashboard or a form.",
        needs={"url": "The page"},
        takes={"element": "What to show of it"},
        hints=BROWSES,
        answer="Export dashboard, element “Exports per night”",
        picture=PICTURE,
    ),
    *(
        Canned(name=name, description=text, needs=needs, hints={"openWorldHint": True})
        for name, text, needs in _PAGE
    ),
)

TESTS = (
    Canned(
        name="run_tests",
        description="Runs the tests of a folder and tells how far it is.",
        needs={"path": "The folder or file"},
        takes={"quiet": "boolean: Only what failed"},
        answer="240 passed",
        steps=240,
        until=148,
    ),
    Canned(name="list_tests", description="Lists the tests without running them.", hints=READS),
)

FETCH = (
    Canned(
        name="fetch",
        description=(
            "Fetches a URL from the internet and extracts its contents as markdown.\n"
            "Use this when the user gives a link."
        ),
        needs={"url": "What to fetch"},
        takes={"max_length": "integer: The most characters to return"},
        usual={"max_length": 5000},
        hints=BROWSES,
    ),
    Canned(
        name="fetch_robots",
        description="Reads robots.txt of a site and says whether a path may be fetched.",
        needs={"url": "A page of the site"},
        hints=READS,
    ),
)

POSTGRES = (
    Canned(
        name="query",
        description="Runs a read-only SQL query over the tables, such as exports.",
        needs={"sql": "The query"},
        hints=READS,
    ),
    Canned(name="list_tables", description="Lists the tables of the database.", hints=READS),
    Canned(
        name="describe_table",
        description="Describes the columns of a table.",
        needs={"table": "Its name"},
        hints=READS,
    ),
    Canned(
        name="explain", description="Explains how a query would run.", needs={"sql": "The query"}, hints=READS
    ),
)

_GITHUB = (
    (
        "rename_branch",
        "Renames a branch of a repository on GitHub.",
        {"branch": "Which", "new_name": "To what"},
    ),
    ("list_branches", "Lists branches in a repository.", {}),
    ("create_pull_request", "Opens a pull request.", {"title": "Its title", "head": "The branch"}),
    ("list_pull_requests", "Lists pull requests of a repository.", {}),
    ("merge_pull_request", "Merges a pull request.", {"number": "integer: Which"}),
    ("get_file_contents", "Reads a file or folder of a repository.", {"path": "Which"}),
    ("create_issue", "Opens an issue in a repository.", {"title": "Its title"}),
    ("list_issues", "Lists issues of a repository.", {}),
    ("add_issue_comment", "Comments on an issue.", {"number": "integer: Which", "body": "What to say"}),
    ("search_code", "Searches code over all repositories.", {"q": "What for"}),
    ("list_workflow_runs", "Lists the runs of a workflow.", {}),
    ("create_release", "Makes a release of a tag.", {"tag": "Which"}),
)
GITHUB = tuple(
    Canned(name=name, description=text, needs={"repo": "owner/name", **needs}, hints={"openWorldHint": True})
    for name, text, needs in _GITHUB
)

_SLACK = (
    ("list_channels", "Lists the channels of the workspace."),
    ("post_message", "Posts a message to a channel."),
    ("reply_to_thread", "Replies to a thread."),
    ("add_reaction", "Adds a reaction to a message."),
    ("get_channel_history", "Reads the latest messages of a channel."),
)
SLACK = tuple(Canned(name=name, description=text) for name, text in _SLACK)
NOTES = (
    Canned(name="search_notes", description="Searches the notes.", needs={"words": "What for"}, hints=READS),
    Canned(name="write_note", description="Writes a note.", needs={"title": "Its title", "text": "Its text"}),
)
CALENDAR = (
    Canned(name="list_events", description="Lists events between two days.", hints=READS),
    Canned(name="create_event", description="Makes an event.", needs={"title": "Its title", "start": "When"}),
)

LOGS: dict[str, tuple[str, ...]] = {
    "fetch": (
        "protocol 2026-07-28, 2 tools",
        "tools/call fetch, chat “Nightly export fails”",
        "GET docs.python.org/3/library/datetime.html 200 · 611 ms",
        "extracted 18,204 chars of 214,880",
        "GET www.iana.org/time-zones 200 · 502 ms",
        "extracted 4,120 chars of 21,337",
        "warn robots.txt of example.org disallows /private for every agent",
        "fetch_robots → not allowed",
        "error GET intranet.test refused: address is not public",
        "told the caller: blocked by the network rule",
        "tools/list asked again by host",
        "GET peps.python.org/pep-0495 200 · 288 ms",
        "extracted 31,870 chars of 96,412",
    )
}
"""What a server wrote in the past hours, over and over."""

SETS: dict[str, tuple[Canned, ...]] = {
    "git": GIT,
    "playwright": PLAYWRIGHT,
    "tests": TESTS,
    "fetch": FETCH,
    "postgres": POSTGRES,
    "github": GITHUB,
    "slack": SLACK,
    "notes": NOTES,
    "calendar": CALENDAR,
}

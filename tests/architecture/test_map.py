"""The map is true and useful: `docs/architecture.md` names what exists, `docs/files.md` leads to the right
file.

A reader searches `docs/files.md` for words of what is to be changed.
"""

from __future__ import annotations

import re
import runpy
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/toolcrib"
MAP = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
FILES = (ROOT / "docs/files.md").read_text(encoding="utf-8")
MOST_FOUND = 3
"""Files among which a reader still finds the right one at once."""


@dataclass(frozen=True)
class Question:
    """Where is this changed? `words` are what a reader looks for, `symbol` what the file must contain."""

    asked: str
    words: str
    file: str
    symbol: str


QUESTIONS = [
    Question(
        "how long a webhook body may be",
        "webhook largest body",
        "features/workflows/triggers/webhook.py",
        "LARGEST_BODY",
    ),
    Question(
        "in which table triggers are kept", "tables of triggers", "features/workflows/tables.py", "TRIGGERS"
    ),
    Question(
        "the pause between two attempts of a step",
        "attempts (retries, timeout)",
        "features/workflows/engine/visits.py",
        "_pause",
    ),
    Question(
        "what the planner tells a model",
        "prompt of the planner",
        "features/workflows/planner/prompt.py",
        "_RULES",
    ),
    Question(
        "the fields of an IMAP account",
        "imap form help texts",
        "features/accounts/providers/imap.py",
        "FIELDS",
    ),
    Question(
        "where Cursor keeps its file",
        "cursor servers projects",
        "features/clients/programs/cursor.py",
        "client",
    ),
    Question(
        "the shortest passphrase of a backup",
        "passphrase shortest",
        "features/backup/encryption.py",
        "SHORTEST",
    ),
    Question(
        "the title of an approval question",
        "title approval question reason",
        "host/chat_questions.py",
        "_title",
    ),
    Question("how many health checks may fail", "health checks", "servers/health.py", "MISSES_ALLOWED"),
    Question(
        "how long a sign-in may take", "time for a sign-in issuer", "servers/signin/login.py", "PATIENCE"
    ),
    Question("when a chat is shortened", "compacts a chat", "agent/compaction.py", "FULL"),
    Question("the hint for a wrong API key", "vendor error wrong key", "llm/vendor_errors.py", "_BAD_KEY"),
    Question(
        "when audit records expire",
        "records every call old ones are deleted",
        "store/audit.py",
        "delete_expired",
    ),
    Question(
        "which values count as secrets",
        "looks like a secret",
        "config/secret_detection.py",
        "FORMS_OF_SECRETS",
    ),
    Question("a new operator of conditions", "operators (equals", "graph/conditions.py", "_OPERATORS"),
    Question(
        "a column of `toolcrib secret list`",
        "secrets: show, change and delete",
        "operations/settings.py",
        "STORED IN",
    ),
    Question("the largest answer over the local socket", "local socket", "ipc/wire.py", "MAX_ANSWER"),
    Question(
        "how many tools a search returns",
        "search tools maximum number of results",
        "gateway/search_definitions.py",
        "MAX_RESULTS",
    ),
    Question(
        "a range of refused addresses", "refused addresses", "serverkit/network/addresses.py", "_RESERVED"
    ),
    Question(
        "the layout of a macro on the wire",
        "macro gRPC limits: errors for invalid",
        "bundled/desktop/macros/model.py",
        "class Macro",
    ),
    Question("when SSE is tried", "falls back to SSE", "servers/remote/http_link.py", "MAY_BE_SSE"),
    Question("how many copies of the database are kept", "copies before", "store/database.py", "KEPT"),
    Question("a word that holds a tool", "words that hold a tool", "tools/suspicious_phrases.py", "SECRECY"),
    Question(
        "a folder that is asked about", "make programs run", "serverkit/confined/protected.py", "FOLDERS"
    ),
    Question("a word that says nothing", "stop words", "retrieval/words.py", "_STOP"),
    Question("a status that is tried again", "status codes busy", "llm/vendor_errors.py", "_BUSY"),
    Question("how often a stream says something", "silent stream", "gateway/http/sessions.py", "KEEP_ALIVE"),
    Question("an hour in the afternoon", "sentence event hours", "bundled/calendar/quick_add.py", "_time_of"),
    Question("the date above a quoted mail", "quoted line", "bundled/mail/writing.py", "quoted_text"),
    Question("how many commands may run", "background commands", "bundled/terminal/sessions.py", "MOST"),
    Question(
        "a line that is no content", '"back to top"', "bundled/websearch/extraction/boilerplate.py", "PHRASES"
    ),
    Question(
        "a slow double click", "steps double clicks", "bundled/desktop/recording/steps.py", "DOUBLE_CLICK"
    ),
    Question("a half-finished file", "unfinished", "features/workflows/triggers/folder.py", "INCOMPLETE"),
    Question(
        "the servers of a provider",
        "mail providers domain",
        "features/accounts/mail_providers.toml",
        "fastmail",
    ),
    Question("a file for the archive", "files are saved", "features/backup/manifest.py", "_OWN"),
    Question("a word of the filter of calls", "filter of past calls", "operations/activity.py", "KEYS"),
    Question("how far the up arrow goes back", "history of chats keys", "cli/keyboard.py", "MAX_HISTORY"),
    Question("how the page writes a duration", "durations dates", "frontend/src/ui/amounts.ts", "duration"),
    Question("a default in a reference", "${VAR:-default}", "config/expansion.py", "_VARIABLE"),
    Question(
        "a call with progress",
        "longest call that reports progress",
        "servers/sessions/peer.py",
        "LONGEST_EXTENDED_CALL",
    ),
    Question("tools just used", "tools just used", "retrieval/selection.py", "MOST_RECENT"),
    Question("the tests of a change", "--changed", "tests/changed.py", "def affected"),
    Question(
        "how short a shared value may be that links two steps of a chat",
        "workflow of one chat length",
        "features/workflows/from_chat.py",
        "SHORTEST",
    ),
    Question(
        "asking a directory for the servers of a mail domain",
        "autoconfig",
        "features/accounts/mail_discovery.py",
        "PLACES",
    ),
    Question(
        "the copy of a client's config file before it is changed",
        "config file of a client copy",
        "features/clients/files/file_changes.py",
        "backup_of",
    ),
    Question(
        "which installations a restore repeats",
        "repeats the installations",
        "features/backup/restoring.py",
        "_install",
    ),
    Question("the typical duration of calls", "typical duration", "store/audit_search.py", "_TYPICAL"),
    Question(
        "when the groups of past chats begin",
        "list of chats today earlier",
        "frontend/src/pages/chat/ChatList.tsx",
        "Group",
    ),
    Question(
        "what the preview of a restore lists",
        "prints preview before a restore",
        "features/backup/view.py",
        "show_plan",
    ),
    Question(
        "the field with the context of a compatible server",
        "context length field names",
        "llm/model_limits.py",
        "_CONTEXT_NAMES",
    ),
    Question("verbs that mean the same", "verbs that mean the same", "retrieval/words.py", "_KINDS"),
    Question(
        "the file name of an exported chat", "names of exported chats", "operations/chats.py", "chat_export"
    ),
    Question(
        "the pause after a search provider's 429",
        "search engine rate limit (429)",
        "bundled/websearch/engines/engine.py",
        "_check_status",
    ),
]


def rows() -> Iterator[list[str]]:
    """The cells of the tables: a folder, what it does, and the file to open first."""
    for line in MAP.partition("## Features")[2].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and cells[0] not in ("folder", "---"):
            yield cells


def place(name: str) -> Path:
    """A folder or file of the sources, or one beside them."""
    return SOURCE / name if (SOURCE / name).exists() else ROOT / name


def folders() -> Iterator[tuple[Path, str]]:
    """Each folder of the tables, with the file to open first."""
    for cells in rows():
        for name in re.findall(r"`([^`]+)`", cells[0]):
            yield place(name), (cells[2].strip("` |") if len(cells) > 2 else "")


def index() -> Iterator[tuple[str, str]]:
    """Each file with what stands there of it, its name included."""
    folder = ""
    for line in FILES.splitlines():
        if line.startswith("## "):
            folder = line.removeprefix("## ")
        elif line.startswith("* `"):
            names = re.match(r"\* ((?:`[^`]+`(?:, )?)+)", line)
            assert names, line
            for name in re.findall(r"`([^`]+)`", names[1]):
                yield f"{folder}{name}", line.casefold()


def test_the_map_names_only_what_exists() -> None:
    named = list(folders())

    assert len(named) > 50
    assert [str(folder) for folder, _ in named if not folder.exists()] == []
    assert [f"{folder}/{file}" for folder, file in named if file and not (folder / file).is_file()] == []


def test_the_text_around_the_tables_names_only_what_exists() -> None:
    prose = [line for line in MAP.splitlines() if not line.startswith("|")]
    named = [name for line in prose for name in re.findall(r"`((?:\w+/)+\w+\.py)`", line)]
    steps = re.findall(
        r"\b((?:tools|approvals|servers|store|chats|graph)/\w+)", MAP.partition("## Four lines")[2]
    )

    places = [*named, *(f"{step}.py" for step in steps if not place(step).is_dir())]
    assert len(places) > 8
    assert [name for name in places if not place(name).exists()] == []


def test_every_package_and_feature_has_a_row() -> None:
    listed = {folder for folder, _ in folders()}
    packages = [
        path for path in (*SOURCE.iterdir(), *SOURCE.glob("features/*")) if (path / "__init__.py").exists()
    ]
    others = {"features", "testing", "bundled"}

    assert [path.name for path in packages if path not in listed and path.name not in others] == []


def test_the_drawing_has_the_layers_that_are_checked() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [row.replace("(", "").replace(")", "") for row in contracts[0]["layers"]]
    drawing = MAP.partition("```\n")[2].partition("\n```")[0]

    assert [re.split(r"\s{2,}", line)[0] for line in drawing.splitlines()] == layers[1:]


def test_the_map_is_two_screens() -> None:
    assert len(MAP.splitlines()) <= 140
    assert max(len(line) for line in MAP.splitlines()) <= 150


def test_the_list_of_files_is_up_to_date() -> None:
    page = runpy.run_path(str(ROOT / "scripts/file_index.py"))["page"]

    assert page() == FILES, "run `make generated`"


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.asked)
def test_a_question_leads_to_its_file(question: Question) -> None:
    file = place(question.file)
    words = question.words.casefold().split()
    found = [name for name, text in index() if all(word in text for word in words)]

    assert question.symbol in file.read_text(encoding="utf-8")
    assert str(file.relative_to(ROOT)) in found
    assert len(found) <= MOST_FOUND, found

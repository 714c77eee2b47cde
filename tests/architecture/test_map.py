"""The map in `docs/architecture.md` is true and useful: it names what exists, and leads to the right file.

A reader looks up a word and opens the first path that follows it: the file, or the folder that it is in.
Single words before a folder are the names of files in it, with what each holds in parentheses.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/toolcrib"
MAP = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
PATH = re.compile(r"`(\./|(?:[\w-]+/)*(?:[\w-]+/|[\w-]+\.(?:py|toml|tsx?|css|sh)))`")
NAME = r"\w+(?: \([^()]*\))?"
NAMES = re.compile(rf"(?:[^:]*: )?({NAME}(?:, {NAME})*)")
ENDINGS = (".py", ".ts", ".tsx")


@dataclass(frozen=True)
class Entry:
    """Some words of the map, and the paths that follow them."""

    words: str
    paths: tuple[Path, ...]

    @property
    def names(self) -> list[str]:
        """The files that are named before a folder; none where the words say what each of its files is."""
        found = NAMES.fullmatch(self.words.strip())
        if not found or not re.search(r"[,(]", found.group(1)) or not self.paths[-1].is_dir():
            return []
        return re.sub(r" \([^()]*\)", "", found.group(1)).split(", ")


@dataclass(frozen=True)
class Question:
    """Where is this changed? `word` is what a reader looks up, `symbol` what the file must contain."""

    asked: str
    word: str
    file: str
    symbol: str


QUESTIONS = [
    Question(
        "how long a webhook body may be", "webhook", "features/workflows/triggers/webhook.py", "LARGEST_BODY"
    ),
    Question(
        "in which table triggers are kept", "tables of triggers", "features/workflows/tables.py", "TRIGGERS"
    ),
    Question(
        "the pause between two attempts of a step",
        "retries",
        "features/workflows/engine/visits.py",
        "_pause",
    ),
    Question(
        "what the planner tells a model",
        "prompt (of the planner",
        "features/workflows/planner/prompt.py",
        "_RULES",
    ),
    Question(
        "the fields of an IMAP account", "kind of account", "features/accounts/providers/imap.py", "FIELDS"
    ),
    Question("where Cursor keeps its file", "MCP program", "features/clients/programs/cursor.py", "client"),
    Question(
        "the shortest passphrase of a backup", "passphrases", "features/backup/encryption.py", "SHORTEST"
    ),
    Question("the title of an approval question", "approval question", "host/chat_questions.py", "_title"),
    Question("how many health checks may fail", "health checks", "servers/health.py", "MISSES_ALLOWED"),
    Question("how long a sign-in may take", "OAuth", "servers/signin/login.py", "PATIENCE"),
    Question("when a chat is shortened", "long chats", "agent/compaction.py", "FULL"),
    Question("the hint for a wrong API key", "errors of vendors", "llm/vendor_errors.py", "_BAD_KEY"),
    Question("when audit records expire", "expiry", "store/audit.py", "delete_expired"),
    Question(
        "which values count as secrets",
        "looks like a secret",
        "config/secret_detection.py",
        "FORMS_OF_SECRETS",
    ),
    Question("a new operator of conditions", "operators", "graph/conditions.py", "_OPERATORS"),
    Question("a column of `toolcrib secret list`", "columns", "operations/settings.py", "STORED IN"),
    Question("the largest answer over the local socket", "local socket", "ipc/wire.py", "MAX_ANSWER"),
    Question(
        "how many tools a search returns", "search tools", "gateway/search_definitions.py", "MAX_RESULTS"
    ),
    Question(
        "a range of refused addresses", "refused addresses", "serverkit/network/addresses.py", "_RESERVED"
    ),
    Question("the layout of a macro on the wire", "macro", "bundled/desktop/macros/model.py", "class Macro"),
    Question("when SSE is tried", "falling back to SSE", "servers/remote/http_link.py", "MAY_BE_SSE"),
    Question("how many copies of the database are kept", "copies before", "store/database.py", "KEPT"),
    Question("a word that holds a tool", "words that hold a tool", "tools/steering.py", "SECRECY"),
    Question(
        "a folder that is asked about",
        "make programs run",
        "serverkit/confined/protected.py",
        "FOLDERS",
    ),
    Question("a word that says nothing", "stop words", "retrieval/words.py", "_STOP"),
    Question("a status that is tried again", "status codes and words", "llm/vendor_errors.py", "_BUSY"),
    Question("how often a stream says something", "silent stream", "gateway/http/sessions.py", "KEEP_ALIVE"),
    Question("an hour in the afternoon", "afternoon", "bundled/calendar/quick_add.py", "_time_of"),
    Question("the date above a quoted mail", "quoted line", "bundled/mail/writing.py", "quoted_text"),
    Question("how many commands may run", "background commands", "bundled/terminal/sessions.py", "MOST"),
    Question(
        "a line that is no content", "Back to top", "bundled/websearch/extraction/boilerplate.py", "PHRASES"
    ),
    Question(
        "a slow double click", "steps (double clicks", "bundled/desktop/recording/steps.py", "DOUBLE_CLICK"
    ),
    Question("a half-finished file", "unfinished", "features/workflows/triggers/folder.py", "INCOMPLETE"),
    Question(
        "the servers of a provider", "mail providers", "features/accounts/mail_providers.toml", "fastmail"
    ),
    Question("a file for the archive", "files are saved", "features/backup/manifest.py", "_OWN"),
    Question("a word of the filter of calls", "filter of past calls", "operations/activity.py", "KEYS"),
    Question("how far the up arrow goes back", "up arrow", "cli/keyboard.py", "MAX_HISTORY"),
    Question("how the page writes a duration", "durations, dates", "frontend/src/ui/amounts.ts", "duration"),
    Question("a default in a reference", "${VAR:-x}", "config/expansion.py", "_VARIABLE"),
    Question("a call with progress", "longest call", "servers/sessions/peer.py", "LONGEST_EXTENDED_CALL"),
    Question("tools just used", "tools just used", "retrieval/selection.py", "MOST_RECENT"),
    Question("the tests of a change", "`--changed`", "tests/changed.py", "def affected"),
]


def rows() -> Iterator[tuple[Path, str]]:
    """Each row of the tables with its folder; a row without one belongs to the folder above it."""
    folder = SOURCE
    for line in MAP.partition("## Features")[2].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("| ") or len(cells) != 2 or cells[0] in ("folder", "---"):
            continue
        if cells[0].startswith("`"):
            folder = place(cells[0].strip("`"))
        yield folder, cells[1]


def place(name: str) -> Path:
    """A folder or file of the sources, or one beside them."""
    return SOURCE / name if (SOURCE / name).exists() else ROOT / name


def entries() -> list[Entry]:
    return [entry(folder, part) for folder, text in rows() for part in text.split(" · ")]


def entry(folder: Path, text: str) -> Entry:
    named = [found.group(1) for found in PATH.finditer(text)]
    return Entry(PATH.sub("", text), tuple(folder / name for name in named))


def is_there(path: Path) -> bool:
    """Whether it is a file, or a folder with files: one that was removed may still have a cache in it."""
    return path.is_file() or any(item.is_file() for item in path.glob("*"))


def test_the_map_names_only_what_exists() -> None:
    named = [path for known in entries() for path in known.paths]

    assert len(named) > 200
    assert [str(path.relative_to(ROOT)) for path in named if not is_there(path)] == []
    assert [known.words for known in entries() if len(known.paths) != 1] == []


def test_the_names_before_a_folder_are_files_in_it() -> None:
    named = [(known.paths[-1], name) for known in entries() for name in known.names]
    missing = [
        f"{folder.relative_to(ROOT)}/{name}"
        for folder, name in named
        if not any((folder / f"{name}{ending}").is_file() for ending in ENDINGS)
    ]

    assert len(named) > 200
    assert missing == []


def test_the_text_around_the_tables_names_only_what_exists() -> None:
    prose = [line for line in MAP.splitlines() if not line.startswith("|")]
    named = [name for line in prose for name in re.findall(r"`((?:\w+/)+\w+\.py)`", line)]
    steps = re.findall(
        r"\b((?:tools|approvals|servers|store|chats|graph)/\w+)", MAP.partition("## Four lines")[2]
    )

    places = [*named, *(f"{step}.py" for step in steps)]
    assert len(places) > 8
    assert [name for name in places if not (SOURCE / name).exists() and not (ROOT / name).exists()] == []


def test_every_package_and_feature_has_a_row() -> None:
    folders = {folder for folder, _ in rows()}
    packages = [
        path for path in (*SOURCE.iterdir(), *SOURCE.glob("features/*")) if (path / "__init__.py").exists()
    ]
    others = {"features", "testing", "catalog"}

    assert [path.name for path in packages if path not in folders and path.name not in others] == []


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.asked)
def test_a_question_leads_to_its_file(question: Question) -> None:
    file = place(question.file)
    found = next(known for known in entries() if question.word in known.words)

    assert question.symbol in file.read_text(encoding="utf-8")
    assert found.paths[0] == file or found.paths[0] == file.parent
    assert found.paths[0] == file or not found.names or file.stem in found.names


def test_the_drawing_has_the_layers_that_are_checked() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [row.replace("(", "").replace(")", "") for row in contracts[0]["layers"]]
    drawing = MAP.partition("```\n")[2].partition("\n```")[0]

    assert [re.split(r"\s{2,}", line)[0] for line in drawing.splitlines()] == layers[1:]


def test_the_map_is_no_longer_than_it_must_be() -> None:
    assert len(MAP.splitlines()) <= 230
    assert max(len(line) for line in MAP.splitlines()) <= 150
    assert max(len(PATH.findall(line)) for line in MAP.splitlines()) <= 8

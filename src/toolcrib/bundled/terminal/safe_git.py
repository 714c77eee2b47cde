"""Run as a program in place of git while a command runs unasked: nothing but what the command says happens.
Has the list of git settings that a repository may have, options that are added, private files left out, and
the refusals.

A repository's own config may only hold settings from a list; every other one is replaced by a value that does
nothing, so that it names no program and no file. Programs of the user's own config run as always. No other
git is started in a submodule, nothing is fetched, and a `.git` that leads to another folder's repository is
refused. Private files, which may be tracked, are left out of what is shown. Only the standard library, and
little of it: this starts before every git.
"""

# ruff: noqa: PTH109, PTH112, PTH113, PTH114, PTH118, PTH120, PTH123

from __future__ import annotations

import os
import re
import subprocess
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import NoReturn

THEIRS = ("local", "worktree")
"""Scopes of config that come with a repository."""
ALLOWED = re.compile(
    r"""(advice|am|apply|author|branch|checkout|clean|clone|color|column|commitgraph|committer|completion
    |feature|fetch|gc|gitflow|github|gitlab|gitreview|gui|http|https|hub|i18n|imap|index|init|lfs|maintenance
    |notes|pack|pull|push|rebase|receive|repack|rerere|revert|sendemail|splitindex|stash|svn|svn-remote|tag
    |transfer|user|versionsort|worktree)\..*
    | commit\.(gpgsign|verbose|cleanup|status)
    | core\.(abbrev|autocrlf|bare|bigfilethreshold|checkstat|commentchar|commentstring|commitgraph|compression
        |deltabasecachelimit|eol|filemode|filesreflocktimeout|fscache|hidedotfiles|ignorecase|logallrefupdates
        |longpaths|loosecompression|multipackindex|notesref|packedgit\w+|packedrefstimeout|precomposeunicode
        |preloadindex|protecthfs|protectntfs|quotepath|repositoryformatversion|safecrlf|sharedrepository
        |sparsecheckout|sparsecheckoutcone|symlinks|trustctime|untrackedcache|usereplacerefs
        |warnambiguousrefs|whitespace)
    | blame\.(?!ignorerevsfile$).* | format\.(?!pretty$).* | grep\.(?!fallbacktonoindex$).*
    | status\.(?!submodulesummary$).*
    | diff\.(algorithm|autorefreshindex|colormoved|colormovedws|context|dirstat|dstprefix|guitool
        |ignoresubmodules|indentheuristic|interhunkcontext|mnemonicprefix|noprefix|relative|renamelimit|renames
        |srcprefix|statgraphwidth|statnamewidth|suppressblankempty|tool|wordregex|wserrorhighlight)
    | diff\..+\.(algorithm|binary|cachetextconv|funcname|wordregex|xfuncname)
    | extensions\.(compatobjectformat|noop|noop-v1|objectformat|partialclone|preciousobjects|refstorage
        |relativeworktrees|worktreeconfig)
    | gpg\.(format|mintrustlevel) | include\.path | includeif\..*\.path
    | log\.(abbrevcommit|date|decorate|diffmerges|excludedecoration|follow|graphcolors|initialdecorationset
        |mailmap|showroot)
    | merge\.(autoedit|autostash|branchdesc|conflictstyle|defaulttoupstream|directoryrenames|ff|guitool|log
        |renamelimit|renames|renormalize|stat|suppressdest|tool|verbosity)
    | remote\..+\.(fetch|followremotehead|gh-resolved|glab-resolved|mirror|partialclonefilter|prune|prunetags
        |push|pushurl|skipdefaultupdate|skipfetchall|tagopt|url)
    | remote\.pushdefault | submodule\.(active|fetchjobs)
    | submodule\..+\.(active|branch|fetchrecursesubmodules|ignore|path|shallow|url)
    | url\..+\.(insteadof|pushinsteadof)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
"""Settings that name no program and no file to show. Included files are read for their own settings."""
_FALSE = re.compile(
    r"filter\..*\.required|log\.showsignature|remote\..*\.promisor|core\.fsmonitor", re.IGNORECASE | re.DOTALL
)
_INSTEAD = {
    "core.attributesfile": os.devnull,
    "core.excludesfile": os.devnull,
    "core.hookspath": os.devnull,
    "diff.orderfile": os.devnull,
    "format.pretty": "medium",
}
_ALWAYS = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("diff.submodule", "short"),
    ("grep.fallbackToNoIndex", "false"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
)
_MOST_SETTINGS = 500
_DIFFING = re.compile(r"diff\.(external|.*\.(command|textconv))", re.IGNORECASE | re.DOTALL)
_NO_PROGRAMS = ("--no-ext-diff", "--no-textconv")
_SHOWING = ("blame", "diff", "diff-tree", "log", "reflog", "show", "stash", "whatchanged")
_LOOKING_AT_FILES = ("diff", "status")
_WITH_PATCHES = ("diff-tree", "log", "reflog", "rev-list", "whatchanged")
_PATCH = re.compile(r"-[^-]*[puUWcmB]|--(patch|unified|cc|check|binary|word|color-words|function)")
_OTHER_NAMES = re.compile(r"-[^-]*s|--no-patch|--relative")
"""Options with which the list of names is shortened, or the names are not those in the repository."""
_BORDER = "--"
"""No object has this name."""
_WITH_ADDRESSES = ("config", "remote")
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
NAMES_VARIABLE = "TOOLCRIB_PRIVATE_NAMES"
"""Patterns of private names and places, separated by colons."""
_SECONDS = 2.0
"""For the names of the files that a command would show; after that, all private names are left out."""
_MOST_NAMES = 1000


def main() -> None:
    """Become git."""
    git = find_git(os.environ.get("PATH", ""))
    if git is None:
        sys.exit("git: not found")
    arguments = without_stash(sys.argv[1:])
    command = command_of(arguments)
    top, folder = find_repository(os.getcwd())
    if command == "diff" and folder is None:
        sys.exit("git diff: not in a repository, where it would compare any files")
    check_place(top, folder)
    names = switched_off(git)
    check_ignored_revisions(git, command, names, top)
    surroundings = {**os.environ, **overrides(names, top)}
    surroundings.pop(NAMES_VARIABLE, None)
    check_objects(git, command, arguments, surroundings)
    words = careful(arguments, diffing=any(_DIFFING.fullmatch(name) for name in names))
    if command in _WITH_ADDRESSES:
        sys.exit(run_masked([git, *words], surroundings))
    private = os.environ.get(NAMES_VARIABLE, "").split(":")
    os.execve(git, [git, *without_private(git, command, words, surroundings, private)], surroundings)  # noqa: S606


def find_git(path: str) -> str | None:
    """The program itself."""
    places = (os.path.join(folder, "git") for folder in path.split(os.pathsep) if folder)
    return next((place for place in places if os.access(place, os.X_OK)), None)


def refuse(why: str) -> NoReturn:
    """End without running git, and say how the user can be asked."""
    sys.exit(f"git: not run without approval, because {why}. `command git …` asks for approval and runs it.")


def command_of(arguments: list[str]) -> str:
    """The command that git is given."""
    return next((word for word in arguments if not word.startswith("-")), "")


def find_repository(start: str) -> tuple[str | None, str | None]:
    """The working folder and the `.git` of the repository here; without the first if it has none."""
    folder = start
    while True:
        inner = os.path.join(folder, ".git")
        if os.path.isfile(inner) or os.path.islink(inner) or is_git_folder(inner):
            return folder, inner
        if is_git_folder(folder):
            return None, folder
        above = os.path.dirname(folder)
        if above == folder:
            return None, None
        folder = above


def is_git_folder(folder: str) -> bool:
    """Whether git would take it for a repository."""
    has = [os.path.isdir(os.path.join(folder, name)) for name in ("objects", "refs")]
    head = os.path.lexists(os.path.join(folder, "HEAD"))
    return head and (all(has) or os.path.isfile(os.path.join(folder, "commondir")))


def check_place(top: str | None, folder: str | None) -> None:
    """Refuse a `.git` that leads to the repository of another folder."""
    if folder is None:
        return
    real = real_git_folder(folder)
    if top is not None and not belongs_to(real, top):
        refuse(f"{folder} leads to {real}, which belongs to another folder")
    common = first_line(os.path.join(real, "commondir"))
    if common and not within(real, os.path.join(os.path.realpath(os.path.join(real, common)), "worktrees")):
        refuse(f"{real} uses the repository {common}")


def real_git_folder(inner: str) -> str:
    """Where a `.git` leads that may be a file or a link."""
    given = first_line(inner)
    if given.startswith("gitdir: "):
        inner = os.path.join(os.path.dirname(inner), given[len("gitdir: ") :])
    return os.path.realpath(inner)


def belongs_to(real: str, top: str) -> bool:
    """Whether it is inside the folder, a linked worktree that names it, or a submodule of a folder above."""
    if within(real, os.path.realpath(top)):
        return True
    named = first_line(os.path.join(real, "gitdir"))
    if named and os.path.realpath(os.path.join(real, named)) == os.path.realpath(os.path.join(top, ".git")):
        return True
    owner, sign, _ = real.rpartition("/modules/")
    above, outer = find_repository(os.path.dirname(top))
    if not sign or above is None or outer is None:
        return False
    return real_git_folder(outer) in (owner, owner.partition("/modules/")[0]) and belongs_to(
        real_git_folder(outer), above
    )


def within(path: str, folder: str) -> bool:
    """Whether it is the folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def first_line(path: str) -> str:
    """Of a small file; empty if there is none."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(4096).strip()
    except OSError:
        return ""


def switched_off(git: str) -> list[str]:
    """The names of the settings that the repository here has besides those on the list."""
    words = [git, "config", "--includes", "--show-scope", "--name-only", "--null", "--list"]
    result = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if result.returncode:
        sys.exit(result.stderr.decode("utf-8", "replace").strip() or "git: the config cannot be read")
    parts = result.stdout.decode("utf-8", "surrogateescape").split("\0")
    pairs = zip(parts[::2], parts[1::2], strict=False)
    found = dict.fromkeys(name for scope, name in pairs if scope in THEIRS and not ALLOWED.fullmatch(name))
    if len(found) > _MOST_SETTINGS:
        refuse(f"the repository's config has {len(found)} unusual settings, such as {next(iter(found))}")
    return list(found)


def overrides(names: Iterable[str], top: str | None) -> dict[str, str]:
    """Variables that outweigh the repository's config."""
    given = {"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1"}
    values = [*_ALWAYS]
    for name in names:
        if name != "core.worktree":
            values.append((name, "false" if _FALSE.fullmatch(name) else _INSTEAD.get(name, "")))
        elif top is None:
            refuse("core.worktree in the repository's config names another folder")
        else:
            given["GIT_WORK_TREE"] = top
    given["GIT_CONFIG_COUNT"] = str(len(values))
    for number, (name, value) in enumerate(values):
        given[f"GIT_CONFIG_KEY_{number}"], given[f"GIT_CONFIG_VALUE_{number}"] = name, value
    return given


def run_masked(words: list[str], surroundings: dict[str, str]) -> int:
    """Run git, and leave user names and passwords out of the addresses that it prints."""
    result = subprocess.run(words, stdout=subprocess.PIPE, env=surroundings, check=False)
    sys.stdout.buffer.write(re.sub(rb"(\w://)[^/@\s]+@", rb"\1***@", result.stdout))
    return result.returncode


def check_ignored_revisions(git: str, command: str, names: list[str], top: str | None) -> None:
    """Refuse `blame` with a list of revisions from outside: its errors show the file, and git has no way to
    leave the setting out."""
    if command != "blame" or "blame.ignorerevsfile" not in names:
        return
    words = [git, "config", "--null", "--get-all", "blame.ignoreRevsFile"]
    result = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False).stdout
    private = Private(os.environ.get(NAMES_VARIABLE, "").split(":"))
    base = os.path.realpath(top or "/")
    for value in result.decode("utf-8", "surrogateescape").split("\0"):
        place = os.path.realpath(os.path.join(base, value))
        if value and (value[0] == "~" or not within(place, base) or private.has(place[len(base) :])):
            refuse(f"blame.ignoreRevsFile in the config is {value}")


def without_stash(arguments: list[str]) -> list[str]:
    """`stash show` as the comparison that it is, which can leave files out."""
    at = position(arguments)
    if arguments[at : at + 2] != ["stash", "show"]:
        return arguments
    options = [word for word in arguments[at + 2 :] if word.startswith("-")]
    entry = next((word for word in arguments[at + 2 :] if not word.startswith("-")), "stash@{0}")
    entry = f"stash@{{{entry}}}" if entry.isdigit() else entry
    return [*arguments[:at], "diff", *(options or ["--stat"]), f"{entry}^1", entry]


def position(arguments: list[str]) -> int:
    """The index of the command among the words."""
    return next((place for place, word in enumerate(arguments) if not word.startswith("-")), len(arguments))


def careful(arguments: list[str], *, diffing: bool) -> list[str]:
    """The same command with what it must not do."""
    at = position(arguments)
    if at == len(arguments):
        return arguments
    name, end = arguments[at], after_name(arguments)
    more = list(_NO_PROGRAMS) if diffing and name in _SHOWING else []
    if name in _LOOKING_AT_FILES:
        more.append("--ignore-submodules=dirty")
    return [*arguments[:end], *more, *arguments[end:]]


def after_name(arguments: list[str]) -> int:
    """Where the options of the command begin."""
    end = position(arguments) + 1
    listed = arguments[end - 1] in ("reflog", "stash") and arguments[end : end + 1] in (["list"], ["show"])
    return end + listed


def check_objects(git: str, command: str, arguments: list[str], surroundings: dict[str, str]) -> None:
    """Refuse files and folders that are named by their hash: whether they are private cannot be known."""
    if command not in ("cat-file", "diff", "diff-tree", "grep", "show"):
        return
    if command == "cat-file" and {"-t", "-s", "-e"} & set(arguments):
        return
    words = [word for word in arguments[after_name(arguments) :] if word[:1] not in ("", "-")]
    named = [name.lstrip("^") for word in words for name in re.split(r"\.{2,3}", word)]
    folders = [name.partition(":")[0] for name in named if ":" in name]
    asked = [name for name in named if name and ":" not in name and name != _EMPTY_TREE]
    asked = [*asked, _BORDER, *filter(None, folders)]
    if asked == [_BORDER]:
        return
    result = subprocess.run(
        [git, "cat-file", "--batch-check=%(objecttype)"],
        input="\n".join(asked).encode("utf-8", "surrogateescape") + b"\n",
        capture_output=True,
        env=surroundings,
        check=False,
    )
    kinds, _, of_folders = result.stdout.partition(_BORDER.encode())
    whole = kinds if command not in ("show", "cat-file") else b""
    if b"blob\n" in kinds or b"tree\n" in whole or b"tree\n" in of_folders:
        refuse(f"{command} is given a file by its hash; name it, as in `git show HEAD:path`")


def without_private(
    git: str, command: str, words: list[str], surroundings: dict[str, str], patterns: list[str]
) -> list[str]:
    """The same command without the private files that it would show."""
    if command not in ("diff", "grep", "show") and not (
        command in _WITH_PATCHES and any(map(_PATCH.match, words))
    ):
        return words
    if patterns == [""]:
        return words
    start = after_name(words)
    names = ["-l", "-z"] if command == "grep" else ["--name-only", "-z"]
    names += ["-r"] if command == "diff-tree" else []
    names += ["--no-renames"] if command != "grep" and "--follow" not in words else []
    shown = names_shown([git, *words[:start], *names, *words[start:]], surroundings)
    if any(map(_OTHER_NAMES.match, words)):
        shown = None
    private = None if shown is None else list(filter(Private(patterns).has, shown))
    if private == []:
        return words
    if "--follow" in words:
        refuse("the file had a private name before, or that could not be found out")
    if private is None or len(private) > _MOST_NAMES:
        left_out = [f":(top,exclude,icase){form}" for pattern in patterns for form in forms(pattern)]
    else:
        left_out = [f":({kind}exclude,literal){name}" for name in private for kind in ("top,", "")]
    all_commits = ["--full-history", "--sparse"] if command in ("log", "whatchanged") else []
    return [*words[:start], *all_commits, *words[start:], *left_out]


def names_shown(words: list[str], surroundings: dict[str, str]) -> list[str] | None:
    """The files that a command would show; None if they cannot be found out in time."""
    try:
        result = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            env=surroundings,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    if result.returncode not in (0, 1):
        return None
    parts = re.split("[\0\n]", result.stdout.decode("utf-8", "surrogateescape"))
    bare = (re.sub(r"^[*|/\\_ ]+", "", part) for part in parts)  # the lines of --graph
    return list(dict.fromkeys(name for part in bare for name in (part, part.partition(":")[2]) if name))


def forms(pattern: str) -> Iterator[str]:
    """Patterns of git for a name or a place anywhere; a `*` there also matches slashes."""
    yield pattern
    if not pattern.startswith("*"):
        yield f"*/{pattern}"
        if not pattern.endswith("*"):
            yield f"*/{pattern}/*"


class Private:
    """Finds private paths quickly: compiling all patterns would take longer than most git commands."""

    def __init__(self, patterns: Iterable[str]) -> None:
        names = [pattern for pattern in patterns if "/" not in pattern]
        self._places = [f"/{place}" for place in patterns if "/" in place]
        wild = [name for name in names if "*" in name or "?" in name]
        self._exact = {name for name in names if name not in wild}
        self._patterns = [(max(re.split("[*?]", name), key=len), name) for name in wild]
        self._any_core = re.compile("|".join(sorted({re.escape(core) for core, _ in self._patterns})))
        self._known = dict[str, bool]()

    def has(self, path: str) -> bool:
        """Whether a path, from the top of the repository, leads to something private."""
        folded = path.casefold()
        if any(self._leads_to(f"/{folded}", place) for place in self._places):
            return True
        return any(map(self._is_private, folded.split("/")))

    def _is_private(self, name: str) -> bool:
        if name not in self._known:
            self._known[name] = name in self._exact or (
                self._any_core.search(name) is not None
                and any(core in name and self._fits(name, pattern) for core, pattern in self._patterns)
            )
        return self._known[name]

    def _leads_to(self, path: str, place: str) -> bool:
        return self._fits(path, f"*{place}*") if "*" in place or "?" in place else place in path

    def _fits(self, name: str, pattern: str) -> bool:
        from fnmatch import fnmatchcase

        return fnmatchcase(name, pattern)


if __name__ == "__main__":
    main()

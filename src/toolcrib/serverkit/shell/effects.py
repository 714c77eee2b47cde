"""What a command does, in words for the user who approves it: downloads a program and runs it, deletes, sends
a file, writes, installs, runs as administrator, runs hidden code. Which of it may be allowed only once.

The sentences are made of what was read: programs, hosts, files, targets. `flow` follows the command,
`transfers` has the programs that reach other computers, `programs.toml` says which program is of which kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from toolcrib.serverkit.shell import transfers
from toolcrib.serverkit.shell.calls import (
    CHANGES,
    DELETES,
    FETCHES,
    FOUND,
    HIDDEN,
    MAY_RUN,
    PLAIN,
    RUNS_DOWNLOAD,
    UNKNOWN,
    UNLISTED,
    UNSURE,
    ProgramCall,
    all_text,
    host_of,
    may_be_downloaded,
    names,
    programs,
    run_text,
    runs_download,
    shown,
    source_shown,
    targets,
    with_text,
)
from toolcrib.serverkit.shell.commands import COMMANDS
from toolcrib.serverkit.shell.flow import STDIN, Effect, Flow, Value, joined, united
from toolcrib.serverkit.shell.readers import READERS, asks_version, only_reads
from toolcrib.serverkit.shell.script import Simple
from toolcrib.serverkit.shell.words import plain

_MOST = 5
"""Effects that are told."""
_SYSTEM = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/")


def effects_of(command: str) -> list[Effect]:
    """Everything that was found, the most important first; empty if it only reads."""
    flow = Flow(_perform)
    try:
        flow.run_text(command)
    except RecursionError:
        return [Effect("is nested too deeply to be read", HIDDEN, once=True)]
    return _in_order(flow)


def effects_of_part(part: Simple) -> list[Effect]:
    """The same for one command of a longer one."""
    flow = Flow(_perform)
    words = [Value(part.name), *(Value(word.text, known=word.literal) for word in part.words)]
    _perform(words, Value("", False, (), "what it is given") if part.fed else None, flow)
    return _in_order(flow)


def told(effects: Sequence[Effect]) -> str:
    """The effects as sentences; empty if there are none."""
    if not effects:
        return ""
    first, *more = [effect.what for effect in effects[:_MOST]]
    if len(effects) > _MOST:
        left = len(effects) - _MOST
        more.append(f"does {left} more {'thing' if left == 1 else 'things'}")
    return f"This {first}." + (f" It also {'; '.join(more)}." if more else "")


def _in_order(flow: Flow) -> list[Effect]:
    """Without what is said twice: a download that is run was also fetched."""
    fetched = united(effect.hosts for effect in flow.effects)
    ranks = {effect.rank for effect in flow.effects}
    if fetched and HIDDEN in ranks and RUNS_DOWNLOAD not in ranks:
        runs_download(flow, fetched, surely=False)
    running = [one for one in flow.effects if one.rank == RUNS_DOWNLOAD and MAY_RUN not in one.what]
    maybe = [one for one in flow.effects if MAY_RUN in one.what]
    certain = {host for one in running for host in one.hosts}
    said_better = {one for one in maybe if certain.issuperset(one.hosts) or one != maybe[-1]}
    covered = {host for effect in flow.effects if effect.rank != FETCHES for host in effect.hosts}
    kept = [
        one
        for one in flow.effects
        if one not in said_better and (one.rank != FETCHES or not covered.issuperset(one.hosts))
    ]
    by_text = {effect.what: effect for effect in kept}
    return sorted(by_text.values(), key=lambda effect: effect.rank)


def _perform(words: Sequence[Value], stdin: Value | None, flow: Flow) -> Value:
    while words and re.match(r"[A-Za-z_]\w*\+?=", words[0].text):
        name, _, text = words[0].text.partition("=")
        flow.assign(name, with_text(words[0], text))
        _set(name, text, flow)
        words = words[1:]
    if not words:
        return stdin or Value()
    program = words[0]
    call = ProgramCall(program.text.rpartition("/")[2] or program.text, words[1:], stdin, flow)
    if flow.origin(program):
        runs_download(flow, flow.origin(program))
    elif not program.known:
        what = f"runs a program that is only known when it runs: {shown(program.text)}"
        flow.note(what, rank=HIDDEN, once=True)
    elif "/" not in program.text or program.text.startswith(_SYSTEM):
        return _by_name(call)
    elif flow.content(program) is not None:
        return _run_input(ProgramCall("sh", [program], stdin, flow), [program])
    else:
        may_be_downloaded(flow)
        flow.note(f"runs the program {shown(program.text)}")
    return call.output()


_RUN_INPUT = frozenset({"build", "container", "git", "package", "service"})
"""Kinds of programs that may run what they are given."""


@cache
def _kinds() -> dict[str, str]:
    return {name: kind for kind, listed in programs()["does"].items() for name in listed.split()}


def _by_name(call: ProgramCall) -> Value:
    kind = _kinds().get(call.name, "interpreter" if _LANGUAGE.fullmatch(call.name) else "")
    perform = _KINDS.get(kind)
    if _is_reading(call) and kind not in ("text", "cat"):
        return call.output()
    if kind in _RUN_INPUT:
        transfers.gives_download(call)
    if perform is not None:
        return perform(call) or call.output()
    if call.name in COMMANDS or call.name in READERS:
        _unlisted(call)
    elif call.stdin is not None and call.stdin.hosts:
        transfers.gives_download(call, UNKNOWN)
    else:
        _unknown(call)
    return call.output()


def _unlisted(call: ProgramCall) -> None:
    call.flow.note(f"runs {call.excerpt()}", UNLISTED)
    _commands_in(call)


def _unknown(call: ProgramCall) -> None:
    """A program that may run commands in its words, or what is at an address."""
    flow = call.flow
    addresses = [word for word in call.words if re.match(r"https?://", word.text)]
    more = f", with an address at {names(map(host_of, addresses))}" if addresses else ""
    flow.note(f"runs {shown(call.name)}", f"{UNKNOWN}{more}", once=bool(addresses))
    _commands_in(call)


def _commands_in(call: ProgramCall) -> None:
    """Downloads that are run by commands in a word, which the program may run."""
    flow = call.flow
    for word in call.words:
        if word.known and re.search(r"\s", word.text):
            inner = Flow(flow.perform, depth=flow.depth, where=flow.where)
            inner.run_text(re.sub(r"^[:!\s]+", "", word.text))
            flow.effects += [effect for effect in inner.effects if effect.rank == RUNS_DOWNLOAD]


def _is_reading(call: ProgramCall) -> bool:
    """Whether nothing has to be said; a word that is not known is left to the strict check."""
    known = [word for word in call.words if word.known]
    simple = Simple(call.name, tuple(plain(word.text) for word in known))
    doubt = "" if asks_version(simple) else only_reads(simple)
    if doubt.endswith(_SECRETS):
        call.flow.note(f"reads {doubt.removesuffix(_SECRETS)}", f",{_SECRETS.replace(' may', ' which may')}")
        return True
    return not doubt


_SECRETS = " may contain secrets"


# Programs that start others.


def _wrapper(call: ProgramCall) -> Value:
    _, inner = call.before_program()
    inner = inner[programs()["skip"].get(call.name, 0) :]
    if call.name == "watch":
        return run_text(call, joined(inner, " "))
    return call.flow.perform(inner, call.stdin, call.flow)


def _environment(call: ProgramCall) -> Value:
    options, inner = call.before_program()
    text = [value for name, value in options if name in ("S", "split-string")]
    if text:
        return run_text(call, joined([*text, *inner], " "))
    return call.flow.perform(inner, call.stdin, call.flow)


def _administrator(call: ProgramCall) -> Value:
    options, inner = call.before_program()
    users = [value.text for name, value in options if name in ("u", "user")]
    texts = [value for name, value in options if name in ("c", "command")]
    if call.name == "su":
        users = [word.text for word in inner if word.text != "-"][:1]
        inner = []
    where = f" as the user {shown(users[0])}" if users and users[0] != "root" else " as administrator"
    if texts:
        return call.flow.run_text(texts[0].text, call.stdin, where)
    return call.flow.run_within(where, inner or [Value("sh")], call.stdin)


def _xargs(call: ProgramCall) -> Value:
    options, inner = call.before_program()
    files = [value for name, value in options if name in ("a", "arg-file")]
    fed = (
        Value("", False, call.flow.origin(files[0]), files[0].text)
        if files
        else call.stdin or Value(known=False)
    )
    source = fed.source.removeprefix("what ")
    found = f"the files that {source}" if " " in source else f"the files named in {source or 'its input'}"
    more = fed if fed.known else Value(FOUND, False, fed.hosts, found)
    marks = [value.text for name, value in options if name in ("I", "replace") and value.text]
    if not marks:
        return call.flow.perform([*(inner or [Value("echo")]), more], None, call.flow)
    replaced = [_replaced(word, marks[0], more) for word in inner]
    return call.flow.perform(replaced, None, call.flow)


def _replaced(word: Value, mark: str, more: Value) -> Value:
    if mark not in word.text:
        return word
    return Value(
        word.text.replace(mark, more.text), more.known, united([word.hosts, more.hosts]), more.source
    )


def _find(call: ProgramCall) -> Value:
    texts = [word.text for word in call.words]
    folders = call.words[: next((at for at, text in enumerate(texts) if text[:1] in "-(!"), len(texts))]
    found = Value(FOUND, False, (), f"what find finds in {targets(folders or [Value('.')])}")
    before = len(call.flow.effects)
    for at, text in enumerate(texts):
        if text == "-delete":
            call.flow.note(f"deletes {found.source}", rank=DELETES)
        elif text in ("-exec", "-execdir", "-ok", "-okdir"):
            rest = call.words[at + 1 :]
            end = next((i for i, word in enumerate(rest) if word.text in (";", "+")), len(rest))
            call.flow.perform([_replaced(word, "{}", found) for word in rest[:end]], None, call.flow)
        elif text.startswith(("-fprint", "-fls")):
            _write(call.words[at + 1 : at + 2], call.flow)
    if not call.flow.effects[before:]:
        call.flow.note(f"runs {call.excerpt()}", UNSURE)
    return call.output()


# Code.

_LANGUAGE = re.compile(
    r"(python|pypy|ruby|perl|php|lua|luajit|node|nodejs|deno|bun|tclsh|Rscript|osascript|pwsh|powershell|julia|tsx)[\d.]*"
)
_LIKE = {"pypy": "python", "nodejs": "node", "powershell": "pwsh"}
_TITLES = {"python": "Python", "perl": "Perl", "ruby": "Ruby", "node": "JavaScript", "awk": "awk"}
_REACHES = re.compile(
    r"(?i)https?:|ftp:|urllib|requests|httpx|aiohttp|socket|fetch\(|open-uri|net/http|Net::HTTP|LWP|/inet/|"
    r"\b(curl|wget|iwr|irm|nc)\b|Invoke-(Web|Rest)|DownloadString"
)
_EXECUTES = re.compile(
    r"(?i)\b(exec\w*|eval\w*|system|popen|spawn\w*|subprocess|compile|include\w*|__import__|Function|child_process|os|iex|"
    r"Invoke-Expression)\b|`"
)
_STARTS = re.compile(r"""(?:system|popen|exec\w*|run|call|spawn\w*|check_output)\(\s*(["'])(.{1,300}?)\1""")
_ENCODED = re.compile(
    r"(?i)b64|base64|fromhex|unhex|atob|zlib|rot13|marshal|unpack|chr\(|fromCharCode|\\x[0-9a-f]{2}"
)


def _shell(call: ProgramCall) -> Value:
    call = ProgramCall(call.name, call.words, call.stdin, call.flow, "shell")
    if call.has("c", "command"):
        return run_text(call, [*call.given("command"), *call.operands, Value()][0])
    return _run_input(call, [] if call.has("s") else call.operands)


def _script(call: ProgramCall) -> Value:
    return _run_input(ProgramCall("sh", call.words, call.stdin, call.flow), call.words)


def _run_input(call: ProgramCall, operands: Sequence[Value]) -> Value:
    """Run the file that is the first operand, or the input if there is none."""
    flow, script = call.flow, operands[0] if operands else None
    text = call.stdin if script is None or STDIN.fullmatch(script.text) else flow.content(script)
    if text is None:
        _run_file(call, script)
    elif text.known and _kinds().get(call.name) == "shell":
        return flow.run_text(text.text)
    elif text.known:
        _inline(call, text)
    elif text.hosts:
        runs_download(flow, text.hosts)
    elif text.source and " " not in text.source and text.source[0] not in "$`":
        flow.note(f"runs the commands in {shown(text.source)} with {shown(call.name)}")
    else:
        flow.note(f"runs {source_shown(text.source) or 'its input'} as a program", rank=HIDDEN, once=True)
    return call.output()


def _run_file(call: ProgramCall, script: Value | None) -> None:
    flow = call.flow
    if script is None:
        flow.note(f"runs {shown(call.name)}")
        return
    address = re.match(r"https?:", script.text)
    hosts = (host_of(script),) if address else flow.origin(script)
    written = () if script.known else united(file.hosts for file in flow.files.values())
    if hosts or written:
        runs_download(flow, hosts or written, surely=bool(hosts))
        return
    may_be_downloaded(flow)
    flow.note(f"runs the script {shown(script.text)} with {shown(call.name)}")


def _interpreter(call: ProgramCall) -> Value:
    kind = re.sub(r"[\d.]+$", "", call.name)
    kind = _LIKE.get(kind, kind)
    call = ProgramCall(call.name, call.words, call.stdin, call.flow, kind)
    modules = call.given("m") if kind == "python" else []
    if modules:
        at = next(at for at, word in enumerate(call.words) if word.text.endswith(modules[0].text))
        if modules[0].text in ("pip", "uv", "pipx"):
            return call.flow.perform([modules[0], *call.words[at + 1 :]], call.stdin, call.flow)
        call.flow.note(f"runs the Python module {shown(modules[0].text)}")
        return call.output()
    codes = (
        call.given("c")
        if kind in ("python", "pwsh")
        else call.given("e", "E", "p", "eval", "print", "r", "command")
    )
    operands = call.operands
    if kind == "deno":
        codes, operands = (operands[1:2], []) if operands[:1] == [Value("eval")] else ([], operands[1:])
    if codes:
        _inline(call, joined(codes, "\n"))
        return call.output()
    return _run_input(call, operands)


def _inline(call: ProgramCall, code: Value) -> None:
    """Code among the words of the command."""
    flow, kind = call.flow, re.sub(r"[\d.]+$", "", call.name)
    language = _TITLES.get(_LIKE.get(kind, kind), shown(call.name))
    before, fed = len(flow.effects), call.stdin.hosts if call.stdin is not None else ()
    for started in _STARTS.finditer(code.text):
        flow.run_text(started[2])
    if any(effect.once for effect in flow.effects[before:]):
        return
    named = tuple(map(shown, re.findall(r"(?i)https?://([^/\s'\"\\]+)", code.text)))
    runs, reaches = _EXECUTES.search(code.text), _REACHES.search(code.text)
    if code.hosts:
        runs_download(flow, code.hosts)
    elif runs and (reaches or fed):
        runs_download(flow, united([named, fed]) or ("the internet",), surely=False)
    elif not code.known or (runs and _ENCODED.search(code.text)):
        flow.note(f"runs {language} code that is only known when it runs", rank=HIDDEN, once=True)
    elif reaches:
        flow.note(f"runs {language} code that reaches {names(named) or 'the network'}", rank=CHANGES)
    elif call.name == "awk":
        flow.note(f"runs {call.excerpt()}", ", which may run programs or write files")
    else:
        flow.note(f"runs the {language} code in the command")


def _awk(call: ProgramCall) -> None:
    _inline(ProgramCall("awk", call.words, call.stdin, call.flow), (call.operands or [Value(known=False)])[0])


# Files.

_AT_START = re.compile(
    r"(.*/)?(\.(bash|zsh|k?sh)(rc|env|_?profile|_?login|_logout)|\.profile|config\.fish|\.xinitrc|\.xsession)"
    r"|.*/(autostart|LaunchAgents|LaunchDaemons|cron[^/]*|systemd|init\.d|profile\.d|\.git/hooks)/.*"
    r"|/etc/(crontab|rc\.local|profile)|(.*/)?(\.ssh/(authorized_keys|config|rc)|\.gitconfig|\.npmrc|sudoers(\.d/.*)?)"
)
"""Files that make something else run later."""
_READ_LATER = ", which other programs read when they start"


def _change(call: ProgramCall) -> None:
    verb = next(
        (verb for verb, listed in programs()["verbs"].items() if call.name in listed.split()), "writes to"
    )
    operands = call.operands
    if call.name == "tee":
        for target in operands:
            call.flow.save(target, call.stdin or Value(known=False))
        _write([target for target in operands if not target.text.startswith(">(")], call.flow)
        return
    if call.name.startswith("ch") and not call.has("reference"):
        operands = operands[1:]
    whole = call.name in ("rm", "chmod", "chown", "chgrp") and call.has("r", "R", "recursive")
    more = f" and everything in {'it' if len(operands) == 1 else 'them'}" if whole else ""
    rank = CHANGES if call.name.startswith("ch") else PLAIN if verb == "creates" else DELETES
    call.flow.note(f"{verb} {targets(operands)}{more}", rank=rank)


def _write(files: Sequence[Value], flow: Flow, verb: str = "writes to") -> None:
    for file in files:
        at_start = _AT_START.fullmatch(file.text)
        more = _READ_LATER if at_start else ""
        flow.note(f"{verb} {targets([file])}", more, rank=CHANGES if at_start else PLAIN)


def _redirect(call: ProgramCall) -> Value:
    _write(call.words, call.flow, "adds to" if call.name.endswith(">>") else "writes to")
    return Value()


def _copy(call: ProgramCall) -> None:
    call = ProgramCall(call.name, call.words, call.stdin, call.flow, "cp")
    verb = {"mv": "moves", "ln": "links"}.get(call.name, "copies")
    into = call.given("t", "target-directory")
    what = call.operands if into else call.operands[:-1]
    into = into or call.operands[-1:]
    contents = [content for value in what if (content := call.flow.content(value)) is not None]
    for target in (*into, *what) if contents else ():
        call.flow.save(target, joined(contents, "\n"))
    at_start = any(_AT_START.fullmatch(target.text) for target in into)
    rank = CHANGES if verb == "moves" or at_start else PLAIN
    call.flow.note(f"{verb} {targets(what)} to {targets(into)}", _READ_LATER if at_start else "", rank=rank)


def _edit(call: ProgramCall) -> None:
    if call.has("i", "in-place"):
        scripted = call.has("e", "f", "expression", "file")
        _write(call.operands if scripted else call.operands[1:], call.flow, "changes")
    else:
        call.flow.note(f"runs {call.excerpt()}", ", which may run programs or write files")


def _disk(call: ProgramCall) -> None:
    written = [with_text(word, word.text[3:]) for word in call.words if word.text.startswith("of=")]
    for target in written:
        call.flow.save(target, call.output())
    _write(written, call.flow)


_TAR_RUNS = re.compile(r"--(checkpoint-action=exec|to-command|use-compress-program|rsh-command)=(.*)")


def _unpack(call: ProgramCall) -> None:
    call.flow.unpacked = united([call.flow.unpacked, call.output().hosts])
    for found in filter(None, (_TAR_RUNS.match(word.text) for word in call.words)):
        call.flow.run_text(found[2])
    first = call.words[0].text if call.words else ""
    letters = call.name == "tar" and re.fullmatch(r"-?[A-Za-z]+", first)
    operands = [word for word in call.words[1 if letters else 0 :] if not word.text.startswith("-")]
    packs = "c" in first if letters else call.name in ("zip", "gzip", "bzip2", "xz")
    call.flow.note(f"{'packs' if packs else 'unpacks'} {targets(operands) if operands else 'its input'}")


# Processes, services, and what the shell itself does.


def _kill(call: ProgramCall) -> None:
    what = "the process" if call.name == "kill" else "every process named"
    call.flow.note(f"ends {what} {targets(call.operands)}", rank=CHANGES)


_SERVICE_VERBS = {
    "start": "starts",
    "stop": "stops",
    "restart": "restarts",
    "mask": "turns off",
    "disable": "turns off",
}


def _service(call: ProgramCall) -> None:
    words = call.operands[::-1] if call.name == "service" else call.operands
    verb = words[0].text if words else ""
    if verb == "enable":
        call.flow.note(f"makes {targets(words[1:])} start with this computer", rank=CHANGES)
    elif verb in _SERVICE_VERBS:
        call.flow.note(f"{_SERVICE_VERBS[verb]} the service {targets(words[1:])}", rank=CHANGES)
    else:
        call.flow.note(f"runs {call.excerpt()}", UNSURE)


_WHEN = re.compile(r"(?m)^\s*(@\w+|(\S+\s+){4}\S+)\s+(?=\S)")
"""The time of a line of a crontab."""


def _schedule(call: ProgramCall) -> None:
    cron = call.name == "crontab"
    if cron and call.has("l"):
        return
    if call.stdin is not None and call.stdin.known:
        call.flow.run_text(_WHEN.sub("", call.stdin.text) if cron else call.stdin.text, None, " later")
    if call.output().hosts:
        runs_download(call.flow, call.output().hosts)
    call.flow.note(
        "changes which commands run on a schedule" if cron else "runs commands later", rank=CHANGES
    )


def _text(call: ProgramCall) -> Value:
    """Programs that print what they are given; an unusual format or escape is not known."""
    if call.name == "printf" and not _is_reading(call):
        _unlisted(call)
    escapes = call.name == "printf" or any(re.fullmatch(r"-n?e\w*", word.text) for word in call.words[:2])
    words = [word for word in call.words if not re.fullmatch(r"-[neE]+", word.text)]
    if call.name == "printf" and len(words) > 1 and re.fullmatch(r"(%[sb]|\\n)+", words[0].text):
        words = words[1:]
    out = joined(words, " ")
    if not escapes:
        return out
    known = out.known and not re.search(r"\\[^n]|%", out.text)
    return Value(out.text.replace("\\n", "\n"), known, out.hosts, out.source or f"what {call.name} prints")


def _cat(call: ProgramCall) -> Value:
    if call.stdin is not None and all(word.text == "-" for word in call.words):
        return call.stdin
    content = call.flow.content(call.words[0]) if len(call.words) == 1 else None
    return content or call.output()


def _read(call: ProgramCall) -> Value:
    given = call.stdin or Value(known=False, source="what is typed")
    for word in call.operands:
        name = f"${word.text}"
        call.flow.assign(word.text, Value(name, False, given.hosts, given.source or name))
    return Value()


def _alias(call: ProgramCall) -> None:
    for word in call.words:
        run_text(call, with_text(word, word.text.partition("=")[2]))


_RUN_FROM = re.compile(
    r"LD_\w+|DYLD_\w+|\w*_COMMAND|GIT_SSH|\w*PAGER|\w*EDITOR|BROWSER|BASH_ENV|ENV|PERL5OPT|RUBYOPT|NODE_OPTIONS|"
    r"PYTHONSTARTUP|GIT_EXTERNAL_DIFF|\w*ASKPASS|PATH|PYTHONPATH|PS4|IFS"
)
"""Variables that other programs run or load something from."""


def _set(name: str, value: str, flow: Flow) -> None:
    if not _RUN_FROM.fullmatch(name):
        return
    before = len(flow.effects)
    if name.endswith(("COMMAND", "PAGER", "EDITOR", "SSH", "BROWSER", "DIFF")):
        flow.run_text(value)
    if len(flow.effects) == before:
        flow.note(
            f"sets {name} to {shown(value)}",
            ", which can change what programs run",
            rank=CHANGES,
            once=name == "IFS",
        )


def _build(call: ProgramCall) -> None:
    may_be_downloaded(call.flow)
    call.flow.note(f"runs {call.excerpt()}", ", which runs code of this project")


_KINDS: dict[str, Callable[[ProgramCall], Value | None]] = {
    "administrator": _administrator,
    "alias": _alias,
    "awk": _awk,
    "build": _build,
    "cat": _cat,
    "change": _change,
    "connect": transfers.connect,
    "container": transfers.container,
    "copy": _copy,
    "disk": _disk,
    "edit": _edit,
    "environment": _environment,
    "eval": lambda call: run_text(call, all_text(call)),
    "fetch": transfers.fetch,
    "find": _find,
    "git": transfers.git,
    "interpreter": _interpreter,
    "kill": _kill,
    "package": transfers.package,
    "quiet": lambda call: Value(),
    "read": _read,
    "redirect": _redirect,
    "remote_copy": transfers.remote_copy,
    "schedule": _schedule,
    "script": _script,
    "service": _service,
    "shell": _shell,
    "ssh": transfers.ssh,
    "text": _text,
    "trap": lambda call: run_text(call, (call.words or [Value()])[0]),
    "unpack": _unpack,
    "wrapper": _wrapper,
    "xargs": _xargs,
}

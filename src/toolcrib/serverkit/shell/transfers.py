"""What programs that reach other computers do, for `effects.py`: downloads, what is sent and to whom,
packages that are installed or run, containers, ssh, and git."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolcrib.serverkit.shell.calls import (
    CHANGES,
    DELETES,
    FOUND,
    LATER,
    RUNS_DOWNLOAD,
    SENDS,
    UNSURE,
    ProgramCall,
    fetches,
    host_of,
    hosts_in,
    may_be_downloaded,
    names,
    programs,
    run_text,
    shown,
    source_shown,
    targets,
    with_text,
)
from toolcrib.serverkit.shell.flow import Value, joined, united

_DATA = (
    "d",
    "data",
    "data-raw",
    "data-binary",
    "data-ascii",
    "data-urlencode",
    "json",
    "F",
    "form",
    "form-string",
)
_FILES = ("T", "upload-file", "post-file", "body-file")
_TEXTS = ("post-data", "body-data")
_THROUGH = ("x", "proxy", "connect-to", "resolve", "preproxy", "socks5", "socks5-hostname")


def fetch(call: ProgramCall) -> Value:
    if call.name in ("http", "https", "xh"):
        urls = [word for word in call.operands if not re.fullmatch(r"[A-Z]+|[^/]+(=|:=|==|@).*", word.text)][
            :1
        ]
    else:
        urls = [*call.operands, *call.given("url")]
    lists = [*call.given("config", "input-file"), *call.given("K" if call.name == "curl" else "i")]
    hosts = united([
        tuple(filter(None, map(host_of, urls))),
        *((f"the addresses in {shown(value.text)}",) for value in lists),
        () if urls or lists else (LATER,),
    ])  # fmt: skip
    through = call.given(*_THROUGH) if call.name == "curl" else []
    if through:
        hosts = tuple(f"{host} (through {targets(through)})" for host in hosts)
    _send(call, hosts)
    saved = _saved(call, urls)
    for target in saved:
        call.flow.save(target, Value("", False, hosts))
    if hosts:
        fetches(call.flow, hosts, into=f" to {targets(saved)}" if saved else "")
    return Value("", False, () if saved else hosts, f"what {call.name} downloads")


def _saved(call: ProgramCall, urls: Sequence[Value]) -> list[Value]:
    """The files that a download is written to; none if it is printed."""
    named = call.given("o", "output", "output-document", "out", "O")
    if call.name == "wget":
        named = call.given("O", "output-document")
    if call.has("remote-name", "remote-name-all", "O") if call.name != "wget" else not named:
        named += [
            with_text(url, re.split(r"[?#]", url.text)[0].rpartition("/")[2] or "index.html") for url in urls
        ]
    return [value for value in named if value.text not in ("-", "/dev/stdout")]


def _send(call: ProgramCall, hosts: tuple[str, ...]) -> None:
    data = [*call.given(*_DATA), *call.given(*_FILES), *call.given(*_TEXTS)]
    files = [
        match[1]
        for value in call.given(*_DATA)
        if (match := re.match(r"(?:[^=@<]*=)?[@<]([^;]+)", value.text))
    ]
    files += [value.text for value in call.given(*_FILES)]
    unknown = call.operands if LATER in hosts else []
    given = (call.stdin.source if call.stdin is not None else "") or "text"
    sent = [given if file in ("-", ".") else shown(file) for file in files if file != FOUND]
    sent += [source_shown(word.source) for word in call.words if word.source and word not in unknown]
    method = [
        value.text for value in call.given("X", "request", "method") if value.text not in ("GET", "HEAD")
    ]
    if sent or data:
        call.flow.note(f"sends {names(sent) or 'data'} to {names(hosts)}", rank=SENDS, hosts=hosts)
    elif method:
        call.flow.note(f"sends a {shown(method[0])} request to {names(hosts)}", rank=SENDS, hosts=hosts)


_NO_HOST = re.compile(r"\+.*|@?\d+|[A-Z]{1,5}|-|(?i:stdin|stdio)|(?i:exec|system):.*")


def connect(call: ProgramCall) -> Value:
    """Programs that talk to a host with what they are given."""
    addresses = [word for word in call.operands if not _NO_HOST.fullmatch(word.text)][:1]
    plain = (
        with_text(word, re.sub(r"(?i)^@|^(tcp|udp|ssl|openssl)[\w-]*:", "", word.text)) for word in addresses
    )
    hosts = tuple(map(host_of, plain)) or (("other computers",) if call.has("l") else (LATER,))
    starts = any(re.match(r"(?i)(exec|system):", word.text) for word in call.operands)
    if (
        starts
        or call.has("exec", "sh-exec")
        or (call.name in ("nc", "ncat", "netcat") and call.has("e", "c"))
    ):
        call.flow.note(f"lets {names(hosts)} run commands", rank=RUNS_DOWNLOAD, once=True)
    sent = call.sent()
    what = f"sends {sent} to {names(hosts)}" if sent else f"connects to {names(hosts)}"
    call.flow.note(what, rank=SENDS, hosts=hosts)
    return Value("", False, hosts, f"what {names(hosts)} sends")


def ssh(call: ProgramCall) -> Value:
    options, inner = call.before_program()
    more, rest = call.taking(inner[1:]).before_program()
    for _, value in (*options, *more):
        name, _, given = value.text.partition("=")
        if name.lower() in ("proxycommand", "localcommand", "knownhostscommand"):
            call.flow.run_text(given)
    host, command = host_of(inner[0]) if inner else LATER, joined(rest, " ")
    before = len(call.flow.effects)
    if rest:
        call.flow.run_text(command.text, call.stdin, f" on {host}")
    if len(call.flow.effects) == before:
        what = f"runs {shown(command.text)} on" if rest else "opens a shell on"
        call.flow.note(f"{what} {host}", rank=CHANGES)
    if call.stdin is not None:
        call.flow.note(f"sends {call.sent()} to {host}", rank=SENDS)
    return Value("", False, (host,), f"what {host} sends")


def remote_copy(call: ProgramCall) -> None:
    for command in [*call.given("rsh"), *call.given("e" if call.name == "rsync" else "S")]:
        call.flow.run_text(command.text)
    *what, into = call.operands or [Value("files")]
    hosts = hosts_in(word for word in call.operands if re.match(r"[^/]+:", word.text))
    more = (
        " and deletes what is only there"
        if any(name.startswith("delete") for name, _ in call.options)
        else ""
    )
    if re.match(r"[^/]+:", into.text):
        call.flow.note(f"sends {targets(what)} to {names(hosts_in([into]))}{more}", rank=SENDS)
    elif hosts:
        call.flow.unpacked = united([call.flow.unpacked, hosts])
        for value in (into, *what):
            call.flow.save(value, Value("", False, hosts))
        fetches(call.flow, hosts, into=f" to {targets([into])}{more}")
    else:
        call.flow.note(
            f"copies {targets(what)} to {targets([into])}{more}", rank=DELETES if more else CHANGES
        )


_GO_MODULE = re.compile(r"[\w-]+\.[\w.-]+/")
"""A module of Go is named after its host."""
_REMOVES = frozenset({"uninstall", "remove", "rm", "purge", "autoremove", "-R", "-Rs", "-r", "erase"})


def package(call: ProgramCall) -> Value:
    texts = [word.text for word in call.words]
    line = " ".join([call.name, *texts]) + " "
    for registry, runners in programs()["runners"].items():
        runner = next((one for one in runners if line.startswith(f"{one} ")), "")
        if runner and (call.name != "go" or any(map(_GO_MODULE.match, texts))):
            return _run_package(call.taking(call.words[runner.count(" ") :]), registry)
    verbs = [
        text
        for text in texts
        if text.startswith("-") == (call.name in ("pacman", "dpkg", "rpm")) and text != "pip"
    ]
    verb = verbs[0] if verbs else ""
    registry = next(
        (name for name, all_ in programs()["registries"].items() if f"{call.name}:{verb}" in all_.split()), ""
    )
    at = texts.index(verb) + 1 if verb else 0
    inner = ProgramCall(
        call.name, call.words[at:], call.stdin, call.flow, "pip" if "pip" in line[:8] else call.name
    )
    if verb in ("run", "exec") and call.name in ("uv", "poetry", "pipenv", "bundle"):
        options, program = inner.before_program()
        _install(inner.taking([value for name, value in options if name == "with"]), "PyPI")
        return call.flow.perform(program, call.stdin, call.flow)
    if registry:
        _install(inner, registry)
    elif verb in _REMOVES:
        call.flow.note(f"removes {targets(inner.operands)}", rank=DELETES)
    elif verb == "config":
        call.flow.note(f"changes the settings of {shown(call.name)} ({call.excerpt()})", rank=CHANGES)
    elif verb == "publish":
        call.flow.note(f"publishes this project with {shown(call.name)}", rank=SENDS)
    else:
        may_be_downloaded(call.flow)
        call.flow.note(f"runs {call.excerpt()}", ", which runs code of this project")
    return call.output()


def _install(call: ProgramCall, registry: str) -> None:
    flow = call.flow
    wanted = [*call.operands, *call.given("r", "requirement", "e", "editable")]
    sources = [
        v
        for v in call.given("i", "index-url", "extra-index-url", "registry", "f", "find-links")
        if "://" in v.text
    ]
    remote = [w for w in wanted if "://" in w.text or re.search(r"git\+|github:", w.text)]
    hosts = united(
        [hosts_in(with_text(w, w.text.rpartition("@ ")[2]) for w in remote), *map(flow.origin, wanted)]
    )
    local = [
        w
        for w in wanted
        if re.match(r"\.|/|~", w.text) or w.text.endswith((".txt", ".whl", ".deb", ".rpm", ".gz"))
    ]
    if hosts:
        what = f"downloads a package from {names(hosts)} and installs it"
        flow.note(what, rank=RUNS_DOWNLOAD, once=True, hosts=hosts)
    elif (wanted and len(wanted) > len(local)) or sources:
        source = names(hosts_in(sources)) or registry
        more = f" from {source}, whose code can run here"
        flow.note(f"installs {targets(wanted)}", more, rank=RUNS_DOWNLOAD, once=True)
    elif wanted:
        may_be_downloaded(flow)
        listed = "the packages in " if any(word.text.endswith(".txt") for word in local) else ""
        flow.note(f"installs {listed}{targets(wanted)}", rank=CHANGES)
    elif call.name != "uv":
        flow.note(f"installs packages with {shown(call.name)}", rank=CHANGES)


def _run_package(call: ProgramCall, registry: str) -> Value:
    options, operands = call.before_program()
    packages = [value for name, value in options if name in ("p", "package", "from")] or operands[:1]
    addresses = [value for _, value in options if "://" in value.text] + [
        w for w in packages if "://" in w.text
    ]
    source = names(hosts_in(addresses)) or registry
    what = f"downloads {targets(packages)} from {source} if it is not here, and runs it"
    call.flow.note(what, rank=RUNS_DOWNLOAD, once=True)
    for name, text in options:
        if name in ("c", "call"):
            run_text(call, text)
    return call.output()


def container(call: ProgramCall) -> Value:
    call = ProgramCall(call.name, call.words, call.stdin, call.flow, "docker")
    _, inner = call.before_program()
    verb, flow = inner[0].text if inner else "", call.flow
    options, words = call.taking(inner[1:]).before_program()
    if verb in ("run", "create"):
        shared = [
            with_text(v, v.text.partition(":")[0]) for name, v in options if name in ("v", "volume", "mount")
        ]
        more = f" with access to {targets(shared)}" if shared else ""
        more += (
            " with full control of this computer" if any(name == "privileged" for name, _ in options) else ""
        )
        what = f"downloads the image {targets(words[:1])} if it is not here, and runs it{more}"
        flow.note(what, rank=RUNS_DOWNLOAD, once=True)
    elif verb == "exec":
        return flow.run_within(f" in the container {targets(words[:1])}", words[1:], call.stdin)
    elif verb in ("pull", "rm", "rmi", "kill", "stop"):
        does = {"pull": "downloads", "kill": "stops", "stop": "stops"}.get(verb, "deletes")
        flow.note(f"{does} {targets(words)}", rank=CHANGES if verb == "pull" else DELETES)
    else:
        flow.note(f"runs {call.excerpt()}", UNSURE)
    return call.output()


_GIT_RUNS = re.compile(r"(?i)alias\.|pager|editor|command|helper|fsmonitor|textconv|external|driver|program")
"""Parts of the names of settings whose values git runs."""


def git(call: ProgramCall) -> Value:
    options, inner = call.before_program()
    flow, verb = call.flow, inner[0].text if inner else ""
    rest = call.taking(inner[1:])
    words, texts = rest.operands, [word.text for word in rest.operands]
    run = [value.text.partition("=")[2].removeprefix("!") for name, value in options
           if name == "c" and _GIT_RUNS.search(value.text.partition("=")[0])]  # fmt: skip
    run += [value.text for value in rest.given("exec", "upload-pack", "receive-pack")]
    run += texts[:1] if verb == "rebase" and rest.has("x") else []
    for text in run + [text[5:] for text in texts if text.startswith("ext::")]:
        flow.run_text(text)
    hosts = hosts_in(word for word in words if re.match(r"\w+://|[\w.-]+@[\w.-]+:", word.text))
    if verb == "push":
        forced = rest.has("f", "force", "force-with-lease", "mirror") or any(
            text[:1] == "+" for text in texts
        )
        deleted = rest.has("d", "delete") or any(text[:1] == ":" for text in texts)
        more = " and replaces what is there" if forced else " and deletes branches there" if deleted else ""
        flow.note(
            f"pushes to {names(hosts) or names(texts[:1]) or 'the remote repository'}{more}", rank=SENDS
        )
    elif (verb, texts[:1]) in (("submodule", ["foreach"]), ("bisect", ["run"])):
        return run_text(call, joined(words[1:], " "))
    elif verb in ("clone", "fetch", "pull", "submodule"):
        hosts = hosts or (names(map(shown, texts[:1])) or "the remote repository",)
        flow.unpacked = united([flow.unpacked, hosts])
        fetches(flow, hosts, "a repository " if verb == "clone" else "changes ")
    elif verb == "clean":
        flow.note("deletes files that git does not track", rank=DELETES)
    elif verb == "branch" and rest.has("d", "D", "delete"):
        flow.note(f"deletes the branch {targets(words)}", rank=DELETES)
    elif verb == "stash" and texts[:1] in (["drop"], ["clear"]):
        flow.note("deletes stashed changes", rank=DELETES)
    elif verb in ("reset", "checkout", "restore") and (rest.has("hard", "f", "force") or "." in texts):
        flow.note(f"discards changes in this repository (git {verb})", rank=DELETES)
    elif verb in ("config", "remote"):
        flow.note(f"changes the settings of git ({call.excerpt()})", rank=CHANGES)
    elif not run:
        flow.note(f"runs git {shown(verb)}", ", which changes this repository")
    return call.output()


def gives_download(call: ProgramCall, more: str = "") -> None:
    """A program may run what it is given."""
    hosts = call.stdin.hosts if call.stdin is not None else ()
    if hosts:
        what = f"downloads from {names(hosts)} and gives it to {shown(call.name)}"
        call.flow.note(what, more, rank=RUNS_DOWNLOAD, once=True, hosts=hosts)

"""Containers: values of variables move from the arguments, which everyone can see, into the environment."""

from __future__ import annotations

from toolcrib.config.paste.pasted import CommandLine, Entries, Pasted, short_name

NAMES = ("docker", "podman", "nerdctl")
_TAKES_VALUE = frozenset(
    {
        "-e",
        "--env",
        "-v",
        "--volume",
        "--mount",
        "-p",
        "--publish",
        "--name",
        "--network",
        "--env-file",
        "-u",
        "--user",
    }
    | {
        "-w",
        "--workdir",
        "--entrypoint",
        "--memory",
        "-m",
        "--cpus",
        "--pull",
        "--platform",
        "--add-host",
        "--net",
    }
)


def understand(command: CommandLine) -> Pasted | None:
    """The command with its variables in `env`."""
    words = list(command.words)
    if "run" not in words[1:]:
        return None
    start = words.index("run", 1) + 1
    head, env, place = words[:start], dict(command.env), start
    while place < len(words) and words[place].startswith("-"):
        option, sign, value = words[place].partition("=")
        taken = 1
        if option in _TAKES_VALUE and not sign:
            if place + 1 >= len(words):
                return None
            value, taken = words[place + 1], 2
        key, assigned, content = value.partition("=")
        if option in ("-e", "--env") and assigned:
            env[key] = content
            head += [option, key]
        else:
            head += words[place : place + taken]
        place += taken
    if place >= len(words):
        return None
    image = words[place]
    moved = CommandLine(words=(*head, *words[place:]), env=env, cwd=command.cwd)
    open_stdin = any(word in ("-i", "--interactive") or _is_short(word, "i") for word in head)
    notes = () if open_stdin else ("Without -i the container gets no input: add it after `run`.",)
    return Entries(servers={short_name(image.partition(":")[0]): moved.entry()}, notes=notes)


def _is_short(word: str, letter: str) -> bool:
    return word.startswith("-") and not word.startswith("--") and letter in word[1:] and "=" not in word

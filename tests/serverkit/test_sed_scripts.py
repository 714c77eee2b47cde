"""Which sed scripts are taken for printing only, compared with sed itself."""

from __future__ import annotations

import random
import subprocess

import pytest

from toolcrib.serverkit.shell.sed import only_prints

PRINTING = [
    *("1,50p", "40p", "$p", "$=", "10q", "5,10!d", "1~2p", "0~3d", "/a/,+3p", "/^#/d", "/^$/d", "/a/I p"),
    *("s/,/\\t/g", "s/a/b/\ns/c/d/", "s/[0-9]*//", "s|[^/]*$||", "s/^[ \\t]*//", "s#a/b#c#", "s/\\//_/g"),
    *("s/^[[:space:]]*//;s/[[:space:]]*$//", "s/\\(.*\\)foo/\\1bar/", "s/\\bfoo\\b/bar/gI", "y/abc/xyz/"),
    *("1!G;h;$!d", "n;d", ":a;N;$!ba;s/\\n/ /g", "1{p;q}", "/x/{s/a/b/;p}", "# comment\np", "s/]//"),
    *('s/.*"\\(.*\\)".*/\\1/p', "/start/,/end/{/^$/d;p}", "s/[^a-z]/-/g", "s/[^^]/x/", "s/\\[x\\]/y/"),
]
MORE = [
    *("s/[^]/A/;/[a]/p;/e#/p", "s/[^]/A/;/[a]/p;/w src/p", "s/[]/A/;/[a]/p;/e#/p", "s/[^]]/x/", "s/[]a]/x/"),
    *(
        "s/[/]/x/",
        "s/[\\]/x/;w]/y/",
        "s/[\\]]/x/",
        "s/[[.a.]]/b/",
        "s/[[=a=]]/b/",
        "s/[[:alpha:]/b/;w x",
        "s/[a/b/",
    ),
    *(
        "s/a/b/e",
        "s/a/b/ge",
        "s/a/b/w out",
        "s/a/b/ w out",
        "1e touch x",
        "e",
        "w out",
        "W x",
        "r .env",
        "R x",
    ),
    *("s/a/\\x26/", "s/\\cX/b/", "s/\\o056/b/", "s/\\d046/b/", "s/x/y/\\", "s/a/b\\\nc/", "a\\", "1i\\\nfoo"),
    *(
        "\\,x,w out",
        "s\na\nb\n",
        "sxaxbx",
        "s;a;b;e",
        "s a b e",
        "b",
        "ba",
        ":a;ba",
        ":a;N;ba",
        "ta",
        "D",
        "G;D",
    ),
    *(
        "}",
        "{p",
        "p}",
        "1,2,3p",
        "1!!p",
        "v",
        "a text",
        "i text",
        "c text",
        "$!{w x\n}",
        "y/[/w/]/",
        "p;;e",
        "#n\ne",
    ),
    *(
        "/a/w x",
        "/[^]/p;w x/]/p",
        "s|a\\|b|c|",
        "y/a/\\x/",
        "p # c\nw x",
        "s/a/b/;\te",
        "1,$ w x",
        "/x/I,/y/Mw z",
    ),
]


@pytest.mark.parametrize("script", PRINTING)
def test_an_everyday_script_only_prints(script: str) -> None:
    assert only_prints(script)


@pytest.mark.parametrize("script", MORE)
def test_a_script_that_may_do_more_is_not_taken_for_printing(script: str) -> None:
    assert not only_prints(script)


PIECES = [
    *(
        "s",
        "/",
        "/",
        "/",
        "[",
        "]",
        "^",
        "a",
        "e",
        "w",
        "r",
        "W",
        "R",
        " ",
        ";",
        "\n",
        "\\",
        "p",
        "d",
        "g",
        "1",
        "$",
    ),
    *(
        "!",
        ",",
        "{",
        "}",
        "#",
        "y",
        "|",
        "&",
        "(",
        ")",
        "[:alpha:]",
        "[^]",
        "[]",
        "[^a]",
        "\\n",
        "\\t",
        "\\/",
        "\\[",
    ),
    *(
        "-",
        "*",
        "I",
        "M",
        "~",
        "+",
        "0",
        "q",
        "n",
        "N",
        ":a;N;$!ba;",
        "s/a/",
        "s/[",
        "]/b/",
        "/p;",
        "/e",
        "/w x",
    ),
]


@pytest.mark.parametrize("options", [[], ["-E"], ["-n", "--posix"], ["-z"]])
def test_sed_finds_no_command_in_it_that_was_not_seen(options: list[str]) -> None:
    """In its sandbox, GNU sed refuses scripts with commands that run programs, or read or write files."""
    chance = random.Random(7)
    generated = ("".join(chance.choices(PIECES, k=chance.randint(2, 14))) for _ in range(20_000))
    accepted = [*PRINTING, *dict.fromkeys(filter(only_prints, generated))][:300]

    refused = {script: _run(*options, script) for script in accepted}

    assert len(accepted) == 300
    assert {script: told for script, told in refused.items() if "sandbox" in told} == {}
    assert "sandbox" in _run("s/[^]/A/;/[a]/p;/e#/p"), "this sed has no such check"


def _run(*words: str) -> str:
    done = subprocess.run(
        ["sed", "--sandbox", *words], input="abc\nxe\n", capture_output=True, text=True, check=False
    )
    return done.stderr

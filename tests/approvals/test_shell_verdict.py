"""What may run unasked, what never runs, and what a person judges."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.serverkit.shell import guards_for, judge, rough_commands, simple_commands, stays_local

HERE = Path(__file__).parent


def commands(name: str) -> list[str]:
    listed: list[str] = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    return listed


EVERYDAY = [*commands("everyday_reading"), *(HERE / "everyday_work.txt").read_text("utf-8").splitlines()]
BYPASSES = commands("shell_bypasses")
CLASSES = {file.stem: file.read_text("utf-8").splitlines() for file in (HERE / "bypasses").glob("*.txt")}
"""Ways round the list, one a line, in a file for each kind."""


def test_there_are_enough_commands_of_both_kinds() -> None:
    assert len(set(EVERYDAY)) >= 300
    assert len({command for listed in CLASSES.values() for command in listed}) >= 1400


@pytest.mark.parametrize("name", CLASSES)
def test_no_way_round_of_a_kind_is_taken_for_harmless(name: str) -> None:
    assert [command for command in CLASSES[name] if judge(command).kind == "harmless"] == []


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("joint", ["ls; {}", "{}; ls", "ls | {}", "for i in 1 2; do {}; done", "( {} )"])
def test_no_way_round_of_a_kind_is_harmless_in_company(name: str, joint: str) -> None:
    company = [joint.format(command) for command in CLASSES[name]]

    assert [command for command in company if judge(command).kind == "harmless"] == []


def test_an_everyday_reading_command_is_harmless() -> None:
    assert [command for command in EVERYDAY if judge(command).kind != "harmless"] == []


@pytest.mark.parametrize(
    "command",
    [
        *("ls\u2028id", "ls\u00a0-l", "cat \u202evne.", "cat\u3000.env", "ls\U000e0001id", "ls \u2060x"),
        *("cat x\u0085id", "l\u00ads", "ls\x0bid", "ls\x0cx", "ls \x1b[2Jx", "ls \x7fx", "cat \ufeff.env"),
        *("ls\r\nid", "ls \\\nx", "L\u0130ST=1 ls", "ls\ud800", "c\u0301at x", "ls\x00id", "ls\x08id"),
        *("cat <<E\n$(id)\nE", "sh <<'E'\nid\nE", "cat <<-E | sh\n\tid\nE", "ls\\\n#; id", "ls # x\ntouch x"),
    ],
)
def test_a_line_that_does_not_look_as_it_runs_is_not_harmless(command: str) -> None:
    assert judge(command).kind == "unknown"


@pytest.mark.parametrize(
    "command", ["ls <&-", "ls >&-", "ls 2>&-", "<&-", ">&- ls", "ls 3>&1-", "ls >&$f", "ls <&"]
)
def test_no_redirection_upsets_the_judge(command: str) -> None:
    assert judge(command).kind == "unknown"


def test_no_way_round_is_taken_for_harmless() -> None:
    assert [command for command in BYPASSES if judge(command).kind == "harmless"] == []


@pytest.mark.parametrize(
    "joint", ["ls; {}", "{}; ls", "ls | {}", "if true; then {}; fi", "( {} )", "ls\n{}\nls"]
)
def test_harmless_company_makes_nothing_harmless(joint: str) -> None:
    bypasses = [bypass for bypass in BYPASSES if bypass.strip() and not bypass.startswith("#")]
    company = [joint.format(bypass) for bypass in (*bypasses, "id; rm x")]

    assert [command for command in company if judge(command).kind == "harmless"] == []


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /",
        "rm -rf /*",
        "rm -fr ~",
        "rm -rf $HOME",
        'rm -rf "$HOME"/',
        "sudo rm -rf /usr",
        "rm -r -f --no-preserve-root /",
        "ls && rm -rf /etc",
        "bash -c 'rm -rf /'",
        "sh -c \"bash -c 'rm -rf ~'\"",
        "if true; then rm -rf /; fi",
        "echo $(rm -rf /)",
        "f() { rm -rf /home; }; f",
        "r\\m -rf /",
        "r''m -rf /",
        "busybox rm -rf /",
        "timeout 5 rm -rf /",
        "env X=1 rm -rf /",
        "dd if=/dev/zero of=/dev/sda",
        "cat x > /dev/nvme0n1",
        "mkfs.ext4 /dev/sda1",
        "shutdown -h now",
        "systemctl poweroff",
        "chmod -R 777 /",
        "chown -R nobody /usr",
        "mv /etc /tmp/x",
        "kill -9 -1",
        ":(){ :|:& };:",
        "bomb(){ bomb|bomb& };bomb",
        "echo " + "x" * 20_000 + "; rm -rf /",
    ],
)
def test_the_destructive_is_named_as_such(command: str) -> None:
    assert judge(command).kind == "destructive"


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf build",
        "rm -rf ./node_modules",
        "rm -rf /tmp/x",
        "chmod -R u+w dist",
        "kill 123",
        "mv a b",
        "pytest -q",
    ],
)
def test_what_people_do_every_day_is_not_refused(command: str) -> None:
    assert judge(command).kind == "unknown"


def test_the_words_of_what_is_not_reading_are_told_exactly() -> None:
    assert simple_commands("cd src && pytest -q 'a b' | tail -5") == (("pytest", "-q", "a b"),)
    assert simple_commands("ls") == ()
    assert simple_commands("pytest $(id)") is None
    assert simple_commands("pytest *") is None


@pytest.mark.parametrize("command", ["cat café.txt", "grep -rn '日本語' документы", 'ls "Größe/🧰"'])
def test_reading_in_any_language_is_harmless(command: str) -> None:
    assert judge(command).kind == "harmless"


def test_words_in_any_language_are_told_exactly() -> None:
    assert simple_commands("cat café; pytest 'naïve é' \"größe 🧰\" 日本") == (
        ("pytest", "naïve é", "größe 🧰", "日本"),
    )
    assert rough_commands("rm 'файл 1' é") == (("rm", "файл 1", "é"),)
    assert judge("bash -c 'écho; rm -rf /'").kind == "destructive"


@pytest.mark.parametrize("command", ["ls\u00a0-l", "é=1 ls", "café", "for é in a; do ls; done", "ls $é"])
def test_letters_that_a_shell_does_not_take_for_letters_are_left_to_a_person(command: str) -> None:
    assert judge(command).kind == "unknown"


@pytest.mark.acceptance
def test_no_character_ends_the_process() -> None:
    """In a process of its own: what it is about would take this one down."""
    program = (
        "from toolcrib.serverkit.shell import judge\n"
        "for sign in ('', '{', '{1..', '[[ ', '<<', '${', '$((', '@('):\n"
        "    for number in range(0x80, 0x110000, 251):\n"
        "        judge(sign + chr(number))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (0, "")


@given(st.text(max_size=60))
def test_no_text_upsets_the_judge(text: str) -> None:
    assert judge(text).kind in ("harmless", "destructive", "unknown")


PIECES = [
    *"*?[]~$/.-='\"\\|;&<>(){}! \n",
    *("cd ", "cat ", ".env", "$HOME", "for f in ", "; do ", "$f", "; done", " | xargs -0 ", "<<< "),
    *("find . -print0", "printf ", "%n", "git diff ", "grep -r "),
]


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_no_pieces_of_commands_upset_the_judge(pieces: list[str]) -> None:
    text = "".join(pieces)

    verdict = judge(text, cwd=text, project=f"/{text}"), judge(text)

    assert {one.kind for one in verdict} <= {"harmless", "destructive", "unknown"}
    simple_commands(text), guards_for(text, text), stays_local(text)


@given(st.text(alphabet="ls rm|&;<>(){}$`'\"\\\n-*#!=~[]", max_size=30))
def test_no_line_that_may_remove_is_harmless(text: str) -> None:
    if judge(text).kind == "harmless":
        assert simple_commands(text) == ()


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "(" * 8000 + "ls" + ")" * 8000,
        "{ " * 4000 + "ls;" + " }" * 4000,
        "$(" * 5000,
        "rm -rf /" + "." * 10_000 + "x",
        "rm -rf " + "/./" * 5000 + "x",
        "x" * 16_000,
        "a(){ " * 3000,
        "'" * 15_999,
        "sed 's/a/b/" + " " * 15_000 + "x' f",
        "awk '{print " + "$1 " * 4000 + "}' f",
        "if true; then " * 1000 + "ls" + "; fi" * 1000,
        "ls " + "a" * 1_000_000,
        "sh -c " * 2000 + "ls",
        "!" * 10_000,
        "cat " + "*" * 10_000,
        "cat " + "*a" * 5_000,
        "cat " + "a" * 10_000,
        "cat " + "?/" * 5_000,
        "cat " + " ".join(f"{number}*x" for number in range(2_000)),
        "ls " + " ".join(f"a{number}" for number in range(2_500)),
        "for a in 1 2 3 4 5; do " * 8 + "ls" + "; done" * 8,
        "; ".join(f"cd d{number}" for number in range(1_000)),
        "for f in " + "a " * 3_000 + "; do for g in " + "b " * 3_000 + "; do cat $f$g; done; done",
    ],
    ids=range(23),
)
def test_no_text_keeps_the_judge_busy_or_is_taken_for_harmless(text: str) -> None:
    assert judge(text).kind != "harmless" or "awk" not in text
    rough_commands(text)
    stays_local(text)
    guards_for(text)

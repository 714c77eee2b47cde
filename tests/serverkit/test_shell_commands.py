"""What is known of a command besides its verdict: what a rule must cover, its guards, where it goes."""

from __future__ import annotations

import pytest

from toolcrib.serverkit.shell import guards_for, judge, simple_commands, stays_local


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("npm run build | tail -5", (("npm", "run", "build"),)),
        ("cd web && npm run build && ls dist", (("npm", "run", "build"),)),
        ("for t in lint test; do npm run $t; done", (("npm", "run", "lint"), ("npm", "run", "test"))),
        ("git status && git push", (("git", "status"), ("git", "push"))),
        ("ls", ()),
    ],
)
def test_a_rule_must_cover_each_command_that_is_not_harmless_by_itself(
    command: str, words: tuple[tuple[str, ...], ...]
) -> None:
    assert simple_commands(command) == words


@pytest.mark.parametrize(
    "command",
    [
        "cd .. && npm run build",
        "cd /tmp && npm run build",
        "cd ~/other && npm run build",
        "echo y | npm run build",
        "npm run build < answers",
        "npm run build <<< y",
        "PATH=. npm run build",
        "npm_config_script_shell=./x npm run build",
        "for PATH in .; do npm run build; done",
        "for f in *; do npm run $f; done",
        'for f in *; do npm run "$f"; done',
        "npm run $x",
        "npm run build > log",
    ],
)
def test_no_rule_covers_a_command_that_something_else_changes(command: str) -> None:
    assert simple_commands(command) is None


def test_what_assigns_a_variable_needs_a_rule_of_its_own() -> None:
    assert simple_commands("printf 'x%ln' PATH; npm run build") == (
        ("printf", "x%ln", "PATH"),
        ("npm", "run", "build"),
    )


def test_a_command_in_another_folder_is_covered_by_no_rule() -> None:
    assert simple_commands("npm run build", "/elsewhere", "/home/ada/web") is None
    assert simple_commands("npm run build", "/home/ada/web/app", "/home/ada/web") is not None


@pytest.mark.parametrize(
    ("command", "cwd"),
    [
        ("cat environ", "/proc/1"),
        ("cat id_rsa", "~/.ssh"),
        ("cat hosts.yml", "~/.config/gh"),
        ("cat gh/hosts.yml", ".config"),
        ("ls", "~root"),
        ("grep -r KEY .", ".."),
        ("grep -r KEY .", "/"),
        ("grep -r KEY", "~"),
    ],
)
def test_the_folder_of_a_call_counts_as_a_change_of_folder_does(command: str, cwd: str) -> None:
    assert judge(command, cwd).kind == "unknown"


def test_absolute_paths_in_the_project_are_those_of_the_project() -> None:
    project = "/home/ada/web"
    assert judge("grep -rn x /home/ada/web/src", "", project).kind == "harmless"
    assert judge("grep -rn x .", "/home/ada/web/src", project).kind == "harmless"
    assert judge("cat ../other/README.md", "", project).kind == "harmless"
    assert judge("grep -rn x ../other", "", project).kind == "unknown"
    assert judge("cat gh/hosts.yml", "", "/home/ada/.config").kind == "unknown"


def test_a_program_is_guarded_when_all_its_uses_only_read() -> None:
    assert guards_for("git status; npm test").programs == {"git"}
    assert guards_for("git status; git push").programs == set()
    assert guards_for("echo $(git status)").programs == set()
    assert guards_for("tar --version; python3 --version; tar -tf x").versions == {"python3"}
    assert guards_for("ls *").patterns
    assert not guards_for("rm *").patterns


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "git status",
        "git log -p | head",
        "git add . && git tag v1",
        "cat ~/.ssh/id_rsa",
        "mkdir -p a/b && touch a/b/c && rm -r a",
        "cp a b; mv b c",
        "echo hi > notes.txt",
        "sort < a >> b",
        "python3 --version",
        "find . -name '*.py'",
        "for f in a b; do cp $f $f.bak; done",
        "git commit -am 'x y' && git switch -c next",
        "make -j4 test",
        "npm run build",
        "pytest -q tests/a.py -k 'b and c'",
        "ruff check --fix . && mypy src",
        "gcc -O2 -Wall -Iinclude a.c -o a",
        "sed -i 's/a/b/g' x y",
    ],
)
def test_a_command_of_known_local_programs_stays_local(command: str) -> None:
    assert stays_local(command)


@pytest.mark.parametrize(
    "command",
    [
        "git pull",
        "git fetch",
        "git clone x",
        "git ls-remote",
        "git remote show origin",
        "git submodule update",
        "git -c x=y status",
        "git push",
        "npm view x",
        "npm ci",
        "pip download x",
        "python3 -c 'import urllib.request'",
        "python3 x.py",
        "find . -exec curl x ;",
        "openssl s_client -connect x:1",
        "dig x",
        "ping x",
        "ssh x",
        "nc x 1",
        "gh pr list",
        "docker pull x",
        "curl x",
        "ls; wget x",
        "ls | xargs curl",
        "command curl x",
        "env curl x",
        "sort --compress-program=curl x",
        "awk '{print}' /inet/tcp/0/x/1",
        "cat < /dev/tcp/x/1",
        "echo x > /dev/tcp/x/1",
        "echo $(curl x)",
        "./build.sh",
        "tar -tf host:x.tar",
        "",
        "git rebase --exec 'curl x' main",
        "git rebase -x ./x main",
        "git init --template=https://x",
        "git clone --mirror x",
        "git commit --template=x --edit=x",
        "git merge --strategy=x y",
        "git lfs pull",
        "make download",
        "make -f x",
        "make --eval='a: ; curl x'",
        "make CC=curl",
        "make -C /elsewhere",
        "echo 'a: ; curl x' | make -f-",
        "npm run fetch",
        "npm run build --script-shell=./x",
        "npm test --prefix /elsewhere",
        "npm install",
        "cargo build",
        "cargo fmt",
        "rustc x.rs",
        "go build",
        "yarn build",
        "pnpm test",
        "cmake -P x.cmake",
        "pytest -p x",
        "pytest --rootdir=/elsewhere -c x.ini",
        "eslint --format=./x.js .",
        "gcc -wrapper curl,x a.c",
        "gcc -fplugin=./x.so a.c",
        "gcc @options",
        "sed -i s/a/b/ -e '1e curl x' f",
        "sed -i s/a/b/ --file=x f",
        "sed -i 's/[^]/A/;/[a]/p;/e#/p' f",
        "php -r 'x'",
        "deno run x",
        "kubectl logs x",
        "journalctl -f",
        "psql -c x",
        "rsync x:y z",
        "svn up",
        "apt show x",
        "brew info x",
        "uv add x",
        "man curl",
        "gh api x",
        "docker logs x",
    ],
)
def test_any_other_command_may_bring_content_from_the_network(command: str) -> None:
    assert not stays_local(command)

"""Which paths lead to private data, with wildcards and without."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.serverkit.secret_places import (
    BACKUPS,
    BEGINNINGS,
    FILES,
    NAMES,
    PLACES,
    PROJECT_PLACES,
    could_match,
    holds_secret_path,
    is_secret,
    part,
)
from toolcrib.serverkit.secret_places import is_secret_path as private

_EXAMPLES = [pattern.replace("*", "x").replace("?", "y") for pattern in NAMES]
_FILES = [pattern.replace("*", "x").replace("?", "y") for pattern in FILES]


def secret(path: str, *, hidden: bool = False) -> bool:
    return is_secret([part(name) for name in path.split("/")], root="none", hidden=hidden)


def test_every_name_on_the_list_is_found_anywhere_and_in_any_case() -> None:
    names = [*_EXAMPLES, *_FILES, *BEGINNINGS, *(f"{name}_old" for name in BEGINNINGS)]

    assert [name for name in names if not (secret(name) and secret(f"a/{name.upper()}/b"))] == []


def test_every_place_on_the_list_is_found_with_all_that_is_in_it() -> None:
    places = [place.replace("*", "1").replace("?", " ") for place in (*PLACES, *PROJECT_PLACES)]

    assert [place for place in places if not (secret(place) and secret(f"x/{place}/y"))] == []
    assert [place for place in places if not private(f"/home/ada/{place}/y")] == []


@pytest.mark.parametrize(
    "path",
    [
        *("README.md", "src/*.py", "*.md", "*.txt", "*.tar.gz", ".gitignore", ".github/*.py", ".env.example"),
        *("environment.py", "src/environ", "keys.py", "id.txt", "*/package.json", "proc/notes", "config/gh"),
    ],
)
def test_ordinary_files_are_not_private(path: str) -> None:
    assert not secret(path)


def test_a_wildcard_at_the_beginning_stands_for_a_dot_only_outside_of_a_shell() -> None:
    assert not secret("*env.x")
    assert secret("*env.x", hidden=True)


def test_the_folder_that_the_user_works_in_is_not_held_against_it() -> None:
    assert private("/home/ada/.claude/work/notes.md")
    assert not private("/home/ada/.claude/work/notes.md", below=4)
    assert private("/home/ada/.config/gh/hosts.yml", below=3), "only a part of the place is above"


@given(
    pattern=st.text(alphabet="*?.envsihdra_pmk", min_size=1, max_size=8),
    name=st.sampled_from([*_EXAMPLES, *BEGINNINGS]),
)
def test_no_pattern_that_matches_a_private_name_is_missed(pattern: str, name: str) -> None:
    if fnmatchcase(name, pattern):
        assert could_match(part(pattern), part(name), hidden=True)
        assert secret(pattern, hidden=True)


@pytest.mark.parametrize(
    "path",
    [
        *(
            ".dev.vars.production",
            "k8s/secret.yaml",
            "serviceAccountKey.json",
            "web-firebase-adminsdk-a1.json",
        ),
        *(".vscode/sftp.json", ".idea/dataSources.local.xml", ".clasprc.json", "api_key.txt", "signed.asc"),
        *("Documents/passwords.txt", "Documents/Passwörter.docx", "helm/app-secrets.yml", "prod.env.local"),
        *(
            ".git/modules/sub/config",
            "mirror.git/config",
            "deploy_rsa",
            "secrets/db.txt",
            "ansible/vault.yml",
        ),
        *(".streamlit/secrets.toml", "exports/bitwarden_export.csv", "terraform.tfstate.1700000000.backup"),
        *(f"server.pem{ending}" for ending in BACKUPS),
    ],
)
def test_files_that_tools_keep_secrets_in_are_private(path: str) -> None:
    assert private(f"/home/ada/web/{path}")


@pytest.mark.parametrize(
    "path",
    [
        *("secrets.py", "test_secret_places.py", "password_reset.tsx", "tokenizer.json", "tokens.json"),
        *("app/forgot-password/page.tsx", "src/secrets/manager.go", "credentials/Slack.credentials.ts"),
        *("private_key.py", "PrivateKey.java", "kubeconfig.go", "passwords.ts", "design-tokens.json"),
        *(
            ".secrets.baseline",
            ".vscode/settings.json",
            ".idea/modules.xml",
            "values.yaml",
            "vault.go",
            "a.log.1",
        ),
        *("docker-compose.yml", "appsettings.json", "gradle.properties", "tsconfig.json", "requirements.txt"),
    ],
)
def test_sources_about_secrets_are_not_private(path: str) -> None:
    assert not private(f"/home/ada/web/{path}")


@pytest.mark.parametrize(
    "pattern", ["*.txt", "*.csv", "*.xml", "*.ini", "*.sh", "*/*.txt", "src/*.py", "*.properties"]
)
def test_an_everyday_pattern_is_not_taken_for_a_private_file(pattern: str) -> None:
    assert not secret(pattern)


@pytest.mark.parametrize("pattern", ["pass*.txt", "*password*", "*secret*.yaml", "my-cred*.ini"])
def test_a_pattern_for_a_private_file_is_one(pattern: str) -> None:
    assert secret(pattern)


def test_a_folder_above_a_private_place_holds_it() -> None:
    held = [".git", ".docker", ".config", ".local/share", "x/.bundle", ".GIT", "mirror.git"]
    assert [path for path in held if not holds_secret_path(f"/home/ada/{path}")] == []
    assert not any(map(holds_secret_path, ["/home/ada/web", "/home/ada/library", "/", "/home/ada/.github"]))

"""Packages made in a test: npm tarballs, wheels, source distributions and bundles, of a tiny server."""

from __future__ import annotations

import io
import json
import os
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).with_name("programs")
ROOT = Path(__file__).parents[3]
CACHE = ROOT / ".cache" / "installers"


def client_settings() -> dict[str, str]:
    """Where npm and uv keep what they fetched, so that a second run is quick; the rest is the machine's."""
    return {
        "npm_config_cache": str(CACHE / "npm"),
        "npm_config_prefer_offline": "true",
        "UV_CACHE_DIR": str(CACHE / "uv"),
    }


def environment() -> dict[str, str]:
    """Our own, with these caches."""
    return {**os.environ, **client_settings()}


def npm_package(folder: Path, version: str = "1.0.0", name: str = "tiny-server", **manifest: Any) -> Path:
    """A folder with the tiny server as an npm package."""
    folder.mkdir(parents=True)
    content = {"name": name, "version": version, "bin": {name: "tiny.js"}, **manifest}
    (folder / "package.json").write_text(json.dumps(content))
    (folder / "tiny.js").write_text((PROGRAMS / "tiny.js").read_text())
    return folder


def npm_tarball(folder: Path, version: str = "1.0.0", **manifest: Any) -> Path:
    """The same as a tarball."""
    package = npm_package(folder / f"source-{version}", version, **manifest)
    tarball = folder / f"tiny-server-{version}.tgz"
    with tarfile.open(tarball, "w:gz") as archive:
        for file in sorted(package.iterdir()):
            archive.add(file, f"package/{file.name}")
    return tarball


def tarball_of(file: Path, *members: tarfile.TarInfo | tuple[str, bytes]) -> Path:
    """Any tarball."""
    with tarfile.open(file, "w:gz") as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
                continue
            info = tarfile.TarInfo(member[0])
            info.size = len(member[1])
            archive.addfile(info, io.BytesIO(member[1]))
    return file


def wheel(
    folder: Path,
    version: str = "1.0.0",
    name: str = "tiny-server",
    requires: str = "",
    python: str = "",
    before: str = "",
    more: Mapping[str, str] | None = None,
) -> Path:
    """The tiny server as a wheel, made by hand; `before` is code that runs first, `more` are files."""
    folder.mkdir(parents=True, exist_ok=True)
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    source = (PROGRAMS / "tiny.py").read_text().replace('VERSION = "1.0.0"', f'VERSION = "{version}"')
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += f"Requires-Python: {python}\n" if python else ""
    files = {
        f"{module}.py": f"{before}\n{source}",
        f"{info}/METADATA": metadata + (f"Requires-Dist: {requires}\n" if requires else ""),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{name} = {module}:main\n",
        **(more or {}),
    }
    files[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in (*files, f"{info}/RECORD"))
    target = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(target, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
    return target


def bundle(file: Path, manifest: dict[str, Any], files: dict[str, str | bytes] | None = None) -> Path:
    """An `.mcpb` of the tiny Python server."""
    content = {"server/main.py": (PROGRAMS / "tiny.py").read_text(), **(files or {})}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, text in content.items():
            archive.writestr(name, text)
    return file


def manifest(**changes: Any) -> dict[str, Any]:
    """A manifest that asks for folders and a key."""
    return {
        "manifest_version": "0.3",
        "name": "hello",
        "version": "1.0.0",
        "description": "Says hello.",
        "author": {"name": "somebody"},
        "server": {
            "type": "python",
            "entry_point": "server/main.py",
            "mcp_config": {
                "command": "python",
                "args": ["${__dirname}/server/main.py", "${user_config.dirs}"],
                "env": {"API_KEY": "${user_config.key}", "HERE": "${__dirname}"},
            },
        },
        "user_config": {
            "dirs": {"type": "directory", "title": "Folders", "multiple": True, "required": True},
            "key": {"type": "string", "title": "Key", "sensitive": True},
        },
        **changes,
    }

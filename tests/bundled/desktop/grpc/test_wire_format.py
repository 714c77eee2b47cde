"""The wire format equals the listing in `wire_format.txt`, and the compiled file equals its sources.

The listing was taken from the reference implementation and is not generated from our files: `*` is repeated,
`?` optional with presence, `in` names the oneof.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.longrunning import operations_pb2

from toolcrib.bundled.desktop.grpc import methods
from toolcrib.bundled.desktop.grpc.schema import COMPILED, pool, service
from toolcrib.bundled.desktop.grpc.server import snake_case

LISTING = Path(__file__).with_name("wire_format.txt")
ROOT = Path(__file__).parents[4]
SCALARS = {1: "double", 3: "int64", 5: "int32", 8: "bool", 9: "string", 12: "bytes"}
FILES = sorted((COMPILED.parent / "proto").rglob("*.proto"))


def test_every_method_message_field_and_enum_is_as_listed() -> None:
    expected = LISTING.read_text().splitlines()
    ours = sorted([*_methods(), *_messages_and_enums()])
    assert len(ours) == 67 + 173 + 19
    assert [line for line in ours if line not in expected] == []
    assert ours == expected


def test_the_files_are_those_of_the_two_packages() -> None:
    names = [file.relative_to(COMPILED.parent / "proto").as_posix() for file in FILES]
    assert len(names) == 15
    assert {pool().FindFileByName(name).package for name in names} == {"macosusesdk.v1", "macosusesdk.type"}


def test_the_compiled_file_is_up_to_date() -> None:
    script = ROOT / "scripts" / "compile_desktop_proto.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_is_not_offered_says_why() -> None:
    assert {name for name in methods.MISSING if name not in service().methods_by_name} == set()
    assert snake_case("GetClipboardHistory") == "get_clipboard_history"


def _methods() -> Iterator[str]:
    for method in service().methods:
        stream = "stream " if method.server_streaming else ""
        info = method.GetOptions().Extensions[operations_pb2.operation_info]
        operation = f" ({info.response_type}, {info.metadata_type})" if info.response_type else ""
        request, response = _name(method.input_type), _name(method.output_type)
        yield f"rpc {method.name}({request}) -> {stream}{response}{operation}"


def _messages_and_enums() -> Iterator[str]:
    for file in FILES:
        found = pool().FindFileByName(file.relative_to(COMPILED.parent / "proto").as_posix())
        yield from map(_enum, found.enum_types_by_name.values())
        for message in found.message_types_by_name.values():
            fields = "; ".join(map(_field, sorted(message.fields, key=lambda field: field.index)))
            yield f"message {_name(message)}: {fields}".rstrip(": ")
            yield from map(_enum, message.enum_types)


def _enum(enum: Any) -> str:
    return f"enum {_name(enum)}: " + ", ".join(f"{value.name}={value.number}" for value in enum.values)


def _field(field: Any) -> str:
    oneof = field.containing_oneof
    is_optional = oneof is not None and oneof.name == f"_{field.name}"
    label = "*" if field.is_repeated and not _is_map(field) else "?" if is_optional else ""
    inside = f" in {oneof.name}" if oneof is not None and not is_optional else ""
    return f"{field.name}={field.number} {_type(field)}{label}{inside}"


def _type(field: Any) -> str:
    if _is_map(field):
        entry = field.message_type.fields_by_name
        return f"map<{_type(entry['key'])},{_type(entry['value'])}>"
    kind = field.message_type or field.enum_type
    return _name(kind) if kind is not None else SCALARS[field.type]


def _is_map(field: Any) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _name(descriptor: Any) -> str:
    name: str = descriptor.full_name.removeprefix("macosusesdk.")
    return name

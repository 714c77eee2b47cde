"""The messages and methods of the wire format, from the compiled `.proto` files.

No code is generated: `v1.Window` is made from its descriptor when it is first used.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from google.api import field_behavior_pb2
from google.longrunning import operations_pb2
from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    duration_pb2,
    empty_pb2,
    field_mask_pb2,
    message_factory,
    timestamp_pb2,
)
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

SERVICE = "macosusesdk.v1.MacosUse"
OPERATIONS = "google.longrunning.Operations"
COMPILED = Path(__file__).with_name("macosusesdk.binpb")

Empty = empty_pb2.Empty
FieldMask = field_mask_pb2.FieldMask
Operation = operations_pb2.Operation
Timestamp = timestamp_pb2.Timestamp
Duration = duration_pb2.Duration


@functools.cache
def pool() -> Any:
    """The process's descriptor pool, with our files."""
    files = descriptor_pb2.FileDescriptorSet.FromString(COMPILED.read_bytes())
    left = {file.name: file for file in files.file}
    shared = descriptor_pool.Default()

    def add(name: str) -> None:
        file = left.pop(name, None)
        if file is None:
            return
        for dependency in file.dependency:
            add(dependency)
        shared.AddSerializedFile(file.SerializeToString())

    for name in list(left):
        add(name)
    return shared


def service(name: str = SERVICE) -> Any:
    """The descriptor of a service."""
    return pool().FindServiceByName(name)


def message_class(descriptor: Any) -> Any:
    return message_factory.GetMessageClass(descriptor)


def is_required(field: Any) -> bool:
    behaviors = field.GetOptions().Extensions[field_behavior_pb2.field_behavior]
    return field_behavior_pb2.FieldBehavior.REQUIRED in behaviors


class _Package:
    """The message classes and enums of a proto package, as attributes."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        full_name = f"{self._name}.{name}"
        try:
            made = message_class(pool().FindMessageTypeByName(full_name))
        except KeyError:
            made = EnumTypeWrapper(pool().FindEnumTypeByName(full_name))
        setattr(self, name, made)
        return made


v1 = _Package("macosusesdk.v1")
types = _Package("macosusesdk.type")

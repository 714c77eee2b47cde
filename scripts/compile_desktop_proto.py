"""Compiles the desktop's `.proto` files into the descriptors that the gRPC server loads.

`--check` only says whether the compiled file is up to date. Needs grpcio-tools, which running it does not.
"""

from __future__ import annotations

import importlib.resources
import shutil
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "src/toolcrib/bundled/desktop/grpc"
COMPILED = FOLDER / "macosusesdk.binpb"


def compile_descriptors() -> bytes:
    """All files as one serialized FileDescriptorSet."""
    from google.longrunning import operations_pb2
    from grpc_tools import protoc

    google = Path(operations_pb2.__file__).parent
    included = importlib.resources.files("grpc_tools") / "_proto"
    with tempfile.TemporaryDirectory() as folder:
        # The package with this file gives it another name than its importers use.
        renamed = Path(folder, "google/longrunning/operations.proto")
        renamed.parent.mkdir(parents=True)
        shutil.copy(google / "operations_proto.proto", renamed)
        out = Path(folder, "out")
        sources = sorted(path.relative_to(FOLDER / "proto") for path in (FOLDER / "proto").rglob("*.proto"))
        paths = [FOLDER / "proto", folder, google.parents[1], included]
        arguments = ["", *(f"-I{path}" for path in paths), f"--descriptor_set_out={out}", *map(str, sources)]
        if protoc.main(arguments) != 0:
            raise SystemExit("The .proto files could not be compiled.")
        return out.read_bytes()


def main() -> None:
    compiled = compile_descriptors()
    if "--check" not in sys.argv:
        COMPILED.write_bytes(compiled)
    elif compiled != COMPILED.read_bytes():
        raise SystemExit(f"{COMPILED.name} is out of date: run scripts/compile_desktop_proto.py")


if __name__ == "__main__":
    main()

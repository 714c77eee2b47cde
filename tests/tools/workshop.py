"""A door with everything real behind it but the disk: the recorder is a list."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolcrib.approvals.gate import AllowAll
from toolcrib.events import Bus
from toolcrib.schema.events import Event
from toolcrib.schema.tools import CallRecord
from toolcrib.tools.caller import Caller
from toolcrib.tools.masker import Masker
from toolcrib.tools.ports import CallGate, ToolSource
from toolcrib.tools.registry import Registry
from toolcrib.tools.sources.inline import InlineServer, InlineTools


@dataclass
class Ledger:
    """A recorder that keeps records where a test can see them."""

    records: list[CallRecord] = field(default_factory=list)

    def record(self, record: CallRecord) -> None:
        self.records.append(record)

    @property
    def last(self) -> CallRecord:
        return self.records[-1]


@dataclass(frozen=True)
class Limits:
    max_result_bytes: int = 64 * 1024 * 1024


@dataclass
class Workshop:
    """A registry, a door and one inline server called `bench` to put tools into."""

    bus: Bus[Event] = field(default_factory=Bus)
    bench: InlineServer = field(default_factory=lambda: InlineServer("bench", timeout=5.0))
    ledger: Ledger = field(default_factory=Ledger)
    masker: Masker = field(default_factory=Masker)
    gate: CallGate = field(default_factory=AllowAll)
    limits: Limits = field(default_factory=Limits)
    registry: Registry = field(init=False)

    def __post_init__(self) -> None:
        self.registry = Registry(self.bus)

    def open(self, *more: ToolSource) -> Caller:
        """Register what the sources offer and open the door."""
        sources: list[ToolSource] = [InlineTools([self.bench]), *more]
        for source in sources:
            for server, definitions in source.tools().items():
                assert self.registry.put(server, source.origin, definitions) == []
        return Caller(
            self.registry, sources, self.gate, self.ledger, self.bus, self.limits, masker=self.masker
        )

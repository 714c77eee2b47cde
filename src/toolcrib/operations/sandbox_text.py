"""What the sandbox of a server allows, as sentences for the user."""

from __future__ import annotations

from toolcrib.schema.servers import OTHER_MACHINES, SandboxPolicy


def sandbox_text(policy: SandboxPolicy | None) -> list[str]:
    """Empty if there is no sandbox."""
    if policy is None:
        return []
    folders = ["its own files", *(["what its arguments name"] if policy.arguments else []), *policy.writable]
    limits = [
        *([f"{policy.memory} MB a process"] if policy.memory else []),
        f"{policy.processes} processes",
        *([f"{policy.cpu} % of a processor"] if policy.cpu else []),
        *([f"{policy.disk} MB on disk"] if policy.disk else []),
    ]
    return [
        f"changes {', '.join(folders)}",
        *([f"reads {', '.join(policy.readable)}"] if policy.readable else []),
        _network(policy),
        f"at most {', '.join(limits)}",
        *(["may open Unix sockets"] if policy.unix_sockets else []),
    ]


def _network(policy: SandboxPolicy) -> str:
    if policy.shares_network:
        return "uses the network of this machine, with every service on it (databases, other programs)"
    if not policy.network:
        return "has no network"
    if not policy.reaches_others:
        return f"reaches only {', '.join(policy.hosts)}"
    named = [host for host in policy.hosts if host != OTHER_MACHINES]
    return "reaches other machines, and of this one " + (", ".join(named) or "nothing")

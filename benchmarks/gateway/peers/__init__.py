"""One gateway a file; what a file offers is in `benchmarks.gateway.contract.Peer`."""

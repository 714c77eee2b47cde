"""One conversation with one server: JSON-RPC, the two eras of the protocol, what each side may ask."""

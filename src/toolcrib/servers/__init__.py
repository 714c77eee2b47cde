"""The MCP servers of a host: pool, supervisors, sessions, transports, installers."""

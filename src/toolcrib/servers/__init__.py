"""The MCP servers we connect to: pool, supervisors, sessions, transports."""

"""The service for MCP clients: tools that make jobs, over standard input and output or over HTTP."""

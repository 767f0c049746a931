"""The service for MCP clients: tools that create jobs, over standard input and output or over HTTP."""

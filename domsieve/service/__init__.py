"""The service: jobs, the workers that process them, and interfaces over HTTP and MCP."""

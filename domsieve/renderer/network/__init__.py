"""The egress guard: where connections may go, and the proxy for all traffic of the browser."""

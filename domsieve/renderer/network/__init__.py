"""Where connections may go, and the proxy that every byte of the browser passes."""

"""From a URL to a Snapshot: Chrome, the egress guard, capture, raw HTML and sampling of sites."""

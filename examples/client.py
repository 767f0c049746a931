"""Cleans one page by the service: ``python -m examples.client http://127.0.0.1:8090 https://example.org/``."""

import json
import os
import sys
from urllib.request import Request, urlopen


def clean(service: str, url: str) -> str:
    """Return the content of the page at `url` as Markdown; urllib's HTTPError holds the reason of a failure."""
    headers = {"Content-Type": "application/json", "Prefer": "wait=60"}
    if token := os.environ.get("TOKEN"):
        headers["Authorization"] = f"Bearer {token}"
    body = json.dumps({"url": url, "format": "markdown"}).encode()
    with urlopen(Request(f"{service}/v1/clean", body, headers), timeout=70) as answer:
        return str(json.load(answer)["content"])


if __name__ == "__main__":
    print(clean(*sys.argv[1:3]))

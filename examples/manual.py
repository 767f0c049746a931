"""Serves the manual of a program that does not exist, an example of a documentation site, on 127.0.0.1.

    python -m examples.manual [--port N]      # or manual_served() in a program

The guides are plain HTML. The pages of the reference are empty shells that a script fills, so a part of the site
needs a browser. The texts lie in ``manual_site/`` as fragments of HTML, the first line of each with its title. What
stands around them, a menu, a sidebar and a footer, is written here.
"""

import argparse
import contextlib
import json
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from examples.loopback import LoopbackServer, QuietHandler, running, serve_until_interrupted

TEXTS = Path(__file__).parent / "manual_site"
NAME = "Tidemark"
_FRAME = """\
<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} · {name}</title>
<meta name="viewport" content="width=device-width">
<style>body{{font:16px/1.5 sans-serif;margin:0}} header,footer{{padding:8px 16px;background:#e8eef2}}
nav a{{margin-right:1em}} .page{{display:flex}}
aside{{width:220px;padding:16px}} main{{width:720px;padding:16px}}</style>
</head><body><header><a href="/">{name}</a> <nav><a href="/guide/install">Guide</a>
<a href="/reference/read">Reference</a> <a href="/">Home</a></nav></header>
<div class="page"><aside><h3>In this manual</h3><ul>{menu}</ul></aside>
<main>{text}</main></div>
<footer><p>{name} is free software. Found a mistake? Write to the harbour office.</p>
<p>Terms of use · Imprint · Version 4.2</p></footer></body></html>
"""
_SHELL = """\
<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} · {name}</title></head>
<body><div id="app"></div><script>
fetch("/pages" + location.pathname + ".json").then(answer => answer.json()).then(page => {{
  const parts = new DOMParser().parseFromString(page.html, "text/html");
  for (const style of parts.querySelectorAll("style")) document.head.append(style);
  document.getElementById("app").append(...parts.body.children);
}});
</script></body></html>
"""


def _title(text: str) -> str:
    return text.partition("\n")[0].removeprefix("<h1>").partition("</h1>")[0]


def manual() -> dict[str, bytes]:
    """Return the bytes behind every path of the site."""
    texts = {
        f"/{path.relative_to(TEXTS).with_suffix('').as_posix()}".removesuffix("index"): path.read_text(
            "utf-8"
        )
        for path in sorted(TEXTS.rglob("*.html"))
    }
    menu = "".join(f'<li><a href="{path}">{_title(text)}</a></li>' for path, text in texts.items())
    files = {}
    for path, text in texts.items():
        page = _FRAME.format(title=_title(text), name=NAME, menu=menu, text=text)
        if path.startswith("/reference/"):
            files[f"/pages{path}.json"] = json.dumps({"html": page}).encode()
            page = _SHELL.format(title=_title(text), name=NAME)
        files[path] = page.encode()
    return files


def write_manual(folder: Path) -> None:
    """Write the guides, which need no script, into a folder, one file each."""
    for path, body in manual().items():
        if path.startswith("/guide/"):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{path.rpartition('/')[2]}.html").write_bytes(body)


class _Server(LoopbackServer):
    def __init__(self, port: int) -> None:
        super().__init__(_Handler, port=port)
        self.files = manual()


class _Handler(QuietHandler):
    server: _Server

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        body = self.server.files.get(path)
        if body is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        self.send_response(HTTPStatus.OK)
        kind = "application/json" if path.endswith(".json") else "text/html; charset=utf-8"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextlib.contextmanager
def manual_served(*, port: int = 0) -> Iterator[str]:
    """Serve the manual while the block runs; the value is its base URL, without a slash at the end.

    ``port`` 0 takes a free one. Raises OSError if the port is taken.
    """
    with running(_Server(port)) as server:
        yield server.base


def main() -> None:
    """Serve until interrupted, or write the guides into a folder."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.manual", description="Serve an example of a documentation site on 127.0.0.1."
    )
    parser.add_argument("--port", type=int, default=0, help="port number; 0, the default, takes a free one")
    parser.add_argument("--write", type=Path, metavar="DIR", help="write the guides as HTML files instead")
    arguments = parser.parse_args()
    if arguments.write:
        write_manual(arguments.write)
        return
    serve_until_interrupted(_Server(arguments.port))


if __name__ == "__main__":
    main()

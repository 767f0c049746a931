"""The main job from end to end, by the commands that you would use: crawl, compare, clean, say why, report.

``python -m examples.demo`` serves the demo site on this machine and cleans that; ``--site URL`` takes a real one.
Captures, the report and the page as Markdown stay in ``build/demo``.
"""

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

from domsieve.urls import has_web_scheme
from examples.serve import serve_demo

FOLDER = Path("build") / "demo"
PORT = 8898  # the same each time, so that the commands for afterwards find the captures of any run
_SHOWN = "/articles/owl-pellets"  # of the demo site: a table, an advert, readers' letters in a frame
_PAGES = 30
_LINES = 24
_BLOCKS = 9
_WIDTH = 110


def main() -> int:
    """Run the demo; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--site", help="address of a real site instead of the demo site")
    parser.add_argument("--pages", type=int, default=_PAGES, help="pages to sample (default: %(default)s)")
    asked = parser.parse_args()
    if asked.site is not None and not has_web_scheme(asked.site):
        parser.error(f"--site is {asked.site!r}; give an address with http:// or https://")
    with ExitStack() as stack:
        start = asked.site or _serve(stack) + _SHOWN
        try:
            _show(start, pages=asked.pages)
        except subprocess.CalledProcessError as error:
            print(f"demo: the command above ended with exit code {error.returncode}", file=sys.stderr)
            return 1
    return 0


def _serve(stack: ExitStack) -> str:
    """Serve the demo site at its port, or at a free one if something else has that; return its base URL."""
    try:
        return stack.enter_context(serve_demo(port=PORT))
    except OSError:
        return stack.enter_context(serve_demo())


def _show(start: str, *, pages: int) -> None:
    site = urlsplit(start).netloc
    cache = ["--cache", str(FOLDER / "pages")]
    page = [start, *cache, "--scroll"]
    report = FOLDER / "report.html"

    _title("Render the pages of a site")
    _run("site", *page, "--pages", str(pages), "--refresh")

    _title("Compare rendered pages with their HTML source: where is a browser needed?")
    print(_run("compare", site, *cache, "--quiet").strip().rpartition("\n\n")[2])

    _title("Clean one of them; the other pages of the site are evidence")
    _print_start(_run("clean", *page, "--format", "markdown", "--quiet").splitlines())

    _title("What was dropped, and why, the largest blocks first")
    result = json.loads(_run("clean", *page, "--json", "--quiet"))
    dropped = [block for block in result["blocks"] if not block["kept"]]
    for block in sorted(dropped, key=lambda block: -len(block["text"].split()))[:_BLOCKS]:
        score = f", score {block['score']:.2f} (kept from {result['threshold']:.2f})"
        by_score = block["reason"] == "looks like boilerplate"
        print(f"{block['reason']}{score if by_score else ''}\n    {_short(block['text'])}")
    print(f"{result['words']['kept']} words kept, {result['words']['dropped']} dropped")

    _title("All of it to look at, with what the other methods keep")
    _run("report", *page, "--output", str(report), "--quiet")
    print(f"The report is {report}: open it in a browser.")

    _title("Next")
    for arguments in (
        ["clean", site, *cache, "--format", "markdown", "--output-dir", str(FOLDER / "clean")],
        ["records", site, *cache, "--output", str(FOLDER / "records.csv")],
        ["cache", "list", *cache],
    ):
        print(f"    {_command(arguments)}")


def _run(*arguments: str) -> str:
    """Print a command and run it; return what it printed. What goes to stderr is seen as usual."""
    print(f"$ {_command(arguments)}", flush=True)
    command = [sys.executable, "-m", "domsieve.cli", *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True).stdout


def _command(arguments: Sequence[str]) -> str:
    """Return the command as one types it in this folder, without the environment being active."""
    program = Path(sys.executable).with_name("domsieve")
    if program.is_relative_to(Path.cwd()):
        program = program.relative_to(Path.cwd())
    return shlex.join([str(program), *arguments])


def _print_start(lines: Sequence[str]) -> None:
    print("\n".join(_short(line) for line in lines[:_LINES]))
    if len(lines) > _LINES:
        print(f"... {len(lines) - _LINES} more lines")


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _WIDTH else f"{flat[: _WIDTH - 1]}…"


def _title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


if __name__ == "__main__":
    sys.exit(main())

"""Requests of any kind to the service: each gets an answer or a problem, and none of them learns of the server."""

import asyncio
import atexit
import json
import tempfile
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, get_args

from fastapi import FastAPI
from hypothesis import strategies as st

from domsieve.errors import UsageError
from domsieve.renderer.network.egress import place_of
from domsieve.renderer.sampling.robots import Robots
from domsieve.renderer.sampling.sitemap import MAX_ADDRESSES, listing_in, parse_sitemap
from domsieve.service.jobs.database import Database
from domsieve.service.jobs.job_request import JobKind
from domsieve.service.jobs.job_store import JobStore
from domsieve.service.jobs.requests import PageRequest, request_of
from domsieve.service.jobs.work_queue import WorkQueue
from domsieve.service.mcp._tool_results import OUTPUT_SCHEMA, Answer
from domsieve.service.mcp._tools import TOOLS
from domsieve.service.mcp.tool_calls import ToolCalls
from domsieve.service.web.app import create_app
from domsieve.service.web.gateway import Gateway
from domsieve.service.web.problems import Problem
from domsieve.service.web.settings import Settings
from tests.fuzz.asgi import HEADERS, asked, scope_of
from tests.fuzz.damage import odd_values
from tests.fuzz.fuzzing import fuzzed
from tests.service.web.stage import PAGE, instant

MANY = 10**9
KINDS: tuple[str, ...] = get_args(JobKind)
NAMES = sorted({name for tool in TOOLS.values() for name in tool.input_schema["properties"]})
URLS = st.sampled_from(
    (
        PAGE,
        "http://127.1/",
        "http://[::1]:8080/#x",
        "https://b\u00fccher.example/?a=b",
        "http://a\u2100b/",
        "http://\u2488com/",
        "http://1.2.3.4.5/",
        "http://a:65535",
        "",
        "file:///etc/passwd",
        "http://user@a.example/",
    )
) | st.text(max_size=12).map(lambda text: f"http://{text}")
FIELDS = st.dictionaries(
    st.sampled_from(
        [*NAMES, "pages", "seed", "include", "click", "locale", "fields", "select", "settle", "drop"]
    )
    | st.text(max_size=5),
    st.one_of(
        odd_values,
        st.integers(-2, 300),
        st.sampled_from(
            (
                None,
                "auto",
                "sst",
                "tps",
                "wobm",
                "markdown",
                "csv",
                "jsonl",
                "precision",
                "de-DE",
                "main > p",
                "p:has(",
            )
        ),
        st.lists(
            st.sampled_from(("main", "a[b", "*", "tables", "comments", "title", "/docs/*", "[", "x" * 501)),
            max_size=3,
        ),
    ),
    max_size=4,
)
BODIES = st.one_of(
    st.builds(lambda url, fields: {"url": url, **fields}, URLS, FIELDS),
    st.builds(lambda url, fields: {**fields, "url": url}, st.just(PAGE), FIELDS),
    odd_values,
)
PATHS = st.sampled_from(
    (
        *(
            f"/v1/{name}"
            for name in ("clean", "records", "compare", "report", "sites", "jobs", "pages", "health", "x")
        ),
        *(
            f"/v1/jobs/JOB{rest}"
            for rest in ("", "/result", "/events", "/cancel", "/files/content.md", "/files/x", "/pages")
        ),
        *(
            "/",
            "/jobs",
            "/cache",
            "/docs",
            "/login",
            "/logout",
            "/metrics",
            "/openapi.json",
            "/mcp",
            "/static/app.css",
        ),
        *(
            f"/jobs/JOB{rest}"
            for rest in (
                "",
                "/pages/1",
                "/preview",
                "/pages/1/preview",
                "/retry",
                "/cancel",
                "/pages/99999999",
            )
        ),
        "/static/../../../etc/passwd",
        "/static/%2e%2e/app.py",
        "/v1/jobs/" + "0" * 32,
        "/v1/jobs/" + "0" * 32 + "/files/..%2f..%2fjobs.sqlite",
    )
) | st.text(max_size=12).map(lambda text: f"/{text}")
QUERIES = st.sampled_from(
    (
        "",
        "limit=5",
        "limit=-1",
        "limit=9" + "9" * 30,
        "before=x",
        "before=JOB",
        "state=done",
        "state=x",
        "limit=\u0665",
        "a=b&a=c",
        "%",
        "job=JOB&page=1",
    )
) | st.text(max_size=12)


@cache
def service() -> tuple[FastAPI, str, str]:
    """Return a service that has done a few jobs, one of them, and the folder that nobody may learn of."""
    folder = tempfile.TemporaryDirectory(prefix="domsieve-fuzz-")
    atexit.register(folder.cleanup)
    database = Database(Path(folder.name) / "jobs.sqlite")
    store, queue = JobStore(database), WorkQueue(database)
    settings = Settings(free_bytes=0, wait_s=0, queue=MANY, client_queue=MANY, requests_per_minute=MANY)
    app = create_app(settings, store, watched=database.version)
    gateway = app.state.gateway
    jobs = [
        asyncio.run(gateway.add(request_of(kind, {"url": url}), client="local", key=None))
        for kind, url in (("clean", PAGE), ("clean", f"{PAGE}/bad-page"), ("report", PAGE), ("records", PAGE))
    ]
    while claim := queue.claim("fuzz", lease_s=60):
        instant(queue, claim)
    return app, jobs[0].id, folder.name


@fuzzed(
    45,
    method=st.sampled_from(("POST", "POST", "GET", "GET", "HEAD", "DELETE", "PUT", "OPTIONS", "X")),
    path=PATHS,
    query=QUERIES,
    headers=HEADERS,
    body=BODIES.map(lambda value: json.dumps(value, default=repr).encode())
    | st.binary(max_size=30)
    | st.sampled_from((b"[", b'{"url":', b"9", b"url=x&kind=clean&")),
    times=st.sampled_from((1, 1, 1, 1, 20_000)),
)
def test_every_request_gets_an_answer_or_a_problem(
    method: str, path: str, query: str, headers: list[list[str]], body: bytes, times: int
) -> None:
    app, job, folder = service()
    if method == "DELETE":
        job = "f" * 32  # the others are for the next requests
    path, query = path.replace("JOB", job), query.replace("JOB", job)
    if path.endswith(("/delete", "/cancel")):
        path = path.replace(job, "f" * 32)
    if not path.isprintable():
        path = path.encode("utf-8", "replace").decode()
    scope = scope_of(method, path, query, headers)
    status, told, data = asyncio.run(asked(app, scope, body * times))
    assert status != 500
    assert 200 <= status < 600
    assert told["x-content-type-options"] == "nosniff"
    text = data.decode("utf-8", "replace")
    for secret in (folder, "Traceback", "site-packages", str(Path(__file__).parents[2])):
        assert secret not in text + repr(told)
    if method == "HEAD" or status == 499:
        assert not data
    elif status >= 400 and told["content-type"].startswith("application/problem+json"):
        problem = Problem.model_validate_json(data)
        assert problem.status == status
        assert problem.detail
    elif status >= 400:
        assert told["content-type"].startswith("text/html")
        assert not path.startswith("/v1/")


@fuzzed(45, kind=st.sampled_from(KINDS), values=BODIES)
def test_a_request_that_is_taken_can_be_done(kind: str, values: Any) -> None:
    if not isinstance(values, dict):
        return
    try:
        asked_for = request_of(kind, values)
    except UsageError:
        return
    assert isinstance(asked_for, PageRequest)
    if asked_for.url:
        place = place_of(asked_for.url)
        assert place is not None
        assert (
            "@" not in asked_for.url.partition("://")[2].partition("/")[0].partition("?")[0].partition("#")[0]
        )
    asked_for.capture_options()
    asked_for.since()
    assert asked_for.budget().time > timedelta()
    for name in ("selection", "scope"):
        if hasattr(asked_for, name):
            getattr(asked_for, name)()
    again = request_of(kind, json.loads(asked_for.model_dump_json()))
    assert again == asked_for


@fuzzed(
    35,
    name=st.sampled_from(sorted(TOOLS)),
    arguments=st.none()
    | st.builds(lambda url, fields: {"url": url, **fields}, URLS, FIELDS)
    | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), odd_values, max_size=4)
    | st.fixed_dictionaries(
        {"job": st.sampled_from(("JOB", "0" * 32, "x"))},
        optional={"offset": st.integers(-1, 9), "max_characters": st.integers(99, 200)},
    ),
)
def test_calls_of_tools_that_fail_look_like_failures(name: str, arguments: Any) -> None:
    app, job, folder = service()
    gateway: Gateway = app.state.gateway
    calls = ToolCalls(Gateway(gateway.settings, gateway.store, version=lambda: None))
    calls._gateway.stop()  # so that nothing is waited for

    async def progress(_done: float, _total: float | None, _said: str) -> None: ...

    given = arguments and {key: job if value == "JOB" else value for key, value in arguments.items()}
    answer: Answer = asyncio.run(calls.call(name, given, client="local", progress=progress))
    state = answer.facts["state"]
    assert state in OUTPUT_SCHEMA["properties"]["state"]["enum"]
    assert answer.is_error == (state in {"failed", "refused", "cancelled"})
    assert any(answer.texts)
    assert ("problem" in answer.facts) == (state in {"failed", "refused"})
    told = json.dumps(dict(answer.facts), allow_nan=False) + "".join(answer.texts)
    told.encode()
    for secret in (folder, "Traceback", "site-packages"):
        assert secret not in told


XML = st.lists(
    st.sampled_from(
        (
            '<?xml version="1.0" encoding="utf-8"?>',
            '<?xml version="1.0" encoding="utf-7"?>',
            '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname"><!ENTITY b "&c;&c;"><!ENTITY c "cc">]>',
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
            "<sitemapindex>",
            "<rss><channel>",
            '<feed xmlns="http://www.w3.org/2005/Atom">',
            '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">',
            "<url><loc>https://a.example/1</loc></url>",
            "<url><loc>&a;&b;</loc></url>",
            "<url><loc/></url>",
            "<sitemap><loc>b.xml</loc></sitemap>",
            "<item><link>c</link></item>",
            "<item><guid>https://a.example/g</guid></item>",
            '<item><guid isPermaLink="false">x</guid></item>',
            "<item><item><link>d</link></item></item>",
            '<entry><link rel="alternate" type="x" href="e"/><link href="f"/></entry>',
            '<item rdf:about="g"/>',
            "<url><!-- c --><?pi x?><loc>a<b/>c</loc>",
            "<![CDATA[ ]]>",
            "</urlset>",
            "</x>",
            "\0",
            "\ud800",
        )
    )
    | st.text(max_size=9),
    max_size=8,
).map("".join)


@fuzzed(
    45,
    source=XML.map(lambda text: text.encode("utf-8", "replace"))
    | XML.map(lambda text: text.encode("utf-16", "replace"))
    | st.binary(max_size=40),
    is_packed=st.booleans(),
    url=st.sampled_from(("", "https://a.example/x/", "http://[", "x")),
)
def test_lists_of_addresses_are_read_as_far_as_they_go(source: bytes, is_packed: bool, url: str) -> None:
    if is_packed:
        source = b"\x1f\x8b\x08" + source
    sitemaps, pages = parse_sitemap(source, url)
    assert len(sitemaps) + len(pages) <= min(MAX_ADDRESSES, len(source) + 1)
    assert all(isinstance(one, str) for one in (*sitemaps, *pages))
    host = Path("/etc/hostname").read_text().strip() if Path("/etc/hostname").exists() else ""
    assert not host or len(host) < 4 or not any(host in one for one in pages)
    found = listing_in(source, url)
    if found is not None:
        assert set(found.pages) == set(pages)


@fuzzed(
    45,
    lines=st.lists(
        st.builds(
            "{}{}{}".format,
            st.sampled_from(
                (
                    "User-agent",
                    "user agent",
                    "Disallow",
                    "Allow",
                    "Crawl-delay",
                    "Request-rate",
                    "Sitemap",
                    "Visit-time",
                    "Host",
                    "#",
                    "",
                )
            ),
            st.sampled_from((":", ": ", " ", " : ", "")),
            st.sampled_from(
                (
                    "*",
                    "domsieve",
                    "domsieve*",
                    "/",
                    "/a*b$",
                    "5",
                    "1e400",
                    "1/0",
                    "0/5",
                    "9" * 400,
                    "1/5m 0600-0845",
                    "nan",
                    "-1",
                    "%",
                    "/%zz",
                    "\u0665",
                    "_1",
                    "http://[",
                )
            )
            | st.text(max_size=9),
        )
        | st.text(max_size=12),
        max_size=6,
    ),
    end=st.sampled_from(("\n", "\r\n", "\r", "\u2028")),
    url=st.sampled_from(("https://a.example/", "https://a.example/a/b?c", "http://[", "", "x"))
    | st.text(max_size=9),
)
def test_rules_for_robots_are_read_whatever_they_say(lines: list[str], end: str, url: str) -> None:
    rules = Robots.parse(end.join(lines))
    assert timedelta() <= rules.delay <= timedelta(days=1)
    assert rules.allows(url) in {True, False}
    assert all(isinstance(one, str) for one in rules.sitemaps)

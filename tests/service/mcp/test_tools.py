"""What MCP tools take, and what they answer: with jobs that end at once, and without any package of MCP."""

import asyncio
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from domsieve.errors import UsageError
from domsieve.service.jobs.database import Database
from domsieve.service.jobs.job_store import JobStore
from domsieve.service.jobs.job_values import Claim, NewFile, Overload
from domsieve.service.jobs.request_fields import HTML_CHARACTERS
from domsieve.service.jobs.requests import (
    CleanHtmlRequest,
    CleanRequest,
    RecordsHtmlRequest,
    SiteRequest,
)
from domsieve.service.jobs.work_queue import WorkQueue
from domsieve.service.mcp._tool_results import OUTPUT_SCHEMA, Answer, window
from domsieve.service.mcp._tools import MOST_CHARACTERS, TOOLS, Continuing, ToolRequest
from domsieve.service.mcp.tool_calls import ToolCalls
from domsieve.service.web.gateway import Gateway
from domsieve.service.web.settings import Settings
from tests.command import run
from tests.service.web.stage import Workers

URL = "http://site.example/"
TEXT = "".join(f"Line {number} of the text.\n" for number in range(100))

Work = Callable[[WorkQueue, Claim], None]


def done(queue: WorkQueue, claim: Claim) -> None:
    summary = {
        "url": URL,
        "status": 200,
        "method": "auto",
        "expected_f1": 0.93,
        "page_id": "x",
        "remarks": ["So."],
    }
    queue.finish(
        claim, summary, [NewFile("page.md", "text/markdown; charset=utf-8", TEXT.encode())], pages=[]
    )


def failed(queue: WorkQueue, claim: Claim) -> None:
    queue.fail(
        claim, {"title": "T", "detail": "No answer came.", "fault": "page", "retry": True, "stage": "load"}
    )


def of_site(queue: WorkQueue, claim: Claim, **summary: Any) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in (1, 2):
            archive.writestr(f"{number}.md", f"Text {number}.\n")
    page = {"complete": True, "marks": [], "remarks": [], "metadata": {"title": "T" * 999}}
    index = {
        "site": "site.example",
        "ended": "pages",
        "pages": [
            {"url": URL + "x" * 999, "file": "1.md", "expected_f1": 0.9, **page},
            {"url": URL, "file": "2.md", "expected_f1": None, **page},
        ],
        "failed": [{"url": URL, "detail": "Gone.", "fault": "page", "stage": "x"}] * 99,
    }
    files = [
        NewFile("pages.zip", "application/zip", packed.getvalue()),
        NewFile("pages.json", "application/json", json.dumps(index).encode()),
    ]
    queue.finish(claim, {"pages": 2, "failed": 99, **summary}, files, pages=[])


def call(
    folder: Path, name: str, arguments: dict[str, Any], *, work: Work | None = done, **how: Any
) -> Answer:
    return asyncio.run(calling(folder, [(name, arguments)], work=work, **how))


async def calling(
    folder: Path,
    calls: list[tuple[str, dict[str, Any]]],
    *,
    work: Work | None = done,
    clients: tuple[str, ...] = ("ann",),
    settings: Settings | None = None,
) -> Answer:
    """Return the answer of the last of some calls; the job of the first stands for JOB in the others."""
    told: list[float] = []

    async def progress(done: float, total: float | None, said: str) -> None:
        told.append(done)

    with Database(folder / "jobs.sqlite") as database:
        workers = Workers(WorkQueue(database), work) if work else None
        tools = ToolCalls(
            Gateway(settings or Settings(free_bytes=0), JobStore(database), version=database.version)
        )
        job = ""
        try:
            for number, (name, arguments) in enumerate(calls):
                given = {key: job if value == "JOB" else value for key, value in arguments.items()}
                client = clients[min(number, len(clients) - 1)]
                answer = await tools.call(name, given, client=client, progress=progress)
                job = job or str(answer.facts.get("job", ""))
        finally:
            if workers:
                workers.close()
    return answer


def test_tools_describe_what_they_take_without_patterns() -> None:
    for tool in TOOLS.values():
        schema = json.dumps(tool.input_schema)
        assert tool.input_schema["type"] == "object"
        assert "anyOf" not in schema
        assert '"pattern"' not in schema
        assert all(
            "description" in field or "enum" in field for field in tool.input_schema["properties"].values()
        )
        assert len(schema) < 4_000
        assert tool.description


@pytest.mark.parametrize(
    ("name", "arguments", "request_of"),
    [
        ("clean_page", {"url": URL, "method": "tps"}, CleanRequest),
        ("clean_page", {"html": "<p>a", "url": URL}, CleanHtmlRequest),
        ("clean_page", {"html": "<p>a", "url": None, "favor": None}, CleanHtmlRequest),
        ("clean_page", {"url": URL, "select": ["main"], "drop": [".note", "nav"]}, CleanRequest),
        ("find_records", {"html": "<p>a", "format": "csv", "drop": ["nav"]}, RecordsHtmlRequest),
        ("clean_page", {"url": URL, "hidden": "pixels"}, CleanRequest),
        ("clean_site", {"url": URL, "pages": 5.0, "keep_kinds": ["tables"]}, SiteRequest),
    ],
)
def test_arguments_become_requests_of_the_service(
    name: str, arguments: dict[str, Any], request_of: type
) -> None:
    parsed = TOOLS[name].parse(arguments)
    assert isinstance(parsed, ToolRequest)
    assert parsed.request is not None
    assert type(parsed.request) is request_of
    given = {key: value for key, value in arguments.items() if value is not None}
    assert {
        key: value for key, value in parsed.request.model_dump(mode="json").items() if key in given
    } == given


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("clean_page", {}, "Give url"),
        ("clean_page", {"url": "file:///etc/passwd"}, "url: Give an address"),
        ("clean_page", {"url": URL, "html": ""}, "html: "),
        ("clean_page", {"url": URL, "proxy": "http://x"}, "takes no 'proxy'"),
        ("clean_page", {"url": URL, "headers": {"Cookie": "a=b"}}, "takes no 'headers'"),
        ("clean_page", {"url": URL, "cookies": ["a=b"]}, "takes no 'cookies'"),
        ("clean_page", {"url": URL, "storage_state": "state.json"}, "takes no 'storage_state'"),
        ("clean_page", {"url": URL, "output": "/etc/passwd"}, "takes no 'output'"),
        ("clean_page", {"url": URL, "browser_args": ["--no-sandbox"]}, "takes no 'browser_args'"),
        ("clean_page", {"url": "http://name:secret@example.org/"}, "url: "),
        ("clean_page", {"html": "x" * (HTML_CHARACTERS + 1)}, "html: "),
        ("find_records", {"html": "x" * (HTML_CHARACTERS + 1)}, "html: "),
        ("clean_page", {"url": URL, "viewport_width": 400}, "takes no 'viewport_width'"),
        ("clean_page", {"url": URL, "method": "tps", "favor": "recall"}, "favor is for the method auto"),
        ("clean_page", {"url": URL, "params": {"threshold": 1}}, "AutoCleaner has no parameter 'threshold'"),
        ("find_records", {"url": URL, "params": {"max_length": 0}}, "it may be a whole number at least 1"),
        ("clean_page", {"url": URL, "select": ["p["]}, "select: "),
        ("clean_page", {"url": URL, "hidden": "visible"}, "hidden: "),
        ("clean_page", {"html": "<p>", "hidden": "pixels"}, "hidden: HTML is not rendered"),
        ("find_records", {"url": URL, "hidden": "keep"}, "takes no 'hidden'"),
        ("clean_page", {"url": URL, "max_characters": MOST_CHARACTERS + 1}, "max_characters: "),
        ("clean_page", {"url": URL, "wait_s": 1e9}, "wait_s: "),
        ("clean_site", {"url": URL, "pages": 201}, "pages: "),
        ("clean_site", {"url": URL, "html": "<p>"}, "takes no 'html'"),
        ("find_records", {"url": URL, "method": "auto"}, "method: "),
        ("get_result", {"job": "../x"}, "job: It does not"),
        ("get_result", {"job": "0" * 32, "offset": -1}, "offset: "),
    ],
)
def test_what_cannot_be_is_refused_with_what_is_wrong(
    name: str, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError) as raised:
        TOOLS[name].parse(arguments)
    assert said in raised.value.message


def test_a_result_is_text_for_models_and_facts_for_programs(tmp_path: Path) -> None:
    answer = call(tmp_path, "clean_page", {"url": URL})
    assert not answer.is_error
    assert answer.texts == (TEXT, "HTTP status 200. Method auto. Expected F1 0.93. So.")
    known = {"state": "done", "text": TEXT, "next_offset": None, "status": 200, "expected_f1": 0.93}
    assert known.items() <= answer.facts.items()
    assert "page_id" not in answer.facts
    assert OUTPUT_SCHEMA["required"][0] in answer.facts


def test_a_long_text_is_read_on_where_it_was_cut(tmp_path: Path) -> None:
    calls = [
        ("clean_page", {"url": URL, "max_characters": 100}),
        ("get_result", {"job": "JOB", "offset": 100, "max_characters": 50_000}),
    ]
    first = asyncio.run(calling(tmp_path / "1", calls[:1]))
    assert (first.facts["text"], first.facts["next_offset"]) == (TEXT[:100], 100)
    assert "offset 100" in first.texts[1]
    last = asyncio.run(calling(tmp_path / "2", calls))
    assert (last.facts["text"], last.facts["next_offset"]) == (TEXT[100:], None)


def test_nobody_reads_results_of_others(tmp_path: Path) -> None:
    calls = [("clean_page", {"url": URL}), ("get_result", {"job": "JOB"})]
    answer = asyncio.run(calling(tmp_path, calls, clients=("ann", "bob")))
    assert answer.is_error
    assert (answer.facts["state"], answer.facts["problem"]["status"]) == ("refused", 404)
    assert TEXT not in answer.texts


def test_a_failure_is_an_error_with_whose_fault_it_was(tmp_path: Path) -> None:
    answer = call(tmp_path, "clean_page", {"url": URL}, work=failed)
    assert answer.is_error
    assert answer.texts == ("No answer came. (fault: page) The same call may succeed later.",)
    assert answer.facts["state"] == "failed"
    assert answer.facts["problem"]["retry"]
    assert "text" not in answer.facts


def test_what_takes_longer_is_named_for_later(tmp_path: Path) -> None:
    answer = call(tmp_path, "clean_site", {"url": URL, "wait_s": 0}, work=None)
    assert not answer.is_error
    assert answer.facts["state"] == "queued"
    assert f"{answer.facts['job']} is queued" in answer.texts[0]


def test_a_site_is_all_its_pages_in_bounds(tmp_path: Path) -> None:
    answer = call(tmp_path, "clean_site", {"url": URL}, work=of_site)
    head, text = answer.facts["text"].split("\n\n", 1)
    assert head == f"[page 1 of 2: {(URL + 'x' * 999)[:500]}]"
    assert text == f"Text 1.\n\n[page 2 of 2: {URL}]\n\nText 2.\n"
    assert [page["expected_f1"] for page in answer.facts["pages"]] == [0.9, None]
    assert all(len(page["title"]) == 200 for page in answer.facts["pages"])
    assert (len(answer.facts["failed"]), answer.facts["failed_pages"]) == (50, 99)
    assert "2 pages of site.example, 99 failed." in answer.texts[1]


def test_the_queue_is_bounded_for_tools_too(tmp_path: Path) -> None:
    call_twice = [("clean_page", {"url": URL, "wait_s": 0})] * 2
    answer = asyncio.run(
        calling(tmp_path, call_twice, work=None, settings=Settings(free_bytes=0, client_queue=1))
    )
    assert answer.is_error
    assert answer.facts["problem"]["status"] == 429


def test_a_machine_without_room_refuses_tools_too(tmp_path: Path) -> None:
    async def progress(*_: object) -> None:
        pass

    with Database(tmp_path / "jobs.sqlite") as database:
        gateway = Gateway(
            Settings(free_bytes=0),
            JobStore(database),
            version=database.version,
            overload=lambda: Overload("load", "Busy."),
        )
        answer = asyncio.run(
            ToolCalls(gateway).call("clean_page", {"url": URL}, client="ann", progress=progress)
        )
    assert answer.is_error
    assert (answer.facts["problem"]["status"], answer.facts["problem"]["retry"]) == (503, True)
    assert gateway.refused == {"load": 1}


def test_a_part_of_a_sample_is_told_as_one(tmp_path: Path) -> None:
    def cut(queue: WorkQueue, claim: Claim) -> None:
        part = {"complete": False, "reasons": ["pages: All 2 are used up."], "remarks": ["This is a part."]}
        of_site(queue, claim, **part)

    answer = call(tmp_path, "clean_site", {"url": URL}, work=cut)
    assert (answer.facts["complete"], answer.facts["ended"]) == (False, "pages")
    assert answer.facts["reasons"] == ["pages: All 2 are used up."]
    assert "This is a part." in answer.texts[1]


def test_a_call_that_is_given_up_cancels_its_job_and_reading_on_does_not(tmp_path: Path) -> None:
    async def main() -> list[str]:
        async def progress(*_: object) -> None:
            pass

        with Database(tmp_path / "jobs.sqlite") as database:
            store = JobStore(database)
            calls = ToolCalls(Gateway(Settings(free_bytes=0), store, version=database.version))

            async def given_up(name: str, arguments: dict[str, Any]) -> list[str]:
                task = asyncio.create_task(calls.call(name, arguments, client="ann", progress=progress))
                while not store.list("ann"):  # noqa: ASYNC110 (a thread changes it)
                    await asyncio.sleep(0.01)
                await asyncio.sleep(0.05)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                return [job.state for job in store.list("ann")]

            kept = await calls.call("clean_page", {"url": URL, "wait_s": 0}, client="ann", progress=progress)
            assert await given_up("get_result", {"job": kept.facts["job"]}) == ["queued"]
            store.delete(str(kept.facts["job"]), "ann")
            return await given_up("clean_page", {"url": URL})

    assert asyncio.run(main()) == ["cancelled"]


@pytest.mark.parametrize("pieces", [["abcdefgh"], ["abc", "", "defgh"], [*"abcdefgh"]])
def test_windows_of_texts(pieces: list[str]) -> None:
    assert window(pieces, 0, 3) == ("abc", 3)
    assert window(pieces, 3, 5) == ("defgh", None)
    assert window(pieces, 0, 8) == ("abcdefgh", None)
    assert window(pieces, 6, 9) == ("gh", None)
    assert window(pieces, 99, 9) == ("", None)
    assert window(pieces, 2, 1) == ("c", 3)


def test_reading_on_takes_no_request() -> None:
    parsed = TOOLS["get_result"].parse({"job": "a" * 32, "offset": 5})
    assert isinstance(parsed, ToolRequest)
    assert parsed.request is None
    assert isinstance(parsed.reading, Continuing)


def test_bodies_are_longer_for_mcp_alone() -> None:
    settings = Settings(mcp=True)
    assert settings.longest_body("/mcp") > 2 * settings.longest_body("/v1/clean") == 2 * settings.body_bytes
    assert Settings().longest_body("/mcp") == settings.body_bytes


def test_without_its_package_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("domsieve.commands.console.find_spec", lambda name: None if name == "mcp" else name)
    done = run("mcp", "--data", tmp_path / "data", cache=tmp_path)
    assert done.exit_code == 2
    assert done.stderr == (
        "domsieve: mcp needs packages that are not installed (mcp); install domsieve with the extra mcp.\n"
    )
    assert not (tmp_path / "data").exists()

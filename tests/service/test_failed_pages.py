"""Pages that failed fail their job with a reason; the summary tells of kept ones, of walls and of what is odd."""

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from domsieve.errors import PageError
from domsieve.renderer.protocol import Rendering
from domsieve.service.jobs._job_results import SitePages, site_result
from domsieve.service.jobs.job_values import Claim, problem_of
from domsieve.service.jobs.requests import (
    CleanRequest,
    CompareRequest,
    PageRequest,
    RecordsRequest,
    ReportRequest,
    SiteRequest,
)
from domsieve.service.jobs.work_queue import WorkQueue
from domsieve.snapshot.cut import Cut
from domsieve.snapshot.store import PageStore
from domsieve.tasks import postprocess
from domsieve.tasks.pages import cached
from tests.command import page
from tests.service.jobs.captures import captured
from tests.service.jobs.test_work import Pages, doing
from tests.service.web.stage import result, stage

URL = "http://site.example/"
LATE: dict[str, Any] = {"complete": False, "reasons": (str(Cut("time", "20 s are used up")),)}
WALL = "<title>Just a moment...</title><h1>site.example</h1><p>Verify you are human.</p>"


def rendering(html: str = "", **origin: Any) -> Rendering:
    """Return a page as if it had been laid out, with these facts."""
    made = captured(URL, html or page(1))
    n = len(made.snapshot)
    provenance = msgspec.structs.replace(made.snapshot.provenance, **origin)
    laid_out = replace(
        made.snapshot,
        style=np.zeros(n, np.int32),
        box=np.array([(0, 30 * number, 600, 25) for number in range(n)], np.float32),
        paint=np.zeros(n, np.int32),
        styles=np.zeros((1, 0), np.int32),
        provenance=provenance,
    )
    return replace(made, snapshot=laid_out)


FAILED: list[tuple[Rendering, str]] = [
    (rendering(status=404), "status"),
    (rendering(status=500), "status"),
    (rendering(content_type="application/pdf"), "type"),
    (rendering("<p>\ufffd" + "\ufffd" * 40), "binary"),
    (rendering("<body>"), "empty"),
    (rendering("<img src=a>", **LATE), "cut"),
]
ONE_PAGE = [CleanRequest, RecordsRequest, CompareRequest, ReportRequest]


@pytest.mark.parametrize("kind", ONE_PAGE)
@pytest.mark.parametrize(("given", "reason"), FAILED)
def test_pages_that_failed_fail_the_job_and_are_kept(
    given: Rendering, reason: str, kind: type[PageRequest], tmp_path: Path
) -> None:
    request = kind(url=URL)
    options = request.capture_options().canonical()
    origin = msgspec.structs.replace(given.snapshot.provenance, options=options)
    given = replace(given, snapshot=replace(given.snapshot, provenance=origin))
    with pytest.raises(PageError) as error:
        doing(tmp_path, Pages(given), request)
    problem = problem_of(error.value)
    assert (problem["fault"], problem["reason"]) == ("page", reason)
    assert problem["title"] == ("The page took too long." if reason == "cut" else "The page cannot be had.")
    with PageStore(tmp_path / "cache") as store:
        assert len(store.records()) == 1


@pytest.mark.parametrize(("given", "reason"), FAILED)
def test_errors_may_be_kept(given: Rendering, reason: str, tmp_path: Path) -> None:
    done = doing(tmp_path, Pages(given), CleanRequest(url=URL, keep_errors=True))
    assert done.summary["fault"]["reason"] == reason
    assert done.summary["remarks"][0].startswith("It counts as failed: ")
    mined = doing(tmp_path / "records", Pages(given), RecordsRequest(url=URL, keep_errors=True))
    assert mined.summary["fault"] == done.summary["fault"]


def test_what_the_cache_holds_is_judged_when_it_is_read(tmp_path: Path) -> None:
    with pytest.raises(PageError):
        doing(tmp_path, Pages(rendering(status=404)), CleanRequest(url=URL))
    with PageStore(tmp_path / "cache") as store:
        assert cached(URL, store, CleanRequest(url=URL).capture_options())
    again = Pages(rendering())
    done = doing(tmp_path, again, CleanRequest(url=URL, method="none", refresh=True))
    assert (done.summary["fault"], done.summary["remarks"]) == (None, [])


def test_a_page_cut_with_text_is_a_result_and_incomplete(tmp_path: Path) -> None:
    done = doing(tmp_path, Pages(rendering(**LATE)), CleanRequest(url=URL, method="none"))
    assert (done.summary["complete"], done.summary["fault"]) == (False, None)
    assert done.summary["remarks"] == ["It is incomplete: time: 20 s are used up."]


def test_walls_are_cleaned_and_marked(tmp_path: Path) -> None:
    done = doing(tmp_path, Pages(rendering(WALL)), CleanRequest(url=URL, method="none", format="json"))
    mark = {"kind": "robot_wall", "evidence": "verify you are human"}
    assert done.summary["marks"] == [mark]
    assert done.summary["remarks"] == ["It looks like a wall against robots (verify you are human)."]
    assert json.loads(done.files[0].data)["marks"] == [mark]


def test_the_method_that_was_taken_instead_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postprocess, "keeps_text", lambda _, verdict: verdict.method == "none")
    done = doing(tmp_path, Pages(rendering()), CleanRequest(url=URL))
    assert (done.summary["method"], done.summary["instead_of"]) == ("none", "auto")
    assert b"word1a" in done.files[0].data
    assert done.summary["remarks"] == ["The method auto keeps nothing of it; none was taken instead."]


def test_nothing_is_empty_without_a_word(tmp_path: Path) -> None:
    done = doing(tmp_path, Pages(rendering("<img src=a.png>")), CleanRequest(url=URL))
    assert done.summary["remarks"] == ["Nothing of it is kept: it shows no text."]


def test_a_site_lists_what_failed_and_what_is_marked(tmp_path: Path) -> None:
    given = [rendering(), rendering(status=404), rendering(WALL)]
    with PageStore(tmp_path) as store:
        records = []
        for number, one in enumerate(given):
            origin = msgspec.structs.replace(one.snapshot.provenance, url=f"{URL}{number}")
            records.append(store.put(replace(one.snapshot, provenance=origin), site="site.example"))
        for keep in (False, True):
            request = SiteRequest(url=URL, method="none", format="text", keep_errors=keep)
            found = SitePages(records, [], "complete")
            summary, (_, file) = site_result(request, found, store, threading.Event())
            index = json.loads(file.data)
            assert (summary["pages"], summary["failed"], summary["marked"]) == (2 + keep, 1 - keep, 1)
            assert [one["reason"] for one in index["failed"]] == ([] if keep else ["status"])
            marks = {one["url"]: [mark["kind"] for mark in one["marks"]] for one in index["pages"]}
            assert marks[f"{URL}2"] == ["robot_wall"]
            assert marks[f"{URL}0"] == []


class TestWeb:
    """The API tells the reason, and the web page shows it in an amber banner."""

    def test_a_failed_page(self, tmp_path: Path) -> None:
        def fail(queue: WorkQueue, claim: Claim) -> None:
            queue.fail(claim, problem_of(FAILED_PAGE))

        with stage(tmp_path, work=fail) as service:
            answer = service.client.post("/v1/clean", json={"url": URL}, headers={"Prefer": "wait=30"})
            assert answer.status_code == 502
            assert answer.json()["reason"] == "status"
            job = answer.json()["job"]
            assert service.client.get(f"/v1/jobs/{job}").json()["problem"]["reason"] == "status"
            shown = service.client.get(f"/jobs/{job}").text
        assert '<div class="notice warned">' in shown
        assert "This page counts as failed." in shown
        assert "HTTP 404" in shown

    @pytest.mark.parametrize("remarks", [["It looks like <b>a wall</b>."], []])
    def test_remarks(self, remarks: list[str], tmp_path: Path) -> None:
        def finish(queue: WorkQueue, claim: Claim) -> None:
            queue.finish(claim, {"words": 3, "marks": [{"kind": "x"}], "remarks": remarks}, [result(claim)])

        with stage(tmp_path, work=finish) as service:
            job = service.job()["id"]
            shown = service.client.get(f"/jobs/{job}").text
        assert ('<div class="notice warned">' in shown) is bool(remarks)
        assert ("It looks like &lt;b&gt;a wall&lt;/b&gt;." in shown) is bool(remarks)


FAILED_PAGE = PageError("The server answers HTTP 404 (Not Found).", reason="status")

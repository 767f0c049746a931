"""Jobs that follow a site: their stores, whose they are, what they may hold, and what a run leaves."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.changing_site import ChangingSite
from domsieve.errors import DomsieveError
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.protocol import Rendering
from domsieve.service.jobs._job_context import WorkerContext
from domsieve.service.jobs._job_work import do
from domsieve.service.jobs.database import Database
from domsieve.service.jobs.job_store import JobStore
from domsieve.service.jobs.job_values import Claim, QueueLimits, SiteQuota, problem_of
from domsieve.service.jobs.stores import STORES
from domsieve.service.jobs.sync_request import SyncRequest
from domsieve.service.jobs.work_queue import WorkQueue
from domsieve.snapshot.store import PageStore
from examples.loopback import running
from tests.service.jobs.stand_in import Load, StandIn
from tests.service.web.stage import TOKENS, Stage, stage

NAMES = ["ash", "birch", "cedar", "fir", "larch", "oak", "pine", "yew"]
ALL = len(NAMES) + 1


class NoBrowser(StandIn):
    """Renders nothing, and lets pages be fetched from this machine."""

    def __init__(self, *named: tuple[str, int | None]) -> None:
        super().__init__()
        self.egress = Egress(named=named or (("127.0.0.1", None),))

    async def load(self, asked: Load) -> Rendering:
        raise AssertionError(asked)


def worked(
    queue: WorkQueue,
    claim: Claim,
    *,
    quota: SiteQuota | None = None,
    stopped: threading.Event | None = None,
    browsing: StandIn | None = None,
) -> None:
    """Do a job, as a worker does."""
    folder = queue.database.folder

    async def run(work: Any) -> Any:
        return work()

    with PageStore(folder / "cache") as store, ThreadPoolExecutor(2) as threads:
        bench = WorkerContext(
            browsing or NoBrowser(), queue, threads, lambda: store, site=quota or SiteQuota()
        )
        try:
            result = asyncio.run(do(claim, bench, run=run, stopped=stopped or threading.Event()))
        except DomsieveError as error:
            queue.fail(claim, problem_of(error))
        else:
            queue.finish(claim, result.summary, result.files, pages=result.pages)


@pytest.fixture
def site() -> Iterator[ChangingSite]:
    with running(ChangingSite(NAMES)) as server:
        yield server


def asked(site: ChangingSite | None = None, store: str = "docs", **fields: Any) -> dict[str, Any]:
    return {"store": store, "render": "never", **({"url": f"{site.base}/"} if site else {}), **fields}


def synced(made: Stage, body: dict[str, Any], client: httpx.Client | None = None) -> dict[str, Any]:
    """Return the job of a run after its end."""
    client = client or made.client
    answer = client.post("/v1/sync", json=body)
    assert answer.status_code == 202, answer.text
    ended: dict[str, Any] = answer.json()
    while ended["state"] in {"queued", "running"}:
        time.sleep(0.02)
        ended = client.get(ended["url"]).json()
    return ended


def test_the_second_run_tells_what_changed_and_the_store_has_the_files(
    tmp_path: Path, site: ChangingSite
) -> None:
    with stage(tmp_path, work=worked, free_bytes=0) as made:
        first = synced(made, asked(site))
        assert (first["state"], first["summary"]["added"], first["summary"]["run"]) == ("done", ALL, 1)
        site.articles["/oak"].first[0] += " And one more sentence."
        second = synced(made, asked())
        assert second["request"]["url"] == f"{site.base}/"
        counts = {name: second["summary"][name] for name in ("added", "changed", "gone", "unchanged")}
        assert counts == {"added": 0, "changed": 1, "gone": 0, "unchanged": ALL - 1}
        content = made.client.get(f"{second['url']}/result").json()["content"]
        [change] = map(json.loads, content.splitlines())
        assert (change["kind"], change["url"]) == ("changed", f"{site.base}/oak")
        [passage] = change["passages"]
        assert "And one more sentence." in passage["new"]

        [store] = made.client.get("/v1/stores").json()["stores"]
        assert (store["name"], store["runs"], store["pages"], store["job"]) == ("docs", 2, ALL, None)
        assert store["size_bytes"] > 0
        entries = [*map(json.loads, made.client.get(store["files"][0]).text.splitlines())]
        assert len(entries) == ALL
        file = next(entry["file"] for entry in entries if entry["url"].endswith("/oak"))
        answer = made.client.get(f"{store['url']}/files/{file}")
        assert answer.text.startswith("# About oak\n")
        assert answer.headers["content-type"].startswith("text/markdown")
        assert "attachment" in answer.headers["content-disposition"]
        for page in (f"{store['url']}/files/changes.html", f"{second['url']}/files/changes.html"):
            shown = made.client.get(page)
            assert "one more sentence" in shown.text
            assert shown.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
            assert "inline" in shown.headers["content-disposition"]
        assert "<feed" in made.client.get(f"{store['url']}/files/changes.atom").text


@pytest.mark.parametrize(
    "file",
    [
        "../docs/oak.md",
        "..%2f..%2f..%2fjobs.sqlite",
        ".domsieve/state.json",
        "%2Fetc/passwd",
        "oak",
        ".domsieve-journal",
        "gone/../oak.md",
    ],
)
def test_only_files_for_users_can_be_read(tmp_path: Path, site: ChangingSite, file: str) -> None:
    with stage(tmp_path, work=worked, free_bytes=0) as made:
        synced(made, asked(site))
        path = next((tmp_path / STORES).iterdir())
        (path / "link.md").symlink_to(tmp_path / "jobs.sqlite")
        for name in (file, "link.md"):
            raw = f"GET /v1/stores/docs/files/{name} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
            assert b" 404 " in made.send(raw.encode()).splitlines()[0]


def test_a_store_belongs_to_its_client(tmp_path: Path, site: ChangingSite) -> None:
    with stage(tmp_path, work=worked, free_bytes=0, tokens=TOKENS) as made:
        anna, bert = made.as_client("anna"), made.as_client("bert")
        synced(made, asked(site), anna)
        assert bert.get("/v1/stores").json() == {"stores": []}
        for path in ("/v1/stores/docs", "/v1/stores/docs/files/manifest.jsonl"):
            assert bert.get(path).status_code == 404
        assert bert.delete("/v1/stores/docs").status_code == 404
        assert bert.post("/v1/sync", json=asked()).status_code == 404  # so it needs an address
        assert synced(made, asked(site), bert)["summary"]["added"] == ALL
        assert len([*(tmp_path / STORES).iterdir()]) == 2
        assert anna.delete("/v1/stores/docs").status_code == 204
        assert bert.get("/v1/stores/docs").json()["pages"] == ALL


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "-a", "a b", "ä", "a\n", "a" * 65])
def test_names_of_stores_are_checked(tmp_path: Path, site: ChangingSite, name: str) -> None:
    with stage(tmp_path, work=None, free_bytes=0) as made:
        answer = made.client.post("/v1/sync", json=asked(site, name))
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["where"] == "body.store"
        assert not (tmp_path / STORES).exists()


def test_one_run_at_a_time_uses_a_store(tmp_path: Path, site: ChangingSite) -> None:
    with stage(tmp_path, work=None, free_bytes=0) as made:
        first = made.client.post("/v1/sync", json=asked(site), headers={"Idempotency-Key": "k"}).json()
        again = made.client.post("/v1/sync", json=asked(site), headers={"Idempotency-Key": "k"}).json()
        assert again["id"] == first["id"]
        answer = made.client.post("/v1/sync", json=asked())
        assert answer.status_code == 409
        assert answer.json()["detail"] == (
            f"The job {first['id']} uses the store docs; wait until it has ended, or cancel it."
        )
        assert made.client.delete("/v1/stores/docs").status_code == 409
        assert made.client.get("/v1/stores/docs").json()["job"] == first["id"]
        made.client.post(f"{first['url']}/cancel")
        assert made.client.delete("/v1/stores/docs").status_code == 204
        assert made.client.get("/v1/stores").json() == {"stores": []}


def test_a_client_has_only_so_many_stores(tmp_path: Path, site: ChangingSite) -> None:
    with stage(tmp_path, work=None, free_bytes=0, stores=2) as made:
        for name in ("one", "two"):
            assert made.client.post("/v1/sync", json=asked(site, name)).status_code == 202
        answer = made.client.post("/v1/sync", json=asked(site, "three"))
        assert answer.status_code == 409
        assert answer.json()["detail"] == "This client has 2 stores; delete one before you make another."
    with stage(tmp_path / "none", work=None, free_bytes=0, stores=0) as made:
        answer = made.client.post("/v1/sync", json=asked(site))
        assert (answer.status_code, "--data DIR" in answer.json()["detail"]) == (409, True)


def test_a_run_that_contradicts_the_first_one_says_so_without_a_path(
    tmp_path: Path, site: ChangingSite
) -> None:
    with stage(tmp_path, work=worked, free_bytes=0) as made:
        synced(made, asked(site))
        ended = synced(made, asked(format="text"))
        assert ended["problem"]["fault"] == "caller"
        assert ended["problem"]["detail"] == (
            "The store docs was begun with format markdown, not text; leave it out, or begin another one."
        )


def test_pruning_of_jobs_leaves_stores(tmp_path: Path, site: ChangingSite) -> None:
    with stage(tmp_path, work=worked, free_bytes=0) as made:
        synced(made, asked(site))
        assert made.store.expire("9999-01-01T00:00:00.000+00:00") == 1
        made.store.trim(jobs=0, size_bytes=0)
        made.store.sweep()
        assert made.store.stores.sweep() == 0
        assert synced(made, asked())["summary"]["unchanged"] == ALL


def test_folders_of_deleted_stores_are_swept(tmp_path: Path) -> None:
    left = tmp_path / STORES / ("0" * 32)
    left.mkdir(parents=True)
    with Database(tmp_path / "jobs.sqlite") as database:
        assert JobStore(database).stores.sweep() == 1
    assert not left.exists()


@pytest.mark.parametrize(
    ("quota", "said"),
    [
        (SiteQuota(pages=4), "4 pages"),
        (SiteQuota(store_bytes=1), "gives a store 1 bytes"),
        (SiteQuota(size_bytes=6_000), "6,000 bytes"),
    ],
)
def test_a_limit_ends_a_run_with_what_it_has(
    tmp_path: Path, site: ChangingSite, quota: SiteQuota, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("domsieve.service.jobs._site_following._MEASURED_S", -1.0)

    def limited(queue: WorkQueue, claim: Claim) -> None:
        worked(queue, claim, quota=quota)

    with stage(tmp_path, work=limited, free_bytes=0) as made:
        ended = synced(made, asked(site))
        if ended["state"] == "failed":  # not even one page
            assert said in ended["problem"]["detail"]
            assert ended["problem"]["fault"] == "policy"
            return
        summary = ended["summary"]
        assert 0 < summary["added"] < ALL
        assert summary["complete"] is False
        assert said in summary["remarks"][0]
        assert summary["failed"] == 0
        if quota.pages < ALL:
            assert synced(made, asked())["summary"]["added"] == 4


def test_a_site_that_may_not_be_opened_is_not_followed(tmp_path: Path, site: ChangingSite) -> None:
    def guarded(queue: WorkQueue, claim: Claim) -> None:
        worked(queue, claim, browsing=NoBrowser(("127.0.0.2", None)))

    with stage(tmp_path, work=guarded, free_bytes=0) as made:
        problem = synced(made, asked(site))["problem"]
        assert (problem["fault"], problem["retry"]) == ("policy", False)
        assert site.requests == []


def test_a_cancelled_run_leaves_the_store_free_and_the_next_one_goes_on(
    tmp_path: Path, site: ChangingSite
) -> None:
    with Database(tmp_path / "jobs.sqlite") as database:
        store, queue = JobStore(database), WorkQueue(database)
        request = SyncRequest(store="docs", url=f"{site.base}/", render="never")
        job, _ = store.add(request, client="ann", limits=QueueLimits())
        claim = queue.claim("w", lease_s=60)
        assert claim

        async def cancelled() -> None:
            with ThreadPoolExecutor(2) as threads, PageStore(tmp_path / "cache") as pages:
                bench = WorkerContext(NoBrowser(), queue, threads, lambda: pages)
                stopped = threading.Event()
                running = asyncio.create_task(do(claim, bench, run=asyncio.to_thread, stopped=stopped))
                await asyncio.to_thread(_until, lambda: len(site.requests) >= 5)
                running.cancel()
                await asyncio.sleep(0)
                running.cancel()  # workers ask again and again
                with pytest.raises(asyncio.CancelledError):
                    await running

        asyncio.run(cancelled())
        assert len(site.requests) < 3 * ALL
        store.cancel(job.id, "ann")
        store.add(SyncRequest(store="docs", render="never"), client="ann", limits=QueueLimits())
        again = queue.claim("w", lease_s=60)
        assert again
        worked(queue, again)
        ended = store.get(again.job.id, "ann")
        assert ended.summary
        assert ended.summary["added"] == ALL
        visits = [path for path, status in site.requests if status == 200]
        assert (
            len(visits) <= len({*visits}) + 2
        )  # pages that were loaded already are used; two were under way


def test_a_refusal_because_of_the_delay_of_the_site_is_a_policy(
    tmp_path: Path, site: ChangingSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("domsieve.service.jobs._page_loads._LONGEST_DELAY_S", -1.0)
    with stage(tmp_path, work=worked, free_bytes=0) as made:
        ended = synced(made, asked(site))
        assert "robots to wait" in ended["problem"]["detail"]
        assert ended["problem"]["fault"] == "policy"


def test_the_web_page_follows_sites_too(tmp_path: Path, site: ChangingSite) -> None:
    def fetched(queue: WorkQueue, claim: Claim) -> None:
        job = replace(claim.job, request={**claim.job.request, "render": "never"})
        worked(queue, replace(claim, job=job))

    with stage(tmp_path, work=fetched, free_bytes=0) as made:
        headers = {"Origin": made.url}
        form = {"url": f"{site.base}/", "kind": "sync"}
        answer = made.client.post("/", data=form, headers=headers)
        assert answer.status_code == 303
        [store] = made.client.get("/v1/stores").json()["stores"]
        assert store["name"] == "127.0.0.1"
        shown = made.client.get(answer.headers["location"])
        while "badge done" not in shown.text:
            assert "badge failed" not in shown.text
            time.sleep(0.02)
            shown = made.client.get(answer.headers["location"])
        assert f"{ALL} new, 0 unchanged." in shown.text
        assert "Open the changes" in shown.text


def _until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        time.sleep(0.01)

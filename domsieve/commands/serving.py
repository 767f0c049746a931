"""The command that starts the service."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from domsieve.budget import AnalysisBudget
from domsieve.commands.capture_options import (
    DEFAULT_MEGABYTES,
    DEFAULT_SECONDS,
    AllowHosts,
    AnalysisMegabytes,
    AnalysisTimeout,
    BrowserOption,
    DenyHosts,
    DriverOption,
    analysis_budget,
)
from domsieve.commands.console import failures, need_extra

if TYPE_CHECKING:
    from domsieve.service.jobs.job_values import SiteQuota
    from domsieve.service.start import Work
    from domsieve.types import DriverName

_MEGABYTE = 1_000_000
# Default memory of a worker: its part of this share of the machine, within these limits.
_WORKER_MEGABYTES = (500, 5_000)
_WORKERS_SHARE = 0.6
# The packages of the extra, under the names by which they are imported.
EXTRA = ("fastapi", "jinja2", "prometheus_client", "pydantic", "uvicorn")


PrivateHosts = Annotated[
    list[str] | None,
    typer.Option(metavar="HOST[:PORT]", help="Private host that may be rendered; repeatable."),
]
PagesAtOnce = Annotated[
    int | None,
    typer.Option(
        min=1, max=64, help="Pages at once, all workers together [default: cores, as memory allows]."
    ),
]
SitePages = Annotated[
    int, typer.Option(min=1, max=100_000, help="Pages that a site job may open, failed ones included.")
]
SiteMegabytes = Annotated[
    int, typer.Option(min=1, max=1_000_000, help="Network traffic of a site job, both ways together.")
]
SiteSeconds = Annotated[
    int, typer.Option(min=1, max=86_400, help="How long a site job may open pages, in seconds.")
]
StoreMegabytes = Annotated[
    int,
    typer.Option(min=1, max=1_000_000, help="Disk space of a store, which keeps a site that is followed."),
]
FreeMemoryPercent = Annotated[
    int,
    typer.Option(min=0, max=100, help="Refuse jobs when less of the memory than this is free; 0: never."),
]
MaxLoad = Annotated[
    float,
    typer.Option(min=0, max=100_000, help="Refuse jobs above this load average per processor; 0: never."),
]
DEFAULT_PAGES, DEFAULT_TRAFFIC, DEFAULT_SITE_SECONDS = 500, 2_000, 3_600
DEFAULT_STORES, DEFAULT_STORE_MEGABYTES = 20, 1_000
DEFAULT_PERCENT, DEFAULT_LOAD = 5, 20.0


def serve(
    *,
    host: Annotated[str, typer.Option(help="Address to listen on; any but loopback needs a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 picks a free one.")
    ] = 8090,
    data: Annotated[
        Path, typer.Option(envvar="DOMSIEVE_SERVICE_DATA", help="Folder of jobs and captures.")
    ] = Path("service_data"),
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="Number of browsers, one process each [default: one per 2 cores]."),
    ] = None,
    concurrency: PagesAtOnce = None,
    job_seconds: Annotated[
        int,
        typer.Option(
            min=10, max=86_400, help="Time limit of a job, in seconds; a site job has --site-seconds more."
        ),
    ] = 1_800,
    step_seconds: Annotated[
        int,
        typer.Option(
            min=10, max=86_400, help="Time limit of a step of a job, in seconds; then its worker is killed."
        ),
    ] = 900,
    worker_megabytes: Annotated[
        int | None,
        typer.Option(
            min=200,
            max=1_000_000,
            help="Memory of a worker, without its browser [default: 5000, less on small machines].",
        ),
    ] = None,
    site_pages: SitePages = DEFAULT_PAGES,
    site_megabytes: SiteMegabytes = DEFAULT_TRAFFIC,
    site_seconds: SiteSeconds = DEFAULT_SITE_SECONDS,
    queue: Annotated[int, typer.Option(min=1, max=100_000, help="Most jobs that may wait.")] = 200,
    client_queue: Annotated[
        int, typer.Option(min=1, max=100_000, help="Most jobs of one client that may wait or run.")
    ] = 50,
    stores: Annotated[
        int, typer.Option(min=0, max=100_000, help="Sites that one client may follow; 0: none.")
    ] = DEFAULT_STORES,
    store_megabytes: StoreMegabytes = DEFAULT_STORE_MEGABYTES,
    requests_per_minute: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Requests per minute of one client.")
    ] = 1200,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="File with lines NAME:TOKEN [default: none on this machine alone, else a random one]."
        ),
    ] = None,
    public_host: Annotated[
        list[str] | None, typer.Option(help="Name that clients use for the service; repeatable.")
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS[/BITS]",
            help="Proxy server whose X-Forwarded-For is trusted; repeatable.",
        ),
    ] = None,
    private_host: PrivateHosts = None,
    deny_host: DenyHosts = None,
    allow_host: AllowHosts = None,
    keep_days: Annotated[
        int, typer.Option(min=1, max=36_500, help="Keep finished jobs for this many days.")
    ] = 30,
    keep_jobs: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Keep this many finished jobs per client.")
    ] = 10_000,
    keep_megabytes: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Disk space for the jobs of one client.")
    ] = 5_000,
    free_megabytes: Annotated[
        int, typer.Option(min=0, max=1_000_000, help="Refuse jobs when less disk space than this is free.")
    ] = 500,
    free_memory_percent: FreeMemoryPercent = DEFAULT_PERCENT,
    max_load: MaxLoad = DEFAULT_LOAD,
    analysis_timeout: AnalysisTimeout = DEFAULT_SECONDS,
    analysis_megabytes: AnalysisMegabytes = DEFAULT_MEGABYTES,
    browser: BrowserOption = None,
    driver: DriverOption = "playwright",
) -> None:
    """Run an HTTP API and a web page; needs the extra `serve`."""
    with failures():
        need_extra("serve", EXTRA)
        from domsieve.service.start import serve as serve_others
        from domsieve.service.web.settings import Settings, read_tokens

        serve_others(
            Settings(
                host=host,
                port=port,
                tokens=read_tokens(token_file) if token_file else {},
                public_hosts=tuple(public_host or ()),
                trusted_proxies=tuple(trusted_proxy or ()),
                private_hosts=tuple(private_host or ()),
                deny_hosts=tuple(deny_host or ()),
                allow_hosts=tuple(allow_host or ()),
                site=quota_of(site_pages, site_megabytes, site_seconds, store_megabytes),
                stores=stores,
                queue=queue,
                client_queue=client_queue,
                requests_per_minute=requests_per_minute,
                keep_days=keep_days,
                keep_jobs=keep_jobs,
                keep_bytes=keep_megabytes * _MEGABYTE,
                free_bytes=free_megabytes * _MEGABYTE,
                free_memory_ratio=free_memory_percent / 100,
                max_load=max_load,
            ),
            data,
            work=work_of(
                workers,
                concurrency,
                job_s=job_seconds,
                step_s=step_seconds,
                megabytes=worker_megabytes,
                browser=browser,
                driver=driver,
                analysis=analysis_budget(analysis_timeout, analysis_megabytes),
            ),
            ready=typer.echo,
            new_token=say_token,
        )


def say_token(token: str) -> None:
    """Print a random token, even with --quiet, because it is not stored anywhere."""
    typer.echo(
        "Other machines can reach this address and no --token-file is given, so callers need this token. It is kept "
        f"nowhere and ends with the service.\n\n    {token}\n\nPrograms send it as the header "
        "'Authorization: Bearer TOKEN'; on the web page, sign in with it.",
        err=True,
    )


def quota_of(pages: int, megabytes: int, seconds: int, store_megabytes: int) -> "SiteQuota":
    """Return the limits of a job for a site, and of the store of one that is followed."""
    from domsieve.service.jobs.job_values import SiteQuota

    return SiteQuota(
        pages=pages,
        size_bytes=megabytes * _MEGABYTE,
        time_s=float(seconds),
        store_bytes=store_megabytes * _MEGABYTE,
    )


def work_of(
    workers: int | None,
    concurrency: int | None,
    *,
    job_s: float = 1_800.0,
    step_s: float = 900.0,
    megabytes: int | None = None,
    browser: str | None,
    driver: "DriverName",
    analysis: AnalysisBudget,
) -> "Work":
    """Return how jobs are processed, with defaults from the resources of this machine; see `Work`."""
    from domsieve.renderer.browser.resources import this_machine
    from domsieve.service.start import Work

    machine = this_machine()
    processes = workers or max(1, int(machine.cores) // 2)
    return Work(
        workers=processes,
        concurrency=-(-(concurrency or machine.concurrency) // processes),
        job_s=job_s,
        step_s=step_s,
        memory_bytes=(megabytes or _megabytes_of_one(machine.memory_bytes, processes)) * _MEGABYTE,
        browser=browser,
        driver=driver,
        analysis=analysis,
    )


def _megabytes_of_one(memory_bytes: int, workers: int) -> int:
    """Return the default memory of each of several workers, in megabytes."""
    least, most = _WORKER_MEGABYTES
    return min(most, max(least, int(_WORKERS_SHARE * memory_bytes) // workers // _MEGABYTE))

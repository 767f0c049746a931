"""The command that serves MCP clients."""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

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
from domsieve.commands.serving import (
    DEFAULT_LOAD,
    DEFAULT_PAGES,
    DEFAULT_PERCENT,
    DEFAULT_SITE_SECONDS,
    DEFAULT_STORE_MEGABYTES,
    DEFAULT_STORES,
    DEFAULT_TRAFFIC,
    EXTRA,
    FreeMemoryPercent,
    MaxLoad,
    PagesAtOnce,
    PrivateHosts,
    SiteMegabytes,
    SitePages,
    SiteSeconds,
    StoreMegabytes,
    quota_of,
    say_token,
    work_of,
)


def mcp(
    *,
    http: Annotated[
        bool,
        typer.Option("--http", help="Serve at http://HOST:PORT/mcp instead of standard input and output."),
    ] = False,
    host: Annotated[
        str, typer.Option(help="With --http: address to listen on; any but loopback needs a token.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="With --http: port to listen on; 0 picks a free one.")
    ] = 8090,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="With --http: file with lines NAME:TOKEN [default: none on this machine alone, else a random one]."
        ),
    ] = None,
    public_host: Annotated[
        list[str] | None,
        typer.Option(help="With --http: name that clients use for the server; repeatable."),
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS[/BITS]",
            help="With --http: proxy server whose X-Forwarded-For is trusted; repeatable.",
        ),
    ] = None,
    private_host: PrivateHosts = None,
    deny_host: DenyHosts = None,
    allow_host: AllowHosts = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder of jobs, captures and followed sites [default: a temporary one, without followed sites]."
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Number of browsers, one process each.")] = 1,
    concurrency: PagesAtOnce = None,
    site_pages: SitePages = DEFAULT_PAGES,
    site_megabytes: SiteMegabytes = DEFAULT_TRAFFIC,
    site_seconds: SiteSeconds = DEFAULT_SITE_SECONDS,
    store_megabytes: StoreMegabytes = DEFAULT_STORE_MEGABYTES,
    free_memory_percent: FreeMemoryPercent = DEFAULT_PERCENT,
    max_load: MaxLoad = DEFAULT_LOAD,
    analysis_timeout: AnalysisTimeout = DEFAULT_SECONDS,
    analysis_megabytes: AnalysisMegabytes = DEFAULT_MEGABYTES,
    browser: BrowserOption = None,
    driver: DriverOption = "playwright",
) -> None:
    """Run tools for MCP clients; needs the extra `mcp`."""
    with failures(), ExitStack() as stack:
        need_extra("mcp", (*EXTRA, "mcp"))
        from domsieve.service.start import serve, serve_stdio
        from domsieve.service.web.settings import Settings, read_tokens

        settings = Settings(
            host=host,
            port=port,
            tokens=read_tokens(token_file) if token_file else {},
            public_hosts=tuple(public_host or ()),
            trusted_proxies=tuple(trusted_proxy or ()),
            private_hosts=tuple(private_host or ()),
            deny_hosts=tuple(deny_host or ()),
            allow_hosts=tuple(allow_host or ()),
            site=quota_of(site_pages, site_megabytes, site_seconds, store_megabytes),
            stores=DEFAULT_STORES if data else 0,  # a temporary folder cannot keep any
            free_memory_ratio=free_memory_percent / 100,
            max_load=max_load,
            mcp=True,
        )
        work = work_of(
            workers,
            concurrency,
            browser=browser,
            driver=driver,
            analysis=analysis_budget(analysis_timeout, analysis_megabytes),
        )
        folder = data or Path(stack.enter_context(TemporaryDirectory(prefix="domsieve-mcp-")))
        if http:
            serve(settings, folder, work=work, ready=lambda url: typer.echo(f"{url}mcp"), new_token=say_token)
        else:
            serve_stdio(settings, folder, work=work)

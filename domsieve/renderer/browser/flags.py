"""The flags that every browser of ours is started with, whichever driver starts it.

Imports nothing of the project.
"""

# Playwright itself turns off background networking, component updates, sync and extensions.
ARGUMENTS = (
    # All frames of a page in one process, so that one DOM snapshot sees them: else the full build lacks all
    # cross-origin and sandboxed frames, the headless shell those sent with Origin-Agent-Cluster. The price is
    # a security boundary: contexts must not be shared between sites. Not by --disable-features, which would
    # replace Playwright's own list.
    "--disable-site-isolation-trials",
    # When it starts, the full build asks Google for component updates and accounts, in spite of all that
    # Playwright turns off. Chrome refuses to connect to port 9 at all.
    "--component-updater=url-source=http://127.0.0.1:9/",
    "--gaia-url=http://127.0.0.1:9/",
)

# What Playwright gives of itself and must not: without this protection of Chrome's, one page that goes through its
# history without end holds up the browser's process and with it all other pages, for 20 s and more.
UNWANTED = ("--disable-ipc-flooding-protection",)

NO_IMAGES = "--blink-settings=imagesEnabled=false"

# What Playwright gives besides and what matters here, for a browser that we start ourselves. Left out are its flags
# for Edge, Windows and Android, and for windows that somebody looks at.
OWN = (
    "--headless",
    # One look for all machines.
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
    "--mute-audio",
    # Pages run as if they were looked at, however many are open.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    # No page waits for somebody, or tells of itself. A page that hangs is ended by us.
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--disable-popup-blocking",
    "--password-store=basic",
    "--use-mock-keychain",
    # Nothing of a page is kept when it is left.
    "--disable-back-forward-cache",
    # Chrome asks nobody for anything of its own, and changes nothing of itself by trials.
    "--disable-field-trial-config",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--disable-breakpad",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-service-autorun",
    "--disable-search-engine-choice-screen",
    # /dev/shm of containers is small: what is drawn lies in files instead, else pages crash.
    "--disable-dev-shm-usage",
    # Pictures that a page draws itself, where there is no graphics processor.
    "--enable-unsafe-swiftshader",
    "--disable-features="
    # An address with http stays one, and no list of hosts changes it.
    "HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,"
    # Frames of other origins find their cookies and storage as before.
    "ThirdPartyStoragePartitioning,"
    # Pages are drawn at once when another takes their place; a profile outlives its context no longer than it.
    "PaintHolding,DestroyProfileOnBrowserClose,AvoidUnnecessaryBeforeUnloadCheckSync,"
    # Requests of a source that is shown without scripts are answered by us, and may then be redirected.
    "AvoidCorsURLLoaderRestartOnRedirect,"
    # Each of these asks the network, or the machine's, for something.
    "MediaRouter,OptimizationHints,NetworkTimeServiceQuerying,PreconnectToSearch,AimEnabled,LensOverlay",
    "--enable-features=CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies",
    "--allow-pre-commit-input",
    "--no-startup-window",
    "--remote-debugging-pipe",
)


def guarded(proxy: str) -> list[str]:
    """Return the flags that leave a browser no way to the network but the proxy at the address `proxy`."""
    return [
        f"--proxy-server={proxy}",
        # Chrome goes around a proxy to loopback and link-local addresses unless told otherwise.
        "--proxy-bypass-list=<-loopback>",
        # WebRTC goes around any proxy. The headless shell obeys only the first, the full build the second.
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        # Names are resolved at the proxy. Whatever Chrome would ask for itself (hints for its cache, STUN
        # servers) tells the world what is being rendered.
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        "--dns-prefetch-disable",
        "--disable-quic",
    ]

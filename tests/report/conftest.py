"""One headless Chromium for a module, cut off from the network, and what it complains about."""

import os
import shutil
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium, or the one that LABELSURE_CHROMIUM names."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="pages are opened in a browser, pip install playwright"
    )
    found = os.environ.get("LABELSURE_CHROMIUM") or next(
        filter(None, map(shutil.which, BROWSERS)), None
    )
    if found is None:
        pytest.skip(
            "there is no Chromium: install Debian's package chromium, or set LABELSURE_CHROMIUM"
        )
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    """Open a file offline; at the end there were no other requests and no errors."""
    contexts, troubles = [], []

    def open_file(path, *, wait="html.drawn", before="", **settings):
        context = browser.new_context(offline=True, **settings)
        context.set_default_timeout(20_000)
        context.add_init_script(before)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("dialog", lambda dialog: troubles.append(f"dialog: {dialog.message}"))
        page.on(
            "request",
            lambda request: request.url == own or troubles.append(f"request: {request.url[:80]}"),
        )
        own = Path(path).as_uri()
        page.goto(own)
        page.wait_for_selector(wait, state="attached")
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert troubles == []

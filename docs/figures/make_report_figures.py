"""Draw docs/figures/report-desktop.png and report-phone.png: ``python docs/figures/make_report_figures.py``.

Writes the report of docs/report.md and photographs it with Chromium (Debian's package chromium, and
playwright).
"""

import re
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
CHROMIUM = "/usr/bin/chromium"


def write_example(folder: Path) -> Path:
    """Run the page's first example in a folder, and return the report that it writes."""
    page = (HERE.parent / "report.md").read_text(encoding="utf-8")
    code = re.search(r"^```python\n(.*?)^```$", page, re.M | re.S)
    assert code is not None
    namespace: dict[str, Any] = {"folder": folder}
    exec(code[1].replace('"report.html"', 'folder / "report.html"'), namespace)
    return folder / "report.html"


def main() -> None:
    """Write the report and take both pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        address = write_example(Path(folder)).as_uri()
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        desktop = browser.new_page(viewport={"width": 1180, "height": 1500})
        desktop.goto(address)
        desktop.wait_for_selector("html.drawn", state="attached")
        desktop.screenshot(path=HERE / "report-desktop.png")
        phone = browser.new_page(viewport={"width": 375, "height": 812}, device_scale_factor=2)
        phone.goto(address)
        phone.wait_for_selector("html.drawn", state="attached")
        phone.locator("#objects summary").nth(1).click()
        phone.locator("#objects .body").wait_for()
        phone.evaluate("document.querySelector('#found').scrollIntoView({behavior: 'instant'})")
        phone.screenshot(path=HERE / "report-phone.png")
        browser.close()


if __name__ == "__main__":
    main()

"""`make screenshots`: every page of the dashboard at 1280 and 390 pixels, light and dark, as PNG files.

`python tests/screenshots.py [FOLDER [NAME …]]` only takes pages whose route names begin with a NAME.
"""

import sys
import tempfile
from pathlib import Path

import anyio

import browser_site
from outrider.app import open_app
from outrider.settings import load
from support.apps import flow_pages
from support.apps.dashboard_app import crawl_dashboard_pages, fill_app
from support.apps.dashboard_browser import (
    NARROW_VIEWPORT,
    WIDE_VIEWPORT,
    DashboardSession,
    launch_chromium,
    open_dashboard,
)
from support.fakes import http_servers

PAGE_READY_JS = "document.readyState === 'complete' && (document.getElementById('veil')?.hidden ?? true)"
DEFAULT_FOLDER = Path(".cache/screenshots")


async def main(folder: Path, names: tuple[str, ...]) -> None:
    """Open an app, fill it with data, and take the screenshots."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as kept:
        home = Path(kept)
        async with http_servers.serve_app(browser_site.build_site()) as site, launch_chromium() as browser:
            allowed = {"allow": [f"127.0.0.1:{site.rsplit(':', 1)[1]}"]}
            values = {"toolsets": ["all"], "egress": allowed}
            async with open_app(load(values, environ={}, home=home, workspace=home)) as app:
                await fill_app(app)
                await app.call("createSession", url=f"{site}/form")
                await flow_pages.run_flows(app, site)
                async with open_dashboard(home, browser, app) as office, office.open_http_client() as client:
                    found = await crawl_dashboard_pages(client, office.asgi_app)
                    await _take_screenshots(
                        office, folder, {name: path for name, path in found.items() if name.startswith(names)}
                    )


async def _take_screenshots(office: DashboardSession, folder: Path, found: dict[str, str]) -> None:
    for size in (WIDE_VIEWPORT, NARROW_VIEWPORT):
        for dark in (False, True):
            view = await office.open_tab("/", size=size, dark=dark)
            for name, path in sorted(found.items()):
                await view.open_path(path)
                await view.wait_until(PAGE_READY_JS)
                picture = folder / f"{name}-{size[0]}-{'dark' if dark else 'light'}.png"
                picture.write_bytes(await view.take_screenshot())
                wide = await view.evaluate_js("document.documentElement.scrollWidth")
                if wide > size[0]:
                    print(f"{name} is {wide} pixels wide at {size[0]}")
            await office.close_tabs()
    print(f"{len(found)} pages in {folder}")


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]) if sys.argv[1:] else DEFAULT_FOLDER, tuple(sys.argv[2:]) or ("",))

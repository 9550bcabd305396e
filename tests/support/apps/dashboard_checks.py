"""Check that a page of the dashboard contains nothing foreign."""

from typing import Any

from support.apps.dashboard_browser import DashboardTab

MAX_PAGE_BYTES = 200_000  # bytes of a page's HTML
INSPECT_PAGE_JS = """async () => {
    const ours = [...document.querySelectorAll('main a[href^="/"]:not([download])')];
    const links = ours.map((link) => link.getAttribute("href"));
    return { links, size: new Blob([document.documentElement.outerHTML]).size,
        foreign: [...document.querySelectorAll("[src],[href],[action],[data],[srcdoc]")]
            .flatMap((each) => ["src", "href", "action", "data", "srcdoc"].map((name) => each[name] ?? ""))
            .filter((value) => typeof value === "string" && value && !value.startsWith(location.origin + "/")),
        handlers: [...document.querySelectorAll("*")]
            .flatMap((each) => each.getAttributeNames()).filter((name) => name.startsWith("on")) };
}"""


async def check_page_safety(view: DashboardTab, path: str) -> list[str]:
    """Open a page of the library, check it for foreign content, and return its link addresses."""
    await view.open_path(path)
    assert (await view.evaluate_js("location.pathname + location.search")).startswith(path.partition("?")[0])
    seen: dict[str, Any] = await view.page.evaluate_in("", INSPECT_PAGE_JS)
    assert seen["foreign"] == [], path
    assert seen["handlers"] == [], path
    assert seen["size"] < MAX_PAGE_BYTES, path
    assert await view.evaluate_js("document.title") != "ran"
    return seen["links"]

"""What a page of the dashboard must never hold, whatever it shows."""

from typing import Any

from support.apps.dashboard_browser import View

MOST = 200_000  # bytes of a page's HTML
SIZES = """async () => {
    const ours = [...document.querySelectorAll('main a[href^="/"]:not([download])')];
    const links = ours.map((link) => link.getAttribute("href"));
    return { links, size: new Blob([document.documentElement.outerHTML]).size,
        foreign: [...document.querySelectorAll("[src],[href],[action],[data],[srcdoc]")]
            .flatMap((each) => ["src", "href", "action", "data", "srcdoc"].map((name) => each[name] ?? ""))
            .filter((value) => typeof value === "string" && value && !value.startsWith(location.origin + "/")),
        handlers: [...document.querySelectorAll("*")]
            .flatMap((each) => each.getAttributeNames()).filter((name) => name.startsWith("on")) };
}"""


async def inspect(view: View, path: str) -> list[str]:
    """Shows a page of the library and looks for what does not belong there; the addresses that it links to."""
    await view.go(path)
    assert (await view.js("location.pathname + location.search")).startswith(path.partition("?")[0])
    seen: dict[str, Any] = await view.page.evaluate_in("", SIZES)
    assert seen["foreign"] == [], path
    assert seen["handlers"] == [], path
    assert seen["size"] < MOST, path
    assert await view.js("document.title") != "ran"
    return seen["links"]

"""Run a flow that succeeds, changes, heals and stops, and that has a schedule."""

from outrider.app import App

STEPS = """  - open: SITE/form
  - fill: {role: textbox, name: NAME, attributes: {name: name}}
    text: ${who}
  - click: {role: button, name: BUTTON}
"""


async def run_flows(app: App, site: str) -> None:
    """Run a flow in three versions; the last one stops. Then schedule it."""
    file = app.loaded.workspace / ".outrider" / "flows" / "order-tea.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    versions = [("Name", "Send"), ("Full name", "Send"), ("Name", "Pay <b>now</b>")]
    for version, (name, button) in enumerate(versions, 1):
        head = (
            f"flow: 1\nname: order-tea\nversion: {version}\norigins: [{site}]\nparameters: {{who: {{default: Ada}}}}\n"
        )
        steps = STEPS.replace("SITE", site).replace("NAME", name).replace("BUTTON", button)
        file.write_text(f"{head}steps:\n{steps}")
        await app.call("runFlow", name="order-tea", keepOpen=False, waitSeconds=1)
    await app.call("scheduleFlow", name="order-tea", cron="0 7 * * mon-fri", timezone="Europe/Berlin")

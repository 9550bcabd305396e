"""The dashboard: watch and control agents in a browser.

`dashboard_app(house)` is the whole of it. It holds no domain logic: pages show what domains know and hand on what a
person decides. Nothing here is loaded before somebody wants to look.
"""

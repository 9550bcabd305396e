"""The dashboard: watch and control agents in a browser.

`application.build_dashboard_app` builds it. It has no domain logic: pages show what the domains return, and pass on
what a person decides. It is imported when it is first used.
"""

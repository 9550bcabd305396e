"""The dashboard: watch and control agents in a browser.

`application.build_dashboard_app` builds it. It has no domain logic: pages show what the domains return, and pass on
people's decisions. It is imported at first use.
"""

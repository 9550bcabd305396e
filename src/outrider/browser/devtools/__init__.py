"""Developer tools of a session: request details, routes, emulation, measurements, audits and traces."""

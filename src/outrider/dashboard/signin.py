"""The sign-in page."""

import hashlib
from base64 import b64encode
from html import escape

from starlette.responses import HTMLResponse

SIGN_IN_PATH = "/signin"
SIGN_IN_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; display: grid; place-items: center; min-height: 100vh; }
main { max-width: 26rem; padding: 2rem 1.25rem; }
h1 { font-size: 1.25rem; margin: 0 0 .75rem; }
code { font-size: .95em; border: 1px solid; border-radius: .25rem; padding: .1em .35em; }
label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit; }
input { margin: .35rem 0 .75rem; padding: .5rem; }
button { padding: .55rem; cursor: pointer; }
form { margin-top: 1.5rem; }
"""
SIGN_IN_STYLE_HASH = "sha256-" + b64encode(hashlib.sha256(SIGN_IN_STYLE.encode()).digest()).decode()
SIGN_IN_POLICY = (
    f"default-src 'none'; style-src '{SIGN_IN_STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def render_sign_in_page(next_path: str, *, root: str, wrong: bool = False) -> HTMLResponse:
    """Ask for a token (401).

    Args:
        next_path: The requested path.
        root: Where the dashboard is mounted.
        wrong: Whether a wrong token was given.
    """
    explanation = (
        "This address has already been used, or Outrider was restarted."
        if wrong
        else "This browser is not signed in to Outrider's dashboard."
    )
    body = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in · Outrider</title><style>{SIGN_IN_STYLE}</style></head>
<body><main><h1>Sign in to Outrider</h1>
<p>{explanation} Run <code>outrider dashboard</code> on the machine where it runs: that opens it with a new address.</p>
<p>Signed in before and came here by a link from another page? <a href="{escape(next_path)}">Continue</a>.</p>
<form method="post" action="{escape(root)}{SIGN_IN_PATH}">
<input type="hidden" name="next" value="{escape(next_path)}">
<label for="token">Or give the token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required>
<button>Sign in</button></form></main></body></html>"""
    return HTMLResponse(body, 401, {"content-security-policy": SIGN_IN_POLICY})

"""Single-use sign-in tokens and the cookies that they are exchanged for.

The token in an address works for one browser: it is exchanged for a cookie, and the next address has a new token. So a
token left in a history or a terminal is useless. A token chosen by the operator (`dashboard.token`) never changes, and
its cookies are valid at all replicas.
"""

import hashlib
import hmac
import json
import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable

from outrider.dashboard.viewer import Viewer

COOKIE_LIFETIME_S = 7 * 86_400  # seconds that a browser stays signed in


class SignInTokens:
    """The tokens of one dashboard process.

    Args:
        fixed: The operator's token; if empty, single-use tokens are generated.
        clock: Returns seconds since the epoch.

    Attributes:
        token: The current sign-in token.
        on_change: Receives each new token.
    """

    def __init__(self, fixed: str = "", clock: Callable[[], float] = time.time) -> None:
        self._fixed = fixed
        self._clock = clock
        self._key = hashlib.sha256(b"outrider dashboard\0" + (fixed.encode() or secrets.token_bytes(32))).digest()
        self.token = fixed or secrets.token_urlsafe(32)
        self.on_change: Callable[[str], None] = lambda _token: None

    def redeem(self, offered: str) -> bool:
        """Return whether the token is valid, and replace it."""
        if not hmac.compare_digest(offered.encode("utf-8", "replace"), self.token.encode()):
            return False
        if not self._fixed:
            self.token = secrets.token_urlsafe(32)
            self.on_change(self.token)
        return True

    def issue_cookie(self, person: str = "", credential: str = "") -> str:
        """Return a signed cookie with browser, expiry and person.

        The person is in it only if they have named themselves.
        """
        named = urlsafe_b64encode(json.dumps([person, credential]).encode()).decode() if person else ""
        claim = f"{secrets.token_urlsafe(12)}.{int(self._clock()) + COOKIE_LIFETIME_S}.{named}"
        return f"{claim}.{self._sign_claim(claim)}"

    def verify_cookie(self, cookie: str) -> Viewer | None:
        """Return the viewer; None if the cookie is invalid or expired."""
        claim, _, signature = cookie.rpartition(".")
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), self._sign_claim(claim).encode()):
            return None
        browser, until, *named = claim.split(".")  # cookies of older releases have no person
        if int(until) <= self._clock():
            return None
        return Viewer(browser, *(json.loads(urlsafe_b64decode(named[0])) if any(named) else ()))

    def _sign_claim(self, claim: str) -> str:
        return hmac.new(self._key, claim.encode("utf-8", "replace"), hashlib.sha256).hexdigest()

"""Send a notice to a webhook or to an operator's command."""

import base64
import binascii
import hashlib
import hmac
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio

from outrider.core.errors import InvalidInput, NotConfigured, Refused, Unavailable
from outrider.core.http import HttpClient, RequestLimits
from outrider.core.notices.settings import NoticeSettings


@dataclass(frozen=True)
class Notice:
    """An event to report, with the configured channel for it.

    Attributes:
        id: The same at every attempt, so that a receiver recognizes duplicates.
        name: The channel's name in the settings.
        subject: One line for people.
        url: The page that it is about; may be empty.
        text: The text that a command reads below subject and URL.
        event: The body of a webhook's request.
    """

    id: str
    name: str
    subject: str
    url: str
    text: str
    event: Mapping[str, Any]


class Notifier:
    """Sends notices through the configured channels.

    Args:
        http: The guarded client.
        notices: The channels by name.
        environ: Environment variables with the secrets.
    """

    def __init__(self, http: HttpClient, notices: Mapping[str, NoticeSettings], environ: Mapping[str, str]) -> None:
        self._http = http
        self._notices = notices
        self._environ = environ

    def check_names(self, names: tuple[str, ...]) -> None:
        """Raise InvalidInput for a name that the settings do not have."""
        for name in names:
            if name not in self._notices:
                known = ", ".join(sorted(self._notices)) or "none"
                raise InvalidInput(
                    f"notify: no notice {name!r} is configured (there are: {known})",
                    hint="leave it out, or ask the operator for a webhook or a command in watches.notices",
                )

    async def send_notice(self, notice: Notice) -> None:
        """Send a notice. Raises OutriderError; a Refused or NotConfigured one will not succeed later."""
        settings = self._notices.get(notice.name)
        if settings is None:
            hint = "configure it again, or schedule without it"
            raise NotConfigured(f"watches.notices.{notice.name} no longer exists", hint=hint)
        if settings.webhook:
            await self._post_webhook(settings, notice)
        else:
            await self._run_command(settings.command, notice)

    async def _post_webhook(self, settings: NoticeSettings, notice: Notice) -> None:
        body = json.dumps(notice.event, ensure_ascii=False).encode("utf-8", "replace")
        timestamp = str(int(time.time()))
        headers = {"content-type": "application/json", "webhook-id": notice.id, "webhook-timestamp": timestamp}
        if settings.secret_env:
            if not (secret := self._environ.get(settings.secret_env)):
                name = settings.secret_env
                message = f"the environment variable {name} with the webhook's secret is not set"
                raise NotConfigured(message, hint="set it where Outrider starts; the notice is sent again")
            headers["webhook-signature"] = sign_webhook(secret, notice.id, timestamp, body)
        # The operator chose the address, so it may be private; it may not send the event elsewhere.
        limits = RequestLimits(timeout_s=20.0, max_body_bytes=100_000, max_redirects=0)
        response = await self._http.request(
            "POST", settings.webhook, headers=headers, content=body, limits=limits, cut=True, trusted=True
        )
        if response.status == 410:
            raise Refused("the webhook answered 410: it wants no more notices")
        if not 200 <= response.status < 300:
            raise Unavailable(f"the webhook answered HTTP {response.status}")

    async def _run_command(self, command: list[str], notice: Notice) -> None:
        max_run_s = 60.0
        values = {"{subject}": notice.subject, "{url}": notice.url}
        arguments = [re.sub(r"\{(?:subject|url)\}", lambda match: values[match[0]], word) for word in command]
        text = f"{notice.subject}\n{notice.url}\n\n{notice.text}\n"
        try:
            # Use a file, because a pipe breaks if the command does not read it.
            with tempfile.TemporaryFile() as body, anyio.fail_after(max_run_s):
                body.write(text.encode("utf-8", "replace"))
                body.seek(0)
                done = await anyio.run_process(arguments, stdin=body, check=False, stdout=subprocess.DEVNULL)
        except TimeoutError:
            raise Unavailable(f"{command[0]} did not end within {max_run_s:g} seconds") from None
        except (OSError, ValueError) as error:
            raise Unavailable(f"{command[0]} could not be started: {error}") from None
        if done.returncode:
            complaint = done.stderr.decode("utf-8", "replace").strip()[:200]
            raise Unavailable(f"{command[0]} ended with {done.returncode}" + (f": {complaint}" if complaint else ""))


def sign_webhook(secret: str, message_id: str, timestamp: str, body: bytes) -> str:
    """Return the signature of a request as Standard Webhooks defines it: HMAC-SHA256 of id, time and body.

    A secret that begins with `whsec_` contains its key in base64; any other secret is the key itself.
    """
    key = secret.encode()
    if secret.startswith("whsec_"):
        try:
            key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        except binascii.Error:
            raise NotConfigured("the webhook's secret begins with whsec_, but the rest is not base64") from None
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()

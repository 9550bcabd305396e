"""Settings of authentication and quotas; they contain no secrets."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, Field, model_validator


def _split_list(value: object) -> object:
    """Split a text at commas and spaces; leave JSON and lists unchanged."""
    return value.replace(",", " ").split() if isinstance(value, str) and not value.startswith("[") else value


StringList = Annotated[list[str], BeforeValidator(_split_list)]


class OAuthSettings(BaseModel, extra="forbid", defer_build=True):
    """An identity provider whose access tokens are accepted (OAuth 2.1 resource server)."""

    issuer: str = Field("", description="The provider's issuer URL, exactly as in its tokens; empty means no provider")
    resource: str = Field(
        "",
        description="The public URL of this MCP server, e.g. https://tools.example.com/mcp; the audience of tokens",
    )
    audiences: StringList = Field([], description="Other audiences to accept, for providers without resource URLs")
    jwks_uri: str = Field("", description="The URL of the provider's keys; empty takes it from the provider's metadata")
    scopes: StringList = Field([], description="Scopes that every token must have")
    toolset_scopes: dict[str, list[str]] = Field(
        {}, description="Toolsets that each scope grants (`all` for all); empty: every token grants all toolsets"
    )
    person_claim: str = Field("sub", min_length=1, description="The claim that names the person")
    workspaces_claim: str = Field(
        "",
        description="Claim that lists workspaces, each as `name` or `name:role`; empty means that you assign people to "
        "workspaces with `outrider workspace`",
    )
    default_workspace: str = Field("", description="Workspace for people without one; they get the role member")

    @model_validator(mode="after")
    def _check_complete(self) -> "OAuthSettings":
        if not self.issuer:
            return self
        if not self.resource:
            raise ValueError("`resource` is required with an issuer: the public URL of this server's /mcp")
        for name in ("issuer", "resource", "jwks_uri"):
            parts = urlsplit(getattr(self, name))
            is_encrypted = parts.scheme == "https" and parts.hostname
            is_local = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
            if getattr(self, name) and not (is_encrypted or is_local):
                raise ValueError(f"`{name}` must begin with https://")
        return self


class Quota(BaseModel, extra="forbid", defer_build=True):
    """Limits of usage; None sets no limit."""

    calls_per_minute: int | None = Field(None, ge=1, description="Tool calls per minute, including those of agents")
    calls_per_day: int | None = Field(None, ge=1, description="Tool calls per day (UTC)")
    cost_per_day: float | None = Field(None, gt=0, description="Cost of agents' models in US dollars per day (UTC)")
    runs: int | None = Field(None, ge=1, description="Agents running at the same time, without those that they start")
    stored_bytes: int | None = Field(None, ge=1, description="Bytes of artifacts and content stores")


class QuotaSettings(BaseModel, extra="forbid", defer_build=True):
    """Quotas of persons and workspaces by name; `*` is for all others."""

    people: dict[str, Quota] = Field(
        {},
        description="Quotas of people in each workspace: by name, or `*` for all others, an object with "
        "`calls_per_minute`, `calls_per_day`, `cost_per_day` (US dollars), `runs` (at the same time) or `stored_bytes`",
    )
    workspaces: dict[str, Quota] = Field(
        {}, description="Quotas of workspaces, for all members together: by name, or `*` for all others, as above"
    )

    @property
    def has_limits(self) -> bool:
        """Whether any quota is set."""
        quotas = (*self.people.values(), *self.workspaces.values())
        return any(value is not None for quota in quotas for value in vars(quota).values())


class IdentitySettings(BaseModel, extra="forbid", defer_build=True):
    """Who may call over HTTP, and how much they may use."""

    tokens: bool = Field(
        default=False, description="Whether callers must send a token of `outrider token create` or of the provider"
    )
    oauth: OAuthSettings = OAuthSettings()
    quotas: QuotaSettings = QuotaSettings()
    audit_days: float = Field(400, gt=0, description="Days after which audit entries are deleted")

    @property
    def is_enabled(self) -> bool:
        """Whether callers must authenticate."""
        return self.tokens or bool(self.oauth.issuer)

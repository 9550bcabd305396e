"""What an operator says about who may call. Nothing here is a secret: keys are the issuer's, tokens in the database."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, Field, model_validator

# Signatures that only the issuer can make: none without a key, none with a key that both sides know (RFC 8725, 3.1).
Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]


def _split_list(value: object) -> object:
    """A list, or its parts with commas or spaces between them."""
    return value.replace(",", " ").split() if isinstance(value, str) and not value.startswith("[") else value


StringList = Annotated[list[str], BeforeValidator(_split_list)]


class OAuthSettings(BaseModel, extra="forbid", defer_build=True):
    """An identity provider whose access tokens are accepted (OAuth 2.1 resource server)."""

    issuer: str = Field("", description="The provider's issuer address, exactly as its tokens say it; empty means none")
    resource: str = Field(
        "", description="The public address of MCP here, e.g. https://tools.example.com/mcp; tokens must be made for it"
    )
    audiences: StringList = Field([], description="Further audiences to accept, for providers that know no addresses")
    jwks_uri: str = Field("", description="Where the provider's keys are; empty means its metadata says it")
    algorithms: list[Algorithm] = Field(["RS256", "PS256", "ES256", "EdDSA"], description="Signatures to accept")
    leeway_s: float = Field(30, ge=0, le=300, description="Seconds by which the provider's clock may differ from ours")
    scopes: StringList = Field([], description="Scopes that every token must have")
    toolset_scopes: dict[str, list[str]] = Field(
        {}, description="Scope to the toolsets that it opens (`all` for all); empty: every token opens all"
    )
    person_claim: str = Field("sub", min_length=1, description="The claim that names the person")
    workspaces_claim: str = Field(
        "", description="The claim that lists workspaces, each `name` or `name:role`; empty: our own members count"
    )
    default_workspace: str = Field("", description="The workspace, as member, of persons who are in none")

    @model_validator(mode="after")
    def _check_complete(self) -> "OAuthSettings":
        if not self.issuer:
            return self
        if not self.resource:
            raise ValueError("`resource` is needed with an issuer: the public address of /mcp here")
        for name in ("issuer", "resource", "jwks_uri"):
            if value := getattr(self, name):
                _check_address(name, value)
        if not self.algorithms:
            raise ValueError("`algorithms` must name at least one signature, for instance RS256")
        return self


class Quota(BaseModel, extra="forbid", defer_build=True):
    """What may be used; None means as much as wanted."""

    calls_per_minute: int | None = Field(None, ge=1, description="Tool calls in a minute, those of agents included")
    calls_per_day: int | None = Field(None, ge=1, description="Tool calls in a day (UTC)")
    cost_per_day: float | None = Field(None, gt=0, description="US dollars that agents' models may cost in a day (UTC)")
    runs: int | None = Field(None, ge=1, description="Agents at work at the same time, not counting those below them")
    stored_mb: float | None = Field(None, gt=0, description="Megabytes of artifacts and content stores")


class QuotaSettings(BaseModel, extra="forbid", defer_build=True):
    """How much everybody may use."""

    person: Quota = Field(Quota(), description="Of one person in one workspace")
    workspace: Quota = Field(Quota(), description="Of one workspace, everybody in it together")
    people: dict[str, Quota] = Field({}, description="By person, in place of `person`")
    workspaces: dict[str, Quota] = Field({}, description="By workspace, in place of `workspace`")

    @property
    def has_limits(self) -> bool:
        """Whether anything is limited."""
        every = (self.person, self.workspace, *self.people.values(), *self.workspaces.values())
        return any(value is not None for quota in every for value in vars(quota).values())


class IdentitySettings(BaseModel, extra="forbid", defer_build=True):
    """Who may call over HTTP, and how much."""

    tokens: bool = Field(
        default=False, description="Whether callers must show a token of `outrider token create`, or of the provider"
    )
    oauth: OAuthSettings = OAuthSettings()
    quotas: QuotaSettings = QuotaSettings()
    audit_days: float = Field(400, gt=0, description="Days that the audit is kept")

    @property
    def is_enabled(self) -> bool:
        """Whether callers must show who they are."""
        return self.tokens or bool(self.oauth.issuer)


def _check_address(name: str, value: str) -> None:
    """Raises ValueError for what nobody may rest their trust on: plain HTTP beyond this machine."""
    parts = urlsplit(value)
    if parts.scheme == "https" and parts.hostname:
        return
    if parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1"):
        return
    raise ValueError(f"`{name}` must begin with https://")

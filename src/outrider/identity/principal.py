"""Authenticated persons and their rights in workspaces."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from outrider.core.errors import Refused
from outrider.core.grant import Grant, WorkspaceRole

ROLES: tuple[WorkspaceRole, ...] = ("viewer", "member", "owner")  # each has the rights of those before it


class InvalidCredentialError(Exception):
    """The credential is not valid; the text is the reason, for its holder."""


class InsufficientScopeError(Exception):
    """The credential is valid but lacks one of `scopes`."""

    def __init__(self, scopes: Sequence[str]) -> None:
        super().__init__(f"needed: {' '.join(scopes)}")
        self.scopes = tuple(scopes)


@dataclass(frozen=True)
class Membership:
    """A person's role in a workspace."""

    workspace: str
    role: WorkspaceRole


@dataclass(frozen=True)
class Principal:
    """An authenticated person and the rights of their credential.

    Attributes:
        person: The name that the operator or the identity provider uses.
        credential: The id for records: a token's id, or `oauth:` and the client's id.
        memberships: Their workspaces; the first one is the default.
        toolsets: The toolsets that they may use; None means all.
        remedy: How they can get more toolsets.
        issuer: The identity provider; empty for tokens issued by Outrider.
        expires_at: When the credential expires, in seconds since the epoch.
    """

    person: str
    credential: str
    memberships: tuple[Membership, ...]
    toolsets: tuple[str, ...] | None = None
    remedy: str = ""
    issuer: str = ""
    expires_at: float | None = None

    @property
    def name(self) -> str:
        """A key of the person that is the same for all their credentials."""
        return f"{self.issuer}\x1f{self.person}"

    def select_membership(self, workspace: str | None = None) -> Membership:
        """Return the membership in the named workspace, or the default one. Raises Refused (`workspace`)."""
        memberships = {membership.workspace: membership for membership in self.memberships}
        if not memberships:
            raise Refused(
                f"{self.person} is not a member of any workspace",
                code="workspace",
                hint=f"ask the operator to add you: outrider workspace add <workspace> {self.person}",
            )
        if not workspace:
            return self.memberships[0]
        if workspace not in memberships:
            raise Refused(
                f"workspace: {workspace[:64]!r} is not one of yours ({', '.join(memberships)})",
                code="workspace",
                hint="name one of yours or none; an owner of that workspace can add you",
            )
        return memberships[workspace]

    def build_grant(self, membership: Membership, address: str = "") -> Grant:
        """Return the rights of their calls in a workspace; `address` is the caller's network address."""
        return Grant(self.credential, membership.role, self.toolsets, self.remedy, address[:64])

    def qualify_session(self, membership: Membership, name: str) -> str:
        """Prefix a session's name with a hash of its owner.

        The owner is a person in a workspace; no one else can use the session.
        """
        owner = hashlib.sha256(f"{membership.workspace}\x1f{self.person}".encode("utf-8", "replace")).hexdigest()[:20]
        return f"{owner}.{name}"


def pick_lesser_role(one: WorkspaceRole, other: WorkspaceRole) -> WorkspaceRole:
    """Return the role with fewer rights."""
    return ROLES[min(ROLES.index(one), ROLES.index(other))]

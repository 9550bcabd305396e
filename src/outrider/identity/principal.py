"""Somebody who has shown who they are, and what they may do where."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from outrider.core.errors import Refused
from outrider.core.grant import Grant, WorkspaceRole

ROLES: tuple[WorkspaceRole, ...] = ("viewer", "member", "owner")  # each may do what those before it may


class InvalidCredentialError(Exception):
    """The credential lets nobody in; the text says why, for its holder."""


class InsufficientScopeError(Exception):
    """The credential is good, but not for this: `scopes` are needed."""

    def __init__(self, scopes: Sequence[str]) -> None:
        super().__init__(f"needed: {' '.join(scopes)}")
        self.scopes = tuple(scopes)


@dataclass(frozen=True)
class Membership:
    """A place in a workspace."""

    workspace: str
    role: WorkspaceRole


@dataclass(frozen=True)
class Principal:
    """A person behind a credential.

    Attributes:
        person: Their name, as the operator or the identity provider has it.
        credential: What they are known by in records: a token's id, or `oauth:` and the client's.
        memberships: Where they may act; the first is where they do if they do not say.
        toolsets: Those that they may use; None means all.
        remedy: Who can give them more.
        issuer: The identity provider; empty for tokens of ours.
        expires_at: When the credential ends, in seconds since the epoch.
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
        """Who they are, as one text: the same for all credentials of a person."""
        return f"{self.issuer}\x1f{self.person}"

    def select_membership(self, workspace: str | None = None) -> Membership:
        """Where they act: in the workspace that they name, else in their first. Raises Refused (`workspace`)."""
        mine = {each.workspace: each for each in self.memberships}
        if not mine:
            raise Refused(
                f"{self.person} is in no workspace",
                code="workspace",
                hint=f"the operator adds you: outrider workspace add <workspace> {self.person}",
            )
        if not workspace:
            return self.memberships[0]
        if workspace not in mine:
            raise Refused(
                f"workspace: {workspace[:64]!r} is not one of yours ({', '.join(mine)})",
                code="workspace",
                hint="name one of yours or none; an owner of that workspace can add you",
            )
        return mine[workspace]

    def build_grant(self, where: Membership, address: str = "") -> Grant:
        """What their calls there may do."""
        max_chars = 64
        return Grant(self.credential, where.role, self.toolsets, self.remedy, address[:max_chars])

    def qualify_session(self, where: Membership, name: str) -> str:
        """A session's name with its owner before it: what is kept under it is theirs alone, here alone."""
        owner = hashlib.sha256(f"{where.workspace}\x1f{self.person}".encode("utf-8", "replace")).hexdigest()[:20]
        return f"{owner}.{name}"


def pick_lesser_role(one: WorkspaceRole, other: WorkspaceRole) -> WorkspaceRole:
    """The lesser of two roles."""
    return ROLES[min(ROLES.index(one), ROLES.index(other))]

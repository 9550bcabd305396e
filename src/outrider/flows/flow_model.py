"""The base of all parts of a flow."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


class FlowModel(BaseModel):
    """Base of all parts of a flow; refuses unknown keys, and numbers that JavaScript lacks."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)

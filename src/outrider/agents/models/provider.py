"""The description of a model provider.

Each provider is a file in `providers/`; plugins add providers through an entry point.
"""

from dataclasses import dataclass

from outrider.agents.settings import ApiFormat

MODEL_PROVIDER_GROUP = "outrider.model_providers"


@dataclass(frozen=True)
class ModelProvider:
    """A provider of models.

    Attributes:
        name: Its name in settings and in `provider:model`.
        title: Its name for people.
        api: Its wire format.
        base_url: The URL of its API; empty uses the default of the vendor's library.
        env: Environment variables that may hold its key, the usual one first.
        default_model: The model to use if only the provider is named; empty if a model must be named.
        rank: Its position among providers with a key if no model is configured; lower comes first.
        local: Whether it runs on this machine and needs no key.
        key_url: The page where a person gets a key.
    """

    name: str
    title: str
    api: ApiFormat
    base_url: str = ""
    env: tuple[str, ...] = ()
    default_model: str = ""
    rank: int = 50
    local: bool = False
    key_url: str = ""

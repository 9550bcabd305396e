"""The description of a model provider.

Each provider is a file in `providers/`; plugins add providers through an entry point.
"""

import re
from dataclasses import dataclass

from outrider.agents.settings import ApiFormat

MODEL_PROVIDER_GROUP = "outrider.model_providers"
# Names of open models that see pictures, as servers and gateways list them.
OPEN_SEEING_MODELS = r"(?<![a-z])vl(?![a-z])|vision|llava|pixtral|gemma-?[3-9]|llama-?4"


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
        seeing_models: A pattern of the names of its models that see pictures; empty if none does.
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
    seeing_models: str = ""
    key_url: str = ""

    def can_see(self, model: str) -> bool:
        """Return whether a model sees pictures, by its name."""
        return bool(self.seeing_models) and re.search(self.seeing_models, model, re.IGNORECASE) is not None

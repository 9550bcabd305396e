"""What a provider of models is. Each is one file in `providers/`; plugins offer more by entry point."""

from dataclasses import dataclass

from outrider.agents.settings import ApiFormat

MODEL_PROVIDER_GROUP = "outrider.model_providers"


@dataclass(frozen=True)
class ModelProvider:
    """Somebody who serves models.

    Attributes:
        name: How settings and `provider:model` call it.
        title: Its name for people.
        api: The wire format that it speaks.
        base_url: Where; empty for the address that the vendor's own library knows.
        env: Environment variables that hold its key, the usual one first.
        default_model: What is used when only the provider is named; empty where one must be named.
        rank: Its place among those that have a key when nobody chose; lower is earlier.
        local: It runs on this machine: no key, and no address outside.
        key_url: Where a person gets a key.
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

"""Settings of running code, for the operator alone: a workspace's own settings file can set none of them."""

from typing import Literal

from pydantic import BaseModel, Field

IsolationMode = Literal["auto", "namespaces", "landlock", "none"]


class CodeSettings(BaseModel, extra="forbid", defer_build=True):
    """Settings of the code tools; limits apply to each execution."""

    isolation: IsolationMode = Field(
        default="auto",
        description="auto: the strongest that this machine supports; namespaces (bubblewrap), landlock: only "
        "this one, else no code runs; none: code can do everything that the server can",
    )
    network: bool = Field(default=False, description="Let code reach the web, through the egress guard")
    python: str = Field(default="", description="Interpreter of execute_python; empty means python3 on PATH")
    packages: list[str] = Field(
        default=[],
        description="Packages for sandboxed Python, installed when first needed; data means numpy, pandas, matplotlib "
        "and openpyxl",
    )
    deno: str = Field(default="", description="Program of execute_typescript; empty means the installed deno")
    memory_bytes: int = Field(
        default=1_024_000_000, ge=64_000_000, description="Maximum memory of all processes of an execution"
    )
    processes: int = Field(default=128, ge=8, le=4_096, description="Maximum processes and threads at a time")
    parallel: int = Field(
        default=8,
        ge=1,
        le=64,
        description="Concurrent executions; further ones wait. Twice as many interpreters are kept for the next call",
    )
    cgroup: str = Field(
        default="",
        description="A cgroup v2 folder delegated to this user, in which each execution is limited as a whole; empty "
        "means the server's own, if it can create others there",
    )

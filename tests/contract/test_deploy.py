"""What is shipped for operators is what their tools accept, and what this version of the program knows."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from click.testing import CliRunner
from pydantic import BaseModel

from outrider.cli import outrider
from outrider.settings import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
OURS = [path for path in MANIFESTS if path.name != "kustomization.yaml"]
KUBERNETES = "1.31"  # the oldest whose fields the manifests may use
PROGRAMS = Path(sys.executable).parent


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)


def documents(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text()))


def test_the_images_definition_has_nothing_that_its_linter_minds():
    done = run(PROGRAMS / "hadolint", DEPLOY / "Containerfile")
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_runs_as_an_ordinary_user_and_from_the_lock():
    text = (DEPLOY / "Containerfile").read_text()
    assert "USER 10001" in text
    assert "--require-hashes -r requirements/image.txt" in text


def test_compose_takes_its_file():
    done = run(PROGRAMS / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_kubernetes_takes_each_manifest(path: Path):
    for document in documents(path):
        kubernetes_validate.validate(document, KUBERNETES, strict=True)


def test_a_field_that_kubernetes_does_not_know_is_found():
    (document,) = documents(DEPLOY / "kubernetes" / "worker.yaml")
    document["spec"]["replica"] = 3
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(document, KUBERNETES, strict=True)


def test_the_kustomization_names_every_manifest_but_the_examples():
    (document,) = documents(DEPLOY / "kubernetes" / "kustomization.yaml")
    assert sorted(document["resources"]) == [path.name for path in OURS if "example" not in path.name]


VARIABLE = re.compile(r"\bOUTRIDER_[A-Z0-9_]+")
FILES = sorted(path for path in DEPLOY.rglob("*") if path.is_file())
USED = {name: path for path in FILES for name in VARIABLE.findall(path.read_text())}


@pytest.mark.parametrize("name", USED)
def test_every_variable_is_a_setting(name: str):
    kind: Any = Settings
    for part in name.removeprefix("OUTRIDER_").lower().split("__"):
        assert issubclass(kind, BaseModel)
        assert part in kind.model_fields
        kind = kind.model_fields[part].annotation


def commands() -> list[str]:
    """What compose and Kubernetes run."""
    services = documents(DEPLOY / "compose.yaml")[0]["services"].values()
    pods = [
        document["spec"]["template"]["spec"] for path in OURS for document in documents(path) if _has_pods(document)
    ]
    ours = [service["command"] for service in services if "command" in service]
    ours += [container["args"] for pod in pods for container in pod["containers"]]
    return sorted({" ".join(each) for each in ours})


def _has_pods(document: dict[str, Any]) -> bool:
    return document["kind"] in ("Deployment", "Job")


@pytest.mark.parametrize("command", commands())
def test_every_command_is_one(command: str):
    assert CliRunner().invoke(outrider, [*command.split(), "--help"]).exit_code == 0


def test_ports_and_probes_are_those_of_the_server():
    pod = documents(DEPLOY / "kubernetes" / "serve.yaml")[0]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert {port["name"]: port["containerPort"] for port in container["ports"]}["http"] == 8765
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    settings = documents(DEPLOY / "kubernetes" / "config.yaml")[0]["data"]
    going = float(settings["OUTRIDER_SERVE__DRAIN_SECONDS"]) + float(settings["OUTRIDER_SERVE__NOTICE_SECONDS"])
    assert pod["terminationGracePeriodSeconds"] > going

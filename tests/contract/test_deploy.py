"""Operators' tools accept the deployment files, and this version knows every setting there."""

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


def run_command(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)


def load_documents(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text()))


def test_the_image_definition_passes_its_linter():
    done = run_command(PROGRAMS / "hadolint", DEPLOY / "Containerfile")
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_runs_as_an_ordinary_user_and_from_the_lock():
    text = (DEPLOY / "Containerfile").read_text()
    assert "USER 10001" in text
    assert "--require-hashes -r requirements/image.txt" in text


def test_the_image_contains_only_the_needed_files():
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)
    allowed = [line for line in (DEPLOY.parent / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert {f"!{name}" for names in copied for name in names.split()} == set(allowed)


def test_an_image_can_be_built_on_another_base_and_behind_an_inspecting_proxy():
    text = (DEPLOY / "Containerfile").read_text()
    assert re.findall(r"^FROM (\S+)", text, re.MULTILINE) == ["${BASE}", "${BASE}"]
    assert "--mount=type=secret,id=certificates,target=/etc/ssl/certs/ca-certificates.crt" in text
    assert "PIP_CERT=/etc/ssl/certs/ca-certificates.crt" in text.split("FROM")[1]  # an old pip has only its own


def test_the_compose_file_matches_its_schema():
    done = run_command(
        PROGRAMS / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml"
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["serve", "worker", "migrate"])
def test_compose_confines_the_containers_and_lets_them_sandbox_code(name: str):
    service = load_documents(DEPLOY / "compose.yaml")[0]["services"][name]
    assert service["cap_drop"] == ["ALL"]
    assert service["read_only"] is True
    assert {"/tmp", "/home/outrider"} <= set(service["tmpfs"])
    # bubblewrap cannot mount its own /proc while parts of the container's are masked
    assert {"no-new-privileges:true", "seccomp=unconfined", "systempaths=unconfined"} == set(service["security_opt"])


def test_internal_paths_are_not_reachable_through_the_proxy():
    assert re.search(r"location /internal/ \{\s+return 404;", (DEPLOY / "nginx.conf").read_text())


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_every_manifest_matches_the_kubernetes_schema(path: Path):
    found = load_documents(path)
    assert found
    for document in found:
        kubernetes_validate.validate(document, KUBERNETES, strict=True)


def test_a_field_unknown_to_kubernetes_is_reported():
    document = load_documents(DEPLOY / "kubernetes" / "worker.yaml")[0]
    document["spec"]["replica"] = 3
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(document, KUBERNETES, strict=True)


def test_the_kustomization_names_every_manifest_but_the_examples():
    (document,) = load_documents(DEPLOY / "kubernetes" / "kustomization.yaml")
    assert sorted(document["resources"]) == [path.name for path in OURS if "example" not in path.name]


VARIABLE = re.compile(r"\bOUTRIDER_[A-Z0-9_]+")
DEPLOY_FILES = sorted(path for path in DEPLOY.rglob("*") if path.is_file())
USED = {name: path for path in DEPLOY_FILES for name in VARIABLE.findall(path.read_text())}


@pytest.mark.parametrize("name", USED)
def test_every_variable_is_a_setting(name: str):
    kind: Any = Settings
    for part in name.removeprefix("OUTRIDER_").lower().split("__"):
        assert issubclass(kind, BaseModel)
        assert part in kind.model_fields
        kind = kind.model_fields[part].annotation


def list_commands() -> list[str]:
    """Lists the commands of compose and Kubernetes."""
    services = load_documents(DEPLOY / "compose.yaml")[0]["services"].values()
    pods = [
        document["spec"]["template"]["spec"]
        for path in OURS
        for document in load_documents(path)
        if _has_pods(document)
    ]
    ours = [service["command"] for service in services if "command" in service]
    ours += [container["args"] for pod in pods for container in (*pod["initContainers"], *pod["containers"])]
    return sorted({" ".join(each) for each in ours})


def _has_pods(document: dict[str, Any]) -> bool:
    return document["kind"] == "Deployment"


@pytest.mark.parametrize("command", list_commands())
def test_every_documented_command_exists(command: str):
    assert CliRunner().invoke(outrider, [*command.split(), "--help"]).exit_code == 0


def test_ports_and_probes_are_those_of_the_server():
    pod = load_documents(DEPLOY / "kubernetes" / "serve.yaml")[0]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert {port["name"]: port["containerPort"] for port in container["ports"]}["http"] == 8765
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    settings = load_documents(DEPLOY / "kubernetes" / "config.yaml")[0]["data"]
    going = float(settings["OUTRIDER_SERVE__DRAIN_S"]) + float(settings["OUTRIDER_SERVE__NOTICE_S"])
    assert pod["terminationGracePeriodSeconds"] > going


def test_an_upgrade_changes_no_immutable_kubernetes_objects():
    kinds = [document["kind"] for path in OURS for document in load_documents(path)]
    assert "Job" not in kinds  # its pods cannot be changed: the second `apply` of another version would fail
    for name in ("serve", "worker"):
        pod = load_documents(DEPLOY / "kubernetes" / f"{name}.yaml")[0]["spec"]["template"]["spec"]
        assert [container["args"][:2] for container in pod["initContainers"]] == [["db", "migrate"]]


def test_applying_the_manifests_keeps_the_autoscalers_replica_count():
    found = {document["kind"]: document for document in load_documents(DEPLOY / "kubernetes" / "serve.yaml")}
    assert found["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]["name"] == "outrider"
    assert "replicas" not in found["Deployment"]["spec"]


def test_each_replica_publishes_its_own_address():
    (container,) = load_documents(DEPLOY / "kubernetes" / "serve.yaml")[0]["spec"]["template"]["spec"]["containers"]
    told = {each["name"]: each for each in container["env"]}
    assert told["POD_IP"]["valueFrom"]["fieldRef"]["fieldPath"] == "status.podIP"
    assert told["OUTRIDER_SERVE__INTERNAL_URL"]["value"] == "http://$(POD_IP):8765"

"""`outrider doctor` reports storage problems with SQLite and a folder, and with Postgres and S3."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from support.databases import postgres
from support.fakes import object_storage
from support.processes import outrider_command


def run_doctor(**environ: str) -> dict[str, dict[str, str]]:
    """Return the doctor's findings by their text."""
    command = outrider_command.build_command("doctor", "--json")
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=os.environ | environ)
    assert ended.stdout, ended.stderr
    return {each["what"]: each for each in json.loads(ended.stdout)}


def find_beginning(found: dict[str, dict[str, str]], words: str) -> dict[str, str]:
    [one] = [each for what, each in found.items() if what.startswith(words)]
    return one


@pytest.mark.nightly
def test_the_doctor_accepts_a_laptop_and_names_the_embedder(home: Path):
    found = run_doctor()
    assert find_beginning(found, "the database has revision")["state"] == "ok"
    assert find_beginning(found, "artifacts can be stored in")["what"].endswith("/.outrider/artifacts")
    assert find_beginning(found, "search by meaning: vectors of")["state"] == "ok"


@pytest.mark.nightly
def test_the_doctor_lists_what_replicas_must_share(home: Path):
    with postgres.start_server(postgres.require_programs()) as server, object_storage.serve_s3() as s3:
        found = run_doctor(OUTRIDER_DATABASE=server.default_address)
        assert find_beginning(found, "paused calls can be answered on this machine only")["state"] == "note"
        assert "artifacts.storage" in find_beginning(found, "artifacts are in")["remedy"]
        shared = {"OUTRIDER_SERVE__STATE_KEY": "k" * 32, "OUTRIDER_ARTIFACTS__STORAGE": s3.build_storage_url("x")}
        found = run_doctor(OUTRIDER_DATABASE=server.default_address, **shared, **object_storage.AWS_CREDENTIALS)
        assert find_beginning(found, "artifacts can be stored in")["what"].endswith("s3://outrider-tests/x")
        assert [what for what in found if what.startswith(("paused calls", "artifacts are in"))] == []
        wrong = run_doctor(
            OUTRIDER_DATABASE=server.default_address,
            OUTRIDER_ARTIFACTS__STORAGE=s3.build_storage_url(bucket="nobody-has-it"),
        )
        assert find_beginning(wrong, "artifacts in s3://nobody-has-it")["state"] == "bad"
        server.stop()
        away = run_doctor(OUTRIDER_DATABASE=server.default_address)
        assert find_beginning(away, "the database cannot be used")["state"] == "bad"

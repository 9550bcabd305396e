"""`outrider mcp` relays to one process of the user, which starts, ends and is replaced unnoticed."""

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Generator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp import Client, MCPError

from support.apps import shared_process
from support.apps.shared_process import HostUser
from support.results import read_first_text
from support.timeouts import PROCESS_TIMEOUT_S, SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.nightly)])
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
FIRST_MESSAGES = [
    {"id": 0, "method": "initialize", "params": HELLO},
    {"method": "notifications/initialized"},
    {"id": 1, "method": "tools/list", "params": {}},
]


@pytest.fixture(scope="module")
def shared_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared_process.copy_package(tmp_path_factory.mktemp("code"))


@pytest.fixture(scope="module")
def second_user(tmp_path_factory: pytest.TempPathFactory, shared_code: Path) -> Generator[HostUser]:
    """A user whose process serves several tests."""
    with shared_process.start_host_user(tmp_path_factory.mktemp("home"), shared_code) as person:
        yield person


@pytest.fixture
def person(tmp_path_factory: pytest.TempPathFactory, shared_code: Path) -> Generator[HostUser]:
    with shared_process.start_host_user(tmp_path_factory.mktemp("home"), shared_code) as person:
        yield person


@pytest.fixture
def owner(tmp_path_factory: pytest.TempPathFactory) -> Generator[HostUser]:
    """A user who can install another version."""
    code = shared_process.copy_package(tmp_path_factory.mktemp("code"))
    with shared_process.start_host_user(tmp_path_factory.mktemp("home"), code) as person:
        yield person


def encode_messages(messages: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n" for message in messages)


async def read_place(client: Client) -> list[str]:
    """Return the process, the session and the directory of a host."""
    return read_first_text(await client.call_tool("stand")).split(" ")


@ERAS
async def test_hosts_are_served_by_one_process_each_in_its_own_session_and_directory(second_user: HostUser, mode: str):
    here, there = (second_user.home / name for name in ("here", "there"))
    for folder in (here, there):
        folder.mkdir(exist_ok=True)
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with (
            Client(second_user.build_host_parameters("--workspace", ".", cwd=here), mode=mode) as one,
            Client(second_user.build_host_parameters("--workspace", ".", cwd=there), mode=mode) as two,
        ):
            first, second = await read_place(one), await read_place(two)
            facts = second_user.query_shared_process(b"status")
    assert first == [str(facts["process"]), "default", str(here)]
    assert second == [str(facts["process"]), "default-2", str(there)]
    assert facts["hosts"] == 2


@pytest.mark.nightly
async def test_a_lean_and_an_ordinary_host_share_the_process_with_their_own_tool_lists(second_user: HostUser):
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with (
            Client(second_user.build_host_parameters("--lean")) as lean,
            Client(second_user.build_host_parameters()) as ordinary,
        ):
            few, many = [{tool.name for tool in (await host.list_tools()).tools} for host in (lean, ordinary)]
            stand = await lean.call_tool("call_tool", {"name": "stand", "arguments": {}})
            other = await read_place(ordinary)
            facts = second_user.query_shared_process(b"status")
    assert few == {"find_tools", "call_tool"}
    assert "stand" in many
    assert not few & many
    assert read_first_text(stand).split(" ")[0] == other[0] == str(facts["process"])


async def test_a_returning_host_gets_its_session_back_and_may_name_another(second_user: HostUser):
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with Client(second_user.build_host_parameters()) as client:
            before = await read_place(client)
        async with (
            Client(second_user.build_host_parameters()) as again,
            Client(second_user.build_host_parameters("--session", "ours")) as named,
        ):
            assert await read_place(again) == before
            assert (await read_place(named))[1] == "ours"


async def test_each_host_has_its_own_settings(second_user: HostUser):
    folder = second_user.home / "project" / ".outrider"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text('{"tools": {"disable": ["keep"]}}')
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with AsyncExitStack() as stack:
            hosts = [
                second_user.build_host_parameters(),
                second_user.build_host_parameters(cwd=folder.parent),
                second_user.build_host_parameters("--disable", "look"),
                second_user.build_host_parameters(environ={"OUTRIDER_NAMES": "builtin"}),
            ]
            lists = [
                {tool.name for tool in (await (await stack.enter_async_context(Client(host))).list_tools()).tools}
                for host in hosts
            ]
            facts = second_user.query_shared_process(b"status")
    assert lists[0] == {"look", "keep", "stand", "echo"}
    assert lists[1] == {"look", "stand", "echo"}
    assert lists[2] == {"keep", "stand", "echo"}
    assert lists[3] == {f"builtin_probe__{name}" for name in lists[0]}
    assert facts["hosts"] == 4


@pytest.mark.nightly
async def test_twenty_hosts_that_start_at_once_start_one_process(person: HostUser):
    command = person.build_command("mcp", "--toolsets", "probe")
    with anyio.fail_after(PROCESS_TIMEOUT_S * 2):
        processes = [
            subprocess.Popen(
                command, env=person.host_environ, cwd=person.home, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            for _ in range(20)
        ]
        for each in processes:
            assert each.stdin
            each.stdin.write(encode_messages(FIRST_MESSAGES))
            each.stdin.flush()
        answers = [await anyio.to_thread.run_sync(_two_lines, each) for each in processes]
        facts = person.query_shared_process(b"status")
        for each in processes:
            await anyio.to_thread.run_sync(each.communicate)
    assert all(len(found[1]["result"]["tools"]) == 4 for found in answers)
    assert (facts["hosts"], facts["apps"]) == (20, 1)
    assert person.read_logs().count("listens, process") == 1
    assert {each.returncode for each in processes} == {0}


def _two_lines(process: "subprocess.Popen[bytes]") -> list[dict[str, Any]]:
    assert process.stdout
    return [json.loads(process.stdout.readline()) for _ in range(2)]


@ERAS
@pytest.mark.nightly
async def test_a_call_that_only_reads_continues_in_the_next_process_when_the_first_is_killed(
    person: HostUser, mode: str
):
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with Client(person.build_host_parameters(), mode=mode) as client, anyio.create_task_group() as tasks:
            found: list[str] = []

            async def call() -> None:
                found.append(read_first_text(await client.call_tool("look")))

            tasks.start_soon(call)
            first = int((await person.read_probe_report()).removeprefix("began "))
            os.kill(first, signal.SIGKILL)
            second = int((await person.read_probe_report()).removeprefix("began "))
            await person.release_probe("done")
    assert second != first
    assert found == [f"done {second}"]


async def test_a_call_that_may_have_had_its_effect_is_not_repeated_but_reported(person: HostUser):
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with Client(person.build_host_parameters()) as client, anyio.create_task_group() as tasks:
            errors: list[str] = []
            failed = anyio.Event()

            async def call() -> None:
                with pytest.raises(MCPError) as caught:
                    await client.call_tool("keep")
                errors.append(str(caught.value))
                failed.set()

            tasks.start_soon(call)
            first = int((await person.read_probe_report()).removeprefix("began "))
            os.kill(first, signal.SIGKILL)
            await failed.wait()
            after = await read_place(client)
    assert "call again" in errors[0]
    assert int(after[0]) != first
    assert after[1] == "default"


@pytest.mark.nightly
async def test_a_call_that_killed_two_processes_is_not_retried(person: HostUser):
    failed: list[str] = []
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with Client(person.build_host_parameters()) as client, anyio.create_task_group() as tasks:

            async def call() -> None:
                with pytest.raises(MCPError) as caught:
                    await client.call_tool("look")
                failed.append(str(caught.value))

            tasks.start_soon(call)
            for _ in range(2):
                os.kill(int((await person.read_probe_report()).removeprefix("began ")), signal.SIGKILL)
    assert "call again" in failed[0]


@ERAS
async def test_a_newer_version_takes_over_and_calls_under_way_finish(owner: HostUser, mode: str):
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with Client(owner.build_host_parameters(), mode=mode) as old, anyio.create_task_group() as tasks:
            found: list[str] = []

            async def call() -> None:
                found.append(read_first_text(await old.call_tool("keep")))

            tasks.start_soon(call)
            first = int((await owner.read_probe_report()).removeprefix("began "))
            owner.install_version("99.0")
            async with Client(owner.build_host_parameters(), mode=mode) as new:
                second = int((await read_place(new))[0])
                carried = await read_place(old)
                facts = owner.query_shared_process(b"status")
                await owner.release_probe("done")
            await shared_process.wait_for_exit(first)
    assert found == [f"done {first}"]
    assert second != first
    assert carried[0] == str(second)
    assert (facts["version"], facts["process"], facts["hosts"]) == ("99.0", second, 2)


@pytest.mark.nightly
async def test_a_newer_installation_takes_over_and_an_older_one_then_serves_itself(owner: HostUser, shared_code: Path):
    owner.install_version("99.0")
    older = owner.build_host_parameters(environ={"PYTHONPATH": str(shared_code)})
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with Client(older) as old:
            first = (await read_place(old))[0]
            async with Client(owner.build_host_parameters()) as new:
                second = (await read_place(new))[0]
                while (serves := (await read_place(old))[0]) == first:  # which may answer one more call before it ends
                    await anyio.lowlevel.checkpoint()
                assert serves == second
                async with Client(older) as late:
                    assert (await read_place(late))[0] not in {first, second}
    assert first != second


@pytest.mark.nightly
async def test_an_idle_daemon_ends(person: HostUser):
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with Client(person.build_host_parameters("--set", "daemon_idle_s=0.12")) as client:
            process = int((await read_place(client))[0])
        await shared_process.wait_for_exit(process)
    left = {each.name for each in (person.home / ".outrider" / "run").iterdir()}
    assert left == {"daemon.lock", "starting.lock"}


async def test_a_killed_host_cancels_only_its_own_call(second_user: HostUser):
    command = second_user.build_command("mcp", "--toolsets", "probe")
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with Client(second_user.build_host_parameters()) as other:
            process = (await read_place(other))[0]
            with subprocess.Popen(
                command, env=second_user.host_environ, cwd=second_user.home, stdin=subprocess.PIPE
            ) as host:
                assert host.stdin
                host.stdin.write(
                    encode_messages([*FIRST_MESSAGES, {"id": 2, "method": "tools/call", "params": {"name": "keep"}}])
                )
                host.stdin.flush()
                assert await second_user.read_probe_report() == f"began {process}"
                host.kill()
            assert await second_user.read_probe_report() == "cancelled"
            assert (await read_place(other))[0] == process


@pytest.mark.parametrize(
    ("arguments", "environ"),
    [(["--no-daemon"], {}), pytest.param([], {"OUTRIDER_DAEMON": "false"}, marks=pytest.mark.nightly)],
)
@pytest.mark.nightly
async def test_hosts_may_turn_the_shared_process_off(person: HostUser, arguments: list[str], environ: dict[str, str]):
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with Client(person.build_host_parameters(*arguments, environ=environ)) as client:
            assert (await read_place(client))[1] == "default"
    assert not (person.home / ".outrider" / "run").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--toolsets", "nope"],
        *(pytest.param(words, marks=pytest.mark.nightly) for words in (["--nope"], ["--set", "nope=1"])),
    ],
)
@pytest.mark.nightly
async def test_wrong_options_give_the_same_error_with_and_without_the_daemon(
    second_user: HostUser, arguments: list[str]
):
    async def outcome(*more: str) -> tuple[int, list[str]]:
        done = await anyio.run_process(
            second_user.build_command("mcp", *arguments, *more),
            env=second_user.host_environ,
            cwd=second_user.home,
            check=False,
        )
        assert done.stdout == b""
        lines = done.stderr.decode().replace("python -m outrider", "outrider").splitlines()
        return done.returncode, [line for line in lines if not line.startswith("noise")]

    assert await outcome() == await outcome("--no-daemon")


async def test_output_printed_by_libraries_does_not_reach_the_host(second_user: HostUser):
    command = second_user.build_command("mcp", "--toolsets", "probe")
    calls = [*FIRST_MESSAGES, {"id": 2, "method": "tools/call", "params": {"name": "stand", "arguments": {}}}]
    with subprocess.Popen(
        command, env=second_user.host_environ, cwd=second_user.home, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as host:
        assert host.stdin
        assert host.stdout
        host.stdin.write(encode_messages(calls))
        host.stdin.flush()
        lines = [host.stdout.readline() for _ in range(3)]
        lines += (await anyio.to_thread.run_sync(host.communicate))[0].splitlines()
    assert [json.loads(line)["id"] for line in lines] == [0, 1, 2]
    assert "noise: the descriptor" in second_user.read_logs()


@pytest.mark.parametrize("arguments", [[], ["--no-daemon"]])
@pytest.mark.nightly
async def test_every_request_is_answered_even_if_a_host_only_writes(second_user: HostUser, arguments: list[str]):
    read = encode_messages([{"method": "notifications/cancelled", "params": {"requestId": {"nested": [1]}}}])
    calls = [
        {"id": 7, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": f"{n}"}}} for n in range(9)
    ]
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        done = await anyio.run_process(
            second_user.build_command("mcp", "--toolsets", "probe", *arguments),
            input=encode_messages(FIRST_MESSAGES) + read + encode_messages(calls),
            env=second_user.host_environ,
            cwd=second_user.home,
        )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(answer["id"] for answer in answers) == [0, 1, *[7] * 9]
    told = {answer["result"]["content"][0]["text"] for answer in answers if answer["id"] == 7}
    assert told == {str(number) for number in range(9)}


async def test_the_shared_process_inherits_no_secret_of_the_host_that_started_it(person: HostUser):
    secrets = {
        "GITHUB_PAT": "hush",
        "DB_PASSWORD": "hush",
        "ANTHROPIC_API_KEY": "hush",
        "OUTRIDER_SERVE__TOKEN": "hush",
    }
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with Client(person.build_host_parameters(environ=secrets | {"TZ": "Asia/Tokyo"})) as client:
            process = (await read_place(client))[0]
            environ = Path(f"/proc/{process}/environ").read_bytes()
    assert b"TZ=Asia/Tokyo" in environ
    assert b"hush" not in environ


async def test_a_host_gets_its_own_warnings_on_stderr(second_user: HostUser):
    folder = second_user.home / "warned" / ".outrider"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text('{"keep_days": 1}')
    command = second_user.build_command("mcp", "--toolsets", "probe")
    done = await anyio.run_process(command, input=b"", env=second_user.host_environ, cwd=folder.parent)
    assert b"'keep_days' is ignored" in done.stderr


@pytest.mark.nightly
async def test_megabytes_pass_in_both_directions_and_in_order(second_user: HostUser):
    texts = ["x" * 3_000_000, *(str(number) for number in range(50))]
    heard: list[str] = []
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with Client(second_user.build_host_parameters()) as client, anyio.create_task_group() as tasks:

            async def call(text: str) -> None:
                heard.append(read_first_text(await client.call_tool("echo", {"text": text})))

            for text in texts:
                tasks.start_soon(call, text)
    assert sorted(heard) == sorted(texts)


async def test_a_lone_surrogate_arrives_as_a_replacement_character(second_user: HostUser):
    command = second_user.build_command("mcp", "--toolsets", "probe")
    call = {"id": 2, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "cut \ud83d"}}}
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with await anyio.open_process(command, env=second_user.host_environ) as host:
            assert host.stdin
            assert host.stdout
            await host.stdin.send(encode_messages([*FIRST_MESSAGES, call]))
            answered = BufferedByteReceiveStream(host.stdout)
            answers = [json.loads(await answered.receive_until(b"\n", 1_000_000)) for _ in range(3)]
            await host.stdin.aclose()
    assert [each["id"] for each in answers] == [0, 1, 2]
    assert answers[2]["result"]["content"][0]["text"] == "cut \ufffd"


async def test_an_invalid_line_is_answered(second_user: HostUser):
    command = second_user.build_command("mcp", "--toolsets", "probe")
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with await anyio.open_process(command, env=second_user.host_environ) as host:
            assert host.stdin
            assert host.stdout
            await host.stdin.send(b'{not json\n{"id": 7, "method": "ping"}\n')
            answered = BufferedByteReceiveStream(host.stdout)
            answers = [json.loads(await answered.receive_until(b"\n", 10_000)) for _ in range(2)]
            await host.stdin.aclose()
    assert [(each["error"]["code"], each["id"]) for each in answers] == [(-32700, None), (-32600, 7)]


async def test_keys_of_a_host_are_never_written_to_disk(second_user: HostUser):
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with Client(
            second_user.build_host_parameters(
                environ={"BRAVE_API_KEY": "sesame-1", "OUTRIDER_SERVE__TOKEN": "sesame-2"}
            )
        ) as client:
            await read_place(client)
    kept = [path for path in (second_user.home / ".outrider").rglob("*") if path.is_file() and path.stat().st_size]
    assert not [path for path in kept if b"sesame" in path.read_bytes()]


@pytest.mark.nightly
async def test_other_users_cannot_reach_the_socket(person: HostUser):
    run = person.home / ".outrider" / "run"
    run.mkdir(parents=True)
    run.chmod(0o777)
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with Client(person.build_host_parameters()) as client:
            await read_place(client)
            modes = {each.name: stat.S_IMODE(each.lstat().st_mode) for each in [run, *run.iterdir()]}
    logs = [stat.S_IMODE(each.stat().st_mode) for each in (person.home / ".outrider" / "logs").iterdir()]
    assert modes == {"run": 0o700, "daemon.sock": 0o600, "daemon.lock": 0o600, "starting.lock": 0o600}
    assert set(logs) == {0o600}


async def test_a_run_folder_linked_elsewhere_is_not_used(person: HostUser, tmp_path: Path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (person.home / ".outrider").mkdir()
    (person.home / ".outrider" / "run").symlink_to(elsewhere)
    command = person.build_command("mcp", "--toolsets", "probe")
    done = await anyio.run_process(command, input=b"", env=person.host_environ, cwd=person.home)
    assert b"this process serves alone" in done.stderr
    assert list(elsewhere.iterdir()) == []


@pytest.mark.nightly
async def test_without_a_socket_file_a_loopback_port_is_opened_with_a_token(person: HostUser):
    (person.home / ".outrider" / "run" / "daemon.sock" / "in the way").mkdir(parents=True)
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with Client(person.build_host_parameters()) as client:
            process = (await read_place(client))[0]
            token = person.home / ".outrider" / "run" / "daemon.token"
            assert stat.S_IMODE(token.stat().st_mode) == 0o600
            port = int(token.read_text().split()[0])
            async with await anyio.connect_tcp("127.0.0.1", port) as stranger:
                await stranger.send(b"x" * 32)
                await stranger.receive()
                await stranger.send(b"y" * 32)
                with pytest.raises(anyio.EndOfStream):
                    await stranger.receive()
            assert (await read_place(client))[0] == process


@pytest.mark.nightly
async def test_a_long_path_works(person: HostUser):
    folder = person.home / ("long" * 20) / ("path" * 20)
    folder.mkdir(parents=True)
    person.socket_place = type(person.socket_place)(str(folder))
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with Client(person.build_host_parameters("--set", f"data_dir={folder}")) as client:
            assert (await read_place(client))[0] == str(person.shared_process_pid)


async def test_the_command_shows_and_ends_the_process_and_hosts_continue_with_a_new_one(person: HostUser):
    async def daemon(word: str) -> Any:
        command = person.build_command("daemon", word)
        return await anyio.run_process(command, env=person.host_environ, cwd=person.home, check=False)

    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        assert (await daemon("status")).returncode == 1
        async with Client(person.build_host_parameters()) as client:
            process = (await read_place(client))[0]
            shown = await daemon("status")
            assert f"Running as process {process}".encode() in shown.stdout
            assert b"Hosts connected: 1" in shown.stdout
            assert b"_" not in shown.stdout.replace(str(person.home).encode(), b"")  # not a key of the JSON
            assert b"stopped" in (await daemon("stop")).stderr
            assert not person.shared_process_pid
            assert (await read_place(client))[0] != process


@pytest.mark.nightly
async def test_a_process_whose_only_host_was_refused_ends_soon(person: HostUser):
    settings = person.home / ".outrider" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text('{"egress": {"deny": ["evil.example",]}}')
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        ended = await anyio.run_process(
            person.build_command("mcp"), input=b"", env=person.host_environ, cwd=person.home, check=False
        )
        settings.unlink()
        assert ended.returncode == 2
        assert b"line 1, column " in ended.stderr
        process = person.shared_process_pid
        assert process
        await shared_process.wait_for_exit(process)


async def test_a_host_that_ends_its_input_ends_its_relay(second_user: HostUser):
    done = await anyio.run_process(
        [sys.executable, "-m", "outrider", "mcp"], input=b"", env=second_user.host_environ, cwd=second_user.home
    )
    assert (done.returncode, done.stdout) == (0, b"")

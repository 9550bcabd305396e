"""The system call filter, run here like in the kernel, for every supported machine."""

import errno
import struct

import pytest

from outrider.workspace.sandbox import seccomp
from outrider.workspace.sandbox.syscalls import AUDIT_ARCH, SUPPORTED_MACHINES, SYSCALL_NUMBERS, find_number

ALLOWED, KILLED = "allowed", "killed"


def run_filter(program: bytes, call: int, *arguments: int, arch: int) -> str | int:
    """Run the filter on a call; return allowed, killed, or the error number."""
    data = struct.pack("=IIQ6Q", call, arch, 0, *arguments, *[0] * (6 - len(arguments)))
    steps = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    at, value = 0, 0
    while True:
        code, then, otherwise, operand = steps[at]
        at += 1
        match code:
            case 0x20:
                (value,) = struct.unpack_from("=I", data, operand)
            case 0x54:
                value &= operand
            case 0x15:
                at += then if value == operand else otherwise
            case 0x35:
                at += then if value >= operand else otherwise
            case 0x06:
                return decode_verdict(operand)
            case _:
                raise AssertionError(f"no such instruction: {code:#x}")


def decode_verdict(operand: int) -> str | int:
    if operand == 0x7FFF0000:
        return ALLOWED
    return KILLED if operand == 0x80000000 else operand & 0xFFFF


@pytest.fixture(params=SUPPORTED_MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    return request.param


def ask_filter(machine: str, name: str, *arguments: int, more: tuple[seccomp.SyscallRule, ...] = ()) -> str | int:
    program = seccomp.build_program((*seccomp.BASE_RULES, *more), seccomp.OWN_SOCKET_FAMILIES, machine)
    call = find_number(name, machine)
    assert call is not None
    return run_filter(program, call, *arguments, arch=AUDIT_ARCH[machine])


def test_unneeded_system_calls_are_refused(subtests: pytest.Subtests, machine: str):
    for name in seccomp.FORBIDDEN_CALLS.split():
        with subtests.test(name=name):
            if find_number(name, machine) is not None:
                assert ask_filter(machine, name) == errno.EPERM


@pytest.mark.parametrize("name", seccomp.ABSENT_CALLS.split())
def test_calls_whose_arguments_no_filter_can_inspect_do_not_exist(machine: str, name: str):
    assert ask_filter(machine, name) == errno.ENOSYS


def test_processes_may_be_created_but_not_namespaces(machine: str):
    assert ask_filter(machine, "clone", 0x01200011) == ALLOWED
    for flag in (0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x80):
        assert ask_filter(machine, "clone", flag | 17) == errno.EPERM


@pytest.mark.parametrize(("family", "expected"), [(1, ALLOWED), (2, ALLOWED), (10, ALLOWED), (16, ALLOWED)])
def test_ordinary_sockets_may_be_made(machine: str, family: int, expected: str):
    assert ask_filter(machine, "socket", family) == expected


@pytest.mark.parametrize("family", [0, 3, 15, 17, 29, 31, 38, 40, 44])
def test_other_sockets_are_refused(machine: str, family: int):
    assert ask_filter(machine, "socket", family) == errno.EAFNOSUPPORT


def test_no_socket_may_be_made_if_the_network_is_shared(machine: str):
    program = seccomp.build_program(seccomp.BASE_RULES, seccomp.NO_SOCKET_FAMILIES, machine)
    call = find_number("socket", machine)
    assert call is not None
    for family in range(50):
        assert run_filter(program, call, family, arch=AUDIT_ARCH[machine]) == errno.EAFNOSUPPORT


def test_setuid_and_setgid_bits_are_refused(machine: str):
    for name, at in seccomp.MODE_ARGUMENTS.items():
        if find_number(name, machine) is not None:
            assert ask_filter(machine, name, *[0] * at, 0o100755) == ALLOWED
            assert ask_filter(machine, name, *[0] * at, 0o104755) == errno.EPERM
            assert ask_filter(machine, name, *[0] * at, 0o102755) == errno.EPERM


def test_terminals_may_be_queried_but_not_typed_into(machine: str):
    assert ask_filter(machine, "ioctl", 0, 0x5401) == ALLOWED
    assert ask_filter(machine, "ioctl", 0, 0x5412) == errno.EPERM
    assert ask_filter(machine, "ioctl", 0, 0x541C) == errno.EPERM


def test_the_upper_half_of_an_argument_is_ignored(machine: str):
    assert ask_filter(machine, "ioctl", 0, 0x5412 | 1 << 40) == errno.EPERM
    assert ask_filter(machine, "socket", 38 | 1 << 40) == errno.EAFNOSUPPORT


def test_a_process_may_limit_itself_but_no_other(machine: str):
    assert ask_filter(machine, "prlimit64", 0, 7, more=seccomp.SHARED_PROCESS_RULES) == ALLOWED
    assert ask_filter(machine, "prlimit64", 4_242, 7, more=seccomp.SHARED_PROCESS_RULES) == errno.EPERM


def test_attribute_changes_of_the_same_users_files_pretend_to_succeed(machine: str):
    assert ask_filter(machine, "fchmodat", -100 & 0xFFFFFFFF, 0, 0o644, more=seccomp.FILE_ATTRIBUTE_RULES) == 0
    assert ask_filter(machine, "utimensat", 3, 0, more=seccomp.FILE_ATTRIBUTE_RULES) == ALLOWED
    assert ask_filter(machine, "utimensat", 3, 0x7FFF1234, more=seccomp.FILE_ATTRIBUTE_RULES) == 0


def test_another_architecture_ends_the_process(machine: str):
    program = seccomp.build_program(seccomp.BASE_RULES, seccomp.OWN_SOCKET_FAMILIES, machine)
    assert run_filter(program, 1, arch=0x40000003) == KILLED


def test_the_x32_abi_does_not_exist():
    program = seccomp.build_program(seccomp.BASE_RULES, seccomp.OWN_SOCKET_FAMILIES, "x86_64")
    assert run_filter(program, 0x40000000 | 39, arch=AUDIT_ARCH["x86_64"]) == errno.ENOSYS


def test_unlisted_calls_are_allowed(machine: str):
    program = seccomp.build_program(seccomp.BASE_RULES, seccomp.OWN_SOCKET_FAMILIES, machine)
    named = {find_number(name, machine) for name in SYSCALL_NUMBERS}
    for call in set(range(460)) - named:
        assert run_filter(program, call, arch=AUDIT_ARCH[machine]) == ALLOWED


def test_unknown_machines_have_no_filter():
    assert not seccomp.is_supported("riscv64")
    assert seccomp.is_supported("aarch64")

"""Run cells of Python in one namespace, as notebooks do.

It is copied into the sandbox and started by its path, so it imports nothing of the package. Each line of standard input
is a request, `{"mark": …, "code": …}` as JSON. A cell's output ends with the mark on both streams; on standard output a
reply of JSON follows it, after its length in eight hexadecimal digits.
"""

import ast
import importlib
import io
import json
import linecache
import os
import sys
import traceback
import types
from contextlib import suppress

MAX_VALUE_CHARS = 200_000
WORKSPACE = os.path.realpath(os.getcwd())


class PythonCells:
    """One namespace, the module `__main__`, and the modules of the workspace that it has imported."""

    def __init__(self) -> None:
        main_module = types.ModuleType("__main__")
        sys.modules["__main__"] = main_module
        self.namespace = main_module.__dict__
        self.hidden_names = set(self.namespace) | {"__file__"}
        self.count = 0
        self.source_path = ""
        self.module_times: dict[str, tuple[str, int]] = {}
        self.loop = None

    def run_cell(self, code: str) -> dict[str, object]:
        """Run a cell; return its exit code, the text of its last value, and the names of all variables."""
        self.count += 1
        self._forget_changed_modules()
        exit_code, value = 0, None
        try:
            folder = os.environ.get("TMPDIR", "/tmp")  # noqa: S108 - the sandbox's own
            path = os.path.join(folder, f"cell-{os.getpid()}-{self.count}.py")
            linecache.cache[path] = (len(code), None, code.splitlines(keepends=True), path)
            with suppress(OSError):
                os.unlink(self.source_path)
            self.source_path = path
            with suppress(OSError, UnicodeError), open(path, "w", encoding="utf-8") as file:
                file.write(code)
            self.namespace["__file__"] = path
            value = self._execute(code, path)
        except SystemExit as error:
            exit_code = read_exit_code(error)
        except BaseException as error:
            exit_code = 1
            print_error(error)
        self._flush_files()
        self.module_times = dict(list_workspace_modules())
        names = [name for name in self.namespace if name not in self.hidden_names and not name.startswith("_")]
        return {"exit_code": exit_code, "value": value, "names": names}

    def _execute(self, code: str, path: str) -> "str | None":
        tree = ast.parse(code, path)
        last = tree.body[-1] if tree.body else None
        shows_value = isinstance(last, ast.Expr) and not code.rstrip().endswith(";")
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        if not shows_value:
            self._evaluate(compile(tree, path, "exec", flags, dont_inherit=True))
            save_figures()
            return None
        tree.body.pop()
        program = compile(tree, path, "exec", flags, dont_inherit=True)
        expression = compile(ast.Expression(last.value), path, "eval", flags, dont_inherit=True)
        self._evaluate(program)
        value = self._evaluate(expression)
        save_figures(value)
        return render_value(value)

    def _evaluate(self, program: types.CodeType) -> object:
        result = eval(program, self.namespace)  # noqa: S307 - running code is the purpose
        if not program.co_flags & 0x80:  # CO_COROUTINE: the cell awaits at its top level
            return result
        import asyncio

        self.loop = self.loop or asyncio.new_event_loop()
        return self.loop.run_until_complete(result)

    def _flush_files(self) -> None:
        """Write out open files, as the end of a script would."""
        for value in (*self.namespace.values(), sys.stdout, sys.stderr):
            if isinstance(value, io.IOBase):
                with suppress(Exception):
                    value.flush()

    def _forget_changed_modules(self) -> None:
        """Forget the imported modules of the workspace if one of their files has changed."""
        importlib.invalidate_caches()
        if any(read_time(path) != time for path, time in self.module_times.values()):
            for name in self.module_times:
                sys.modules.pop(name, None)


def list_workspace_modules() -> "list[tuple[str, tuple[str, int]]]":
    """Return name, file and modification time of the imported modules of the workspace."""
    found = []
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__dict__", {}).get("__file__") if name != "__main__" else None
        if isinstance(path, str) and path.startswith(WORKSPACE + os.sep) and "site-packages" not in path:
            found.append((name, (path, read_time(path))))
    return found


def read_time(path: str) -> int:
    """Return the modification time of a file; 0 if it is gone."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def save_figures(value: object = None) -> None:
    """Save the cell's figures, and a picture that is its value."""
    plots = sys.modules.get("outrider_plots")
    if plots:
        plots.show_all(value)
    render = getattr(type(value), "_repr_png_", None)  # for instance a picture of Pillow
    data = render(value) if render else None
    if isinstance(data, bytes):
        number = 1
        while os.path.exists(f"plot-{number}.png"):
            number += 1
        with open(f"plot-{number}.png", "xb") as file:
            file.write(data)


def render_value(value: object) -> "str | None":
    """Return a value as notebooks show it; None for None."""
    if value is None:
        return None
    pandas = sys.modules.get("pandas")
    if pandas and type(value).__module__.partition(".")[0] == "pandas":
        with pandas.option_context("display.width", 200, "display.max_columns", 30, "display.max_rows", 60):
            text = repr(value)
    else:
        text = repr(value)
    if len(text) > MAX_VALUE_CHARS:
        half = MAX_VALUE_CHARS // 2
        text = f"{text[:half]}\n… ({len(text) - 2 * half:,} characters are left out here) …\n{text[-half:]}"
    return text


def print_error(error: BaseException) -> None:
    """Print the traceback of a cell, without the frames of this file."""
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename in (__file__, ast.__file__):
        frames = frames.tb_next
    try:
        sys.excepthook(type(error), error.with_traceback(frames), frames)
    except BaseException:
        traceback.print_exc()


def read_exit_code(error: SystemExit) -> int:
    """Return the exit code that a script would have; print the message of `sys.exit("message")`."""
    if error.code is None or isinstance(error.code, int):
        return (error.code or 0) & 0xFF
    print(error.code, file=sys.stderr)
    return 1


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes, even if the pipe takes only a part at once."""
    while data:
        data = data[os.write(descriptor, data) :]


def main() -> None:
    """Run the cells requested on standard input."""
    # Copy the streams, because a cell may close or redirect its own.
    requests, stdout, stderr = os.fdopen(os.dup(0), "rb"), os.dup(1), os.dup(2)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    cells, pid = PythonCells(), os.getpid()
    for line in requests:
        request = json.loads(line)
        if sys.stdin is None or sys.stdin.closed:  # `exit()` closes it
            sys.stdin = open(os.devnull)
        reply = json.dumps(cells.run_cell(request["code"])).encode()
        if os.getpid() != pid:  # a child forked by the cell that has run to the cell's end
            os._exit(0)
        mark = request["mark"].encode()
        write_all(stderr, mark)
        write_all(stdout, mark + b"%08x" % len(reply) + reply)


if __name__ == "__main__":
    main()

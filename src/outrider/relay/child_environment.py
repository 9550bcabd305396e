"""Choose the environment variables that a child process inherits."""

# What programs and their libraries need on any machine. Everything else may be a key, so it is not passed on.
INHERITED_NAMES = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LOCPATH", "TZ", "TZDIR",
    "TMPDIR", "TEMP", "TMP", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT",
)  # fmt: skip
# A program with windows, fonts and graphics needs these too.
DESKTOP_PREFIXES = (
    "XDG_", "DISPLAY", "WAYLAND_", "XAUTHORITY", "DBUS_SESSION_", "FONTCONFIG_", "GTK_", "MESA_", "LIBGL_",
    "LIBVA_", "VK_", "__GLX_", "__EGL_", "SNAP", "FLATPAK_", "CHROME_", "CHROMIUM_",
)  # fmt: skip


def select_child_environment(environ: "dict[str, str]", *prefixes: str) -> "dict[str, str]":
    """Return the variables that every program needs, and those whose names start with a prefix."""
    allowed = ("LC_", *prefixes)
    return {name: environ[name] for name in environ if name in INHERITED_NAMES or name.startswith(allowed)}

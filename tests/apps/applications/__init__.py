"""Each module of this folder is an application with its tasks, as `application`."""

import importlib
import pkgutil

from tests.apps.bed import Application

_modules = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
APPLICATIONS: dict[str, Application] = {module.application.name: module.application for module in _modules}

"""One mutant: in a process of its own, a module is imported with one change, and tests run until one fails."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, ModuleType

import pytest
from hypothesis import Phase, settings
from tools.mutation.mutants import mutated
from tools.mutation.reached import SOURCE, pytest_options

SLOWER, MORE = 10.0, 10.0
"""A test hangs if it takes this many times its time, and this many seconds more, of processor time."""


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a module with one change."""

    def __init__(self, module: str, path: Path, change: str) -> None:
        super().__init__(module, str(path))
        self.change = change

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        """Compile the changed tree; nothing is read from or kept beside the module."""
        return compile(mutated(Path(self.path), self.change), self.path, "exec")


class Finder(importlib.abc.MetaPathFinder):
    """Finds that module before Python does."""

    def __init__(self, module: str, path: Path, change: str) -> None:
        self.module, self.path, self.change = module, path, change

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        """Return how the module is loaded, and nothing for all others."""
        if fullname != self.module:
            return None
        folder = [str(self.path.parent)] if self.path.name == "__init__.py" else None
        loader = Loader(fullname, self.path, self.change)
        return importlib.util.spec_from_file_location(
            fullname, self.path, loader=loader, submodule_search_locations=folder
        )


class Chosen:
    """A pytest plugin that runs the chosen tests, in their order, and notes the first that fails."""

    def __init__(self, seconds: dict[str, float], note: Path) -> None:
        self.seconds, self.note = seconds, note
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep what was chosen."""
        found = {item.nodeid: item for item in items}
        items[:] = [found[name] for name in self.seconds if name in found]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """End the process, wherever it is, if the test hangs."""
        self.note.write_text(nodeid, encoding="utf-8")
        signal.setitimer(signal.ITIMER_PROF, SLOWER * self.seconds[nodeid] + MORE)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what failed."""
        if report.failed:
            self.failed = self.failed or report.nodeid


def try_change(module: str, change: str, stages: list[dict[str, float]], note: Path) -> dict[str, str]:
    """Return what became of a mutant: killed, and by which test, or survived. An empty change is a control.

    The stages hold tests and their seconds.

    Hypothesis does not look for smaller examples, which would take longest; CI=1 has it try the same ones each time.
    """
    settings.register_profile("mutation", phases=[Phase.explicit, Phase.generate], report_multiple_bugs=False)
    settings.load_profile("mutation")
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, 6 * MORE)
    note.write_text("import", encoding="utf-8")
    if change:
        path = SOURCE / module
        name = ".".join(["labelsure", *Path(module).with_suffix("").parts]).removesuffix(".__init__")
        sys.meta_path.insert(0, Finder(name, path.resolve(), change))
        try:
            importlib.import_module(name)
        except Exception as error:
            return {"status": "killed", "by": f"import: {type(error).__name__}"}
    for seconds in stages:
        chosen = Chosen(seconds, note)
        files = [*dict.fromkeys(nodeid.partition("::")[0] for nodeid in seconds)]
        code = int(pytest.main([*pytest_options(*files), "-x"], plugins=[chosen]))
        if code in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED):
            return {"status": "killed", "by": chosen.failed or "collection"}
        if code != pytest.ExitCode.OK:
            return {"status": "error", "by": f"pytest ended with {code}"}
    return {"status": "survived"}

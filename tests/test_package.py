"""The package as a whole: names, weight, rooms."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import holdsup

PUBLIC = """
Audit BlockedCV ColumnError Comparison Contest Decomposition EvaluationPlan EarlyStopping EstimateStudy FitError FormulaError Gate GlmmFit HoldOut HoldsupError JKFold JKSearchCV
KFold LmmFit Measurement MeasurementError MetricError MissingExtra NotNested Plan Ranking ReadError RepeatedHoldOut Reproduction ResultError RunError
RunRanking RunReport Scores ScoresError Spec SpecError SplitError StoppingStudy Store StoreError TaskError Tuning TuningAdvice TuningError TuningStudy VoteRanking
__version__ advise_tuning assess_repeatability assess_reproduction audit_scores compare_systems decompose_variance fit_glmm fit_lmm gate_release judge_tuning make_plan
optuna_objective order_items plan_evaluation plot rank_runs rank_systems rank_votes rate_items read_measurements read_result read_scores read_spec run_contest run_plan simulate_scores study_estimates study_stopping
study_tuning write_paper write_report
""".split()

HEAVY = ("numpy", "scipy", "pyarrow", "sklearn", "matplotlib", "pandas", "polars", "rich", "jinja2")


def modules_after(code: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter has loaded after running `code`."""
    script = f"import sys\nsys.argv = ['holdsup', '--help']\n{code}\nprint('MODULES', *sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.rpartition("MODULES")[2].split()}


def test_public_names_are_these_and_no_others() -> None:
    assert sorted(holdsup.__all__) == sorted(PUBLIC)
    assert sorted(dir(holdsup)) == sorted(PUBLIC)


def test_every_public_name_loads_and_is_documented() -> None:
    for name in PUBLIC:
        thing = getattr(holdsup, name)
        assert name.startswith("__") or (thing.__doc__ or "").strip(), f"{name} has no docstring"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'frobnicate'"):
        holdsup.frobnicate  # noqa: B018


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert not modules_after("import holdsup") & set(HEAVY)


def test_help_loads_nothing_heavy() -> None:
    code = "from holdsup.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass"
    assert not modules_after(code) & set(HEAVY)


@pytest.mark.parametrize("command", ["check", "compare", "variance"])
def test_a_question_loads_only_what_its_answer_needs(root: Path, command: str) -> None:
    asked = f"sys.argv = ['holdsup', '{command}', {str(root / 'examples/scores.csv')!r}]"
    tell = "atexit.register(lambda: print('MODULES', *sys.modules))"  # the command line leaves without returning
    script = f"import atexit, sys\n{tell}\n{asked}\nfrom holdsup.cli import main\nmain()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True)
    loaded = set(done.stdout.rpartition("MODULES")[2].split())
    assert "holdsup.cli" in loaded
    assert not loaded & {
        "pandas", "polars", "sklearn", "matplotlib", "numba", "rich", "jinja2", "asyncio", "ssl", "scipy.stats",
        "pyarrow.parquet", "holdsup.experiment", "holdsup.studies", "holdsup.plots", "holdsup.report",
        "holdsup.verdict.ranking", "holdsup.verdict.reproduction", "holdsup.verdict.contest",
    }  # fmt: skip
    if command != "variance":
        assert not loaded & {"scipy.optimize", "multiprocessing", "holdsup.verdict.variance", "holdsup.fit.profile"}
    if command == "check":
        assert not loaded & {"scipy", "holdsup.fit", "holdsup.design", "holdsup.verdict"}


def test_only_a_process_of_its_own_is_without_pandas(root: Path) -> None:
    code = f"from holdsup.cli import main\ntry: main(['check', {str(root / 'examples/scores.csv')!r}])\nexcept SystemExit: pass"
    assert "pandas" in modules_after(f"{code}\nimport pandas")


def test_help_of_each_command_loads_nothing_heavy() -> None:
    code = "from holdsup.cli import main\nfor c in ('check', 'compare', 'variance', 'rank', 'qra', 'contest', 'tune', 'run', 'fit', 'report', 'demo'):\n    try: main([c, '--help'])\n    except SystemExit: pass"
    assert not modules_after(code) & set(HEAVY)


def test_python_dash_m_runs_the_command_line() -> None:
    done = subprocess.run([sys.executable, "-m", "holdsup", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["holdsup,", "version", holdsup.__version__]


def test_every_room_is_described_in_the_architecture_page(root: Path) -> None:
    rooms = {path.stem for path in (root / "src/holdsup").iterdir() if path.suffix == ".py" or path.is_dir()}
    rooms -= {"__init__", "__main__", "__pycache__"}
    page = (root / "docs/architecture.md").read_text(encoding="utf-8")
    missing = {room for room in rooms if f"`{room}`" not in page}
    assert not missing


def test_no_module_has_more_than_400_lines(root: Path) -> None:
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in (root / "src").rglob("*.py")}
    assert not {str(path): size for path, size in sizes.items() if size > 400}


def test_no_module_is_called_for_nothing_in_particular(root: Path) -> None:
    vague = {"utils", "helpers", "common", "misc", "base"}
    assert not [path for path in (root / "src").rglob("*.py") if path.stem in vague]


def test_no_module_shares_its_name_with_what_its_package_exports(root: Path) -> None:
    for package in (root / "src/holdsup").rglob("__init__.py"):
        name = ".".join(("holdsup", *package.parent.relative_to(root / "src/holdsup").parts))
        exported = set(getattr(importlib.import_module(name), "__all__", ()))
        modules = {path.stem for path in package.parent.glob("*.py")} - {"__init__"}
        assert not exported & modules, package


def test_versions_agree(root: Path) -> None:
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {holdsup.__version__}\n" in citation


def test_the_changelog_has_an_unreleased_section_with_an_entry(root: Path) -> None:
    unreleased = (root / "CHANGELOG.md").read_text(encoding="utf-8").partition("## Unreleased")[2].partition("\n## ")[0]
    assert re.search(r"^- ", unreleased, flags=re.MULTILINE)


def test_the_package_ships_its_types_and_schemas() -> None:
    home = Path(os.fspath(holdsup.__file__)).parent
    assert (home / "py.typed").exists()
    assert list((home / "results/schemas").glob("*.json"))


def test_no_property_is_refuted_by_a_busy_machine() -> None:
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check

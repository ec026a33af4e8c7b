"""The house rules that a reader relies on: arrows point one way, the middle is pure, start-up stays cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GATE = ROOT / "gate"
MODULES = sorted(path for path in GATE.rglob("*.py"))

# From the bottom up: a module may import from its own room and from rooms below it, never from above.
# Rooms of one row do not know each other.
ROWS = [
    {"gate.safe", "gate.values"},
    {"gate.git", "gate.stats"},
    {"gate.policy", "gate.artifacts"},
    {"gate.pairing", "gate.cycles"},
    {"gate.estimands", "gate.history"},
    {"gate.measure"},
    {"gate.decide"},
    {"gate.report"},
    {"gate.run"},
    {"gate.planning", "gate.replay"},
    {"gate.api", "gate.ci"},
    {"gate.cli"},
    {"gate", "gate.__main__"},
]
ALLOWED_SIDEWAYS = {("gate.policy", "gate.stats")}
PURE = ("stats", "estimands", "measure", "pairing", "cycles", "decide")


def name_of(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    parts = module.split(".")
    return ".".join(parts[:2])


def row_of(room: str) -> int:
    found = [number for number, rooms in enumerate(ROWS) if room in rooms]
    assert found, f"{room} has no place in the layout: add it to ROWS"
    return found[0]


def imports_of(path: Path) -> set[str]:
    """Modules that are imported anywhere in this one: at its head, inside functions, for type checkers."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {*(below & KNOWN), node.module} - ({node.module} if below <= KNOWN else set())
    return found


KNOWN = {name_of(path) for path in MODULES}
MOST_ROOMS = 19


def test_the_house_stays_small() -> None:
    rooms = {room_of(module) for module in KNOWN} - {"gate", "gate.__main__"}
    assert len(rooms) <= MOST_ROOMS, sorted(rooms)


@pytest.mark.parametrize(
    ("sign", "place"),
    [('["git"', "gate/git/inert.py"), ("O_NOFOLLOW", "gate/safe.py")],
    ids=["git", "opener"],
)
def test_what_must_be_safe_is_done_in_one_place(sign: str, place: str) -> None:
    found = [path for path in MODULES if sign in path.read_text(encoding="utf-8")]
    assert [path.relative_to(ROOT).as_posix() for path in found] == [place]


def test_no_module_needs_itself() -> None:
    needs = {name_of(path): imports_of(path) & KNOWN for path in MODULES}
    try:
        list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        pytest.fail(f"a circle: {' needs '.join(reversed(error.args[1]))}")


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_arrows_point_one_way(path: Path) -> None:
    own = room_of(name_of(path))
    for module in imports_of(path):
        if not (module == "gate" or module.startswith("gate.")):
            continue
        other = room_of(module)
        if other == own or (own, other) in ALLOWED_SIDEWAYS:
            continue
        assert row_of(other) < row_of(own), f"{name_of(path)} imports {module}, which lies above it"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_scipy_stats_is_an_oracle_and_nothing_else(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not [module for module in imports_of(path) if module.startswith("scipy.stats")]
    assert "scipy.stats" not in text or "import" not in text.split("scipy.stats")[0].rsplit("\n", 1)[-1]


@pytest.mark.parametrize(
    "path", [path for path in MODULES if path.relative_to(GATE).parts[0] in PURE], ids=name_of
)
def test_the_middle_is_pure(path: Path) -> None:
    banned = {"print", "open", "input"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in banned, f"{node.func.id}() in line {node.lineno}"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sys":
            assert node.attr == "float_info", f"sys.{node.attr} in line {node.lineno}"
    assert not imports_of(path) & {"os", "time", "random", "logging", "pathlib", "subprocess", "socket"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nothing_runs_code_from_data(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not imports_of(path) & {"pickle", "marshal", "shelve", "dill", "joblib"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in {"eval", "exec", "yaml.load", "yaml.unsafe_load", "os.system"}


def modules_after(*argv: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after one command line."""
    code = (
        "import sys, io\n"
        "from gate.cli.main import main\n"
        f"main({list(argv)!r}, io.StringIO(), io.StringIO())\n"
        "print(' '.join(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


def test_version_needs_no_numerics() -> None:
    loaded = modules_after("--version")
    assert not loaded & {"numpy", "scipy", "pydantic", "msgspec", "yaml", "jinja2", "duckdb"}


def test_a_run_on_small_files_loads_nothing_heavy(tmp_path: Path) -> None:
    policy = tmp_path / "gate.yaml"
    policy.write_text(
        "version: 1\nname: x\ngating: {metric: correct, kind: binary, direction: higher, margin: 0.01}\n",
        encoding="utf-8",
    )
    for name, shift in (("baseline", 0), ("candidate", 1)):
        rows = [f'{{"id": "q{i}", "correct": {int((i + shift) % 3 > 0)}}}' for i in range(100)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    files = [str(tmp_path / f"{name}.jsonl") for name in ("baseline", "candidate")]
    loaded = modules_after("run", "--policy", str(policy), "--baseline", files[0], "--candidate", files[1])
    assert "gate.run.pipeline" in loaded
    assert not loaded & {
        "scipy.stats",
        "duckdb",
        "zstandard",
        "statsmodels",
        "jinja2",
        "xml.etree.ElementTree",
    }

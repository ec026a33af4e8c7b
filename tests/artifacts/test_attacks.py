"""Files made to hurt: each is refused with one typed error, soon, and without memory."""

from __future__ import annotations

import ast
import gzip
import io
import json
import os
import pickle
import stat
import struct
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import zstandard

import gate.artifacts
from gate.artifacts import ReadRequest, read, survey
from gate.values import GateError

from .helpers import refusal, write
from .tools import zipped

REQUEST = ReadRequest(metrics={"score": "graded"})
MIB = 1 << 20


def refused(path: Path | str) -> GateError:
    """The same refusal from a read and from a first look."""
    with pytest.raises(GateError) as caught:
        read(str(path), REQUEST)
    with pytest.raises(GateError) as first_look:
        survey(str(path))
    assert first_look.value.code
    assert len(caught.value.message) < 1000
    return caught.value


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_pickles_are_never_read(tmp_path: Path, protocol: int) -> None:
    error = refusal(tmp_path, pickle.dumps({"id": [1]}, protocol=protocol), "a.pkl")
    assert error.code == "unknown_format"
    assert "pickle" in error.message
    refusal(tmp_path, pickle.dumps({"id": [1]}, protocol=0), "a.csv")


def test_arrays_of_objects_and_torch_files_are_never_read(tmp_path: Path) -> None:
    bare = io.BytesIO()
    np.save(bare, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert refusal(tmp_path, bare.getvalue(), "a.npy").code == "unknown_format"
    assert "pickle" in refusal(tmp_path, zipped({"archive/data.pkl": "x"}), "a.pt").message


def test_the_code_knows_no_way_to_run_a_file() -> None:
    """No pickle, eval, exec or extractall; every np.load says allow_pickle=False."""
    forbidden = {"eval", "exec", "compile", "extractall", "extract", "loads_pickle", "unsafe_load"}
    for path in Path(gate.artifacts.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name for alias in node.names} | {getattr(node, "module", None) or ""}
                assert not names & {"pickle", "cPickle", "dill", "joblib", "shelve", "marshal", "torch"}, path
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", None) or getattr(node.func, "attr", "")
                own_regex = name == "compile" and getattr(getattr(node.func, "value", None), "id", "") == "re"
                assert name not in forbidden or own_regex, (path, node.lineno, name)
                if name == "load" and getattr(getattr(node.func, "value", None), "id", "") == "np":
                    assert {k.arg: getattr(k.value, "value", None) for k in node.keywords} == {
                        "allow_pickle": False
                    }


@pytest.mark.parametrize("pack", ["gzip", "zstd"])
def test_decompression_bombs(tmp_path: Path, pack: str) -> None:
    path = tmp_path / "bomb.jsonl"
    if pack == "gzip":
        path.write_bytes(gzip.compress(b"0" * (64 * MIB)))
    else:
        with path.open("wb") as out, zstandard.ZstdCompressor().stream_writer(out) as file:
            for _ in range(64):
                file.write(b"0" * MIB)
    assert refused(path).code == "unpacks_too_large"


def test_what_unpacks_to_too_much_without_a_high_ratio(tmp_path: Path) -> None:
    path = tmp_path / "big.zst"
    with path.open("wb") as out, zstandard.ZstdCompressor(level=1).stream_writer(out) as file:
        for _ in range(257):
            file.write(os.urandom(MIB // 64) + b"0" * (MIB - MIB // 64))
    with pytest.raises(GateError) as caught:
        read(str(path), REQUEST)
    assert caught.value.code == "unpacks_too_large"
    assert "256 MiB" in caught.value.message


def eval_log(name: str, data: bytes) -> bytes:
    return zipped({"header.json": '{"status":"success"}', name: data})


def test_a_bomb_in_an_archive(tmp_path: Path) -> None:
    error = refused(write(tmp_path, "bomb.eval", eval_log("samples/1_epoch_1.json", b" " * (16 * MIB))))
    assert error.code == "unpacks_too_large"
    assert "samples/1_epoch_1.json" in error.where


def test_an_archive_that_lies_about_sizes(tmp_path: Path) -> None:
    raw = bytearray(zipped({"header.json": b" " * (64 * MIB)}))
    struct.pack_into("<I", raw, raw.find(b"PK\x01\x02") + 24, 10)
    struct.pack_into("<I", raw, raw.find(b"PK\x03\x04") + 22, 10)
    assert refused(write(tmp_path, "lying.eval", bytes(raw))).code == "unpacks_too_large"


def test_an_archive_with_too_many_members(tmp_path: Path) -> None:
    raw = bytearray(zipped({"header.json": "{}"}))
    struct.pack_into("<HH", raw, raw.rfind(b"PK\x05\x06") + 8, 50_001, 50_001)
    assert refused(write(tmp_path, "many.eval", bytes(raw))).code == "archive_too_large"


@pytest.mark.parametrize("name", ["../../evil.json", "/abs.json", "..\\win.json", "C:\\x.json", "a/../../b"])
def test_members_that_leave_the_archive(tmp_path: Path, name: str) -> None:
    assert refused(write(tmp_path, "a.eval", eval_log(name, b"{}"))).code == "unsafe_archive"


def test_links_doubles_and_secrets_in_archives(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("samples/link.json")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    for members in ([(link, "/etc/passwd")], [("header.json", '{"a":1}'), ("header.json", '{"a":2}')]):
        path = tmp_path / "a.eval"
        with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
            warnings.simplefilter("ignore")
            for name, data in members:
                archive.writestr(name, data)
        assert refused(path).code == "unsafe_archive"
    raw = bytearray(zipped({"header.json": "{}"}))
    raw[raw.find(b"PK\x01\x02") + 8] |= 1
    assert refused(write(tmp_path, "b.eval", bytes(raw))).code == "unsafe_archive"


def test_a_member_with_a_wrong_checksum(tmp_path: Path) -> None:
    raw = bytearray(zipped({"header.json": "{}"}))
    raw[raw.find(b"PK\x01\x02") + 16] ^= 1
    assert refused(write(tmp_path, "b.eval", bytes(raw))).code == "broken_archive"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[" * 200_000 + "]" * 200_000, "too_deep"),
        ('{"id":"a","score":1,"x":' + '{"a":' * 50_000 + "1" + "}" * 50_000 + "}\n", "too_deep"),
        ('{"id":"a","score":1,"x":' + "[" * 65 + "]" * 65 + '}\n{"id":"b","score":1}\n', "too_deep"),
        ('{"id":"a","score":' + "9" * 2_000_000 + "}\n", "invalid_json"),
        ('{"id":' + "9" * 5_000 + ',"score":1}\n{"id":"b","score":1}\n', "invalid_json"),
    ],
)
def test_deep_and_endless_json(tmp_path: Path, text: str, code: str) -> None:
    assert refused(write(tmp_path, "a.json", text)).code == code


def test_the_limit_on_digits_holds_where_the_environment_lifts_it(tmp_path: Path) -> None:
    path = write(tmp_path, "a.json", '[{"id":"a","score":' + "9" * 100_000 + "}]")
    code = f"from gate.artifacts import *\ntry: read({path!r}, ReadRequest(metrics={{'score':'graded'}}))\n"
    code += "except Exception as error: print(type(error).__name__, error.code)"
    environment = os.environ | {"PYTHONINTMAXSTRDIGITS": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["GateError", "invalid_json"]


def test_an_endless_line(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(b'{"id":"a","score":1,"note":"')
        for _ in range(300):
            file.write(b"x" * MIB)
        file.write(b'"}\n')
    assert refused(path).code == "line_too_long"


@pytest.mark.parametrize("target", ["/etc/passwd", "/dev/zero", "loop", "ok.jsonl"])
def test_links_are_not_followed(tmp_path: Path, target: str) -> None:
    write(tmp_path, "ok.jsonl", '{"id":"a","score":1}\n')
    link = tmp_path / "loop"
    link.symlink_to(target)
    error = refused(link)
    assert error.code == "not_a_regular_file"
    assert "symbolic link" in error.message


def test_a_linked_parent_directory_is_fine(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    write(tmp_path / "real", "ok.jsonl", '{"id":"a","score":1}\n')
    (tmp_path / "link").symlink_to("real")
    assert len(read(str(tmp_path / "link" / "ok.jsonl"), REQUEST)) == 1


def test_pipes_devices_and_directories_do_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    devices = [path for path in (Path("/dev/null"), Path("/dev/zero")) if path.is_char_device()]
    for path in (tmp_path / "fifo", tmp_path, *devices):
        assert refused(path).code == "not_a_regular_file"


@pytest.mark.parametrize("path", ["none.csv", "a/b/c", "x\x00y", "x" * 5000])
def test_files_that_are_not_there(tmp_path: Path, path: str) -> None:
    error = refused(tmp_path / path if "\x00" not in path else path)
    assert error.code == "artifact_not_found"


def test_thousands_of_columns_that_nobody_asked_for(tmp_path: Path) -> None:
    row = {f"metric_{i:05d}": 1 for i in range(20_000)}
    text = "".join(json.dumps({"id": f"i{k}", **row}) + "\n" for k in range(3))
    assert len(read(write(tmp_path, "a", text), ReadRequest(metrics={"metric_00007": "binary"}))) == 3
    error = refusal(tmp_path, text)
    assert len(str(error)) < 500


def test_names_that_look_like_code_are_only_names(tmp_path: Path) -> None:
    text = '{"id": "a", "acc</td>|`**x**`\\n::error::y": 1, "__class__": 1, "../../x": 1, "": 1}\n'
    path = write(tmp_path, "a", text)
    for name in ("__class__", "../../x", "acc</td>|`**x**`\n::error::y"):
        assert read(path, ReadRequest(metrics={name: "binary"})).values[name].tolist() == [1]
    assert refusal(tmp_path, text).message.isascii()


def test_hostile_ids_are_inert_in_errors(tmp_path: Path) -> None:
    for text in ("\x1b[2JGATE PASSED", "x\n::error::y", "##[error]v1", "\u202eabc", "a\x85b"):
        content = json.dumps({"id": text, "score": "no number"}) + "\n" + json.dumps({"id": "b", "score": 1})
        error = refusal(tmp_path, content)
        assert str(error).isprintable()
        assert str(error).replace(str(tmp_path), "").isascii()
        assert "##[" not in str(error)


def test_ids_that_look_like_patterns_are_only_text(tmp_path: Path) -> None:
    text = json.dumps({"id": "a" * 40 + "!", "score": 1}) + "\n" + json.dumps({"id": "(a+)+$", "score": 1})
    assert len(read(write(tmp_path, "a", text), REQUEST)) == 2


def test_extreme_numbers_are_kept(tmp_path: Path) -> None:
    text = "".join(
        f'{{"id":"{k}","score":{v}}}\n'
        for k, v in zip("abcd", ("1e308", "-1e308", "5e-324", "-0.0"), strict=True)
    )
    found = read(write(tmp_path, "a", text), REQUEST).values["score"].tolist()
    assert found == [1e308, -1e308, 5e-324, 0.0]


def test_formulas_are_only_text(tmp_path: Path) -> None:
    text = 'id,score\n"=HYPERLINK(""x"")",1\n+1,0\n-1,1\n@SUM(A1),1\n'
    assert read(write(tmp_path, "a", text), REQUEST).ids.tolist() == [
        '=HYPERLINK("x")',
        "+1",
        "-1",
        "@SUM(A1)",
    ]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak from /proc")
def test_refusals_stay_small(tmp_path: Path) -> None:
    """The worst of them in a process of its own: under 300 MB, in two seconds of processor time."""
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(b"0" * (64 * MIB)) * 16)
    code = (
        "import resource, sys\nfrom gate.artifacts import *\n"
        "try: read(sys.argv[1], ReadRequest(metrics={'score':'graded'}))\n"
        "except Exception as error: print(type(error).__name__)\n"
        "usage = resource.getrusage(resource.RUSAGE_SELF)\n"
        "peak = [line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')]\n"
        "print(int(peak[0]) < 300 * 1024, usage.ru_utime + usage.ru_stime < 2)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["GateError", "True", "True"]

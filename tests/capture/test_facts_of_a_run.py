"""What a run's events, an autotuner's timings and the driver's answers become, without a compiler."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import msgspec
import pytest

import irdiff.capture
from irdiff.capture.check import Checked, compare
from irdiff.capture.driver import Answers, DriverSays, Question, ask_driver, question, said_by
from irdiff.capture.entries import Compiler, Run, driver_of, failed_entry
from irdiff.capture.events import Autotuned, Compiled, Failed, Loaded, Said, TunedConfig, Where, read_events
from irdiff.capture.inside import autotuning
from irdiff.capture.inside.recorder import Recorder
from irdiff.capture.tuning import autotune_of
from irdiff.compile.record import decode_entry, encode_entry

INSIDE = Path(irdiff.capture.__file__).parent / "inside"


@pytest.fixture
def recorder(tmp_path):
    (tmp_path / "capture.json").write_text('{"target": null}')
    return Recorder(str(tmp_path))


class Config:
    """A configuration as Triton's ``Config``."""

    def __init__(self, **chosen):
        self.chosen = chosen

    def all_kwargs(self):
        return self.chosen


def tuner(recorder, timings):
    """An autotuner whose ``_bench`` compiles a kernel named by the configuration and answers from ``timings``."""
    compiled = set()

    class Autotuner:
        keys = ("n",)
        base_fn = SimpleNamespace(__name__="add")
        nargs = None

        def _bench(self, *arguments, config, **named):
            name = f"hash-{config.chosen['SIZE']}"
            if name not in compiled:
                compiled.add(name)
                recorder.here.compiled.append(name)
            return timings.pop(0)

        def tune(self, configs, **key):
            self.nargs = dict(key)
            for config in configs:
                self._bench(config=config)
            self.nargs = None

    module = ModuleType("autotuner")
    module.Autotuner = Autotuner
    autotuning.watch_autotuner(recorder, module)
    return Autotuner()


def tunings(recorder):
    events, odd = read_events(Path(recorder.folder))
    assert odd == []
    return [event for event in events if isinstance(event, Autotuned)]


def test_timings_go_to_the_kernel_that_was_compiled_for_the_configuration(recorder):
    tuner(recorder, [[2.0, 1.9, 2.1], [1.0, 0.9, 1.1]]).tune([Config(SIZE=64), Config(SIZE=128)], n=7)
    (event,) = tunings(recorder)
    assert event.kernel == "add"
    assert event.key == {"n": 7}
    assert [(each.milliseconds, each.hashes) for each in event.configs] == [
        (2.0, ("hash-64",)), (1.0, ("hash-128",)),
    ]  # fmt: skip
    assert event.winner() == 1


def test_a_configuration_compiled_for_an_earlier_key_is_known_by_its_kernel(recorder):
    configs = [Config(SIZE=64), Config(SIZE=128)]
    tuned = tuner(recorder, [[2.0], [1.0], [3.0], [4.0]])
    tuned.tune(configs, n=7)
    tuned.tune(configs, n=8)
    found = autotune_of("", "hash-64", tunings(recorder))
    assert found.config == {"SIZE": 64}
    assert [(each.key, each.winner, each.milliseconds) for each in found.keys] == [
        ({"n": 7}, False, 2.0), ({"n": 8}, True, 3.0),
    ]  # fmt: skip
    assert found.winner is True
    assert found.milliseconds == 3.0


def test_a_timing_that_may_be_of_several_kernels_is_given_to_none(recorder):
    configs = [Config(SIZE=64), Config(SIZE=128)]
    tuned = tuner(recorder, [[2.0], [1.0], [3.0], [4.0], [5.0], [6.0]])
    for key in (7, 8, 9):
        tuned.tune(configs, n=key)
        for config in configs:
            known = vars(tuned)["_irdiff_told"]["by_config"][id(config)]
            known[:] = [*known, "another"] if key == 8 else known
    assert [each.hashes for each in tunings(recorder)[2].configs] == [(), ()]


def test_a_configuration_that_cannot_run_has_no_time_and_does_not_win(recorder):
    infinite = float("inf")
    tuner(recorder, [[infinite] * 3, [1.0]]).tune([Config(SIZE=64), Config(SIZE=128)], n=7)
    (event,) = tunings(recorder)
    assert event.configs[0].milliseconds is None
    assert event.winner() == 1


def test_a_tuning_in_which_nothing_was_measured_has_no_winner():
    event = Autotuned(kernel="add", configs=(TunedConfig(config={"SIZE": 64}, hashes=("a",)),))
    assert event.winner() is None
    assert autotune_of("", "a", [event]).winner is None
    assert autotune_of("", "b", [event]) is None


def test_the_first_of_equals_wins_as_in_triton():
    configs = tuple(TunedConfig(config={}, milliseconds=each) for each in (2.0, 1.0, 1.0))
    assert Autotuned(kernel="add", configs=configs).winner() == 1


def test_inductors_timings_name_the_folder_of_the_entry(recorder):
    class Launcher:
        def __init__(self, size, folder):
            self.config, self.cache_hash = Config(XBLOCK=size), folder

    class CachingAutotuner:
        fn = SimpleNamespace(__name__="triton_poi_0")

        def benchmark_all_configs(self):
            return {Launcher(64, "AAAA"): 0.5, Launcher(128, "BBBB"): 0.25}

    module = ModuleType("triton_heuristics")
    module.CachingAutotuner = CachingAutotuner
    autotuning.watch_inductor(recorder, module)
    CachingAutotuner().benchmark_all_configs()
    found = autotune_of("BBBB", "", tunings(recorder))
    assert (found.config, found.winner, found.milliseconds) == ({"XBLOCK": 128}, True, 0.25)
    assert autotune_of("AAAA", "", tunings(recorder)).winner is False


def compiled(digest="d", **fields):
    asked = {"kernel": "add", "target": "cuda:90", "source": Where(file="k.py"), "triton": "3.6.0"}
    return Compiled(hash=digest, **{**asked, **fields})


def test_the_event_that_made_an_entry_is_preferred_to_one_that_found_it():
    events = [compiled(hit=True, process=1), compiled(hit=False, process=2), compiled(hit=False, process=3)]
    assert Run.of(events, main=1, folder=Path()).compiled["d"].process == 2


def test_an_event_that_cannot_be_read_is_named_and_the_others_are_read(tmp_path):
    (tmp_path / "compiled-1.json").write_bytes(msgspec.json.encode(compiled()))
    (tmp_path / "compiled-2.json").write_text('{"event": "compiled"')
    (tmp_path / "other-3.json").write_text('{"event": "unheard-of"}')
    events, odd = read_events(tmp_path)
    assert events == [compiled()]
    assert [line.partition(":")[0] for line in odd] == ["compiled-2.json", "other-3.json"]


def failed(kind, message, **fields):
    where = Where(file="/somewhere/k.py", line=10, def_line=12)
    return Failed(
        kernel="add",
        target="cuda:90",
        source=where,
        triton="3.6.0",
        error=Said(type=kind, message=message),
        **fields,
    )


@pytest.mark.parametrize(
    ("event", "kind", "line"),
    [
        (
            failed("CompilationError", "at 3:4:\n    x = y\n    ^\nNameError('y is not defined')"),
            "front-end",
            14,
        ),
        (failed("CompileTimeAssertionFailure", "at 1:0:\n"), "front-end", 12),
        (failed("PTXASError", "Internal Triton PTX codegen error"), "assembler", None),
        (failed("RuntimeError", "PassManager::run failed"), "pass", None),
        (failed("RuntimeError", "LLVM says no"), "code-generation", None),
    ],
)
def test_a_failure_has_its_kind_and_its_line(event, kind, line):
    entry = failed_entry(event, Run.of([], main=1, folder=Path("/somewhere")), Compiler(triton="3.6.0"))
    assert (entry.failure.kind, entry.failure.line) == (kind, line)
    assert entry.source.file == "k.py"


def test_records_of_a_run_are_read_by_irdiff_compile():
    entry = failed_entry(failed("RuntimeError", "no"), Run.of([], main=1, folder=Path()), Compiler())
    read = decode_entry(encode_entry(entry))
    assert read is not None
    assert (read.kernel, read.origin, read.slot) == ("add", "run", entry.slot)


def test_what_the_program_loaded_is_what_the_driver_said():
    says = driver_of(
        DriverSays(registers=40, local=0, ctas_per_sm=8), Loaded(hash="d", registers=42, spilled_words=3)
    )
    assert (says.registers, says.local, says.ctas_per_sm, says.loaded_by) == (42, 12, 8, "program")
    assert driver_of(None, None) is None


def test_the_driver_agrees_where_registers_and_local_memory_are_equal():
    says = DriverSays(registers=40, local=16, ctas_per_sm=8)
    facts = {"registers": 40, "stack": 16, "occupancy": 8}
    pairs = [compare("a", "A", says, facts), compare("b", "B", says, {**facts, "registers": 41})]
    lines = list(Checked(kernels=tuple(pairs)).lines())
    assert lines[0] == "the driver agrees on registers and local memory of 1 of 2 kernels"
    assert lines[1:] == ["  b (B): registers 41, by the driver 40"]


def test_what_irdiff_does_not_know_is_no_agreement():
    (line, *rest) = Checked(
        kernels=(compare("a", "A", DriverSays(registers=40, local=0), {"registers": 40}),)
    ).lines()
    assert line.endswith("of 0 of 1 kernels")
    assert "local unknown, by the driver 0" in rest[0]


def test_the_question_is_about_the_launch_of_the_entry(tmp_path):
    (tmp_path / "add.cubin").write_bytes(b"")
    fields = {"name": "add", "target": {"backend": "cuda", "arch": 90}, "num_warps": 4, "shared": 1024}
    asked = question(tmp_path, fields)
    assert (asked.name, asked.arch, asked.threads, asked.shared) == ("add", "90", 128, 1024)
    assert question(tmp_path, {**fields, "target": {"backend": "hip", "arch": "gfx942"}}) is None
    assert question(tmp_path, {"name": "add"}) is None


def test_without_a_driver_there_is_a_reason_and_no_answer(tmp_path):
    asked = Question(cubin="k.cubin", name="k", arch="90", threads=128, shared=0)
    environment = {"LD_LIBRARY_PATH": str(tmp_path), "CUDA_VISIBLE_DEVICES": ""}
    answers = ask_driver([asked], sys.executable, tmp_path, environment)
    assert answers.reason
    assert said_by(answers, 0) is None
    assert ask_driver([], sys.executable, tmp_path, environment).reason


def test_a_probe_that_dies_is_a_reason(tmp_path):
    asked = Question(cubin="k.cubin", name="k", arch="90", threads=128, shared=0)
    assert "failed" in (ask_driver([asked], "/bin/false", tmp_path, {}).reason or "")


STUB = """
import ctypes, json, sys
sys.path.insert(0, {inside!r})
import driver_probe
calls = []

class Stub:
    '''A driver of two devices' worth of lies: each function fills its first argument.'''

    def __getattr__(self, name):
        def call(*arguments):
            calls.append(name)
            if name == "cuModuleLoadData" and arguments[1] == b"broken":
                return 200
            if name == "cuGetErrorName":
                arguments[1]._obj.value = b"CUDA_ERROR_INVALID_IMAGE"
            if name == "cuDeviceGetAttribute":
                arguments[0]._obj.value = {{75: 9, 76: 0}}[arguments[1]]
            if name == "cuFuncGetAttribute":
                arguments[0]._obj.value = {{0: 512, 1: 1024, 2: 8, 3: 16, 4: 40}}[arguments[1]]
            if name.startswith("cuOccupancy"):
                arguments[0]._obj.value = arguments[2].value // 16 + arguments[3].value
            return 0
        return call

ctypes.CDLL = lambda name: Stub()
driver_probe.main(*sys.argv[1:])
print(calls.count("cuModuleLoadData"), calls.count("cuModuleUnload"))
"""


def test_the_probe_answers_kernel_by_kernel_and_goes_on_after_one_that_does_not_load(tmp_path):
    (tmp_path / "good").write_bytes(b"good")
    (tmp_path / "broken").write_bytes(b"broken")
    asked = [
        Question(cubin=str(tmp_path / name), name="k", arch=arch, threads=128, shared=2)
        for name, arch in (("broken", "90"), ("good", "90"), ("good", "80"), ("absent", "90"))
    ]
    (tmp_path / "asked").write_bytes(msgspec.json.encode(asked))
    ended = subprocess.run(
        [sys.executable, "-c", STUB.format(inside=str(INSIDE)), "asked", "answers"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    answers = msgspec.json.decode((tmp_path / "answers").read_bytes(), type=Answers)
    assert ended.stdout == "2 1\n"
    assert answers.arch == "90"
    assert answers.answers[0].error == "cuModuleLoadData: CUDA_ERROR_INVALID_IMAGE"
    assert answers.answers[1] == DriverSays(
        registers=40, local=16, shared=1024, constant=8, max_threads=512, ctas_per_sm=10
    )
    assert answers.answers[2].error == "made for 80, the device is 90"
    assert answers.answers[3].error


def test_a_recorder_that_cannot_write_does_not_disturb_the_program(recorder, tmp_path):
    recorder.folder = str(tmp_path / "gone")
    recorder.tell("compiled", kernel="add")


def test_the_files_inside_the_program_import_nothing_but_python():
    """Each in a fresh interpreter that sees no site-packages."""
    names = ["", *(f".{path.stem}" for path in sorted(INSIDE.glob("*.py")) if path.stem != "__init__")]
    text = f"""
import importlib, importlib.util, json, sys
folder = {str(INSIDE)!r}
find = importlib.util.spec_from_file_location
spec = find("inside", folder + "/__init__.py", submodule_search_locations=[folder])
sys.modules["inside"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for name in {names!r}:
    importlib.import_module("inside" + name)
print(json.dumps([name for name in sys.modules if name.partition(".")[0] in ("irdiff", "msgspec", "triton", "torch")]))
"""
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", text], capture_output=True, text=True, check=True
    )
    assert json.loads(ended.stdout) == []

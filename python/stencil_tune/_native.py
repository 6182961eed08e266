"""The C interface (stencil_tune.h) through ctypes: one wheel serves every Python from 3.10 on."""

from __future__ import annotations

import ctypes as c
import os
import pathlib
import threading
from typing import TYPE_CHECKING, Any, Callable

from ._errors import Error, error_of

FOLDER = pathlib.Path(__file__).resolve().parent
MAX_RANK = 3


class Request(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("stencil", c.c_char_p), ("type", c.c_char_p), ("boundary", c.c_char_p),
                ("extents", c.c_int64 * MAX_RANK), ("pitch", c.c_int64), ("device", c.c_int32), ("steps", c.c_int32),
                ("alignment", c.c_size_t), ("parsed", c.c_void_p), ("gpu", c.c_char_p), ("objective", c.c_char_p),
                ("slabs", c.c_int32), ("reserved", c.c_int32), ("race_s", c.c_double)]


class History(c.Structure):
    _fields_ = [("bytes", c.c_int64), ("field", c.c_int32), ("reserved", c.c_int32)]


class Evidence(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), *(
        (text, c.c_char_p) for text in ("sentence", "code", "tuned_code", "gpu", "driver", "nvrtc", "tuned_at", "notes")
    ), ("tuned_extents", c.c_int64 * MAX_RANK), ("tuned_pitch", c.c_int64), ("gstencils", c.c_double),
         ("share", c.c_double), ("match", c.c_int), ("fused_steps", c.c_int32)]


class ExportOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("name", c.c_char_p), ("architecture", c.c_char_p), ("stage", c.c_int32),
                ("with_main", c.c_int32), ("split_header", c.c_int32), ("reserved", c.c_int32)]


class Options(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("database", c.c_char_p), ("tune_on_miss_s", c.c_double),
                ("compile_in_background", c.c_int32), ("reserved", c.c_int32), ("program", c.c_char_p)]


class PointCell(c.Structure):
    _fields_ = [("point", c.c_int32), ("field", c.c_int32), ("cell", c.c_int64 * MAX_RANK), ("weight", c.c_double)]


class PointList(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("source_cells", c.POINTER(PointCell)),
                ("receiver_cells", c.POINTER(PointCell)), ("source_cell_count", c.c_int64),
                ("receiver_cell_count", c.c_int64), ("sources", c.c_int32), ("receivers", c.c_int32),
                ("every", c.c_int32), ("reserved", c.c_int32)]


class Cut(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("parts", c.c_int32 * MAX_RANK), ("steps_per_exchange", c.c_int32),
                ("overlap", c.c_int32), ("reserved", c.c_int32), ("timeout_s", c.c_double)]


class Transfer(c.Structure):
    _fields_ = [("data", c.c_void_p), ("bytes", c.c_size_t), ("peer", c.c_int32), ("reserved", c.c_int32)]


EXCHANGE = c.CFUNCTYPE(c.c_int32, c.c_void_p, c.POINTER(Transfer), c.c_int32, c.POINTER(Transfer), c.c_int32)
ALL_GATHER = c.CFUNCTYPE(c.c_int32, c.c_void_p, c.c_void_p, c.c_size_t, c.c_void_p)
ABORT = c.CFUNCTYPE(None, c.c_void_p)


class Ranks(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("context", c.c_void_p), ("exchange", EXCHANGE), ("all_gather", ALL_GATHER),
                ("abort", ABORT), ("rank", c.c_int32), ("size", c.c_int32), ("device_memory", c.c_int32),
                ("reserved", c.c_int32)]


class UserKernelSize(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_int64)]


_HANDLE = c.c_void_p
_OUT = c.POINTER(c.c_void_p)
_LAUNCH = [_HANDLE, c.c_void_p, c.c_void_p, c.c_int32]
_PLACE = [c.c_void_p, c.c_int64]  # origin, step

# name (without stencil_tune_) -> what it returns, what it takes.
#: stencil_tune_stop.
STOP = c.CFUNCTYPE(c.c_int32, c.c_void_p, c.c_int64, c.POINTER(c.c_double), c.c_int32)

_FUNCTIONS = {
    "version": (c.c_char_p, []),
    "error_message": (c.c_char_p, []),
    "status_name": (c.c_char_p, [c.c_int]),
    "match_name": (c.c_char_p, [c.c_int]),
    "open_with": (c.c_int, [c.POINTER(Options), _OUT]),
    "close": (None, [_HANDLE]),
    "reload": (c.c_int, [_HANDLE]),
    "stencil_load": (c.c_int, [c.c_char_p, _OUT]),
    "stencil_parse": (c.c_int, [c.c_char_p, c.c_int32, _OUT]),
    "stencil_define": (c.c_int, [c.c_char_p, c.c_char_p, _OUT]),
    "stencil_release": (None, [_HANDLE]),
    "stencil_name": (c.c_char_p, [_HANDLE]),
    "stencil_key": (c.c_char_p, [_HANDLE]),
    "stencil_text": (c.c_char_p, [_HANDLE]),
    "stencil_type": (c.c_char_p, [_HANDLE]),
    "stencil_rank": (c.c_int32, [_HANDLE]),
    "stencil_stage_count": (c.c_int32, [_HANDLE]),
    "stencil_field_count": (c.c_int32, [_HANDLE]),
    "stencil_field_name": (c.c_char_p, [_HANDLE, c.c_int32]),
    "stencil_field_is_input": (c.c_int32, [_HANDLE, c.c_int32]),
    "stencil_field_is_output": (c.c_int32, [_HANDLE, c.c_int32]),
    "stencil_field_is_pointwise": (c.c_int32, [_HANDLE, c.c_int32]),
    "stencil_field_along": (c.c_int32, [_HANDLE, c.c_int32]),
    "stencil_field_layer_axis": (c.c_int32, [_HANDLE, c.c_int32]),
    "stencil_field_storage": (c.c_char_p, [_HANDLE, c.c_int32]),
    "stencil_field_next": (c.c_int32, [_HANDLE, c.c_int32]),
    "stencil_field_layers": (c.c_int32, [_HANDLE, c.c_int32]),
    "stencil_coefficient_count": (c.c_int32, [_HANDLE]),
    "stencil_coefficient_name": (c.c_char_p, [_HANDLE, c.c_int32]),
    "stencil_coefficient_value": (c.c_double, [_HANDLE, c.c_int32]),
    "stencil_measure_count": (c.c_int32, [_HANDLE]),
    "stencil_reduction": (c.c_char_p, [_HANDLE, c.c_int32]),
    "stencil_measured": (c.c_int, [_HANDLE, _OUT]),
    "stencil_batched": (c.c_int, [_HANDLE, c.c_char_p, _OUT]),
    "stencil_reach": (c.c_int, [_HANDLE, c.POINTER(c.c_int32), c.POINTER(c.c_int32)]),
    "stencil_adjoint": (c.c_int, [_HANDLE, _OUT]),
    "stencil_reversed": (c.c_int, [_HANDLE, _OUT]),
    "stencil_adjoint_step": (c.c_int, [_HANDLE, c.c_char_p, c.c_int32, _OUT]),
    "stencil_coefficient_adjoint": (c.c_int, [_HANDLE, _OUT]),
    "stencil_tangent": (c.c_int, [_HANDLE, c.c_int32, _OUT]),
    "stencil_stage": (c.c_int, [_HANDLE, c.c_int32, _OUT]),
    "stencil_with_layers": (c.c_int, [_HANDLE, c.c_char_p, _OUT]),
    "stencil_is_linear": (c.c_int32, [_HANDLE]),
    "stencil_is_placed": (c.c_int32, [_HANDLE, c.POINTER(c.c_int32), c.POINTER(c.c_int32)]),
    "stencil_layer_widths": (c.c_int32, [_HANDLE, c.POINTER(c.c_int64), c.POINTER(c.c_int64)]),
    "stencil_describe": (c.c_int, [_HANDLE, _OUT]),
    "stencil_definition": (c.c_int, [_HANDLE, _OUT]),
    "check_request": (c.c_int, [c.POINTER(Request), _OUT]),
    "field_array": (c.c_int, [c.POINTER(Request), c.c_int32, c.POINTER(c.c_int64), c.POINTER(c.c_int64)]),
    "lookup": (c.c_int, [_HANDLE, c.POINTER(Request), _OUT]),
    "release": (None, [_HANDLE]),
    "kernel_match": (c.c_int, [_HANDLE]),
    "kernel_architecture": (c.c_char_p, [_HANDLE]),
    "kernel_stage_count": (c.c_int32, [_HANDLE]),
    "kernel_fused_steps": (c.c_int32, [_HANDLE]),
    "kernel_device": (c.c_int32, [_HANDLE]),
    "kernel_alignment": (c.c_size_t, [_HANDLE]),
    "kernel_field_bytes": (c.c_size_t, [_HANDLE]),
    "kernel_workspace_bytes": (c.c_size_t, [_HANDLE]),
    "kernel_evidence_of": (c.c_int, [_HANDLE, c.c_int32, c.POINTER(Evidence)]),
    "kernel_updated_box": (c.c_int, [_HANDLE, c.c_int32, c.POINTER(c.c_int64), c.POINTER(c.c_int64)]),
    "kernel_source": (c.c_int, [_HANDLE, c.c_int32, _OUT]),
    "export_text": (c.c_int, [_HANDLE, c.POINTER(ExportOptions), _OUT, _OUT]),
    "export_file": (c.c_int, [_HANDLE, c.POINTER(ExportOptions), c.c_char_p]),
    "free_text": (None, [c.c_void_p]),
    "prepare_on_device": (c.c_int, [_HANDLE, c.c_void_p]),
    "launch_on_device": (c.c_int, _LAUNCH + [c.c_void_p, c.c_int32, c.c_void_p, c.c_void_p]),
    "step_on_device": (c.c_int, [_HANDLE, c.c_void_p, c.c_void_p]),
    "step_into_new_on_device": (c.c_int, [_HANDLE, c.c_void_p, c.c_void_p, c.c_void_p, c.c_int32]),
    "launch_boxes_on_device": (c.c_int, _LAUNCH + [c.c_void_p, c.c_int32, c.c_void_p, c.c_int32]),
    "advance_on_device": (c.c_int, _LAUNCH + [c.c_int64, c.c_void_p, c.c_int32]),
    "launch_at_on_device": (c.c_int, _LAUNCH[:1] + _PLACE + _LAUNCH[1:] + [c.c_void_p, c.c_int32, c.c_void_p,
                                                                           c.c_void_p]),
    "advance_at_on_device": (c.c_int, _LAUNCH[:1] + _PLACE + _LAUNCH[1:] + [c.c_int64, c.c_void_p, c.c_int32]),
    "advance_until_on_device": (c.c_int, _LAUNCH[:1] + _PLACE + _LAUNCH[1:] +
                                [c.c_int64, c.c_void_p, c.c_int32, c.c_int64, STOP, c.c_void_p, c.POINTER(c.c_int64)]),
    "advance_again_on_device": (c.c_int, _LAUNCH[:1] + _PLACE + _LAUNCH[1:] + [c.c_int64, c.c_void_p, c.c_int32]),
    "advance_with_histories_on_device": (c.c_int, _LAUNCH[:1] + [c.c_void_p, c.c_int32] + [c.c_void_p] * 3 + _PLACE +
                                         _LAUNCH[1:] + [c.c_int64, c.c_void_p, c.c_int32]),
    "advance_with_points_on_device": (c.c_int, _LAUNCH[:1] + [c.c_void_p] * 3 + _PLACE + _LAUNCH[1:] +
                                      [c.c_int64, c.c_void_p, c.c_int32]),
    "place_points_on_device": (c.c_int, [_HANDLE, c.POINTER(PointList), _OUT]),
    "release_points_on_device": (c.c_int, [_HANDLE, c.c_void_p]),
    "points_fused_steps": (c.c_int32, [c.c_void_p]),
    "points_notes": (c.c_char_p, [c.c_void_p]),
    "spread": (c.c_int32, [c.c_int32, c.c_int32, c.c_void_p, c.POINTER(PointCell)]),
    "copy_field_on_device": (c.c_int, [_HANDLE, c.c_void_p, c.c_void_p, c.c_void_p]),
    "read_array_on_device": (c.c_int, [_HANDLE] + [c.c_void_p] * 3 + [c.c_size_t]),
    "write_array_on_device": (c.c_int, [_HANDLE] + [c.c_void_p] * 3 + [c.c_size_t]),
    "use_device": (c.c_int, [c.c_int32]),
    "points_records": (c.c_int64, [c.c_void_p, c.c_int64]),
    "release_points": (None, [c.c_void_p]),
    "distribute": (c.c_int, [_HANDLE, c.c_void_p, c.POINTER(Request), c.POINTER(Cut), c.c_void_p, _OUT]),
    "distribute_over": (c.c_int, [_HANDLE, c.POINTER(Ranks), c.POINTER(Request), c.POINTER(Cut), c.c_void_p, _OUT]),
    "grid_release": (None, [_HANDLE]),
    "grid_owned": (None, [_HANDLE, c.POINTER(c.c_int64), c.POINTER(c.c_int64)]),
    "grid_steps_per_exchange": (c.c_int32, [_HANDLE]),
    "grid_evidence": (c.c_char_p, [_HANDLE]),
    "grid_write": (c.c_int, [_HANDLE, c.c_int32, c.c_void_p, c.c_size_t]),
    "grid_read": (c.c_int, [_HANDLE, c.c_int32, c.c_void_p, c.c_size_t]),
    "grid_scatter": (c.c_int, [_HANDLE, c.c_int32, c.c_int32, c.c_void_p, c.c_size_t]),
    "grid_gather": (c.c_int, [_HANDLE, c.c_int32, c.c_int32, c.c_void_p, c.c_size_t]),
    "grid_advance": (c.c_int, [_HANDLE, c.c_int64, c.c_void_p, c.c_int32] + _PLACE),
    "grid_refresh": (c.c_int, [_HANDLE]),
    "grid_wait": (c.c_int, [_HANDLE]),
    "grid_place_points": (c.c_int, [_HANDLE, c.POINTER(PointList), _OUT]),
    "grid_advance_with_points": (c.c_int, [_HANDLE] + [c.c_void_p] * 3 + [c.c_int64, c.c_void_p, c.c_int32] + _PLACE),
    "grid_gather_records": (c.c_int, [_HANDLE, c.c_void_p, c.c_void_p, c.c_int64, c.c_int32, c.c_void_p, c.c_size_t]),
    "grid_save": (c.c_int, [_HANDLE, c.c_char_p, c.c_int64]),
    "grid_load": (c.c_int, [_HANDLE, c.c_char_p, c.POINTER(c.c_int64)]),
    "user_kernel_find": (c.c_int, [_HANDLE, c.c_char_p, c.POINTER(UserKernelSize), c.c_int32, c.c_int32, _OUT]),
    "user_kernel_release": (None, [_HANDLE]),
    "user_kernel_match": (c.c_int, [_HANDLE]),
    "user_kernel_code": (c.c_char_p, [_HANDLE]),
    "user_kernel_evidence": (c.c_char_p, [_HANDLE]),
    "user_kernel_rate": (c.c_double, [_HANDLE]),
    "user_kernel_unit": (c.c_char_p, [_HANDLE]),
    "user_kernel_device": (c.c_int32, [_HANDLE]),
    "user_source": (c.c_int, [_HANDLE, _OUT]),
    "user_kernel_argument_count": (c.c_int32, [_HANDLE]),
    "user_kernel_argument_name": (c.c_char_p, [_HANDLE, c.c_int32]),
    "user_kernel_argument_type": (c.c_char_p, [_HANDLE, c.c_int32]),
    "user_kernel_argument_cells": (c.c_int64, [_HANDLE, c.c_int32]),
    "user_kernel_argument_is_written": (c.c_int32, [_HANDLE, c.c_int32]),
    "user_kernel_launch_on_device": (c.c_int, [_HANDLE, c.c_void_p, c.c_void_p, c.c_int32]),
    "padded_pitch": (c.c_int64, [c.c_int64, c.c_char_p]),
}


class Library:
    """The functions by their names without `stencil_tune_`; `call` raises what a status means."""

    def __init__(self, path: os.PathLike[str] | str):
        try:
            library = c.CDLL(str(path))
        except OSError as error:
            raise Error(f"the shared library of stencil_tune cannot be loaded: {error}. Install the package anew (pip "
                        "install .), or set STENCIL_TUNE_LIBRARY to a libstencil_tune.so", "missing_library") from error
        self.path = pathlib.Path(path)
        for name, (result, arguments) in _FUNCTIONS.items():
            try:
                function = getattr(library, f"stencil_tune_{name}")
            except AttributeError as error:
                raise Error(f"{path} has no function stencil_tune_{name}: it is older than this package",
                            "missing_library") from error
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)
        # With the interpreter's lock held, and exceptions raised.
        of_arrays = c.PYFUNCTYPE(c.c_int, _HANDLE, c.c_void_p, c.py_object)
        self.step_of_arrays = of_arrays(("stencil_tune_step_of_arrays", library))
        self.step_into_new_of_arrays = of_arrays(("stencil_tune_step_into_new_of_arrays", library))

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def check(self, status: int) -> None:
        """Raises the error of this thread's last call, unless there is none."""
        if status != 0:
            raise error_of(self.status_name(status).decode(), self.error_message().decode(errors="replace"))

    def handle(self, function: Callable[..., int], *arguments: Any) -> int:
        """What a function that makes something puts at its last argument."""
        made = c.c_void_p()
        self.check(function(*arguments, c.byref(made)))
        return made.value or 0

    def text(self, function: Callable[..., int], *arguments: Any) -> str:
        """The same for text, which is copied and freed."""
        address = self.handle(function, *arguments)
        try:
            return c.string_at(address).decode(errors="replace")
        finally:
            self.free_text(address)


_library: Library | None = None
_lock = threading.Lock()


def library() -> Library:
    """Loaded at first use: STENCIL_TUNE_LIBRARY, else the one of this package."""
    global _library
    if _library is None:
        with _lock:
            if _library is None:
                _library = Library(os.environ.get("STENCIL_TUNE_LIBRARY") or FOLDER / "lib" / "libstencil_tune.so")
    return _library


# CUDA does not survive a fork: a child of a process that has used a GPU is told so before the driver goes wrong.
_gpu_used = False
_forked = False


def _after_fork_in_child() -> None:
    global _forked
    _forked = _gpu_used


os.register_at_fork(after_in_child=_after_fork_in_child)


def use_gpu() -> None:
    """Notes that this process uses GPUs. Raises Error in a child of one that does."""
    global _gpu_used
    if _forked:
        raise Error("this process was forked from one that had used the GPU, and CUDA does not survive a fork: start "
                    'processes by multiprocessing.get_context("spawn")', "launch_failed")
    _gpu_used = True


def has_forked() -> bool:
    """Whether use_gpu() would raise."""
    return _forked

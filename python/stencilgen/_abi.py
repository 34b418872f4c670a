"""The C library as ctypes sees it: every enum, struct and function of stencilgen.h, and nothing else.

Names are those of the header. tests/python/test_abi.py compares all of this with the header by the C compiler, so
that the two cannot drift apart: whoever changes the header changes this file.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any

# ---- enums ------------------------------------------------------------------------------------------------------

ENUMS: dict[str, tuple[str, ...]] = {
    "sg_status": (
        "SG_OK", "SG_ERROR_CHECK", "SG_ERROR_USAGE", "SG_ERROR_SPEC", "SG_ERROR_PLAN", "SG_ERROR_DATA", "SG_ERROR_IO",
        "SG_ERROR_DEVICE", "SG_ERROR_COMPILER", "SG_ERROR_MEMORY",
    ),
    "sg_log_level": ("SG_LOG_NOTE", "SG_LOG_WARNING"),
    "sg_text": (
        "SG_TEXT_NAME", "SG_TEXT_SHAPE", "SG_TEXT_MODEL", "SG_TEXT_PLAN", "SG_TEXT_REASON", "SG_TEXT_SOURCE",
        "SG_TEXT_DTYPE", "SG_TEXT_BOUNDARY", "SG_TEXT_ARCH", "SG_TEXT_FAMILY", "SG_TEXT_MEANING",
        "SG_TEXT_POINTS",
    ),
    "sg_kind": (
        "SG_KIND_GRID", "SG_KIND_LISTS", "SG_KIND_REDUCE", "SG_KIND_SCAN", "SG_KIND_MERGE", "SG_KIND_PRODUCT",
    ),
    "sg_origin": ("SG_NOT_COMPILED", "SG_COMPILED", "SG_FROM_CACHE", "SG_FROM_MEMORY", "SG_FROM_FILE"),
    "sg_role": ("SG_READ", "SG_WRITE"),
    "sg_binary_kind": ("SG_BINARY_CUBIN", "SG_BINARY_PTX"),
    "sg_link": ("SG_LINK_STORES", "SG_LINK_NCCL", "SG_LINK_NETWORK", "SG_LINK_HOST"),
    "sg_combine": ("SG_COMBINE_SUM", "SG_COMBINE_MIN", "SG_COMBINE_MAX"),
    "sg_search": ("SG_SEARCH_GUIDED", "SG_SEARCH_EXHAUSTIVE", "SG_SEARCH_RANDOM"),
}  # fmt: skip

VALUES: dict[str, int] = {name: value for names in ENUMS.values() for value, name in enumerate(names)}

# ---- callbacks --------------------------------------------------------------------------------------------------

sg_resize = CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_size_t, c_size_t)
sg_log = CFUNCTYPE(None, c_void_p, c_int, c_char_p)
sg_finding = CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_char_p)

# ---- structs ----------------------------------------------------------------------------------------------------


class Sized(ctypes.Structure):
    """A struct of options or results: it begins with its own size."""

    def __init__(self, **members: Any) -> None:
        super().__init__(**members)
        self.struct_size = ctypes.sizeof(self)


class sg_options(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("device", c_char_p), ("device_index", c_int), ("nvrtc", c_char_p),
        ("threads", c_int), ("cuda_context", c_void_p), ("cache", c_char_p), ("cache_bytes", c_int64),
        ("resize", sg_resize), ("resize_user", c_void_p), ("log", sg_log), ("log_user", c_void_p),
        ("database", c_char_p),
    ]  # fmt: skip


class sg_device_info(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("device", c_char_p), ("name", c_char_p), ("arch", c_char_p),
        ("multiprocessors", c_int), ("memory", c_int64), ("l2_cache", c_int64), ("driver", c_int),
        ("clock", c_double), ("memory_rate", c_double),
    ]  # fmt: skip


class sg_constant(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_double)]


class sg_build_options(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("text", c_char_p), ("index", c_int), ("schedule", c_char_p), ("arch", c_char_p),
        ("size", c_int64 * 3), ("source_only", c_int), ("constants", POINTER(sg_constant)), ("constant_count", c_int),
        ("matrix", c_void_p), ("steps", c_int64), ("gpu", c_char_p), ("monitor", c_char_p),
        ("name", c_char_p),
    ]  # fmt: skip


class sg_kernel_info(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("dims", c_int), ("points", c_int), ("radius", c_int), ("element_size", c_size_t),
        ("launchable", c_int), ("arrays", c_int), ("parameters", c_int), ("textbook_operations", c_double),
        ("emitted_operations", c_double), ("bytes_per_point", c_double), ("threads", c_int),
        ("shared_bytes", c_size_t), ("registers", c_int), ("local_bytes", c_int), ("blocks_resident", c_int),
        ("compile_seconds", c_double), ("size", c_int64 * 3), ("occupancy", c_double), ("origin", c_int),
        ("compiler", c_char_p), ("steps", c_int), ("found", c_char_p), ("kind", c_int),
        ("point_sets", c_int), ("monitors", c_int),
    ]  # fmt: skip


class sg_array_info(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("name", c_char_p), ("field", c_char_p), ("role", c_int), ("reads", c_int),
        ("previous", c_int), ("low", c_int * 3), ("high", c_int * 3), ("dtype", c_char_p), ("element_size", c_size_t),
        ("updated", c_int), ("same_as", c_int),
    ]  # fmt: skip


class sg_parameter_info(Sized):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("has_default", c_int), ("value", c_double)]


class sg_binary(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("data", c_void_p), ("size", c_size_t), ("registers", c_int),
        ("shared_bytes", c_int), ("local_bytes", c_int), ("seconds", c_double), ("compiler", c_char_p),
        ("origin", c_int),
    ]  # fmt: skip


class sg_grid(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("size", c_int64 * 3), ("stride", c_int64 * 3)]


class sg_array(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p), ("grid", sg_grid),
    ]  # fmt: skip


class sg_arguments(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("grids", POINTER(sg_grid)), ("grid_count", c_int),
        ("parameters", POINTER(c_double)), ("parameter_count", c_int), ("begin", c_int64 * 3), ("end", c_int64 * 3),
        ("temporary", c_void_p), ("temporary_bytes", c_size_t),
        ("origin", c_int64 * 3), ("global", c_int64 * 3), ("step", c_int64),
        ("arrays", POINTER(sg_array)), ("array_count", c_int), ("values", POINTER(sg_constant)), ("value_count", c_int),
    ]  # fmt: skip


class sg_cache_info(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("folder", c_char_p), ("trouble", c_char_p), ("entries", c_int64),
        ("bytes", c_int64), ("most_bytes", c_int64),
    ]  # fmt: skip


class sg_cache_entry(ctypes.Structure):
    _fields_ = [
        ("file", c_char_p), ("text", c_char_p), ("bytes", c_int64), ("used", c_int64), ("trouble", c_char_p),
    ]  # fmt: skip


class sg_check_options(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("size", c_int64 * 3), ("parameters", POINTER(c_double)), ("seed", c_uint64),
        ("most_points", c_int64), ("steps", c_int64),
    ]  # fmt: skip


class sg_unjudged(ctypes.Structure):
    _fields_ = [("condition", c_char_p), ("side", c_int), ("taken", c_int64), ("of", c_int64)]


class sg_check_result(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("points", c_int64), ("judged", c_int64), ("wrong", c_int64),
        ("undecidable", c_int64), ("greatest_error", c_double), ("of_bound", c_double), ("seed", c_uint64),
        ("first_wrong", c_char_p), ("steps", c_int64), ("size", c_int64 * 3), ("unjudged_count", c_int),
        ("unjudged", POINTER(sg_unjudged)),
    ]  # fmt: skip


class sg_speed_options(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("size", c_int64 * 3), ("parameters", POINTER(c_double)), ("repeats", c_int),
        ("steps", c_int64),
    ]  # fmt: skip


class sg_speed(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("size", c_int64 * 3), ("repeats", c_int), ("seconds", c_double),
        ("fastest", c_double), ("slowest", c_double), ("points", c_double), ("bytes", c_double),
        ("copy_bytes", c_double), ("of_copy", c_double), ("steps", c_int64),
    ]  # fmt: skip


class sg_method_row(ctypes.Structure):
    _fields_ = [
        ("method", c_char_p), ("plan", c_char_p), ("refusal", c_char_p), ("chosen", c_int), ("textbook_tile", c_double),
        ("textbook_operations_per_byte", c_double), ("textbook_limit", c_double), ("loads_bytes_per_point", c_double),
        ("operations_per_byte", c_double), ("shared_bytes", c_size_t), ("threads", c_int), ("registers", c_int),
        ("estimated_seconds", c_double), ("bound", c_char_p), ("note", c_char_p),
    ]  # fmt: skip


class sg_explanation(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("name", c_char_p), ("shape", c_char_p), ("dtype", c_char_p),
        ("boundary", c_char_p), ("reason", c_char_p), ("points", c_int), ("textbook_operations", c_double),
        ("emitted_operations", c_double), ("emitted_multiplications", c_double), ("emitted_additions", c_double),
        ("emitted_others", c_double), ("bytes_per_point", c_double), ("size", c_int64 * 3), ("arch", c_char_p),
        ("row_count", c_int), ("rows", POINTER(sg_method_row)), ("tuned", c_char_p), ("found", c_char_p),
        ("gpu", c_char_p), ("memory", c_char_p),
    ]  # fmt: skip


class sg_reduce_arguments(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("input", c_void_p), ("second", c_void_p), ("count", c_int64),
        ("offsets", c_void_p), ("segments", c_int64), ("result", c_void_p), ("index", c_void_p),
        ("parameters", POINTER(c_double)), ("parameter_count", c_int), ("temporary", c_void_p),
        ("temporary_bytes", c_size_t),
    ]  # fmt: skip


class sg_scan_arguments(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("input", c_void_p), ("output", c_void_p), ("count", c_int64),
        ("parameters", POINTER(c_double)), ("parameter_count", c_int), ("temporary", c_void_p),
        ("temporary_bytes", c_size_t),
    ]  # fmt: skip


class sg_merge_arguments(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("a", c_void_p), ("b", c_void_p), ("a_count", c_int64), ("b_count", c_int64),
        ("output", c_void_p), ("a_values", c_void_p), ("b_values", c_void_p), ("output_values", c_void_p),
        ("parameters", POINTER(c_double)), ("parameter_count", c_int), ("temporary", c_void_p),
        ("temporary_bytes", c_size_t),
    ]  # fmt: skip


class sg_csr(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("rows", c_int64), ("columns", c_int64), ("entries", c_int64),
        ("offsets", c_void_p), ("column", c_void_p), ("value", c_void_p), ("index", c_char_p), ("dtype", c_char_p),
    ]  # fmt: skip


class sg_matrix_info(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("rows", c_int64), ("columns", c_int64), ("entries", c_int64),
        ("shortest_row", c_int64), ("longest_row", c_int64), ("empty_rows", c_int64), ("mean_row", c_double),
        ("row_deviation", c_double), ("diagonals", c_int64), ("bandwidth", c_int64), ("symmetric", c_int),
    ]  # fmt: skip


class sg_format_info(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("format", c_char_p), ("formula", c_char_p), ("numbers", c_double),
        ("bytes", c_int64), ("refusal", c_char_p), ("chosen", c_int), ("reason", c_char_p),
    ]  # fmt: skip


class sg_conversion_info(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("format", c_char_p), ("bytes", c_int64), ("on_device", c_int),
        ("upload_seconds", c_double), ("convert_seconds", c_double), ("compile_seconds", c_double),
    ]  # fmt: skip


class sg_spmv_arguments(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("matrix", c_void_p), ("x", c_void_p), ("y", c_void_p), ("vectors", c_int64),
        ("alpha", c_double), ("beta", c_double), ("temporary", c_void_p), ("temporary_bytes", c_size_t),
    ]  # fmt: skip


class sg_axis(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("words", POINTER(c_char_p)), ("word_count", c_int)]


class sg_candidate(ctypes.Structure):
    _fields_ = [
        ("plan", c_char_p), ("estimated_seconds", c_double), ("values", POINTER(c_int)), ("threads", c_int),
        ("shared_bytes", c_size_t),
    ]  # fmt: skip


class sg_space_note(ctypes.Structure):
    _fields_ = [("value", c_char_p), ("why", c_char_p)]


class sg_space_without(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("keys", c_char_p)]


class sg_space(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("family", c_char_p), ("name", c_char_p), ("dtype", c_char_p), ("arch", c_char_p),
        ("dims", c_int), ("size", c_int64 * 3), ("steps", c_int64), ("usual", c_char_p), ("usual_index", c_int),
        ("axis_count", c_int), ("axes", POINTER(sg_axis)), ("candidate_count", c_int),
        ("candidates", POINTER(sg_candidate)), ("note_count", c_int), ("notes", POINTER(sg_space_note)),
        ("without_count", c_int), ("without", POINTER(sg_space_without)), ("kind", c_int), ("gpu", c_char_p),
    ]  # fmt: skip


class sg_evaluation(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("plan", c_char_p), ("state", c_char_p), ("reason", c_char_p),
        ("seconds", c_double), ("spread", c_double), ("estimated_seconds", c_double), ("registers", c_int),
        ("threads", c_int), ("shared_bytes", c_int64), ("local_bytes", c_int64), ("occupancy", c_double),
        ("resumed", c_int), ("final_seconds", c_double),
    ]  # fmt: skip


class sg_drift(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("plan", c_char_p), ("evaluation", c_int), ("first_seconds", c_double),
        ("seconds", c_double), ("clock", c_double), ("temperature", c_double), ("taken", c_int64),
    ]  # fmt: skip


class sg_tune_progress(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("name", c_char_p), ("candidates", c_int), ("evaluations", c_int),
        ("most_evaluations", c_int), ("seconds", c_double), ("budget", c_double), ("building", c_int),
        ("last", POINTER(sg_evaluation)), ("best", c_char_p), ("best_seconds", c_double), ("usual_seconds", c_double),
        ("finalists", c_int), ("round", c_int), ("rounds", c_int), ("resumed", c_int),
    ]  # fmt: skip


sg_progress = CFUNCTYPE(c_int, c_void_p, POINTER(sg_tune_progress))


class sg_tune_options(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("build", POINTER(sg_build_options)), ("search", c_int), ("seed", c_uint64),
        ("budget", c_double), ("evaluations", c_int), ("afresh", c_int), ("parameters", POINTER(c_double)),
        ("progress", sg_progress), ("user", c_void_p), ("worker", c_char_p), ("limit", c_double),
    ]  # fmt: skip


class sg_tuning(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("family", c_char_p), ("name", c_char_p), ("arch", c_char_p), ("dims", c_int),
        ("size", c_int64 * 3), ("steps", c_int64), ("candidate_count", c_int), ("evaluation_count", c_int),
        ("evaluations", POINTER(sg_evaluation)), ("best", c_int), ("usual", c_int), ("wrong", c_int),
        ("resumed", c_int), ("finished", c_int), ("seconds", c_double), ("drift", c_double), ("database", c_char_p),
        ("drift_count", c_int), ("drifts", POINTER(sg_drift)), ("finalists", c_int), ("rounds", c_int),
        ("taken", c_char_p), ("kind", c_int), ("gpu", c_char_p),
    ]  # fmt: skip


class sg_result(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("name", c_char_p), ("family", c_char_p), ("model", c_char_p), ("key", c_char_p),
        ("generator", c_char_p), ("device", c_char_p), ("device_name", c_char_p), ("arch", c_char_p),
        ("multiprocessors", c_int), ("memory", c_int64), ("driver", c_int), ("compiler", c_char_p),
        ("size", c_int64 * 8), ("size_count", c_int), ("steps", c_int64), ("plan", c_char_p), ("state", c_char_p),
        ("reason", c_char_p), ("seconds", POINTER(c_double)), ("repeats", c_int), ("median", c_double),
        ("spread", c_double), ("estimated_seconds", c_double), ("compile_seconds", c_double),
        ("check_seconds", c_double), ("registers", c_int), ("shared_bytes", c_int64), ("local_bytes", c_int64),
        ("occupancy", c_double), ("clock_before", c_double), ("clock_after", c_double),
        ("temperature_before", c_double), ("temperature_after", c_double), ("copy_seconds", c_double),
        ("sweep", c_int64), ("evaluation", c_int), ("taken", c_int64), ("final_seconds", c_double),
        ("settled_seconds", c_double), ("kind", c_int),
    ]  # fmt: skip


class sg_message(ctypes.Structure):
    _fields_ = [("rank", c_int), ("data", c_void_p), ("bytes", c_size_t)]


sg_exchange = CFUNCTYPE(
    c_int, c_void_p, POINTER(sg_message), c_int, POINTER(sg_message), c_int, c_double, POINTER(c_char)
)  # fmt: skip
sg_tell = CFUNCTYPE(None, c_void_p, c_char_p)
sg_end = CFUNCTYPE(None, c_void_p)


class sg_transport(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("name", c_char_p), ("rank", c_int), ("ranks", c_int), ("user", c_void_p),
        ("exchange", sg_exchange), ("abandon", sg_tell), ("close", sg_end), ("device_memory", c_int),
    ]  # fmt: skip


class sg_team_options(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("transport", POINTER(sg_transport)), ("nccl_comm", c_void_p),
        ("nccl_unique_id", c_void_p), ("rank", c_int), ("ranks", c_int), ("nccl", c_char_p), ("seconds", c_double),
        ("timed", c_int),
    ]  # fmt: skip


class sg_team_info(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("rank", c_int), ("ranks", c_int), ("engine", c_char_p), ("seconds", c_double),
        ("exchanges", c_int64), ("bytes", c_int64), ("exchange_seconds", c_double),
        ("hidden_seconds", c_double),
    ]  # fmt: skip


class sg_team_part(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("global", c_int64 * 3), ("ranks", c_int * 3), ("launches", c_int),
        ("place", c_int * 3), ("begin", c_int64 * 3), ("end", c_int64 * 3), ("low", c_int64 * 3),
        ("high", c_int64 * 3), ("size", c_int64 * 3), ("steps", c_int64),
    ]  # fmt: skip


class sg_team_forecast(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("latency", c_double), ("rate", c_double), ("bytes", c_int64),
        ("messages", c_int), ("alone_seconds", c_double), ("interior_seconds", c_double),
        ("exchange_seconds", c_double), ("seconds", c_double), ("hidden", c_int),
    ]  # fmt: skip


sg_points_read = CFUNCTYPE(c_int, c_void_p, c_int64, c_int64, c_void_p)
sg_points_write = CFUNCTYPE(c_int, c_void_p, c_int64, c_int64, c_void_p)


class sg_points_info(Sized):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("field", c_char_p), ("injects", c_int)]


class sg_points(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("name", c_char_p), ("count", c_int64), ("positions", POINTER(c_double)),
        ("series", c_void_p), ("traces", c_void_p), ("read", sg_points_read), ("write", sg_points_write),
        ("user", c_void_p),
    ]  # fmt: skip


class sg_monitor_info(Sized):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("op", c_char_p)]


sg_monitor_seen = CFUNCTYPE(c_int, c_void_p, c_int64, c_double)


class sg_watch(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("monitor", c_void_p), ("every", c_int64), ("seen", sg_monitor_seen),
        ("user", c_void_p),
    ]  # fmt: skip


# More callbacks, of functions that list things.
cache_entry_callback = CFUNCTYPE(None, c_void_p, POINTER(sg_cache_entry))
format_callback = CFUNCTYPE(None, c_void_p, POINTER(sg_format_info))
result_callback = CFUNCTYPE(None, c_void_p, POINTER(sg_result))
drift_callback = CFUNCTYPE(None, c_void_p, POINTER(sg_drift))

# ---- functions --------------------------------------------------------------------------------------------------

_object = c_void_p  # of an opaque type
_out = POINTER(c_void_p)  # where such an object is put
_status = c_int

FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "sg_status_name": (c_char_p, (c_int,)),
    "sg_version": (c_char_p, ()),
    "sg_open": (_status, (_out, POINTER(sg_options))),
    "sg_close": (None, (_object,)),
    "sg_error": (c_char_p, (_object,)),
    "sg_abandon": (None, ()),
    "sg_device": (_status, (_object, POINTER(sg_device_info))),
    "sg_count_specs": (_status, (_object, c_char_p, c_char_p, POINTER(c_int))),
    "sg_find_spec": (_status, (_object, c_char_p, c_char_p, c_char_p, POINTER(c_int))),
    "sg_build": (_status, (_object, c_char_p, POINTER(sg_build_options), _out)),
    "sg_release": (None, (_object,)),
    "sg_save": (_status, (_object, c_char_p, c_char_p)),
    "sg_load": (_status, (_object, c_char_p, _out)),
    "sg_kernel_text": (c_char_p, (_object, c_int)),
    "sg_kernel_facts": (_status, (_object, POINTER(sg_kernel_info))),
    "sg_kernel_array": (_status, (_object, c_int, POINTER(sg_array_info))),
    "sg_kernel_find_array": (c_int, (_object, c_char_p)),
    "sg_kernel_find_parameter": (c_int, (_object, c_char_p)),
    "sg_kernel_parameter": (_status, (_object, c_int, POINTER(sg_parameter_info))),
    "sg_kernel_binary": (_status, (_object, c_int, POINTER(sg_binary))),
    "sg_alloc": (_status, (_object, c_size_t, _out)),
    "sg_free": (None, (_object, c_void_p)),
    "sg_upload": (_status, (_object, c_void_p, c_void_p, c_size_t)),
    "sg_download": (_status, (_object, c_void_p, c_void_p, c_size_t)),
    "sg_to_half": (None, (c_void_p, c_void_p, c_size_t)),
    "sg_from_half": (None, (c_void_p, c_void_p, c_size_t)),
    "sg_to_bfloat16": (None, (c_void_p, c_void_p, c_size_t)),
    "sg_from_bfloat16": (None, (c_void_p, c_void_p, c_size_t)),
    "sg_temporary_bytes": (_status, (_object, POINTER(sg_arguments), POINTER(c_size_t))),
    "sg_launch": (_status, (_object, POINTER(sg_arguments), c_void_p)),
    "sg_run": (_status, (_object, POINTER(sg_arguments), c_int64, c_void_p, POINTER(c_int))),
    "sg_evaluate_field": (
        _status,
        (_object, c_char_p, c_char_p, POINTER(c_int64), POINTER(c_int64), POINTER(c_int64), POINTER(c_double)),
    ),
    "sg_synchronize": (_status, (_object, c_void_p)),
    "sg_capture_open": (_status, (_object, c_size_t, _out, POINTER(c_void_p))),
    "sg_capture_take": (_status, (_object, c_size_t, c_void_p, c_size_t, c_void_p)),
    "sg_capture_wait": (_status, (_object,)),
    "sg_capture_close": (None, (_object,)),
    "sg_mark_stream": (_status, (_object, c_void_p, _out)),
    "sg_mark_passed": (_status, (_object, POINTER(c_int))),
    "sg_mark_free": (None, (_object,)),
    "sg_doctor": (_status, (POINTER(sg_options), sg_finding, c_void_p)),
    "sg_cache_facts": (_status, (_object, POINTER(sg_cache_info))),
    "sg_cache_list": (_status, (_object, c_int, cache_entry_callback, c_void_p)),
    "sg_cache_clear": (_status, (_object, POINTER(c_int64), POINTER(c_int64))),
    "sg_check": (_status, (_object, POINTER(sg_check_options), POINTER(sg_check_result))),
    "sg_measure": (_status, (_object, POINTER(sg_speed_options), POINTER(sg_speed))),
    "sg_explain": (_status, (_object, c_char_p, POINTER(sg_build_options), POINTER(POINTER(sg_explanation)))),
    "sg_explanation_free": (None, (POINTER(sg_explanation),)),
    "sg_reduce": (_status, (_object, POINTER(sg_reduce_arguments), c_void_p)),
    "sg_reduce_bytes": (_status, (_object, c_int64, c_int64, POINTER(c_size_t))),
    "sg_scan": (_status, (_object, POINTER(sg_scan_arguments), c_void_p)),
    "sg_scan_bytes": (_status, (_object, c_int64, POINTER(c_size_t))),
    "sg_merge": (_status, (_object, POINTER(sg_merge_arguments), c_void_p)),
    "sg_merge_bytes": (_status, (_object, c_int64, c_int64, POINTER(c_size_t))),
    "sg_matrix_new": (_status, (_object, c_int64, c_int64, _out)),
    "sg_matrix_from": (_status, (_object, c_int64, c_int64, c_int64, c_void_p, c_void_p, c_void_p, _out)),
    "sg_matrix_from_device": (_status, (_object, POINTER(sg_csr), _out)),
    "sg_matrix_read": (_status, (_object, c_char_p, _out)),
    "sg_matrix_write": (_status, (_object, c_char_p)),
    "sg_matrix_free": (None, (_object,)),
    "sg_matrix_set": (_status, (_object, c_int64, c_int64, c_double)),
    "sg_matrix_add": (_status, (_object, c_int64, c_int64, c_double)),
    "sg_matrix_get": (_status, (_object, c_int64, c_int64, POINTER(c_double))),
    "sg_matrix_entries": (_status, (_object, c_void_p, c_void_p, c_void_p)),
    "sg_matrix_facts": (_status, (_object, POINTER(sg_matrix_info))),
    "sg_matrix_formats": (_status, (_object, _object, format_callback, c_void_p)),
    "sg_matrix_upload": (_status, (_object, _object, _out)),
    "sg_device_matrix_free": (None, (_object,)),
    "sg_conversion_facts": (_status, (_object, POINTER(sg_conversion_info))),
    "sg_spmv": (_status, (_object, POINTER(sg_spmv_arguments), c_void_p)),
    "sg_spmv_bytes": (_status, (_object, _object, c_int64, POINTER(c_size_t))),
    "sg_candidates": (_status, (_object, c_char_p, POINTER(sg_build_options), POINTER(POINTER(sg_space)))),
    "sg_space_free": (None, (POINTER(sg_space),)),
    "sg_tune": (_status, (_object, c_char_p, POINTER(sg_tune_options), POINTER(POINTER(sg_tuning)))),
    "sg_tuning_free": (None, (POINTER(sg_tuning),)),
    "sg_tune_worker": (c_int, ()),
    "sg_results": (_status, (_object, c_char_p, result_callback, c_void_p)),
    "sg_local_transports": (_status, (c_int, POINTER(sg_transport))),
    "sg_team_device": (c_int, (c_int,)),
    "sg_team_doctor": (_status, (POINTER(sg_options), sg_finding, c_void_p)),
    "sg_team_open": (_status, (_object, POINTER(sg_team_options), _out)),
    "sg_team_close": (None, (_object,)),
    "sg_team_facts": (_status, (_object, POINTER(sg_team_info))),
    "sg_team_build": (_status, (_object, c_char_p, POINTER(sg_build_options), POINTER(c_int), _out)),
    "sg_team_arrange": (_status, (_object, _object, POINTER(sg_team_part))),
    "sg_team_run": (
        _status,
        (_object, _object, POINTER(sg_team_part), POINTER(sg_arguments), c_int64, c_void_p, POINTER(c_int)),
    ),
    "sg_team_estimate": (
        _status,
        (_object, c_char_p, POINTER(sg_build_options), c_int, c_int, POINTER(sg_team_part), POINTER(sg_team_forecast)),
    ),
    "sg_team_reduce": (_status, (_object, c_int, POINTER(c_double), c_int, POINTER(c_double))),
    "sg_team_gather": (_status, (_object, c_void_p, c_size_t, c_void_p)),
    "sg_team_put": (_status, (_object, POINTER(sg_team_part), c_int, c_size_t, c_void_p, c_void_p)),
    "sg_team_get": (_status, (_object, POINTER(sg_team_part), c_int, c_size_t, c_void_p, c_void_p)),
    "sg_team_wait": (_status, (_object, c_void_p)),
    "sg_team_agree": (_status, (_object, c_char_p)),
    "sg_kernel_points": (_status, (_object, c_int, POINTER(sg_points_info))),
    "sg_points_open": (_status, (_object, POINTER(c_int64), POINTER(sg_points), c_int, _out)),
    "sg_run_points": (_status, (_object, POINTER(sg_arguments), c_int64, c_void_p, POINTER(c_int))),
    "sg_points_close": (None, (_object,)),
    "sg_kernel_monitor": (_status, (_object, c_int, POINTER(sg_monitor_info))),
    "sg_monitor_open": (_status, (_object, _object, POINTER(c_int64), _out)),
    "sg_monitor_sample": (_status, (_object, POINTER(sg_arguments), c_void_p)),
    "sg_monitor_read": (_status, (_object, POINTER(c_int64), POINTER(c_double), c_int, POINTER(c_int))),
    "sg_run_watched": (
        _status,
        (
            _object,
            _object,
            POINTER(sg_watch),
            c_int,
            POINTER(sg_arguments),
            c_int64,
            c_void_p,
            POINTER(c_int),
            POINTER(c_int64),
        ),
    ),
    "sg_monitor_close": (None, (_object,)),
    "sg_team_points_open": (
        _status,
        (_object, _object, POINTER(sg_team_part), POINTER(sg_points), c_int, _out),
    ),
    "sg_team_run_points": (_status, (_object, POINTER(sg_arguments), c_int64, c_void_p, POINTER(c_int))),
    "sg_team_points_close": (None, (_object,)),
    "sg_team_monitor_open": (_status, (_object, _object, _object, POINTER(sg_team_part), _out)),
    "sg_team_monitor_sample": (_status, (_object, POINTER(sg_arguments), c_void_p)),
    "sg_team_monitor_read": (_status, (_object, POINTER(c_int64), POINTER(c_double), c_int, POINTER(c_int))),
    "sg_team_monitor_close": (None, (_object,)),
    "sg_drifts": (_status, (_object, c_int64, drift_callback, c_void_p)),
}


# ---- the shared library -----------------------------------------------------------------------------------------


def library_path() -> str:
    """The shared library: STENCILGEN_LIBRARY, else the one in this package, else the one that the system knows."""
    given = os.environ.get("STENCILGEN_LIBRARY")
    if given:
        return given
    inside = Path(__file__).parent / "lib" / "libstencilgen.so"
    return str(inside) if inside.exists() else "libstencilgen.so.0"


def _load() -> ctypes.CDLL:
    path = library_path()
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"stencilgen's shared library cannot be loaded: {error}; set STENCILGEN_LIBRARY to its path, "
            "or install the package with pip, which brings it along"
        ) from error
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(loaded, name, None)
        if function is None:
            raise ImportError(f"{path} has no {name}: it is an older stencilgen than this package")
        function.restype = result
        function.argtypes = arguments
    return loaded


lib = _load()

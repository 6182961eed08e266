#!/usr/bin/env python3
"""What a Python package does with the shared library, on a machine without a GPU: a stencil from text, the kernel for a
GPU by its name, its evidence, source and export, and what launching it fails with.

    ctypes_test.py LIBRARY HEADER...
"""

import ctypes as c
import os
import pathlib
import re
import sys
import tempfile
import threading
import unittest


class Request(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("stencil", c.c_char_p), ("type", c.c_char_p), ("boundary", c.c_char_p),
                ("extents", c.c_int64 * 3), ("pitch", c.c_int64), ("device", c.c_int32), ("steps", c.c_int32),
                ("alignment", c.c_size_t), ("parsed", c.c_void_p), ("gpu", c.c_char_p)]


class Evidence(c.Structure):
    _fields_ = [("struct_size", c.c_size_t)] + [
        (text, c.c_char_p) for text in ("sentence", "code", "tuned_code", "gpu", "driver", "nvrtc", "tuned_at", "notes")
    ] + [("tuned_extents", c.c_int64 * 3), ("tuned_pitch", c.c_int64), ("gstencils", c.c_double), ("share", c.c_double),
         ("match", c.c_int), ("fused_steps", c.c_int32)]


def open_library(path):
    library = c.CDLL(path)
    for name in ("version", "error_message", "status_name", "kernel_code", "kernel_evidence", "stencil_field_name",
                 "kernel_architecture"):
        getattr(library, f"stencil_tune_{name}").restype = c.c_char_p
    return library


RESULTS = {"void": None, "const char*": c.c_char_p, "double": c.c_double, "size_t": c.c_size_t, "int32_t": c.c_int32,
           "int64_t": c.c_int64, "stencil_tune_status": c.c_int, "stencil_tune_match": c.c_int}
HANDLE = re.compile(r"(?:const )?stencil_tune_(?:library|stencil|kernel|user_kernel|points|grid)\*+ ")
MATCH_DEFAULT = 4
NOWHERE = ("kernel_device", "user_kernel_device", "stencil_field_layer_axis", "stencil_field_next",
           "stencil_field_layers")  # where -1 says that there is none


def functions_of(headers):
    """(what it returns, name, what it takes) of each."""
    text = "".join(pathlib.Path(header).read_text() for header in headers)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.findall(r"^([\w ]+?\*?) ?stencil_tune_(\w+)\(([^)]*)\);", text, re.MULTILINE)


class SharedLibrary(unittest.TestCase):
    def setUp(self):
        self.handle = c.c_void_p()
        self.check(LIBRARY.stencil_tune_open(None, c.byref(self.handle)))

    def tearDown(self):
        LIBRARY.stencil_tune_close(self.handle)

    def check(self, status, expected=b"ok"):
        self.assertEqual(LIBRARY.stencil_tune_status_name(status), expected, LIBRARY.stencil_tune_error_message())

    def lookup(self, **more):
        request = Request(struct_size=c.sizeof(Request), extents=(512, 512, 512), device=-1, **more)
        kernel = c.c_void_p()
        self.check(LIBRARY.stencil_tune_lookup(self.handle, c.byref(request), c.byref(kernel)))
        self.addCleanup(LIBRARY.stencil_tune_release, kernel)
        return kernel

    def evidence(self, kernel):
        evidence = Evidence(struct_size=c.sizeof(Evidence))
        self.check(LIBRARY.stencil_tune_kernel_evidence_of(kernel, 0, c.byref(evidence)))
        return evidence

    def test_a_winner_that_ships_is_found_for_a_named_gpu(self):
        kernel = self.lookup(stencil=b"star3d1r", gpu=b"h200", steps=100)
        evidence = self.evidence(kernel)
        self.assertEqual(evidence.gpu, b"NVIDIA H200")
        self.assertEqual(list(evidence.tuned_extents), [512, 512, 512])
        self.assertGreater(evidence.gstencils, 500)
        self.assertGreater(evidence.fused_steps, 1)
        self.assertEqual(LIBRARY.stencil_tune_kernel_architecture(kernel), b"sm_90")
        self.check(LIBRARY.stencil_tune_prepare(kernel), b"no_device")
        self.assertIn(b"NVIDIA H200", LIBRARY.stencil_tune_error_message())

    def test_an_expression_becomes_source_and_a_file(self):
        stencil, text = c.c_void_p(), c.c_void_p()
        expression = b"u_next = u + alpha * laplacian(u); alpha = 0.1"
        self.check(LIBRARY.stencil_tune_stencil_parse(expression, 3, c.byref(stencil)))
        fields = [LIBRARY.stencil_tune_stencil_field_name(stencil, i) for i in range(3)]
        self.assertEqual(fields, [b"u", b"u_next", None])
        kernel = self.lookup(parsed=stencil, gpu=b"sm_90")
        LIBRARY.stencil_tune_stencil_release(stencil)
        self.check(LIBRARY.stencil_tune_kernel_source(kernel, 0, c.byref(text)))
        self.assertIn(b"__global__", c.string_at(text))
        LIBRARY.stencil_tune_free_text(text)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "heat.cu"
            self.check(LIBRARY.stencil_tune_export_file(kernel, None, os.fsencode(path)))
            self.assertIn("cudaError_t heat(", path.read_text())

    def test_null_stands_for_any_handle(self):
        """A function that returns a status refuses it; others return what stands for nothing."""
        checked = 0
        for result, name, takes in functions_of(HEADERS):
            function = getattr(c.CDLL(LIBRARY._name), f"stencil_tune_{name}")  # with types of its own
            function.restype = RESULTS[result]
            given = [None if "*" in each else 0 for each in takes.split(",")]
            if not HANDLE.match(takes):
                continue
            found = function(*given)
            checked += 1
            with self.subTest(name):
                if result == "stencil_tune_status":
                    self.assertNotEqual(found, 0)
                    self.assertIn(b"null pointer", LIBRARY.stencil_tune_error_message())
                elif result == "stencil_tune_match":
                    self.assertEqual(found, MATCH_DEFAULT)
                else:
                    self.assertIn(found, (-1,) if name in NOWHERE else (0, None))
        self.assertGreater(checked, 90)

    def test_each_thread_has_its_own_error(self):
        def fail():
            LIBRARY.stencil_tune_stencil_load(b"no_such_stencil", c.byref(c.c_void_p()))
            there.append(LIBRARY.stencil_tune_error_message())

        there = []
        LIBRARY.stencil_tune_stencil_parse(b"u +", 3, c.byref(c.c_void_p()))
        here = LIBRARY.stencil_tune_error_message()
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()
        self.assertIn(b"no_such_stencil", there[0])
        self.assertEqual(LIBRARY.stencil_tune_error_message(), here)
        self.assertNotEqual(here, b"")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["XDG_DATA_HOME"] = scratch
        os.environ.pop("STENCIL_TUNE_DB", None)
        LIBRARY, HEADERS = open_library(sys.argv[1]), sys.argv[2:]
        unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
"""The kernels of kernels/ beside cuBLAS, CUB, cuDNN and PyTorch, in one run on one GPU. A table:

    bench/peers/kernels.py                        all of them
    bench/peers/kernels.py --only matmul scan     these
    bench/peers/kernels.py --winners FILE         parameters of tuned kernels: {"matmul": {"TILE_M": 128, ...}, ...}
    ... --records FILE                            adds what was measured to it, a line of JSON each, as it goes

A kernel is compiled by NVRTC through CuPy, from its file, with the constants of three configurations: the textbook's, the
one that stands below as a first guess, and the winner that --winners names. Each result is compared with that of the
peer before anything is timed. Times are medians of samples by CUDA events, each of as many launches as take 20 ms.
Matrix products of PyTorch are cuBLAS in f32, without tensor cores; sums, scans and histograms of CuPy are CUB.
"""

import argparse
import json
import os
import pathlib
import re
import tomllib

os.environ["CUPY_ACCELERATORS"] = "cub"

import cupy  # noqa: E402
import torch  # noqa: E402

from peer_clock import seconds  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE_S = 0.02
DTYPES = {"f32": torch.float32, "i32": torch.int32, "u32": torch.int32, "u64": torch.int64, "u8": torch.uint8}

TEXTBOOK = {
    "matmul": dict(TILED=1, TILE_M=16, TILE_N=16, TILE_K=16, ROWS=1, COLUMNS=1, LANES_N=16, VECTOR=1, STAGES=1, GROUP=1, BLOCKS=1),
    "transpose": dict(SHARED=0, TILE=16, BLOCK_ROWS=16, PAD=0),
    "convolution1d": dict(RADIUS=8, BLOCK=256, CELLS=1, SHARED=0, MASK=0),
    "convolution2d": dict(RADIUS=3, BLOCK_X=16, BLOCK_Y=16, CELLS_X=1, CELLS_Y=1, SHARED=0, MASK=0),
    "reduction": dict(BLOCK=1024, BLOCKS=2112, VECTOR=1, LOADS=1, SHUFFLE=0),
    "histogram": dict(BLOCK=256, BLOCKS=2112, VECTOR=1, PRIVATE=0, COPIES=1, AGGREGATE=0),
    "scan": dict(BLOCK=512, CELLS=1, LOOK_BACK=0),
}
GUESS = {
    "matmul": dict(TILED=1, TILE_M=128, TILE_N=128, TILE_K=8, ROWS=8, COLUMNS=8, LANES_N=8, VECTOR=4, STAGES=2, GROUP=8, BLOCKS=2),
    "transpose": dict(SHARED=1, TILE=32, BLOCK_ROWS=8, PAD=1),
    "convolution1d": dict(RADIUS=8, BLOCK=256, CELLS=4, SHARED=1, MASK=0),
    "convolution2d": dict(RADIUS=3, BLOCK_X=32, BLOCK_Y=8, CELLS_X=2, CELLS_Y=4, SHARED=1, MASK=1),
    "reduction": dict(BLOCK=512, BLOCKS=528, VECTOR=4, LOADS=4, SHUFFLE=1),
    "histogram": dict(BLOCK=512, BLOCKS=528, VECTOR=16, PRIVATE=1, COPIES=4, AGGREGATE=0),
    "scan": dict(BLOCK=256, CELLS=16, LOOK_BACK=1),
}


def conv(dimensions):
    def run(arrays, sizes):
        shape = (1, 1, sizes["n"]) if dimensions == 1 else (1, 1, sizes["height"], sizes["width"])
        weights = arrays["mask"].view(1, 1, *[2 * sizes["radius"] + 1] * dimensions)
        function = torch.nn.functional.conv1d if dimensions == 1 else torch.nn.functional.conv2d
        return function(arrays["in"].view(shape), weights, padding=sizes["radius"]).flatten()
    return run


def with_cupy(function):
    return lambda arrays, sizes: torch.as_tensor(function(cupy.asarray(arrays["in"])), device="cuda").flatten()


PEERS = {
    "matmul": {"cuBLAS": lambda arrays, sizes: torch.mm(arrays["a"].view(sizes["m"], sizes["k"]),
                                                        arrays["b"].view(sizes["k"], sizes["n"])).flatten()},
    "transpose": {"PyTorch": lambda arrays, sizes: arrays["in"].view(sizes["m"], sizes["n"]).t().contiguous().flatten()},
    "convolution1d": {"cuDNN": conv(1)},
    "convolution2d": {"cuDNN": conv(2)},
    "reduction": {"CUB": with_cupy(lambda x: x.sum()), "PyTorch": lambda arrays, sizes: arrays["in"].sum().view(1)},
    "histogram": {"CUB": with_cupy(lambda x: cupy.histogram(x, bins=256, range=(0, 256))[0].astype(cupy.int32)),
                  "PyTorch": lambda arrays, sizes: torch.bincount(arrays["in"], minlength=256).int()},
    "scan": {"CUB": with_cupy(lambda x: x.cumsum(dtype=cupy.int32)),
             "PyTorch": lambda arrays, sizes: arrays["in"].cumsum(0, dtype=torch.int32)},
}


def definition_of(name):
    text = (ROOT / f"kernels/{name}.cu").read_text()
    return text, tomllib.loads(re.match(r"/\* stencil-tune\n(.*?)\*/", text, re.DOTALL)[1])


def value_of(expression, values):
    """Of the definitions of this repository: whole numbers, with the operators that they use."""
    if not isinstance(expression, str):
        return expression
    known = {"ceil_div": lambda a, b: -(-a // b), "min": min, "max": max, "__builtins__": {}}
    return eval(expression.replace("/", "//").replace("^", "**"), known, values)  # noqa: S307


def filled(argument, sizes, generator):
    cells = value_of(argument["length"], sizes)
    dtype = DTYPES[argument["type"].rstrip("*")]
    fill = argument.get("fill", "random")
    if argument.get("output") or fill == "zeros":
        return torch.zeros(cells, dtype=dtype, device="cuda")
    if dtype == torch.float32:
        return torch.rand(cells, generator=generator, device="cuda") * 2 - 1
    low, high = (-8, 9) if fill == "integers" else (0, 256)
    return torch.randint(low, high, (cells,), generator=generator, device="cuda", dtype=dtype)


class Kernel:
    """A definition with its arrays, launched with one configuration after the other."""

    def __init__(self, name):
        self.source, self.definition = definition_of(name)
        self.name, self.sizes = name, self.definition["sizes"]
        generator = torch.Generator("cuda").manual_seed(1)
        self.arrays = {argument["name"]: filled(argument, self.sizes, generator)
                       for argument in self.definition["arguments"] if "length" in argument}
        self.output = next(self.arrays[a["name"]] for a in self.definition["arguments"] if a.get("output"))

    def launcher(self, parameters):
        options = tuple(f"-D{name}={value}" for name, value in parameters.items())
        module = cupy.RawModule(code=self.source, options=("-std=c++17", *options), name_expressions=[self.name])
        function = module.get_function(self.name)
        if parameters.get("MASK") == 2:  # other configurations have no use for the symbol, and NVRTC drops it
            self._fill_symbols(module)
        values = {**self.sizes, **parameters}
        block, grid = ([value_of(each, values) for each in self.definition["launch"][what]] for what in ("block", "grid"))
        arguments = [self._argument(argument) for argument in self.definition["arguments"]]
        return lambda: function(tuple(grid), tuple(block), tuple(arguments))

    def _fill_symbols(self, module):
        for argument in self.definition["arguments"]:
            if "symbol" in argument:
                cells = cupy.asarray(self.arrays[argument["name"]])
                cupy.ndarray(cells.shape, cells.dtype, module.get_global(argument["symbol"]))[...] = cells

    def _argument(self, argument):
        if "length" in argument:
            return cupy.asarray(self.arrays[argument["name"]])
        return {"i32": cupy.int32, "i64": cupy.int64}[argument["type"]](value_of(argument["value"], self.sizes))

    def compare(self, wanted):
        """Within the definition's tolerance, whose scale is at least 1."""
        got, wanted = self.output.double(), wanted.double()
        worst = ((got - wanted).abs() / wanted.abs().clamp(min=1)).max().item()
        tolerance = max(self.definition["reference"]["tolerance"], 0) * 10  # the peer rounds as well
        if not worst <= tolerance:
            raise AssertionError(f"{self.name} is off by {worst:g}")

    def rate(self, taken_s):
        flops = value_of(self.definition["counts"].get("flops", 0), self.sizes)
        size_of = value_of(self.definition["counts"]["bytes"], self.sizes)
        return f"{flops / taken_s / 1e12:8.2f} TFLOP/s {size_of / taken_s / 1e9:8.0f} GB/s"


def time_of(work):
    """Of one call, from samples that take SAMPLE_S."""
    once = seconds(work, samples=3)
    count = max(1, round(SAMPLE_S / once))
    return seconds(lambda: [work() for _ in range(count)]) / count


def measure(name, winners, record):
    kernel = Kernel(name)
    wanted = None
    for peer, run in PEERS[name].items():
        wanted = run(kernel.arrays, kernel.sizes)
        report(kernel, peer, time_of(lambda run=run: run(kernel.arrays, kernel.sizes)), record)
    for what, table in (("textbook", TEXTBOOK), ("guess", GUESS), ("winner", winners)):
        if name not in table:
            continue
        launch = kernel.launcher(table[name])
        launch()
        torch.cuda.synchronize()
        kernel.compare(wanted)
        report(kernel, what, time_of(launch), record)


def report(kernel, what, taken_s, record):
    print(f"{kernel.name:<14} {what:<9} {taken_s * 1e3:9.4f} ms {kernel.rate(taken_s)}", flush=True)
    record({"kernel": kernel.name, "sizes": kernel.sizes, "what": what, "ms": taken_s * 1e3,
            "gpu": torch.cuda.get_device_name()})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--winners", type=pathlib.Path)
    parser.add_argument("--records", type=pathlib.Path)
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    winners = json.loads(options.winners.read_text()) if options.winners else {}

    def record(line):
        if options.records:
            with options.records.open("a") as file:
                file.write(json.dumps(line) + "\n")

    with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
        for name in options.only:
            measure(name, winners, record)


if __name__ == "__main__":
    main()

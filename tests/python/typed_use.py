"""What a type checker must say of the package's interface; nothing here is run. `type: ignore` marks what it must refuse."""

from typing import Any, Union

import numpy
from typing_extensions import assert_type

import stencil_tune as st
from stencil_tune import ndimage

heat = st.stencil("u_next = u + alpha*laplacian(u); alpha = 0.1", rank=2)
assert_type(heat, st.Stencil)
assert_type(heat.arguments, tuple[str, ...])
assert_type(heat.coefficients, dict[str, float])
assert_type(heat.adjoint(), st.Stencil)
assert_type(heat.show(), str)
st.stencil(3)  # type: ignore[arg-type]

u, u_next = numpy.zeros((8, 16)), numpy.zeros((8, 16))
kernel = st.lookup(heat, like=u, boundary={"x": "periodic"}, steps=10)
assert_type(kernel, st.Kernel)
assert_type(st.lookup("heat2d", dims=(64, 32), dtype="f64", device=1).evidence, st.Evidence)
assert_type(kernel.evidence.gstencils, float)
assert_type(kernel.updated(), tuple[slice, ...])
assert_type(kernel.source(), str)
kernel(u, u_next, coefficients={"alpha": 0.2}, region=(slice(None), slice(0, 4)), stream=7)
kernel.prepare()(u=u, u_next=u_next)
u = kernel.advance([u, u_next], steps=3)
assert_type(kernel.advance([3, 4], steps=3), Union[int, Any])
text: str = kernel.advance([u, u_next], steps=3)  # type: ignore[list-item]
kernel.update_regions(u, u_next, regions=kernel.prepared_regions([(slice(1, 2), slice(None))]))
st.lookup(heat, dims="64")  # type: ignore[arg-type]
kernel.advance([u, u_next])  # type: ignore[call-arg]
kernel(u, u_next, coefficients=[0.2])  # type: ignore[arg-type]
kernel.update_regions(u, u_next, regions=[(slice(1, 2), slice(None))])  # type: ignore[arg-type]

slow = st.lookup(heat, like=u, device="cpu")
slow(u, u_next)
u = slow.advance([u, u_next], steps=3)
st.save_run("run.npz", slow, [u, u_next], steps=3)
assert_type(st.load_run("run.npz", kernel, [u, u_next]), int)
assert_type(slow.place_points({"u_next": [(1, 2.5)]}).records(3), int)
slow.advance([u, u_next], steps=2, points=kernel.place_points())  # type: ignore[arg-type]

report = st.tune(heat, dims=64, budget="1m", progress=lambda event: print(event["event"]))
assert_type(report, st.TuningReport)
assert_type(report.page(), str)
ndimage.laplace(u, mode="wrap")
ndimage.laplace(u, mode=3)  # type: ignore[arg-type]

try:
    kernel(u, u)
except st.ArgumentError as error:
    assert_type(error.code, str)

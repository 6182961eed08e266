"""Arrays of NumPy that announce themselves as CUDA arrays, in the ways that libraries do."""

import ctypes

import numpy

_ALIGNED = 256


def aligned(values):
    """A copy whose first cell stands where device memory begins."""
    values = numpy.asarray(values)
    room = numpy.empty(values.nbytes + _ALIGNED, numpy.uint8)
    start = -room.ctypes.data % _ALIGNED
    array = room[start:start + values.nbytes].view(values.dtype).reshape(values.shape)
    array[...] = values
    return array


def host(array):
    """The cells of an array of NumPy, or of one here."""
    return getattr(array, "host", array)


class CudaArray:
    """Has __cuda_array_interface__ alone, as numba's arrays."""

    def __init__(self, host, stream=None, read_only=False, **more):
        self.host = host
        self.said = dict(more, stream=stream)
        self.read_only = read_only

    @property
    def __cuda_array_interface__(self):
        host = self.host
        return {"shape": host.shape, "typestr": host.dtype.str, "data": (host.ctypes.data, self.read_only), "version": 3,
                "strides": None if host.flags.c_contiguous else host.strides, **self.said}


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", DLTensor)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
CUDA = 2


class DlpackArray:
    """Has __dlpack__ alone. `code` overrides DLPack's type code; `versioned` announces DLPack 1 with these flags."""

    def __init__(self, host, device=0, kind=CUDA, code=2, versioned=None, offset=0):
        self.host, self.device, self.kind, self.code = host, device, kind, code
        self.versioned, self.offset = versioned, offset
        self.shape, self.dtype = host.shape, host.dtype
        self.asked_for = []  # streams

    def __dlpack_device__(self):
        return self.kind, self.device

    def __dlpack__(self, stream=None, **_):
        self.asked_for.append(stream)
        host = self.host
        axes = ctypes.c_int64 * host.ndim
        self.kept = [axes(*host.shape), axes(*(stride // host.itemsize for stride in host.strides))]
        tensor = DLTensor(host.ctypes.data - self.offset, self.kind, self.device, host.ndim, self.code,
                           8 * host.itemsize, 1, self.kept[0], None if host.flags.c_contiguous else self.kept[1],
                           self.offset)
        if self.versioned is None:
            self.kept.append(_Managed(tensor))
            return new_capsule(ctypes.addressof(self.kept[-1]), b"dltensor", None)
        self.kept.append(_Versioned(1, 0, None, None, self.versioned, tensor))
        return new_capsule(ctypes.addressof(self.kept[-1]), b"dltensor_versioned", None)

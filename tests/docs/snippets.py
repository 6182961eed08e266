"""What stands around a fragment of a program, so that a compiler takes it as it is shown."""

import re

CPP = ("#include <cuda_runtime.h>\n#include <cstdio>\n#include <stencil_tune/stencil_tune.hpp>\n",
       "void fragment(cudaStream_t stream, stencil_tune::Span<void*> fields) {\n", "}\n")
C = ("#include <stencil_tune/stencil_tune.h>\n#include <stdio.h>\n",
     "void fragment(stencil_tune_library* library, stencil_tune_kernel* kernel, struct CUstream_st* stream, void** fields);\n"
     "void fragment(stencil_tune_library* library, stencil_tune_kernel* kernel, struct CUstream_st* stream, void** fields) {\n"
     "(void)library; (void)kernel; (void)stream; (void)fields;\n",
     "}\n")
FORTRAN = ("subroutine fragment(n)\n",
           "integer :: n\ntype(stencil_tune_library) :: library\ntype(stencil_tune_kernel) :: kernel\n"
           "type(c_ptr) :: fields(2)\n", "end subroutine\n")
AROUND = {"cpp": (r"#include", CPP), "c": (r"#include", C), "fortran": (r"use\b", FORTRAN)}

# As much of MPI as a recipe names: for machines that have none.
MPI_STUB = """
typedef int MPI_Request; typedef int MPI_Status; typedef int MPI_Datatype; typedef int MPI_Comm;
#define MPI_FLOAT 0
#define MPI_COMM_WORLD 0
#define MPI_STATUSES_IGNORE nullptr
int MPI_Irecv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int MPI_Isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int MPI_Waitall(int, MPI_Request*, MPI_Status*);
"""


def whole(block):
    """The block's program, or its fragment inside of one: #include and use lines go to the top."""
    if block.note != "fragment":
        return block.text
    pattern, (before, opening, closing) = AROUND[block.language]
    lines = block.text.splitlines(keepends=True)
    top = [line for line in lines if re.match(pattern, line)]
    rest = [line for line in lines if not re.match(pattern, line)]
    return before + "".join(top) + opening + "".join(rest) + closing

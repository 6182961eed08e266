# stencil-tune for Spack: `spack dev-build -d . stencil-tune@0.1.0` in a checkout, until a release has an archive.
# tests/package/recipes_test.py holds its facts.
from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage


class StencilTune(CMakePackage):
    """Finds the fastest CUDA kernel for a stencil on your GPU."""

    license("Apache-2.0")
    version("0.1.0")

    variant("shared", default=True, description="The C interface as a shared library too")

    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("boost+context+program_options")
    depends_on("cuda@12:")
    depends_on("eigen", type="build")
    depends_on("fmt")
    depends_on("nlohmann-json", type="build")
    depends_on("sqlite@3.37:")
    depends_on("tomlplusplus", type="build")
    depends_on("xxhash")
    depends_on("zlib-api")

    sanity_check_is_file = [
        "bin/stencil-tune",
        "include/stencil_tune/stencil_tune.h",
        "lib/cmake/stencil_tune/stencil_tune-config.cmake",
        "lib/pkgconfig/stencil_tune.pc",
    ]

    def cmake_args(self):
        return [
            self.define("STENCIL_TUNE_TESTS", False),
            self.define("STENCIL_TUNE_EXAMPLES", False),
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
        ]

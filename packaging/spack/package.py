# SPDX-License-Identifier: Apache-2.0
# Put the address of your clone below. Not tested here: there is no Spack.
from spack.package import *


class SmdTools(CMakePackage):
    """Look into training runs from the shell: logs, checkpoints, tensors, and whether training is healthy."""

    homepage = "https://example.org/libsmd"
    git = "https://example.org/libsmd.git"

    license("Apache-2.0")
    version("main", branch="main")
    variant("s3", default=True, description="Read and write trials on S3")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("boost+filesystem")
    depends_on("cli11")
    depends_on("fmt")
    depends_on("highway")
    depends_on("nlohmann-json")
    depends_on("pcre2")
    depends_on("protozero")
    depends_on("simdjson")
    depends_on("zlib-api")
    depends_on("curl@7.85:", when="+s3")
    depends_on("openssl", when="+s3")
    depends_on("pugixml", when="+s3")
    conflicts("platform=darwin", msg="libsmd runs on Linux")

    def cmake_args(self):
        return [
            self.define("BUILD_TESTING", False),
            self.define("SMD_BUILD_BENCHMARKS", False),
            self.define_from_variant("SMD_WITH_S3", "s3"),
        ]

"""setup.py: the C extension; everything else is in pyproject.toml.

It is linked with the static library that `make` builds. STCVM_ROOT is the folder
with include/ and build/ (by default two above this one), STCVM_LIB the library.
"""
import os
import sys

from setuptools import Extension, setup

here = os.path.dirname(os.path.abspath(__file__))
root = os.environ.get("STCVM_ROOT", os.path.join(here, "..", ".."))
library = os.environ.get("STCVM_LIB", os.path.join(root, "build", "libstcvm.a"))
if not os.path.exists(library) and not {"egg_info", "sdist", "clean"} & set(sys.argv):
    sys.exit("%s isn't there: run make in %s first, or set STCVM_ROOT or STCVM_LIB"
             % (library, os.path.normpath(root)))
names = ["arrays", "function", "machine", "module", "operand", "program", "result",
         "session", "tensor"]
setup(ext_modules=[Extension(
    "stcvm._stcvm",
    ["src/%s.c" % name for name in names],
    depends=["src/stcvm_py.h", library],
    include_dirs=[os.path.join(root, "include")],
    extra_objects=[library],
    extra_compile_args=["-std=gnu17", "-O2", "-Wall", "-Wextra", "-fvisibility=hidden"],
    libraries=["m", "pthread"],
    define_macros=[("Py_LIMITED_API", "0x030B0000"), ("PY_SSIZE_T_CLEAN", None)],
    py_limited_api=True,
)], options={"bdist_wheel": {"py_limited_api": "cp311"}})

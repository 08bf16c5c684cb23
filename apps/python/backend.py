"""Builds the wheel: a build backend (PEP 517) that needs nothing but Python, CMake and a compiler.

    pip install .                                      from the top folder
    python3 apps/python/backend.py PACKAGE_DIR OUT     a wheel of a package that is built already (`make python`)

The wheel holds the extension module and the libraries that it needs besides those of the system itself, so that nothing has to be
found where it is installed.
"""
from __future__ import annotations

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

TOP = pathlib.Path(__file__).resolve().parents[2]
# Part of every system that has Python and a C library of this kind.
SYSTEM = re.compile(r"^(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libutil)\.so")
PURE = ("*.py", "*.pyi", "py.typed")


def version():
    return re.search(r"project\(daedalus VERSION ([0-9.]+)", (TOP / "CMakeLists.txt").read_text()).group(1)


def tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def metadata():
    return (f"Metadata-Version: 2.1\nName: daedalus\nVersion: {version()}\n"
            "Summary: Initial value problems of every kind, and constrained mechanical systems\n"
            "License-File: LICENSE\nRequires-Python: >=3.10\nRequires-Dist: numpy\n")


def needed(module):
    """The shared libraries behind the module, by the name under which they are loaded."""
    lines = subprocess.run(["ldd", str(module)], check=True, capture_output=True, text=True).stdout.splitlines()
    found = {}
    for line in lines:
        if "not found" in line:
            raise SystemExit(f"{module}: {line.strip()}")
        m = re.match(r"\s*(\S+) => (\S+)", line)
        if m and not SYSTEM.match(m.group(1)):
            found[m.group(1)] = pathlib.Path(m.group(2)).resolve()
    return found


class Wheel:
    """A wheel that is written aside and renamed when it is complete."""

    def __init__(self, folder, name):
        self.path = pathlib.Path(folder) / name
        self.aside = self.path.with_suffix(".part")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.zip = zipfile.ZipFile(self.aside, "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, data, mode=0o644):
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same files make the same wheel
        info.external_attr = (0o100000 | mode) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def close(self, info):
        name = f"{info}/RECORD"
        self.zip.writestr(name, "\n".join([*self.record, f"{name},,", ""]))
        self.zip.close()
        os.replace(self.aside, self.path)
        return self.path.name


def make_wheel(package, out):
    """The wheel of a built package (a folder with the extension module in it); its file name."""
    package = pathlib.Path(package)
    module = next(package.glob("_core*.so"), None)
    if module is None:
        raise SystemExit(f"{package} has no extension module; run `make python`")
    wheel = Wheel(out, f"daedalus-{version()}-{tag()}.whl")
    info = f"daedalus-{version()}.dist-info"
    for file in sorted({f for pattern in PURE for f in package.rglob(pattern)}):
        wheel.add(f"daedalus/{file.relative_to(package).as_posix()}", file.read_bytes())
    wheel.add(f"daedalus/{module.name}", module.read_bytes(), 0o755)
    for name, file in sorted(needed(module).items()):
        wheel.add(f"daedalus/_libs/{name}", file.read_bytes(), 0o755)
    wheel.add(f"{info}/METADATA", metadata().encode())
    wheel.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: daedalus\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode())
    wheel.add(f"{info}/LICENSE", (TOP / "LICENSE").read_bytes())
    return wheel.close(info)


def build(folder):
    """The package for this Python, built in a folder; its path."""
    if not shutil.which("cmake"):
        raise SystemExit("daedalus: cmake is needed to build the package (on Debian: tools/setup.sh installs what is missing)")
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.run(["cmake", "-S", str(TOP), "-B", str(folder), *generator, "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF",
                    f"-DDAEDALUS_PYTHON={sys.executable}"], check=True)
    subprocess.run(["cmake", "--build", str(folder), "--target", "python", "-j", str(os.cpu_count() or 1)], check=True)
    return pathlib.Path(folder) / "python" / "daedalus"


# ---- What pip calls -------------------------------------------------------------------------------------------------


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    built = os.environ.get("DAEDALUS_PYTHON_BUILT")  # a package that is there already, for this Python
    if built:
        return make_wheel(built, wheel_directory)
    with tempfile.TemporaryDirectory() as folder:
        return make_wheel(build(folder), wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    name = f"daedalus-{version()}"
    files = subprocess.run(["git", "-C", str(TOP), "ls-files", "-z"], check=True, capture_output=True).stdout.split(b"\0")
    import tarfile
    path = pathlib.Path(sdist_directory) / f"{name}.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for file in sorted(f.decode() for f in files if f):
            tar.add(TOP / file, f"{name}/{file}")
    return path.name


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: backend.py PACKAGE_DIR OUT")
    print(pathlib.Path(sys.argv[2]) / make_wheel(sys.argv[1], sys.argv[2]))

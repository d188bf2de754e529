"""What a wheel carries beside the package: notebooks, the registry of data sets, and checksums.

The last are of the bench's evidence, which is fetched. In a checkout all lie at its top, where
people look for them; `membership.paths.shipped` finds either.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

SHIPPED = {
    "notebooks": ("*.md",),
    "data": ("*.toml", "*.csv"),
    "results/paper/comparison": ("run.manifest",),
}


class WithShipped(build_py):
    """Copies them into the package as it is built, but not for an editable install."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        for folder, patterns in SHIPPED.items():
            target = Path(self.build_lib) / "membership" / "shipped" / folder
            target.mkdir(parents=True, exist_ok=True)
            for pattern in patterns:
                for file in sorted(Path(folder).glob(pattern)):
                    shutil.copyfile(file, target / file.name)


setup(cmdclass={"build_py": WithShipped})

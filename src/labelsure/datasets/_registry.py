"""The data sets labelsure knows by name: where Mulan's repository keeps them, and their checksums."""

from importlib.resources import files

MULAN_URL = "https://raw.githubusercontent.com/tsoumakas/mulan/{revision}/data/multi-label"
"""The folder that holds one folder per data set."""

DEFAULT_REVISION = "master"

REVISIONS = {"scene": "5862bed221a9ec2baf9a090f5e98637e9dfb088b"}
"""The commits that are known to hold a data set; the others are taken from the default branch, and checked as well."""

SHA256 = dict(
    map(
        str.split,
        files("labelsure.datasets").joinpath("registry.txt").read_text("ascii").splitlines(),
    )
)
"""The checksums of the files as the Mulan project publishes them."""

KNOWN_NAMES = tuple(sorted(file.removesuffix(".xml") for file in SHA256 if file.endswith(".xml")))


def url_of(file: str, *, mirror: str = "") -> str:
    """Return the address of a file, under ``mirror`` (a folder with one folder per data set) if that is given.

    Examples
    --------
    >>> url_of("yeast.xml", mirror="http://127.0.0.1:8000/")
    'http://127.0.0.1:8000/yeast/yeast.xml'
    """
    name = next(name for name in KNOWN_NAMES if file in files_of(name))
    base = mirror or MULAN_URL.format(revision=REVISIONS.get(name, DEFAULT_REVISION))
    return f"{base.rstrip('/')}/{name}/{file}"


def files_of(name: str) -> tuple[str, str, str]:
    """Return the names of the three files of a data set with a standard split: training, test, labels.

    Examples
    --------
    >>> files_of("scene")
    ('scene-train.arff', 'scene-test.arff', 'scene.xml')
    """
    return f"{name}-train.arff", f"{name}-test.arff", f"{name}.xml"

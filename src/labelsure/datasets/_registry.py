"""The data sets labelsure knows by name: where Mulan's repository keeps them, and their checksums."""

MULAN_URL = "https://raw.githubusercontent.com/tsoumakas/mulan/{revision}/data/multi-label"
"""The folder that holds one folder per data set."""

DEFAULT_REVISION = "master"

REVISIONS = {"scene": "5862bed221a9ec2baf9a090f5e98637e9dfb088b"}
"""The commits that are known to hold a data set; the others are taken from the default branch, and checked as well."""

SHA256 = {
    "bibtex-test.arff": "9b03329cde64d3f994bdf7fbbac3f3b10fe185c311cb9ae725475f59c7f3f922",
    "bibtex-train.arff": "8dcc9de6e0b2cebaec8c1f4fac78431adeeb73cfd3ab879b530a66d366e59174",
    "bibtex.xml": "08fe20013c1e75dcf1888c185f5187c95e76495b8518ce289b4d3afce38d1232",
    "birds-test.arff": "51ba6326d65ccdd7c755b6461280eb6d2769c7f59d8e12fd4250f91e6ca28326",
    "birds-train.arff": "8f215db6ee163149901e753977f631ba8bea0e0e8e1abc42b234414822f8ae36",
    "birds.xml": "0f4ea547b2b3d538c8402662daf689e0d4520cc8b4f5ba113c2e7c01700f010f",
    "emotions-test.arff": "f13d4b746b7b5c8eb484bd751d6ac463d4560dff998a93516a5c1fe35daf6c8f",
    "emotions-train.arff": "bbe704106c79bb8fb99c1d1d2e9bde081d6a2daeb01f100862f11fd91a3c1f98",
    "emotions.xml": "dbce8e6ccbbb2fcbfd9e9edbb230d7ed12692c6e13f59fdbc0161fa9b6cf2dc0",
    "enron-test.arff": "2f3aad54a8f54caaab4ab01246fe9dd385ba944a2633028f52747b57eac5474e",
    "enron-train.arff": "2988cefc1cdf7a8004a20ef84615cc8fa1b5d7434c16687283b41454e2d9d194",
    "enron.xml": "ed40c92d7f613eed51714912cab10dddc4ce456262137d8fef230d44c7f4457b",
    "medical-test.arff": "6be472e75a6c0b0916187f343a398011b1b26f8f0ddc682c575312ad3532f6c4",
    "medical-train.arff": "c764f45756ab1c553b8b4eaaf5605a5610a43bbbcf37492d0f1a12bf9c9e2244",
    "medical.xml": "51fa9d5c09e48caff3f0a0c75db1c9aa85944f8e35451f3ad8bd56fc422286ce",
    "scene-test.arff": "ea38d20296b3ff7e220f477a3b802a9bcb2d768881fe6ee163efbc97ea527a42",
    "scene-train.arff": "b53ba93bdf412de922e3960389bcee24744fa3e872ce610511fc1d750888b64d",
    "scene.xml": "55d8b247b949ad5c52e5a73d8c6775ec6e5469ce9682465b45b333b68ee4bcc5",
    "yeast-test.arff": "4aaac102bff9669a765bf0b378602e5cc8c3b181048282e2f003117b496d552a",
    "yeast-train.arff": "e759dc991ff54694a4ff9c4314f3be0d6fd2b1994a4b563f57e416394c6aebbd",
    "yeast.xml": "c3056cc26444b5158b1588d1b73bec9c45429e10f0957ad085903423cb81f247",
}
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


def files_of(name: str, ending: str = ".arff") -> tuple[str, str, str]:
    """Return the names of the three files of a data set with a standard split: training, test, labels.

    Examples
    --------
    >>> files_of("scene")
    ('scene-train.arff', 'scene-test.arff', 'scene.xml')
    """
    return f"{name}-train{ending}", f"{name}-test{ending}", f"{name}.xml"

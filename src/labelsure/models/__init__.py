"""Models as files: written, read and checked without running code from them.

A file is a zip with a manifest. In layers, each knowing only those below it::

    _files                             save_model, load_model, open_model, read_manifest
    _predictor_forms, _learned_forms   our classes field by field: what a file may hold of ours
    _learners, _allowed                objects of other packages by skops, and the list of those that are known
    _contents, _boosters               what compiled code would read without a look, checked
    _codec                             between objects and JSON
    _forms, _checks                    what a class is kept as; what a field may be
    _arrays, _archive                  arrays, each once; the zip, its limits and checksums
"""

from labelsure.models._archive import ModelFileError
from labelsure.models._files import ModelFile, load_model, open_model, read_manifest, save_model

__all__ = ["ModelFile", "ModelFileError", "load_model", "open_model", "read_manifest", "save_model"]

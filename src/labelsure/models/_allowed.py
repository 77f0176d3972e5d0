"""What a file may hold of other packages: names of classes whose contents are checked, or can do no harm.

The list is here, in code, and never comes from a file. What is not on it is read only if the caller names it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

NUMBERS = frozenset(
    f"numpy.{name}"
    for name in (
        "bool", "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "intp", "float16",
        "float32", "float64", "str_",
    )
)  # fmt: skip

CLASSES = {
    "sklearn.calibration": ("CalibratedClassifierCV", "_CalibratedClassifier", "_SigmoidCalibration"),
    "sklearn.compose._column_transformer": ("ColumnTransformer", "_RemainderColsList"),
    "sklearn.decomposition._pca": ("PCA",),
    "sklearn.decomposition._truncated_svd": ("TruncatedSVD",),
    "sklearn.discriminant_analysis": ("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"),
    "sklearn.dummy": ("DummyClassifier",),
    "sklearn.ensemble._bagging": ("BaggingClassifier",),
    "sklearn.ensemble._forest": (
        "ExtraTreesClassifier", "ExtraTreesRegressor", "RandomForestClassifier", "RandomForestRegressor",
    ),
    "sklearn.ensemble._hist_gradient_boosting.binning": ("_BinMapper",),
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting": (
        "HistGradientBoostingClassifier", "HistGradientBoostingRegressor",
    ),
    "sklearn.ensemble._stacking": ("StackingClassifier",),
    "sklearn.ensemble._voting": ("VotingClassifier",),
    "sklearn.ensemble._weight_boosting": ("AdaBoostClassifier",),
    "sklearn.feature_extraction.text": (
        "CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer",
    ),
    "sklearn.feature_selection._from_model": ("SelectFromModel",),
    "sklearn.feature_selection._univariate_selection": ("SelectKBest", "SelectPercentile"),
    "sklearn.feature_selection._variance_threshold": ("VarianceThreshold",),
    "sklearn.impute._base": ("MissingIndicator", "SimpleImputer"),
    "sklearn.kernel_approximation": ("Nystroem", "RBFSampler"),
    "sklearn.linear_model._logistic": ("LogisticRegression", "LogisticRegressionCV"),
    "sklearn.linear_model._base": ("LinearRegression",),
    "sklearn.linear_model._perceptron": ("Perceptron",),
    "sklearn.linear_model._ridge": ("Ridge", "RidgeClassifier", "RidgeClassifierCV"),
    "sklearn.linear_model._stochastic_gradient": ("SGDClassifier",),
    "sklearn.metrics._scorer": ("_PassthroughScorer", "_Scorer"),
    "sklearn.model_selection._search": ("GridSearchCV", "RandomizedSearchCV"),
    "sklearn.model_selection._split": (
        "GroupKFold", "GroupShuffleSplit", "KFold", "LeaveOneGroupOut", "LeaveOneOut", "PredefinedSplit",
        "ShuffleSplit", "StratifiedKFold", "TimeSeriesSplit",
    ),
    "sklearn.multiclass": ("OneVsOneClassifier", "OneVsRestClassifier", "_ConstantPredictor"),
    "sklearn.multioutput": ("ClassifierChain", "MultiOutputClassifier"),
    "sklearn.naive_bayes": ("BernoulliNB", "ComplementNB", "GaussianNB", "MultinomialNB"),
    "sklearn.neighbors._classification": ("KNeighborsClassifier",),
    "sklearn.neighbors._nearest_centroid": ("NearestCentroid",),
    "sklearn.neighbors._unsupervised": ("NearestNeighbors",),
    "sklearn.neural_network._multilayer_perceptron": ("MLPClassifier",),
    "sklearn.neural_network._stochastic_optimizers": ("AdamOptimizer", "SGDOptimizer"),
    "sklearn.pipeline": ("FeatureUnion", "Pipeline"),
    "sklearn.preprocessing._data": (
        "Binarizer", "MaxAbsScaler", "MinMaxScaler", "Normalizer", "PowerTransformer", "QuantileTransformer",
        "RobustScaler", "StandardScaler",
    ),
    "sklearn.preprocessing._discretization": ("KBinsDiscretizer",),
    "sklearn.preprocessing._encoders": ("OneHotEncoder", "OrdinalEncoder"),
    "sklearn.preprocessing._function_transformer": ("FunctionTransformer",),
    "sklearn.preprocessing._label": ("LabelBinarizer", "LabelEncoder"),
    "sklearn.preprocessing._target_encoder": ("TargetEncoder",),
    "sklearn.random_projection": ("GaussianRandomProjection",),
    "sklearn.svm._classes": ("LinearSVC", "NuSVC", "SVC"),
    "sklearn.tree._classes": (
        "DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor",
    ),
    "sklearn._loss.link": ("HalfLogitLink", "IdentityLink", "Interval", "LogitLink", "LogLink", "MultinomialLogit"),
    "sklearn._loss.loss": ("HalfBinomialLoss", "HalfMultinomialLoss", "HalfSquaredError"),
    "sklearn.utils._bunch": ("Bunch",),
    "labelsure.estimators._table_members": (
        "DenseFeatures", "FilledFeatures", "KernelFeatures", "NeighbourClassifier", "RidgeProbabilities",
    ),
    "labelsure.models._learners": ("Elsewhere",),
    "lightgbm.sklearn": ("LGBMClassifier",),
    "xgboost.sklearn": ("XGBClassifier", "XGBRFClassifier"),
}  # fmt: skip
"""Classes by their modules."""

FUNCTIONS = {
    "numpy": ("abs", "absolute", "cbrt", "exp", "expm1", "log", "log10", "log1p", "log2", "sqrt", "square"),
    "sklearn.feature_selection._univariate_selection": ("chi2", "f_classif"),
    "sklearn.metrics._classification": (
        "accuracy_score", "f1_score", "hamming_loss", "jaccard_score", "log_loss", "precision_score", "recall_score",
    ),
    "sklearn.metrics._ranking": ("average_precision_score", "label_ranking_loss", "roc_auc_score"),
    "sklearn.feature_selection._mutual_info": ("mutual_info_classif",),
}  # fmt: skip
LOSSES = {
    "sklearn.linear_model._sgd_fast": ("Hinge", "ModifiedHuber", "SquaredHinge"),
}


COMPILED_LOSSES = ("CyHalfBinomialLoss", "CyHalfMultinomialLoss", "CyHalfSquaredError")
"""Losses without parameters, which are made anew: up to scikit-learn 1.7 they do not know where they come from."""


def _full(table: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    return frozenset(f"{module}.{name}" for module, names in table.items() for name in names)


def _builtin(*names: str) -> frozenset[str]:
    return frozenset(f"builtins.{name}" for name in names)


TYPES = _builtin("bool", "float", "int", "str") | NUMBERS | {"collections.OrderedDict", "builtins.NoneType"}

ALLOWED: dict[str, frozenset[str]] = {
    "JsonNode": _builtin("str"),
    "ListNode": _builtin("list"),
    "TupleNode": _builtin("tuple"),
    "SetNode": _builtin("set", "frozenset"),
    "SliceNode": _builtin("slice"),
    "BytesNode": _builtin("bytes"),
    "BytearrayNode": _builtin("bytearray"),
    "DictNode": _builtin("dict") | {"collections.OrderedDict", "sklearn.utils._bunch.Bunch"},
    "DefaultDictNode": frozenset({"collections.defaultdict"}),
    "TypeNode": TYPES,
    "NdArrayNode": NUMBERS | {"numpy.ndarray"},
    "MaskedArrayNode": frozenset({"numpy.ma.MaskedArray"}),
    "DTypeNode": frozenset({"numpy.dtype"}),
    "TreeNode": frozenset({"sklearn.tree._tree.Tree"}),
    "LossNode": _full(LOSSES),
    "FunctionNode": _full(FUNCTIONS),
    "ObjectNode": _full(CLASSES),
}
"""For each kind of node of skops, the full names that may stand in it."""

BY_NAME = frozenset({"ObjectNode", "FunctionNode", "TypeNode", "ConstructorFromReduceNode", "PartialNode"})
"""The kinds of nodes that a caller's own types may be in."""


def name_as_public(nodes: Iterable[dict[str, Any]]) -> None:
    """Name numpy's functions as everybody does: those of older versions do not know where they come from."""
    for node in nodes:
        inside = (node.get("__loader__"), node.get("__module__")) == ("FunctionNode", "numpy._core._multiarray_umath")
        if inside and isinstance(getattr(np, str(node.get("__class__")), None), np.ufunc):
            node["__module__"] = "numpy"

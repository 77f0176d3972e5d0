"""
Are the levels kept, and at what price?
=======================================

How often regions miss the truth, and how large they are, at every level of confidence; for two
learners, a good one and one that has hardly any features to look at.
"""

# %%
# Both are wrapped in the same way. Nothing is tuned.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from labelsure import InductiveConformalClassifier
from labelsure.metrics import calibration_curve

X, Y = make_multilabel_classification(n_samples=3000, n_classes=5, length=250, random_state=0)
linear = OneVsRestClassifier(LogisticRegression())
learners = {
    "all features": make_pipeline(StandardScaler(), linear),
    "three features": make_pipeline(
        FunctionTransformer(lambda X: X[:, :3]), StandardScaler(), linear
    ),
}

# %% The errors follow the level for both, because that is proven whatever the learner. What a
# better learner buys is smaller regions.
levels = np.linspace(0.01, 0.5, 30)
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
left.plot(100 * levels, 100 * levels, ":", color="grey", label="the level")
for name, learner in learners.items():
    model = InductiveConformalClassifier(learner, random_state=0).fit(X[:2000], Y[:2000])
    pred = model.predict_labelsets(X[2000:])
    curve = calibration_curve(Y[2000:], pred, significance=levels)
    sizes = [pred.region(level).sizes.mean() for level in levels]
    left.plot(100 * levels, 100 * curve.error_rate, label=name)
    left.fill_between(100 * levels, 100 * curve.low, 100 * curve.high, alpha=0.2)
    right.plot(100 * levels, sizes, label=name)
    print(f"{name}: {sizes[5]:.1f} labelsets of 32 at {1 - levels[5]:.0%}")
left.set(xlabel="significance in %", ylabel="regions that miss the truth in %")
right.set(xlabel="significance in %", ylabel="mean size of a region", ylim=(0, 32))
left.legend(frameon=False)
plt.show()

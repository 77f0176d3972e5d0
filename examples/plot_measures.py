"""
Three measures, three sizes
===========================

The nonconformity measure says how strange a labelset is. With any of them the error rate is the
same; the size of the regions is not.
"""

# %% Some labels imply others, as they do in life. The classifiers are fitted once; ``recalibrate``
# changes the measure afterwards.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_multilabel_classification

from labelsure import CrossConformalClassifier, MLkNNClassifier, PowerMeasure
from labelsure.measures import LogLossMeasure, UnseenPenalty

X, Y = make_multilabel_classification(
    n_samples=1400, n_classes=8, n_labels=2, length=250, random_state=0
)
Y[:, 4:] |= Y[:, :4]  # some labels come together: sports with health, say
X_train, Y_train, X_new, Y_new = X[:600], Y[:600], X[600:], Y[600:]
model = CrossConformalClassifier(MLkNNClassifier(), cv=5, random_state=0).fit(X_train, Y_train)
models = {
    "the paper's": model.recalibrate(X_train, Y_train, measure=PowerMeasure()),
    "log loss + unseen": model.recalibrate(
        X_train, Y_train, measure=LogLossMeasure() + UnseenPenalty(2.0)
    ),
    "the default": model,
}

# %%
# How many labelsets of 256 a region at 90 % holds: the share of the objects with at most so many.
figure, axes = plt.subplots(figsize=(6.5, 3), layout="constrained")
sizes = {name: one.predict_labelsets(X_new).region(0.1).sizes for name, one in models.items()}
for name, of_objects in sizes.items():
    axes.ecdf(of_objects, label=name)
axes.set(xlabel="labelsets in a region at 90 %", ylabel="share of the objects", xlim=(0, 100))
axes.legend(frameon=False)
for name, one in models.items():
    missed = 1 - one.predict_labelsets(X_new).region(0.1).contains(Y_new).mean()
    print(
        f"{name:18} {np.mean(sizes[name]):5.1f} labelsets on average, {missed:.1%} of the regions"
        f" miss the truth"
    )
plt.show()

"""
Accept without review
=====================

Some predictions are so sure that nobody need look at them. Which, if at most a given share of those
accepted may be wrong?
"""

# %%
# A fitted model, and examples that it has not seen.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labelsure import InductiveConformalClassifier, ReviewSelector

X, Y = make_multilabel_classification(n_samples=4000, n_classes=5, length=250, random_state=0)
learner = OneVsRestClassifier(LogisticRegression(max_iter=1000))
model = InductiveConformalClassifier(learner, random_state=0).fit(X[:1500], Y[:1500])
selector = ReviewSelector(model).calibrate(X[1500:2500], Y[1500:2500])
print(selector.select(X[2500:], alpha=0.1).statement)

# %% The more errors may slip through, the more predictions pass. Without selection a third of them
# would be wrong.
levels = np.linspace(0.01, 0.3, 30)
accepted, wrong = [], []
for level in levels:
    selection = selector.select(X[2500:], alpha=level)
    errors = (selection.labelsets != Y[2500:]).any(axis=1)
    accepted.append(selection.accepted.mean())
    wrong.append(errors[selection.accepted].mean() if selection.accepted.any() else 0.0)
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(100 * levels, 100 * np.array(accepted), label="accepted, of all objects")
axes.plot(100 * levels, 100 * np.array(wrong), label="wrong, of those accepted")
axes.plot(100 * levels, 100 * levels, ":", color="grey", label="what was allowed")
axes.set(xlabel="share of errors allowed in %", ylabel="%", ylim=(0, 100))
axes.legend(frameon=False)
plt.show()

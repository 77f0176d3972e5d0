"""
With many labels, ask another question
======================================

One statement about forty labels at once is right and says little. Other questions have short
answers.
"""

# %%
# Forty labels, of which an object has about three; a learner that is often unsure.
import matplotlib.pyplot as plt
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labelsure import InductiveConformalClassifier, LabelWiseConformalClassifier, RecallController

X, Y = make_multilabel_classification(
    1700, n_features=60, n_classes=40, n_labels=3, length=300, random_state=0
)
learner = OneVsRestClassifier(LogisticRegression(C=0.1, solver="liblinear"))
X_train, Y_train, X_new, Y_new = X[:1500], Y[:1500], X[1500:], Y[1500:]

# %%
# What is left open, on average, by questions at 90 %.
labelsets = (
    InductiveConformalClassifier(learner, random_state=0)
    .fit(X_train, Y_train)
    .predict_labelsets(X_new)
)
labels = (
    LabelWiseConformalClassifier(learner, random_state=0)
    .fit(X_train, Y_train)
    .predict_labels(X_new)
)
recall = RecallController(learner, target=0.9, random_state=0).fit(X_train, Y_train).predict(X_new)
left_open = {
    "all labels right, by labelsets": labelsets.region(0.1).outer.sum(axis=1).mean(),
    "all labels right, label by label": labels.region(0.1).outer.sum(axis=1).mean(),
    "all but one right": labels.region(0.1, at_most_wrong=1).outer.sum(axis=1).mean(),
    "90 % of the true labels listed": recall.sum(axis=1).mean(),
}
for question, count in left_open.items():
    print(f"{question:33} {count:4.1f} labels sure or possible")

figure, axes = plt.subplots(figsize=(7, 2.4), layout="constrained")
axes.barh(list(left_open), list(left_open.values()), color="#3d85c6")
axes.axvline(
    Y_new.sum(axis=1).mean(), color="black", linestyle=":", label="labels that an object has"
)
axes.legend(loc="lower right", frameon=False)
axes.invert_yaxis()
axes.set(xlabel="labels sure, possible or listed, of 40", xlim=(0, 40))
plt.show()

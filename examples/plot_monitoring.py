"""
An alarm for a changed world
============================

Every promise rests on new objects being like the old ones. A martingale bets against that. While
nothing has changed, the probability that it ever reaches 100 is at most 1 %; after a change it
grows.
"""

# %%
# The model is calibrated in a world with working sensors.
import matplotlib.pyplot as plt
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labelsure import InductiveConformalClassifier
from labelsure.metrics import ExchangeabilityMartingale, OnlinePValues

X, Y = make_multilabel_classification(n_samples=2000, n_classes=5, length=250, random_state=0)
learner = OneVsRestClassifier(LogisticRegression(max_iter=1000))
model = InductiveConformalClassifier(learner, calibration_size=300, random_state=0).fit(
    X[:1000], Y[:1000]
)
calibration = model.fold_indices_[0]

# %% Then objects arrive one by one, and their labels a little later. In one world five sensors fail
# after 400 objects.
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
for name, fails in (("all is well", False), ("five sensors fail", True)):
    arriving = OnlinePValues(random_state=0)
    arriving.update_many(model.nonconformity(X[calibration], Y[calibration]))
    martingale = ExchangeabilityMartingale(alarm_at=100)
    X_later = X[1000:].copy()
    if fails:
        X_later[400:, :5] = 0
    for score in model.nonconformity(X_later, Y[1000:]):
        martingale.update(arriving.update(score))
    axes.plot(martingale.log10_path, label=name)
    print(
        f"{name}:"
        f" {'no alarm' if martingale.alarm is None else f'alarm at object {martingale.alarm}'}"
    )
axes.axhline(2, color="grey", linestyle=":", label="alarm")
axes.axvline(400, color="grey", linewidth=0.5)
axes.set(xlabel="objects", ylabel="log10 of the capital")
axes.legend(frameon=False)
plt.show()

"""
Sure, possible, ruled out
=========================

A random forest, articles with five possible subjects, and an answer in words at three levels of
confidence.
"""

# %% The data are made up: put your own ``X`` and ``Y`` here. ``Y`` has one column of zeros and ones
# per label.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier

from labelsure import CrossConformalClassifier

names = ["sports", "politics", "science", "film", "food"]
X, Y = make_multilabel_classification(n_samples=800, n_classes=5, length=250, random_state=0)
model = CrossConformalClassifier(RandomForestClassifier(50), cv=5, random_state=0)
model.fit(X[:600], Y[:600], label_names=names)
pred = model.predict_labelsets(X[600:])

# %% At 90 % confidence, for the first articles. The more sets of labels are left (``size``), the
# less is sure.
print(pred.region(significance=0.1).to_frame().head())

# %%
# The same article at three levels: the higher the confidence, the more carefully the answer speaks.
levels = [0.2, 0.1, 0.05]
article = 3
figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
colours = {"sure": "#0b5394", "possible": "#9fc5e8", "ruled out": "#efefef", "empty": "white"}
for column, level in enumerate(levels):
    words = pred[article].region(level).to_frame()[names].iloc[0]
    for row, word in enumerate(words):
        axes.add_patch(plt.Rectangle((column, row), 0.95, 0.9, color=colours[word]))
        axes.text(
            column + 0.47,
            row + 0.45,
            word,
            ha="center",
            va="center",
            color="white" if word == "sure" else "black",
        )
axes.set(xlim=(0, 3), ylim=(5, 0))
axes.set_xticks(np.arange(3) + 0.47, [f"{1 - level:.0%} confidence" for level in levels])
axes.set_yticks(np.arange(5) + 0.45, names)
axes.tick_params(length=0)
axes.spines[:].set_visible(False)
plt.show()

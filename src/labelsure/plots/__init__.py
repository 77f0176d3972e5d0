"""Pictures of predictions: displays in the manner of scikit-learn, drawn by matplotlib."""

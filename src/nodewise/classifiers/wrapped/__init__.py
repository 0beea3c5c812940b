"""Other libraries' models as classifiers: scikit-learn's estimators, networks of PyTorch, committees of either."""

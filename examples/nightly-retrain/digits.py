"""Twelve nights of scanned digits, and the training: is a digit five or more?

The images are scikit-learn's copy of the test set of "Optical Recognition of Handwritten Digits" (E. Alpaydin
and C. Kaynak, UCI Machine Learning Repository, 1998): 1,797 images of 8 x 8 pixels, writer after writer, so
that each night brings other hands. Two things are made up: from night 7 on the scanner stands 0.7 of a pixel
to the right, and in night 10 the last night's labels reach the training turned round.
"""

import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

NIGHTS, START, WINDOW, MEMORY, FIRST = 12, 150, 137, 700, 100
SCANNER_MOVES, LABELS_BREAK = 7, 10  # nights


def load():
    """The images, (1797, 64) in 0..1, and whether each is five or more."""
    images, digits = load_digits(return_X_y=True)
    images, labels = images.reshape(-1, 8, 8) / 16, (digits >= 5).astype(int)
    moved = START + WINDOW * (SCANNER_MOVES - 1)
    images[moved:] = 0.3 * images[moved:] + 0.7 * np.roll(images[moved:], 1, axis=2)
    return images.reshape(-1, 64), labels


def window(night):
    """The rows of that night, 1 being the first."""
    start = START + WINDOW * (night - 1)
    return np.arange(start, start + WINDOW)


def first_model(images, labels):
    """The model that runs before the first night."""
    return _fit(images[:FIRST], labels[:FIRST])


def retrain(images, labels, night):
    """A model of the last ``MEMORY`` rows before that night, and of none of the night itself."""
    end = window(night)[0]
    seen = labels[:end].copy()
    if night == LABELS_BREAK:
        seen[-WINDOW:] = 1 - seen[-WINDOW:]
    return _fit(images[:end][-MEMORY:], seen[-MEMORY:])


def score(model, name, images, labels, rows):
    """One result a row: the probability of "five or more", the label, and how long the answer took."""
    for row in rows:
        started = time.perf_counter()
        probability = model.predict_proba(images[row : row + 1])[0, 1]
        took = 1000 * (time.perf_counter() - started)
        yield {
            "row": f"r{row:04d}",
            "system": name,
            "probability": round(float(probability), 6),
            "label": int(labels[row]),
            "latency_ms": round(took, 3),
        }


def _fit(images, labels):
    features = Nystroem(gamma=0.05, n_components=100, random_state=0)
    return make_pipeline(features, LogisticRegression(C=10, max_iter=1000)).fit(images, labels)

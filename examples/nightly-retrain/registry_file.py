"""A registry of models in a folder: one file a model, and a pointer that says which of them runs."""

import os
from pathlib import Path

import joblib


def register(store, name, model):
    """Keep a model under its name; nothing runs it yet."""
    store.mkdir(parents=True, exist_ok=True)
    joblib.dump(model, store / f"{name}.joblib")


def promote(store, name):
    """Move the pointer, in one step: a reader finds the old model or the new one."""
    Path(store / "pointer.new").write_text(name + "\n", encoding="utf-8")
    os.replace(store / "pointer.new", store / "production")  # noqa: PTH105 - the name of the operation


def production(store):
    """The model that runs, with its name."""
    name = (store / "production").read_text(encoding="utf-8").strip()
    return name, joblib.load(store / f"{name}.joblib")

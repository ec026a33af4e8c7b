"""The same three functions over MLflow's model registry in a SQLite file: its alias is the pointer."""

import joblib
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

MODEL, ALIAS = "nightly-digits", "production"


def register(store, name, model):
    """Keep a model as a version that carries its name; nothing runs it yet."""
    store.mkdir(parents=True, exist_ok=True)
    joblib.dump(model, store / f"{name}.joblib")
    client = _client(store)
    try:
        client.create_registered_model(MODEL)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    client.create_model_version(MODEL, (store / f"{name}.joblib").resolve().as_uri(), tags={"name": name})


def promote(store, name):
    """Move the alias to the version of that name."""
    client = _client(store)
    versions = client.search_model_versions(f"name='{MODEL}'")
    [version] = [one.version for one in versions if one.tags["name"] == name]
    client.set_registered_model_alias(MODEL, ALIAS, version)


def production(store):
    """The model that the alias points to, with its name."""
    name = _client(store).get_model_version_by_alias(MODEL, ALIAS).tags["name"]
    return name, joblib.load(store / f"{name}.joblib")


def _client(store):
    place = f"sqlite:///{(store / 'registry.db').resolve()}"
    return MlflowClient(tracking_uri=place, registry_uri=place)  # else runs are tracked in the working folder

"""The contract of a subject: models, loading, validation, schema and scaffold. It matches no text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qiongli.contract.files import ResourceState, declared_resources, resource_state
    from qiongli.contract.loader import load_contract
    from qiongli.contract.packaging import validate_package
    from qiongli.contract.stored import contract_from_json, contract_to_json

__all__ = [
    "ResourceState",
    "contract_from_json",
    "contract_to_json",
    "declared_resources",
    "load_contract",
    "resource_state",
    "validate_package",
]

#: Where each public name lives; imported on first use, because routing needs only the stored form.
_HOMES = {
    "ResourceState": "qiongli.contract.files",
    "declared_resources": "qiongli.contract.files",
    "resource_state": "qiongli.contract.files",
    "contract_from_json": "qiongli.contract.stored",
    "contract_to_json": "qiongli.contract.stored",
    "load_contract": "qiongli.contract.loader",
    "validate_package": "qiongli.contract.packaging",
}


def __getattr__(name: str) -> Any:
    """Import the module of a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)

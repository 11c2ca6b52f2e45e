"""The finance subject: data only; the contract is `runtime-subject.yaml` beside this file."""

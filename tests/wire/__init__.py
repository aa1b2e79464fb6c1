"""The adapters, against the case files, the judges and the providers' own SDKs."""

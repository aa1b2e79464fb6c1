"""The exchanges, against recorded streams of our own making and the providers' own SDKs."""

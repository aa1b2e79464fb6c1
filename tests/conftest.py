"""How long property tests run: 200 examples each, or what `SUTURE_EXAMPLES` says (CI: 10,000)."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "suture",
    max_examples=int(os.environ.get("SUTURE_EXAMPLES", "200")),
    deadline=None,  # a slow machine is no defect
    derandomize="CI" in os.environ,  # the same examples for the same code
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("suture")

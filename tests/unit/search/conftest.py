"""Properties here are about results, never about speed: a busy machine must not fail them."""

from hypothesis import HealthCheck, settings

settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("search")

"""Policy networks, the policy file, and the policies that come with nodewise."""

from nodewise.policy.file import (
    DEFAULT_POLICY,
    find_policy,
    import_released,
    load_policy,
    save_policy,
    shipped_policies,
)
from nodewise.policy.policy import (
    PAPER_STATE_FEATURES,
    Policy,
    PolicySettings,
    StateSettings,
    register_policy_network,
    register_state_feature,
)

__all__ = [
    "DEFAULT_POLICY",
    "PAPER_STATE_FEATURES",
    "Policy",
    "PolicySettings",
    "StateSettings",
    "find_policy",
    "import_released",
    "load_policy",
    "register_policy_network",
    "register_state_feature",
    "save_policy",
    "shipped_policies",
]

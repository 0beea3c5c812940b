"""Policy networks, the policy file, and the policies that come with nodewise."""

from nodewise.policy.file import load_policy, save_policy
from nodewise.policy.network import Policy, PolicySettings, register_policy_network
from nodewise.policy.released import import_released
from nodewise.policy.shipped import DEFAULT_POLICY, find_policy, shipped_policies
from nodewise.policy.state import register_state_feature

__all__ = [
    "DEFAULT_POLICY",
    "Policy",
    "PolicySettings",
    "find_policy",
    "import_released",
    "load_policy",
    "register_policy_network",
    "register_state_feature",
    "save_policy",
    "shipped_policies",
]

"""Policy networks, the policy file, and the policies that come with nodewise."""

from nodewise.policy.file import load_policy, save_policy
from nodewise.policy.network import Policy, PolicySettings
from nodewise.policy.released import import_released
from nodewise.policy.shipped import DEFAULT_POLICY, find_policy, shipped_policies

__all__ = [
    "DEFAULT_POLICY",
    "Policy",
    "PolicySettings",
    "find_policy",
    "import_released",
    "load_policy",
    "save_policy",
    "shipped_policies",
]

"""Policy networks and the policy file."""

from nodewise.policy.file import load_policy, save_policy
from nodewise.policy.network import Policy, PolicySettings
from nodewise.policy.released import import_released

__all__ = ["Policy", "PolicySettings", "import_released", "load_policy", "save_policy"]

"""Train a policy of your own.

A policy is trained once, on graphs whose labels are known, and then works on others. A real training takes 2,000
episodes; these few only show how it is done, what is kept, and how the policy is used.
"""

import nodewise as nw

policy = nw.train_policy(["wine"], episodes=4, batch=2, budgets=6, seed=1)
nw.save_policy(policy, "mine.safetensors")
again = nw.load_policy("mine.safetensors")
print({key: again.origin[key] for key in ("episode", "nodewise_version")})
print([source["name"] for source in again.origin["source_graphs"]])

print(nw.evaluate("breast-cancer", again, budget=6, runs=4))
shipped = nw.evaluate("breast-cancer", "policy", budget=6, runs=4)
print(shipped)
shipped.plot("shipped.png")

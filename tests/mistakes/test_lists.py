"""Mistakes that people make in Python and on the command line, by subject: each is told in a sentence that says what is
wrong, what was received and what to do. Here is how many there are.
"""

from __future__ import annotations

from tests.mistakes.test_commands import COMMANDS
from tests.mistakes.test_evaluation import MISTAKES as EVALUATION
from tests.mistakes.test_fitted import MISTAKES as FITTED
from tests.mistakes.test_graphs import MISTAKES as GRAPHS
from tests.mistakes.test_plugins import MISTAKES as PLUGINS
from tests.mistakes.test_sessions import MISTAKES as SESSIONS
from tests.mistakes.test_training import MISTAKES as TRAINING


def test_the_list_is_long_enough() -> None:
    mistakes = [*GRAPHS, *EVALUATION, *PLUGINS, *TRAINING, *SESSIONS, *FITTED]
    assert len(mistakes) >= 150 and len(COMMANDS) >= 30 and len({one[0] for one in mistakes}) == len(mistakes)

"""The paper's tables and figures: its numbers as data, every experiment, and the policies that they need."""

from nodewise.experiments.gpa.experiments import EXPERIMENTS, Experiment, Part, Row, find_experiment, find_experiments
from nodewise.experiments.gpa.numbers import PaperTable, paper_statement, paper_statements, paper_table, paper_tables
from nodewise.experiments.gpa.reproduce import reproduce
from nodewise.experiments.gpa.training_runs import TrainingOutcome, train_missing
from nodewise.experiments.gpa.trainings import TRAININGS, Training

__all__ = [
    "EXPERIMENTS",
    "TRAININGS",
    "Experiment",
    "PaperTable",
    "Part",
    "Row",
    "Training",
    "TrainingOutcome",
    "find_experiment",
    "find_experiments",
    "paper_statement",
    "paper_statements",
    "paper_table",
    "paper_tables",
    "reproduce",
    "train_missing",
]

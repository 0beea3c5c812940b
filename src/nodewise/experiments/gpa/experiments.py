"""Every experiment of the paper as a record: graphs, methods, policies, budgets, and the numbers to set beside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from nodewise.experiments.gpa.trainings import AGE_SOURCES, REDDIT_BUDGETS, TRAININGS, WITHOUT
from nodewise.ground.errors import UnknownNameError

__all__ = ["EXPERIMENTS", "Experiment", "Part", "Row", "find_experiment", "find_experiments"]

Kind = Literal["scores", "datasets", "case-study"]
Figure = Literal["", "budgets", "training-budget", "training-graphs", "case-study"]


@dataclass(frozen=True)
class Row:
    """A method of an experiment.

    Attributes:
        label: what our table calls it.
        strategy: a name that `make_strategy` knows.
        training: the policy that it uses; by budget, if each budget has its own.
        released: the authors' policy that it uses, where its file is at hand.
        age_sources: graphs on which AGE's parameter was searched; it takes the mean.
        age_fixed: whether that is fixed weights, the letter of section 4.1, or ``basef``, the released program's.
        age_budgets: the source graphs' budget by the target's, where it is not each graph's own.
        paper: the row of the paper's table that it stands beside; of several, the first one counts as ours.
    """

    label: str
    strategy: str = "policy"
    training: str | tuple[tuple[int, str], ...] | None = None
    released: str | None = None
    age_sources: tuple[str, ...] = ()
    age_fixed: bool = False
    age_budgets: tuple[tuple[int, int], ...] = ()
    paper: str | None = None

    def __post_init__(self) -> None:
        names = [self.training] if isinstance(self.training, str) else [name for _, name in self.training or ()]
        assert all(name in TRAININGS for name in names) and set(self.age_sources) <= set(AGE_SOURCES), self


@dataclass(frozen=True)
class Part:
    """Graphs × methods × budgets, one table.

    Attributes:
        budgets: queries; none: each graph's own budget.
        table: the paper's table that it stands beside.
        against: the method whose lead over the others is tested.
        stand_in: why these are not the paper's graphs, if they are not.
    """

    title: str
    graphs: tuple[str, ...]
    rows: tuple[Row, ...]
    budgets: tuple[int, ...] = ()
    table: str | None = None
    against: str | None = "GPA"
    stand_in: str = ""


@dataclass(frozen=True)
class Experiment:
    """One of the paper's tables or figures.

    Attributes:
        place: where the paper shows it.
        about: what is done, and where it departs from the paper.
        figure: which picture is drawn.
    """

    name: str
    title: str
    place: str
    about: str
    parts: tuple[Part, ...] = ()
    kind: Kind = "scores"
    figure: Figure = ""


REDDIT = tuple(f"reddit{i}" for i in range(1, 6))
WITHOUT_TEXTS = (
    'Graphs marked "structural features" were played without the posts\' word vectors: their scores are not the'
    " paper's, and no difference is drawn."
)
BUDGETS = REDDIT_BUDGETS
CORA_BUDGETS = (7, 14, 21, 35, 70)

RANDOM = Row("random", "random", paper="Random")
ANRMAB = Row("ANRMAB", "anrmab", paper="ANRMAB")
SINGLE = (
    Row("uncertainty", "uncertainty", paper="Uncertainty"),
    Row("centrality", "centrality", paper="Centrality"),
    Row("coreset", "coreset", paper="Coreset"),
    Row("k-center", "kcenter"),
)


def _age(sources: tuple[str, ...], budgets: tuple[tuple[int, int], ...] = ()) -> tuple[Row, Row]:
    """AGE with its changing weights, and with fixed ones."""
    changing = Row("AGE", "age", age_sources=sources, age_budgets=budgets, paper="AGE")
    return changing, replace(changing, label="AGE, fixed weights", age_fixed=True)


def _methods(
    training: str,
    sources: tuple[str, ...],
    released: str,
    single: bool = False,
    budgets: tuple[tuple[int, int], ...] = (),
) -> tuple[Row, ...]:
    """The paper's methods with a policy.

    Beside AGE its form with fixed weights from the same graphs, beside our policy the authors'.
    """
    ours, theirs = (
        Row("GPA", training=training, paper="GPA"),
        Row("GPA, authors' policy", released=released, paper="GPA"),
    )
    return (RANDOM, *(SINGLE if single else ()), *_age(sources, budgets), ANRMAB, ours, theirs)


def _beside_nothing(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    return tuple(replace(row, paper=None) for row in rows)


def _cross(first: str, second: str, left: str) -> Part:
    """Trained on two citation graphs, tested on the third, the coauthor graphs and Reddit."""
    training = f"{first}+{second}"
    table = "cross-domain" if training == "cora+citeseer" else f"cross-domain-{first}-{second}"
    graphs = (left, "coauthor-physics", "coauthor-cs", *REDDIT)
    return Part(
        f"Trained on {first} and {second}",
        graphs,
        _methods(training, (first, second), training),
        table=table,
        stand_in=WITHOUT_TEXTS,
    )


def _domain(first: str, second: str, left: str) -> Part:
    rows = _beside_nothing(_methods(f"{first}+{second}", (first, second), "reddit1+2", single=True))
    stand_in = (
        "Stand-in: citation graphs of three sources with one vocabulary and one set of classes, in place of the Reddit"
        " graphs."
    )
    return Part(f"Trained on {first} and {second}, tested on {left}", (left,), rows, stand_in=stand_in)


def _ablation(title: str, ending: str) -> Part:
    rows = (
        Row("all features", training=f"reddit1+2{ending}", paper="full"),
        *(
            Row(f"without {name}", training=f"reddit1+2-without-{name}{ending}", paper=f"without {name}")
            for name in WITHOUT
        ),
    )
    return Part(title, REDDIT[2:], rows, table="state-features", against="all features", stand_in=WITHOUT_TEXTS)


TWITCH = Part(
    "Twitch: trained on de and engb",
    ("twitch-es", "twitch-fr", "twitch-ru", "twitch-ptbr"),
    _beside_nothing(_methods("twitch-de+engb", ("twitch-de", "twitch-engb"), "reddit1+2", single=True)),
    stand_in=(
        "Stand-in: Twitch users of six languages with one feature space and a weak signal, in place of the Reddit"
        " graphs."
    ),
)
PER_BUDGET = tuple((budget, "reddit1+2" if budget == 50 else f"reddit1+2-budget{budget}") for budget in BUDGETS)


def _budget_methods(sources: tuple[tuple[int, int], ...]) -> tuple[Row, ...]:
    """The methods at several budgets; AGE's parameter is that of the source graphs' budget, as GPA's policy is."""
    return _beside_nothing(_methods("reddit1+2", ("reddit1", "reddit2"), "reddit1+2", single=True, budgets=sources))


ON_REDDIT = _budget_methods(tuple((budget, budget) for budget in BUDGETS))
ON_CORA = _budget_methods(tuple(zip(CORA_BUDGETS, BUDGETS, strict=True)))

_ALL = (
    Experiment(
        "datasets",
        "Statistics of the graphs",
        "Table 5, appendix B",
        "The table of graphs, theirs beside ours, with what makes the difference.",
        kind="datasets",
    ),
    Experiment(
        "same-domain",
        "Transfer between graphs of one domain",
        "Table 1, section 4.2",
        "A policy is trained on two graphs and tested on others of the same domain.",
        (
            Part(
                "Reddit: trained on 1 and 2",
                REDDIT[2:],
                _methods("reddit1+2", ("reddit1", "reddit2"), "reddit1+2", single=True),
                table="same-domain",
                stand_in=WITHOUT_TEXTS,
            ),
            _domain("acmv9", "citationv1", "dblpv7"),
            _domain("acmv9", "dblpv7", "citationv1"),
            _domain("citationv1", "dblpv7", "acmv9"),
            TWITCH,
        ),
    ),
    Experiment(
        "cross-domain",
        "Transfer across domains",
        "Table 2, section 4.3",
        "A policy trained on Cora and Citeseer, on all other graphs.",
        (_cross("cora", "citeseer", "pubmed"),),
    ),
    Experiment(
        "cross-domain-cora-pubmed",
        "Transfer across domains, from Cora and Pubmed",
        "Table 6, appendix C.1",
        "A policy trained on Cora and Pubmed, on all other graphs. For random selection on Physics the paper prints"
        " 84.81 here and 82.03 in table 2.",
        (_cross("cora", "pubmed", "citeseer"),),
    ),
    Experiment(
        "cross-domain-citeseer-pubmed",
        "Transfer across domains, from Citeseer and Pubmed",
        "Table 7, appendix C.1",
        "A policy trained on Citeseer and Pubmed, on all other graphs. For random selection on Physics the paper prints"
        " 84.81 here and 82.03 in table 2.",
        (_cross("citeseer", "pubmed", "cora"),),
    ),
    Experiment(
        "policy-architecture",
        "The policy as a GCN and as an MLP",
        "Table 3, section 4.5",
        "Both are trained on Cora and Citeseer, with as many parameters; the MLP does not see a node's neighbours.",
        (
            Part(
                "Trained on cora and citeseer",
                ("pubmed", "coauthor-physics", "coauthor-cs", *REDDIT),
                (
                    Row("GCN", training="cora+citeseer", paper="GCN"),
                    Row("MLP", training="cora+citeseer-mlp", paper="MLP"),
                ),
                table="policy-architecture",
                against="GCN",
                stand_in=WITHOUT_TEXTS,
            ),
        ),
    ),
    Experiment(
        "state-features",
        "What each state feature is worth",
        "Table 4, section 4.5",
        "One feature is left out at a time, both divergences together. Every policy is trained twice: what the seeds do"
        " not agree on is chance.",
        (
            _ablation("Trained on reddit1 and reddit2, seed 0", ""),
            _ablation("Trained on reddit1 and reddit2, seed 1", "-seed1"),
        ),
    ),
    Experiment(
        "budgets",
        "One policy for each budget",
        "Figure 2 (left), section 4.4",
        "GPA is trained on Reddit 1 and 2 at each budget and tested on Reddit 4 at the same budget. Of the figure only"
        " what the text says is set beside.",
        (
            Part(
                "Tested on reddit4",
                ("reddit4",),
                (*ON_REDDIT[:-2], Row("GPA", training=PER_BUDGET), ON_REDDIT[-1]),
                BUDGETS,
                stand_in=WITHOUT_TEXTS,
            ),
        ),
        figure="budgets",
    ),
    Experiment(
        "training-budget",
        "Trained at one budget, tested at another",
        "Figure 4 (right), appendix C.2",
        "The five policies of the experiment on budgets, each tested at every budget.",
        (
            Part(
                "Tested on reddit4",
                ("reddit4",),
                tuple(Row(f"trained with {budget}", training=name) for budget, name in PER_BUDGET),
                BUDGETS,
                against=None,
                stand_in=WITHOUT_TEXTS,
            ),
        ),
        figure="training-budget",
    ),
    Experiment(
        "budgets-cora",
        "Budgets on Cora",
        "Figure 4 (left), appendix C.2",
        "Budgets of 1, 2, 3, 5 and 10 labels a class. The paper does not name the training graphs; our reading is the"
        " five policies trained on Reddit 1 and 2 with as many labels a class. The policy trained on Citeseer and"
        " Pubmed at their own budgets stands beside.",
        (
            Part(
                "Tested on cora",
                ("cora",),
                (
                    *ON_CORA[:-2],
                    Row("GPA", training=tuple(zip(CORA_BUDGETS, (name for _, name in PER_BUDGET), strict=True))),
                    Row("GPA, from Citeseer and Pubmed", training="citeseer+pubmed"),
                    ON_CORA[-1],
                ),
                CORA_BUDGETS,
            ),
        ),
        figure="budgets",
    ),
    Experiment(
        "training-graphs",
        "Trained on more graphs",
        "Figure 2 (right), section 4.5",
        "Policies trained on the first one to four Reddit graphs, tested on the six graphs that none of them has seen.",
        (
            Part(
                "Trained on Reddit graphs",
                ("reddit5", "cora", "citeseer", "pubmed", "coauthor-physics", "coauthor-cs"),
                (
                    Row("random", "random"),
                    Row("1 graph", training="reddit1"),
                    Row("2 graphs", training="reddit1+2"),
                    Row("3 graphs", training="reddit1+2+3"),
                    Row("4 graphs", training="reddit1+2+3+4"),
                ),
                against="2 graphs",
                stand_in=WITHOUT_TEXTS,
            ),
        ),
        figure="training-graphs",
    ),
    Experiment(
        "case-study",
        "What is asked, and when",
        "Figure 3, section 4.6",
        "The policy trained on Cora and Citeseer on the small Reddit graph: at each step the node that was chosen in"
        " most runs.",
        (
            Part(
                "Tested on the case-study graph",
                ("reddit-case-study",),
                (
                    RANDOM,
                    Row("centrality", "centrality"),
                    *_age(("cora", "citeseer")),
                    Row("GPA", training="cora+citeseer"),
                    Row("GPA, authors' policy", released="cora+citeseer"),
                ),
            ),
        ),
        kind="case-study",
        figure="case-study",
    ),
)

EXPERIMENTS = {experiment.name: experiment for experiment in _ALL}
"""All experiments by name, in the order in which the report shows them."""


def find_experiment(name: str) -> Experiment:
    """The experiment of that name.

    Raises:
        UnknownNameError: there is none.
    """
    if name not in EXPERIMENTS:
        raise UnknownNameError("experiment", name, [*EXPERIMENTS, "all", "trainings"])
    return EXPERIMENTS[name]


def find_experiments(name: str) -> list[Experiment]:
    """The experiment of that name, or those at that place of the paper: ``"table1"``, ``"Figure 2"``.

    Raises:
        UnknownNameError: there is none.
    """
    wanted = "".join(name.lower().split()).replace("-", "").replace("fig.", "figure")
    at = [one for one in EXPERIMENTS.values() if _place(one) == wanted]
    if not at and name not in EXPERIMENTS:
        raise UnknownNameError(
            "experiment", name, {*EXPERIMENTS, *map(_place, EXPERIMENTS.values()), "all", "trainings"}
        )
    return at or [EXPERIMENTS[name]]


def _place(experiment: Experiment) -> str:
    """Where it stands in the paper, as somebody types it: ``"table1"``."""
    return "".join(experiment.place.lower().split(",")[0].split("(")[0].split())

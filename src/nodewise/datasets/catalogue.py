"""The data sets that have a name: a table, by family."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nodewise.datasets.info import DatasetInfo

__all__ = ["CATALOGUE"]

# In each family the rows are: name, the loader's argument, nodes, edges, features, classes, description, and what else
# differs.
_PLANETOID = {
    "source": "Planetoid, through PyTorch Geometric",
    "citation": "Yang, Cohen, Salakhutdinov: Revisiting Semi-Supervised Learning with Graph Embeddings, ICML 2016",
}
_PITFALLS = {
    "source": "gnn-benchmark",
    "citation": "Shchur, Mumme, Bojchevski, Günnemann: Pitfalls of Graph Neural Network Evaluation, 2018",
}
_REDDIT = {
    "source": (
        "the paper's authors (GitHub, ShengdingHu/GraphPolicyNetworkActiveLearning); `nodewise reddit build` makes"
        " others of the kind"
    ),
    "citation": "Hu et al.: Graph Policy Network for Transferable Active Learning on Graphs, NeurIPS 2020",
}
_GRAPH2GAUSS = {
    "source": "graph2gauss, through PyTorch Geometric",
    "citation": "Bojchevski, Günnemann: Deep Gaussian Embedding of Graphs, ICLR 2018",
}
_CRITICAL = {
    "source": "heterophilous-graphs, through PyTorch Geometric",
    "citation": (
        "Platonov, Kuznedelev, Diskin, Babenko, Prokhorenkova: A Critical Look at the Evaluation of GNNs under"
        " Heterophily, ICLR 2023"
    ),
    "licence": "MIT",
}
_MUSAE = {
    "source": "MUSAE, through PyTorch Geometric",
    "citation": "Rozemberczki, Allen, Sarkar: Multi-Scale Attributed Node Embedding, Journal of Complex Networks, 2021",
}
_FEATHER = {
    "source": "FEATHER, through PyTorch Geometric",
    "citation": "Rozemberczki, Sarkar: Characteristic Functions on Graphs, CIKM 2020",
}
_GEOM = {
    "source": "geom-gcn, through PyTorch Geometric",
    "citation": "Pei, Wei, Chang, Lei, Yang: Geom-GCN: Geometric Graph Convolutional Networks, ICLR 2020",
}
_AIRPORTS = {
    "source": "struc2vec, through PyTorch Geometric",
    "citation": (
        "Ribeiro, Saverese, Figueiredo: struc2vec: Learning Node Representations from Structural Identity, KDD 2017"
    ),
}
_OGB = {
    "source": "Open Graph Benchmark",
    "citation": "Hu et al.: Open Graph Benchmark: Datasets for Machine Learning on Graphs, NeurIPS 2020",
    "extra": "ogb",
}
_DOMAINS = {
    "source": "ArnetMiner, as prepared for domain adaptation",
    "citation": (
        "Shen, Dai, Chung, Lu, Choi: Adversarial Deep Network Embedding for Cross-Network Node Classification, AAAI"
        " 2020"
    ),
    "origin": "folder",
    "remark": (
        "one vocabulary and one set of classes with its sisters acmv9, citationv1 and dblpv7; no address to download it"
        " from is built in"
    ),
}
_FB100 = {
    "source": "Facebook100",
    "citation": "Traud, Mucha, Porter: Social Structure of Facebook Networks, Physica A, 2012",
    "origin": "folder",
    "remark": (
        "the class is the year of graduation, 2004 to 2009; feature columns differ from school to school; no address is"
        " built in"
    ),
}
_SKLEARN = {"source": "scikit-learn, after the UCI repository", "licence": "CC BY 4.0", "origin": "included"}
_GENERATED = {"source": "nodewise.datasets.synthetic_graph, seed 0", "origin": "generated"}
_LINQS = (
    "PyTorch Geometric's copy has fewer pages than the LINQS one, whose size stands here and which is read where the"
    " data folder holds it"
)
_TWITCH = (
    "PyTorch Geometric's copy has 128 features made from the 3,170; the others are read where the data folder holds"
    " them"
)


def _family(common: dict[str, Any], loader: str, *rows: tuple[Any, ...]) -> Iterator[DatasetInfo]:
    for name, which, nodes, edges, features, classes, description, *more in rows:
        fields = {"origin": "download", **common, **(more[0] if more else {})}
        yield DatasetInfo(name, description, nodes, edges, features, classes, loader=(loader, which), **fields)


def _paper(budget: int, *aliases: str, files: tuple[str, ...] = (), remark: str = "") -> dict[str, Any]:
    return {"budget": budget, "paper": True, "aliases": aliases, "files": files, "remark": remark}


CATALOGUE: tuple[DatasetInfo, ...] = (
    *_family(
        _PLANETOID,
        "planetoid",
        (
            "cora",
            "Cora",
            2708,
            5278,
            1433,
            7,
            "papers on machine learning and their citations; class: topic; features: words",
            _paper(35),
        ),
        (
            "citeseer",
            "CiteSeer",
            3327,
            4552,
            3703,
            6,
            "papers on computer science and their citations; class: topic; features: words",
            _paper(
                30,
                remark=(
                    "15 nodes of the source had no content: isolated, a row of zeros, class 0; listed in"
                    " extra['missing_nodes']"
                ),
            ),
        ),
        (
            "pubmed",
            "PubMed",
            19717,
            44324,
            500,
            3,
            "papers on diabetes and their citations; class: kind of diabetes; features: TF-IDF",
            _paper(15),
        ),
    ),
    *_family(
        _PITFALLS,
        "coauthor",
        (
            "coauthor-cs",
            "cs",
            18333,
            81894,
            6805,
            15,
            "authors in computer science joined by papers; class: field; features: counts of keywords",
            _paper(75, "cs", remark="counts are kept, which PyTorch Geometric turns into 0 and 1"),
        ),
        (
            "coauthor-physics",
            "phy",
            34493,
            247962,
            8415,
            5,
            "authors in physics joined by papers; class: field; features: counts of keywords",
            _paper(25, "physics", remark="counts are kept, which PyTorch Geometric turns into 0 and 1"),
        ),
    ),
    *_family(
        _REDDIT,
        "reddit",
        *(
            (
                f"reddit{i}",
                f"graph{i}",
                nodes,
                edges,
                300,
                classes,
                "Reddit posts joined by two common users; class: community; features: GloVe",
                _paper(
                    50,
                    files=(f"reddit1401-graph{i}",),
                    remark="a copy in the data folder may lack the features; it is then used without",
                ),
            )
            for i, nodes, edges, classes in (
                (1, 4584, 19460, 10),
                (2, 3765, 30494, 8),
                (3, 4329, 35191, 9),
                (4, 3852, 42483, 9),
                (5, 3558, 15860, 8),
            )
        ),
        (
            "reddit-case-study",
            "graphforvis",
            85,
            156,
            300,
            4,
            "the small Reddit graph of the paper's case study; class: community; features: GloVe",
            {"budget": 15, "splits": (20, 20), "files": ("reddit1401-graphforvis",)},
        ),
    ),
    *_family(
        _SKLEARN,
        "digits",
        (
            "digits",
            "",
            1797,
            12337,
            64,
            10,
            "handwritten digits joined to the 10 nearest by pixels; class: digit; features: 8 × 8 pixels",
            {"citation": "Alpaydin, Kaynak: Optical Recognition of Handwritten Digits, UCI, 1998"},
        ),
    ),
    *_family(
        _SKLEARN,
        "standardised",
        (
            "breast-cancer",
            "breast_cancer",
            569,
            4277,
            30,
            2,
            "tumours joined to the 10 nearest by 30 measurements; class: malignant or benign",
            {"citation": "Wolberg, Mangasarian, Street: Breast Cancer Wisconsin (Diagnostic), UCI, 1995"},
        ),
        (
            "wine",
            "wine",
            178,
            1231,
            13,
            3,
            "wines joined to the 10 nearest by 13 measurements; class: cultivar",
            {"citation": "Aeberhard, Forina: Wine, UCI, 1991"},
        ),
    ),
    *_family(
        {
            "source": "networkx",
            "origin": "included",
            "citation": (
                "Zachary: An Information Flow Model for Conflict and Fission in Small Groups, "
                "Journal of Anthropological Research, 1977"
            ),
        },
        "karate",
        (
            "karate",
            "communities",
            34,
            78,
            0,
            4,
            "members of a karate club and their friendships; class: one of four communities found by modularity",
        ),
        ("karate-clubs", "clubs", 34, 78, 0, 2, "the same; class: the club that the member joined after the split"),
    ),
    *_family(
        _GENERATED,
        "synthetic",
        (
            "sbm",
            "",
            2000,
            10000,
            16,
            5,
            "stochastic block graph: homophily 0.8, degrees as in a random graph, weak features",
        ),
        ("sbm-heterophilous", "", 2000, 10000, 16, 5, "stochastic block graph: homophily 0.1"),
        (
            "sbm-powerlaw",
            "",
            2000,
            10000,
            16,
            5,
            "stochastic block graph: homophily 0.8, few nodes with many neighbours and many with few",
        ),
        (
            "sbm-weighted",
            "",
            600,
            18000,
            32,
            3,
            "edges that join any two nodes, heavy ones within a class: only their weights tell the classes",
            {"holds": ("weights",)},
        ),
        (
            "sbm-1m",
            "",
            1_000_000,
            10_000_000,
            128,
            10,
            "stochastic block graph of a million nodes: homophily 0.8, degrees by a power law",
        ),
    ),
    *_family(
        {"source": "nodewise.datasets.overlapping_graph, seed 0", "origin": "generated"},
        "overlapping",
        (
            "overlapping",
            "",
            600,
            3138,
            16,
            5,
            "groups that overlap: a node has one class, two, or none",
            {"holds": ("several labels a node",)},
        ),
    ),
    *_family(
        {"source": "nodewise.datasets.library_graph, seed 0", "origin": "generated"},
        "library",
        (
            "library",
            "",
            300,
            4347,
            0,
            3,
            "papers, their authors and venues, under made-up names; class: topic; edges: what papers share",
            {"holds": ("relations: 300 paper, 200 author, 12 venue; written by (564), appears in (300)",)},
        ),
    ),
    *_family(
        {"source": "nodewise.datasets.directed_graph, seed 0", "origin": "generated"},
        "directed",
        (
            "cyclic",
            "",
            400,
            2331,
            0,
            3,
            "each class points to the next one, the last to the first: only the direction tells the classes",
            {"holds": ("direction",)},
        ),
    ),
    *_family(
        _PITFALLS,
        "amazon",
        (
            "amazon-photo",
            "photo",
            7650,
            119081,
            745,
            8,
            "cameras and the like joined if bought together; class: category; features: words of reviews",
        ),
        (
            "amazon-computers",
            "computers",
            13752,
            245861,
            767,
            10,
            "computers joined if bought together; class: category; features: words of reviews",
        ),
    ),
    *_family(
        _GRAPH2GAUSS,
        "citation_full",
        ("cora-full", "cora", 19793, 63421, 8710, 70, "all of Cora; class: topic; features: words"),
        (
            "cora-ml",
            "cora_ml",
            2995,
            8158,
            2879,
            7,
            "the part of Cora on machine learning; class: topic; features: words",
        ),
        ("citeseer-full", "citeseer", 4230, 5337, 602, 6, "papers on computer science; class: topic; features: words"),
        ("dblp", "dblp", 17716, 52867, 1639, 4, "papers on computer science; class: field; features: words"),
    ),
    *_family(
        _DOMAINS,
        "",
        (
            "acmv9",
            "",
            9360,
            15556,
            6775,
            5,
            "papers from ACM and their citations; class: field; features: words of titles",
        ),
        (
            "citationv1",
            "",
            8935,
            15098,
            6775,
            5,
            "papers from Microsoft Academic Graph and their citations; class: field; features: words of titles",
        ),
        (
            "dblpv7",
            "",
            5484,
            8117,
            6775,
            5,
            "papers from DBLP and their citations; class: field; features: words of titles",
        ),
    ),
    *_family(
        _MUSAE,
        "twitch",
        *(
            (
                f"twitch-{name}",
                which,
                nodes,
                edges,
                3170,
                2,
                "Twitch users and their friendships; class: whether the language is mature; features: games, habits",
                {"remark": _TWITCH},
            )
            for name, which, nodes, edges in (
                ("de", "DE", 9498, 153138),
                ("engb", "EN", 7126, 35324),
                ("es", "ES", 4648, 59382),
                ("fr", "FR", 6549, 112666),
                ("ptbr", "PT", 1912, 31299),
                ("ru", "RU", 4385, 37304),
            )
        ),
    ),
    *_family(
        _MUSAE,
        "pyg",
        (
            "facebook",
            "FacebookPagePage",
            22470,
            None,
            128,
            4,
            "Facebook pages and their likes; class: kind of page; features: from descriptions",
        ),
        (
            "github",
            "GitHub",
            37700,
            None,
            128,
            2,
            "developers and who follows whom; class: web or machine learning; features: from profiles",
        ),
    ),
    *_family(
        _FEATHER,
        "pyg",
        (
            "lastfm-asia",
            "LastFMAsia",
            7624,
            27806,
            128,
            18,
            "LastFM users and their friendships; class: country; features: from artists liked",
        ),
        (
            "deezer-europe",
            "DeezerEurope",
            28281,
            92752,
            128,
            2,
            "Deezer users and their friendships; class: gender; features: from artists liked",
        ),
    ),
    *_family(
        _GEOM,
        "webkb",
        (
            "webkb-cornell",
            "cornell",
            195,
            283,
            1703,
            5,
            "web pages of a university and their links; class: kind of page; features: words",
            {"remark": _LINQS},
        ),
        (
            "webkb-texas",
            "texas",
            187,
            280,
            1703,
            5,
            "web pages of a university and their links; class: kind of page; features: words",
            {"remark": _LINQS},
        ),
        (
            "webkb-wisconsin",
            "wisconsin",
            265,
            459,
            1703,
            5,
            "web pages of a university and their links; class: kind of page; features: words",
            {"remark": _LINQS},
        ),
        (
            "webkb-washington",
            "",
            230,
            366,
            1703,
            5,
            "web pages of a university and their links; class: kind of page; features: words",
            {
                "origin": "folder",
                "source": "LINQS",
                "citation": "Craven et al.: Learning to Extract Symbolic Knowledge from the World Wide Web, AAAI 1998",
                "remark": "PyTorch Geometric has no copy",
            },
        ),
    ),
    *_family(
        _GEOM,
        "pyg",
        (
            "actor",
            "Actor",
            7600,
            None,
            932,
            5,
            "actors joined if on one Wikipedia page; class: by words on the page; features: keywords",
            {"aliases": ("film",)},
        ),
    ),
    *_family(
        _AIRPORTS,
        "airports",
        ("airports-brazil", "brazil", 131, 1003, 0, 4, "airports and their flights; class: quartile of activity"),
        ("airports-europe", "europe", 399, 5993, 0, 4, "airports and their flights; class: quartile of activity"),
        ("airports-usa", "usa", 1190, 13599, 0, 4, "airports and their flights; class: quartile of activity"),
    ),
    *_family(
        _CRITICAL,
        "heterophilous",
        (
            "roman-empire",
            "roman_empire",
            22662,
            32927,
            300,
            18,
            "words of an article joined by grammar and order; class: role; features: word vectors",
        ),
        (
            "amazon-ratings",
            "amazon_ratings",
            24492,
            93050,
            300,
            5,
            "products joined if bought together; class: mean rating; features: word vectors",
        ),
        (
            "minesweeper",
            "minesweeper",
            10000,
            39402,
            7,
            2,
            "cells of a field joined to those around; class: mine or not; features: mines around, half hidden",
        ),
        (
            "tolokers",
            "tolokers",
            11758,
            519000,
            10,
            2,
            "workers joined by a common task; class: banned or not; features: profile and statistics",
        ),
        (
            "questions",
            "questions",
            48921,
            153540,
            301,
            2,
            "users joined by answers; class: still active or not; features: word vectors",
        ),
        (
            "chameleon-filtered",
            "chameleon_filtered",
            890,
            8854,
            2325,
            5,
            "Wikipedia pages and their links; class: traffic; features: nouns",
            {"aliases": ("chameleon",), "remark": "without the duplicates that the older copy holds"},
        ),
        (
            "squirrel-filtered",
            "squirrel_filtered",
            2223,
            46998,
            2089,
            5,
            "Wikipedia pages and their links; class: traffic; features: nouns",
            {"aliases": ("squirrel",), "remark": "without the duplicates that the older copy holds"},
        ),
    ),
    *_family(
        _FB100,
        "",
        ("fb100-caltech36", "", 626, 14576, 75, 6, "students of a university and their friendships"),
        ("fb100-reed98", "", 800, 15002, 114, 6, "students of a university and their friendships"),
        ("fb100-haverford76", "", 1296, 54125, 124, 6, "students of a university and their friendships"),
        ("fb100-simmons81", "", 1351, 29386, 121, 6, "students of a university and their friendships"),
    ),
    *_family(
        {
            "source": "netset, whose address PyTorch Geometric has",
            "citation": "Adamic, Glance: The Political Blogosphere and the 2004 U.S. Election, LinkKDD 2005",
        },
        "polblogs",
        ("polblogs", "", 1490, 16715, 0, 2, "blogs on politics and their links; class: liberal or conservative"),
    ),
    *_family(
        {
            "source": "wiki-cs-dataset, through PyTorch Geometric",
            "aliases": ("wiki-cs",),
            "citation": "Mernyei, Cangea: Wiki-CS: A Wikipedia-Based Benchmark, 2020",
            "licence": "MIT",
        },
        "wikics",
        (
            "wikics",
            "",
            11701,
            None,
            300,
            10,
            "Wikipedia pages on computer science and their links; class: field; features: word vectors",
        ),
    ),
    *_family(
        {
            "source": "GraphSAINT, through PyTorch Geometric",
            "citation": "Zeng et al.: GraphSAINT: Graph Sampling Based Inductive Learning, ICLR 2020",
        },
        "pyg",
        (
            "flickr",
            "Flickr",
            89250,
            449878,
            500,
            7,
            "pictures joined by common properties; class: kind of picture; features: words of descriptions",
        ),
    ),
    *_family(
        _OGB,
        "ogb",
        (
            "ogbn-arxiv",
            "",
            169343,
            1157799,
            128,
            40,
            "papers on arXiv and their citations; class: field; features: word vectors",
            {"licence": "ODC-BY"},
        ),
        (
            "ogbn-products",
            "",
            2449029,
            61859140,
            100,
            47,
            "products joined if bought together; class: category; features: from descriptions",
            {"licence": "Amazon license", "remark": "1.4 GB to download, about 10 GB of memory to prepare"},
        ),
    ),
)

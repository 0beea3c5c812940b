"""A classifier in closed form: ridge regression on several views of the graph, weighed against each other by leave-one-out likelihood."""

"""A classifier in closed form.

Ridge regression on several views of the graph, weighed against each other by leave-one-out likelihood.
"""

"""Topologies of clusters, as SimGrid routes in them: tori, fat trees and dragonflies."""

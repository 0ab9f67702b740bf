"""FLOP and least bytes of every operator, from what a recording says of its inputs."""

from tracetui.analysis.cost.evaluation import (
    MODELS,
    PRECISIONS,
    CountedSums,
    OperatorCosts,
    cost_of,
    counted_sums,
    has_model,
    operator_costs,
)
from tracetui.analysis.cost.formulas import AttentionShape, Cost, convolution_flop, product_flop
from tracetui.analysis.cost.inputs import Inputs, Operand, UnmodelledError

__all__ = [
    "MODELS",
    "PRECISIONS",
    "AttentionShape",
    "Cost",
    "CountedSums",
    "Inputs",
    "Operand",
    "OperatorCosts",
    "UnmodelledError",
    "convolution_flop",
    "cost_of",
    "counted_sums",
    "has_model",
    "operator_costs",
    "product_flop",
]

"""The rules, in the order in which they are tried; each is one module and knows no other."""

from typing import Final

from tracetui.diagnosis.finding import Rule
from tracetui.diagnosis.rules.allocator_churn import AllocatorChurn
from tracetui.diagnosis.rules.autocast_weights import AutocastWeights
from tracetui.diagnosis.rules.bias_before_norm import BiasBeforeNorm
from tracetui.diagnosis.rules.bias_copy import BiasCopy
from tracetui.diagnosis.rules.cold_step import ColdStep
from tracetui.diagnosis.rules.contiguous_copy import ContiguousCopy
from tracetui.diagnosis.rules.data_parallel import DataParallel
from tracetui.diagnosis.rules.dataloader_wait import DataLoaderWait
from tracetui.diagnosis.rules.eager_elementwise import EagerElementwise
from tracetui.diagnosis.rules.exposed_communication import ExposedCommunication
from tracetui.diagnosis.rules.exposed_copy import ExposedCopy
from tracetui.diagnosis.rules.few_blocks import FewBlocks
from tracetui.diagnosis.rules.fragmented_optimizer import FragmentedOptimizer
from tracetui.diagnosis.rules.hidden_copy import HiddenCopy
from tracetui.diagnosis.rules.host_made_tensor import HostMadeTensor
from tracetui.diagnosis.rules.layout_change import LayoutChange
from tracetui.diagnosis.rules.math_attention import MathAttention
from tracetui.diagnosis.rules.mean_misleads import MeanMisleads
from tracetui.diagnosis.rules.misaligned_product import MisalignedProduct
from tracetui.diagnosis.rules.overhead_bound import OverheadBound
from tracetui.diagnosis.rules.pageable_copy import PageableCopy
from tracetui.diagnosis.rules.rebuilt_constant import RebuiltConstant
from tracetui.diagnosis.rules.rebuilt_mask import RebuiltMask
from tracetui.diagnosis.rules.recompilation import Recompilation
from tracetui.diagnosis.rules.recorded_warmup import RecordedWarmup
from tracetui.diagnosis.rules.stalling_sync import StallingSync
from tracetui.diagnosis.rules.tensor_cores_lost import TensorCoresLost
from tracetui.diagnosis.rules.unfused_chain import UnfusedChain
from tracetui.diagnosis.rules.written_out_attention import WrittenOutAttention
from tracetui.diagnosis.rules.zeroed_gradients import ZeroedGradients

RULES: Final[tuple[Rule, ...]] = (
    HiddenCopy(),
    MathAttention(),
    TensorCoresLost(),
    BiasCopy(),
    OverheadBound(),
    StallingSync(),
    DataLoaderWait(),
    PageableCopy(),
    MeanMisleads(),
    Recompilation(),
    RecordedWarmup(),
    UnfusedChain(),
    EagerElementwise(),
    WrittenOutAttention(),
    LayoutChange(),
    ContiguousCopy(),
    FragmentedOptimizer(),
    ExposedCommunication(),
    ZeroedGradients(),
    MisalignedProduct(),
    BiasBeforeNorm(),
    AutocastWeights(),
    RebuiltMask(),
    RebuiltConstant(),
    HostMadeTensor(),
    ExposedCopy(),
    AllocatorChurn(),
    FewBlocks(),
    DataParallel(),
    ColdStep(),
)

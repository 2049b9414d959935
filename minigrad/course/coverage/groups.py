"""In which group a reader looks for a name of torch that minigrad has not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

OTHER: Final = "Other"

GROUPS: Final = {
    "Sparse tensors": (
        r"sparse\w*|\w*_?sparse_\w*|to_sparse\w*|is_sparse\w*|is_coalesced"
        r"|coalesce|c?col_indices|c?row_indices|crow_indices|indices|values"
        r"|to_dense|dense_dim|h?spmm|s?smm|ds?mm|hsmm|sspaddmm|saddmm"
        r"|resize_as_sparse_"
    ),
    "Quantized tensors": (
        r"q_\w+|\w*quant(ize|ized)?(_\w+)?|de?quantize|int_repr|qscheme|fbgemm\w*"
        r"|choose_qparams\w*|q?u?int[1-8]|quint\w+|qint\w+|bits\w+|float[48]_\w+"
        r"|u?int[1-7]"
    ),
    "Other devices and libraries": (
        r"cudnn\w*|miopen\w*|mkldnn\w*|\w*mkldnn|\w*autocast\w*"
        r"|is_(ipu|maia|mps|mtia|vulkan|xla|xpu|meta|cuda)\w*|ipu|mtia|xpu|cuda"
        r"|pin_memory|is_pinned|is_vulkan_available|\w*_default_device"
        r"|get_device\w*|record_stream|DataParallel|SyncBatchNorm"
        r"|DistributedSampler|is_distributed|share_memory_|is_shared"
    ),
    "Complex numbers": (
        r"complex\w*|polar|real|imag|\w*conj\w*|angle|view_as_\w+|isreal|sgn_?"
        r"|resolve_neg|is_neg|adjoint|mH|c(float|double|half)"
    ),
    "How torch itself runs": (
        r"compile\w*|fork|wait|\w*deterministic\w*|\w*num_\w*threads"
        r"|init_num_threads|parse_\w+|sym_\w+|import_ir\w*|typename|classproperty"
        r"|merge_type\w+|unify_type_list|get_file_path|prepare_multi\w+"
        r"|profiler_\w+|thread_safe\w+|\w*warn_\w+|\w*_flush_denormal"
        r"|\w*matmul_precision|cond|while_loop|is_storage|\w*storage\w*"
        r"|set_default_tensor_type|set_anomaly_enabled|set_$|const_data_ptr"
        r"|data_ptr|\w*dlpack|from_file|frombuffer|hash_tensor|layout|dim_order"
        r"|module_load|as_subclass|reinforce|volatile|new|name|map2?_|apply_"
        r"|\w*torch_function\w*|\w*stream\w*|\w*Checkpoint\w*|is_set_to"
        r"|is_same_size"
    ),
    "Copies in place of views": r"(?!index_)\w+_copy",
    "Recurrent layers": r"(lstm|gru|rnn)\w*|(LSTM|GRU|RNN)\w*",
    "Transformers": r"Transformer\w*|multi_head_\w+",
    "Layers whose sizes come with the first input": r"Lazy\w+|Uninitialized\w+",
    "Losses": (
        r"\w*_loss(_\w+)?|\w*Loss(2d|Options)?|kl_div|\w*cross_entropy\w*"
        r"|AdaptiveLogSoftmaxWithLoss|LinearCrossEntropyOptions"
        r"|\w+_with_distance_loss"
    ),
    "Convolution, pooling and images": (
        r"\w*conv(_\w+|\d\w*|olution)\w*|\w*pool\w*|Conv\w+|\w*Pool\w*"
        r"|MaxUnpool\w+|max_unpool\w+|Unfold|Fold|unfold|fold|upsample\w*"
        r"|Upsampl\w+|interpolate|grid_sampl\w+|affine_grid\w*"
        r"|\w*[Pp]ixel_?[Uu]?n?shuffle|Pixel\w+|[Cc]hannel_?[Ss]huffle"
        r"|native_channel_shuffle|\w+Pad[123]d|pad|constant_pad_nd|CrossMapLRN2d"
        r"|local_response_norm|LocalResponseNorm"
    ),
    "Norms of layers, and dropout": (
        r"\w*(batch|group|layer|instance|rms)_norm\w*"
        r"|\w*(Batch|Group|Instance|RMS)Norm\w*|\w*[Dd]ropout\w*|norm_except_dim"
        r"|native_norm|normalize|\w*weight_norm|\w*spectral_norm"
    ),
    "Activations": (
        r"celu_?|CELU|selu_?|SELU|rrelu_?|RReLU|prelu|PReLU|relu6|ReLU6|glu|GLU"
        r"|[Hh]ard\w+|[Ss]oft(shrink|sign|min|max2d|plus)|Softmax2d|[Tt]anhshrink"
        r"|[Mm]ish|[Ll]og_?[Ss]igmoid|[Tt]hreshold_?|gumbel_softmax|elu_"
        r"|leaky_relu_|relu_"
    ),
    "Linear algebra": (
        r"cholesky\w*|s?log_?det|slogdet|det|eigh?\w*|lu|lu_\w+|qr|svd\w*|lstsq"
        r"|solve\w*|inv\w*|pinv\w*|matrix_\w+|geqrf|orgqr|ormqr|triangular_solve"
        r"|symeig|lobpcg|pca_lowrank|nuclear_norm|frobenius_norm|addbmm_?|addmm_"
        r"|addmv_?|addr_?|baddbmm_?|ger|inner|kron|vdot|vecdot|c?dist|pdist"
        r"|chain_matmul|multi_dot|tensordot|tensor(inv|solve)|cross"
        r"|householder_product|ldl_\w+|vector_norm|LinAlgError|vander|block_diag"
        r"|bilinear|Bilinear|renorm_?|cosine_similarity|CosineSimilarity"
        r"|pairwise_distance|PairwiseDistance|\w*grouped_mm|scaled_mm|mH"
    ),
    "Random numbers": (
        r"bernoulli\w*|binomial|multinomial|poisson|rand\w+|cauchy_|exponential_"
        r"|geometric_|log_normal_|\w+Sampler|WeightedRandomSampler"
    ),
    "Special functions": (
        r"digamma_?|m?v?lgamma_?|polygamma_?|igammac?_?|i0_?|erfinv_?|sinc_?"
        r"|logit_?|xlogy_?|logaddexp2?|ldexp_?|frexp|nextafter_?|heaviside_?"
        r"|hypot_?|copysign_?|float_power_?|deg2rad_?|rad2deg_?|fmax|fmin"
        r"|nan_to_num_?|gcd_?|lcm_?|bitwise_\w+shift_?"
    ),
    "Signals": r"i?stft|\w+_window",
    "Statistics, counting and order": (
        r"nan(mean|median|quantile|sum)|quantile|corrcoef|cov|bincount|hist\w+"
        r"|mode|kthvalue|msort|unique\w*|isin|searchsorted|bucketize|aminmax"
        r"|cum(max|min)|logcumsumexp|cumulative_trapezoid|trapz|trapezoid|std_mean"
        r"|var_mean|argwhere|nonzero_static|diff|gradient|histc"
    ),
    "Reading and writing by index": (
        r"index_\w+|put_?|take\w*|masked_scatter_?|index"
        r"|(select|slice|diagonal|as_strided)_scatter|scatter_reduce_?"
        r"|segment_reduce|slice_inverse|fill_diagonal_|embedding_renorm_"
        r"|unravel_index|\w+_indices"
    ),
    "Shapes": (
        r"atleast_\dd|[dhv]split|[dh]stack|column_stack|row_stack|tensor_split"
        r"|split_with_sizes|unsafe_\w+|flip(lr|ud)|rot90|moveaxis|swap(axes|dims)_"
        r"|\w*squeeze_|t_|transpose_|resize\w*|reshape_as|sum_to_size|diag_embed"
        r"|diagflat|meshgrid|cartesian_prod|combinations|broadcast_\w+"
        r"|repeat_interleave|as_strided_|Unflatten|rearrange|constant_pad_nd"
        r"|to_padded_tensor"
    ),
    "Making tensors": (
        r"asarray|logspace|range|scalar_tensor|empty_\w+|new_\w+|one_hot"
    ),
    "Comparisons in place": (
        r"(eq|ne|ge|gt|le|lt|greater|less|not_equal)(_equal)?_|logical_not_"
        r"|bitwise_not_"
    ),
}
"""The first group whose pattern is the whole name."""

PATTERNS: Final = {group: re.compile(pattern) for group, pattern in GROUPS.items()}


def group_of(name: str) -> str:
    """The group of a name.

    >>> group_of("LSTMCell"), group_of("to_sparse"), group_of("unheard_of")
    ('Recurrent layers', 'Sparse tensors', 'Other')
    """
    fitting = [group for group, one in PATTERNS.items() if one.fullmatch(name)]
    return fitting[0] if fitting else OTHER


def grouped(names: Iterable[str]) -> dict[str, list[str]]:
    """The names of each group, the largest groups first, all others last."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(group_of(name), []).append(name)
    in_order = sorted(found, key=lambda group: (group == OTHER, -len(found[group])))
    return {group: found[group] for group in in_order}

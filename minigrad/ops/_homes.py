"""Where each operation is, a function, a method, or BOTH.

Built by `python -m minigrad build`.
"""

from typing import Final

BOTH: Final = {
    "arithmetic": "add div mul neg pow rsub sub",
    "blends": "addcdiv addcmul lerp repeat roll tile",
    "choose": """
        clamp clamp_max clamp_min clip masked_fill maximum minimum nonzero where
    """,
    "comparison": "eq ge gt le lt ne",
    "conversion": "to",
    "cumprod": "cumprod",
    "diagonals": "diag trace",
    "elementwise": """
        abs cos exp fill log reciprocal relu sigmoid sin softplus sqrt tanh
    """,
    "extremes": "amax amin argmax argmin max min",
    "gathering": "gather index_add index_select masked_select scatter scatter_add",
    "indexing": "index_put",
    "linalg": "addmm bmm dot matmul mm mv outer",
    "logic": """
        all any bitwise_and bitwise_not bitwise_or bitwise_xor count_nonzero greater
        greater_equal isclose isfinite isinf isnan isneginf isposinf less less_equal
        logical_and logical_not logical_or logical_xor not_equal signbit
    """,
    "median": "median",
    "order": "argsort cumsum flip sort topk tril triu",
    "parts": "diagonal flatten movedim narrow select squeeze unflatten unsqueeze",
    "questions": "allclose equal is_nonzero",
    "reduce": "mean sum",
    "rounding": """
        ceil fix floor floor_divide fmod frac positive remainder round sign trunc
    """,
    "shape": """
        as_strided broadcast_to clone expand expand_as permute ravel reshape swapaxes
        swapdims t transpose view view_as
    """,
    "smooth": """
        absolute acos acosh arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin
        asinh atan atan2 atanh cosh divide erf erfc exp2 expm1 log10 log1p log2 multiply
        negative rsqrt sinh square subtract tan true_divide
    """,
    "softmax": "log_softmax softmax",
    "splitting": "chunk split split_with_sizes unbind",
    "statistics": "logsumexp norm prod std var",
}

FUNCTIONS: Final = {
    "convolution": "conv1d conv2d",
    "einsum": "einsum",
    "embedding": "dropout embedding",
    "joining": "cat concat concatenate hstack stack vstack",
    "losses": "binary_cross_entropy_with_logits",
    "normalization": "batch_norm layer_norm",
    "pooling": "max_pool2d",
    "questions": "is_complex is_floating_point is_inference numel",
    "statistics": "var_mean",
}

METHODS: Final = {
    "arithmetic": """
        __add__ __iadd__ __imul__ __ipow__ __isub__ __itruediv__ __mul__ __neg__ __pow__
        __radd__ __rmul__ __rpow__ __rsub__ __rtruediv__ __sub__ __truediv__ add_ div_
        mul_ neg_ pow_ sub_
    """,
    "blends": "addcdiv_ addcmul_ lerp_",
    "choose": "clamp_ clip_ masked_fill_",
    "comparison": "__eq__ __ge__ __gt__ __le__ __lt__ __ne__",
    "conversion": """
        bool byte char contiguous cpu cuda double float half int long new new_empty
        new_full new_ones new_tensor new_zeros short type type_as
    """,
    "cumprod": "cumprod_",
    "elementwise": """
        __abs__ abs_ cos_ exp_ log_ reciprocal_ relu_ sigmoid_ sin_ sqrt_ tanh_
    """,
    "gathering": "index_add_ scatter_ scatter_add_",
    "indexing": "__getitem__ __setitem__ index_put_",
    "linalg": "__matmul__ __rmatmul__",
    "logic": """
        __and__ __iand__ __invert__ __ior__ __ixor__ __or__ __rand__ __ror__ __rxor__
        __xor__ bitwise_and_ bitwise_or_ bitwise_xor_ logical_and_ logical_or_
        logical_xor_
    """,
    "noise": "bernoulli_ normal_ random_ uniform_",
    "order": "cumsum_ tril_ triu_",
    "overwriting": "copy_ fill_ zero_",
    "rounding": """
        __floordiv__ __ifloordiv__ __imod__ __mod__ __rfloordiv__ __rmod__ ceil_ fix_
        floor_ floor_divide_ fmod_ frac_ remainder_ round_ sign_ trunc_
    """,
    "shape_in_place": """
        as_strided_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_
    """,
    "smooth": """
        absolute_ acos_ acosh_ arccos_ arccosh_ arcsin_ arcsinh_ arctan2_ arctan_
        arctanh_ asin_ asinh_ atan2_ atan_ atanh_ cosh_ divide_ erf_ erfc_ exp2_ expm1_
        log10_ log1p_ log2_ multiply_ negative_ rsqrt_ sinh_ square_ subtract_ tan_
        true_divide_
    """,
    "splitting": "__iter__",
}

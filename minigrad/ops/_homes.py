"""Where each operation is. Built by `python -m minigrad build`."""

from typing import Final

FUNCTIONS: Final = {
    "arithmetic": "add div mul neg pow rsub sub",
    "blends": "addcdiv addcmul lerp repeat roll tile",
    "choose": """
        clamp clamp_max clamp_min clip masked_fill maximum minimum nonzero where
    """,
    "comparison": "eq ge gt le lt ne",
    "conversion": "to",
    "convolution": "conv1d conv2d",
    "cumprod": "cumprod",
    "diagonals": "diag trace",
    "einsum": "einsum",
    "elementwise": """
        abs cos exp fill log reciprocal relu sigmoid sin softplus sqrt tanh
    """,
    "embedding": "dropout embedding",
    "extremes": "amax amin argmax argmin max min",
    "gathering": "gather index_add index_select masked_select scatter scatter_add",
    "indexing": "index_put",
    "joining": "cat concat concatenate hstack stack vstack",
    "linalg": "addmm bmm dot matmul mm mv outer",
    "logic": """
        all any bitwise_and bitwise_not bitwise_or bitwise_xor count_nonzero greater
        greater_equal isclose isfinite isinf isnan isneginf isposinf less less_equal
        logical_and logical_not logical_or logical_xor not_equal signbit
    """,
    "losses": "binary_cross_entropy_with_logits",
    "median": "median",
    "normalization": "batch_norm layer_norm",
    "order": "argsort cumsum flip sort topk tril triu",
    "parts": "diagonal flatten movedim narrow select squeeze unflatten unsqueeze",
    "pooling": "max_pool2d",
    "questions": """
        allclose equal is_complex is_floating_point is_inference is_nonzero numel
    """,
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
    "statistics": "logsumexp norm prod std var var_mean",
}

METHODS: Final = {
    "arithmetic": """
        __add__ __iadd__ __imul__ __ipow__ __isub__ __itruediv__ __mul__ __neg__ __pow__
        __radd__ __rmul__ __rpow__ __rsub__ __rtruediv__ __sub__ __truediv__ add add_
        div div_ mul mul_ neg neg_ pow pow_ rsub sub sub_
    """,
    "blends": "addcdiv addcdiv_ addcmul addcmul_ lerp lerp_ repeat roll tile",
    "choose": """
        clamp clamp_ clamp_max clamp_min clip clip_ masked_fill masked_fill_ maximum
        minimum nonzero where
    """,
    "comparison": "__eq__ __ge__ __gt__ __le__ __lt__ __ne__ eq ge gt le lt ne",
    "conversion": """
        bool byte char contiguous cpu cuda double float half int long new new_empty
        new_full new_ones new_tensor new_zeros short to type type_as
    """,
    "cumprod": "cumprod cumprod_",
    "diagonals": "diag trace",
    "elementwise": """
        __abs__ abs abs_ cos cos_ exp exp_ fill log log_ reciprocal reciprocal_ relu
        relu_ sigmoid sigmoid_ sin sin_ softplus sqrt sqrt_ tanh tanh_
    """,
    "extremes": "amax amin argmax argmin max min",
    "gathering": """
        gather index_add index_add_ index_select masked_select scatter scatter_
        scatter_add scatter_add_
    """,
    "indexing": "__getitem__ __setitem__ index_put index_put_",
    "linalg": "__matmul__ __rmatmul__ addmm bmm dot matmul mm mv outer",
    "logic": """
        __and__ __iand__ __invert__ __ior__ __ixor__ __or__ __rand__ __ror__ __rxor__
        __xor__ all any bitwise_and bitwise_and_ bitwise_not bitwise_or bitwise_or_
        bitwise_xor bitwise_xor_ count_nonzero greater greater_equal isclose isfinite
        isinf isnan isneginf isposinf less less_equal logical_and logical_and_
        logical_not logical_or logical_or_ logical_xor logical_xor_ not_equal signbit
    """,
    "median": "median",
    "noise": "bernoulli_ normal_ random_ uniform_",
    "order": "argsort cumsum cumsum_ flip sort topk tril tril_ triu triu_",
    "overwriting": "copy_ fill_ zero_",
    "parts": "diagonal flatten movedim narrow select squeeze unflatten unsqueeze",
    "questions": "allclose equal is_nonzero",
    "reduce": "mean sum",
    "rounding": """
        __floordiv__ __ifloordiv__ __imod__ __mod__ __rfloordiv__ __rmod__ ceil ceil_
        fix fix_ floor floor_ floor_divide floor_divide_ fmod fmod_ frac frac_ positive
        remainder remainder_ round round_ sign sign_ trunc trunc_
    """,
    "shape": """
        as_strided broadcast_to clone expand expand_as permute ravel reshape swapaxes
        swapdims t transpose view view_as
    """,
    "shape_in_place": """
        as_strided_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_
    """,
    "smooth": """
        absolute absolute_ acos acos_ acosh acosh_ arccos arccos_ arccosh arccosh_
        arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_
        asin asin_ asinh asinh_ atan atan2 atan2_ atan_ atanh atanh_ cosh cosh_ divide
        divide_ erf erf_ erfc erfc_ exp2 exp2_ expm1 expm1_ log10 log10_ log1p log1p_
        log2 log2_ multiply multiply_ negative negative_ rsqrt rsqrt_ sinh sinh_ square
        square_ subtract subtract_ tan tan_ true_divide true_divide_
    """,
    "softmax": "log_softmax softmax",
    "splitting": "__iter__ chunk split split_with_sizes unbind",
    "statistics": "logsumexp norm prod std var",
}

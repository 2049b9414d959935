"""Attention, its mask and its layer; tests/parity runs most with torch."""

import math
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import errors
from minigrad.nn.functional import scaled_dot_product_attention
from minigrad.ops import Op
from minigrad.ops.attention import KEY, QUERY, SEEN, VALUE, reference_attention
from tests.engine.support import raises
from tests.nn.test_normalization import normal
from tests.ops import forward_laws, laws

INF = float("inf")
HEADS: list[tuple[Any, ...]] = [
    ([QUERY], [KEY], [VALUE], None, 0, True),
    ([QUERY], [KEY], [VALUE], SEEN),
    ([QUERY], [KEY], [VALUE], np.array([[SEEN, ~SEEN]])),
]
ALL = [
    laws.forward_is_the_reference,
    laws.backward_is_the_numeric_slope,
    laws.second_derivative_is_the_slope_of_the_first,
    laws.dtype_is_kept,
    laws.vmap_is_a_loop,
    forward_laws.jvp_is_the_transpose_of_backward,
    forward_laws.jvp_is_the_numeric_slope,
    forward_laws.second_derivatives_agree,
]


@pytest.mark.parametrize("law", ALL)
@pytest.mark.parametrize("sample", HEADS)
def test_laws_hold_for_heads_in_one_node(law: Any, sample: tuple[Any, ...]) -> None:
    # torch has no second derivative there, so this is no row of the op table.
    call = scaled_dot_product_attention
    law(Op("attention", None, reference_attention, [sample], call), sample)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("masked", [True, False])
def test_heads_in_one_node_are_as_heads_one_by_one(
    torch: Any, dtype: str, causal: bool, masked: bool
) -> None:
    kind = getattr(torch, dtype)
    attend = torch.nn.functional.scaled_dot_product_attention
    mask = torch.tensor(SEEN.tolist()) if masked and not causal else None
    found = []
    for shape in ((2, 1), (2,)):
        inputs = [
            torch.tensor(x, dtype=kind).reshape(*shape, len(x[0]), 2).requires_grad_()
            for x in (QUERY, KEY, VALUE)
        ]
        y = attend(*inputs, mask, is_causal=causal)
        assert y.dtype == kind
        upstream = torch.tensor(VALUE, dtype=kind)[:, :2].reshape(y.shape)
        slopes = torch.autograd.grad(y, inputs, upstream)
        found.append([one.detach().numpy().ravel() for one in (y, *slopes)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_attention_by_hand(torch: Any) -> None:
    attend = torch.nn.functional.scaled_dot_product_attention
    query = torch.tensor([[[[0.0], [math.log(3.0)]]]])
    key, value = torch.tensor([[[[1.0], [0.0]]]]), torch.tensor([[[[8.0], [4.0]]]])
    np.testing.assert_allclose(attend(query, key, value).ravel(), [6.0, 7.0], 1e-6)
    causal = attend(query, key, value, is_causal=True)
    np.testing.assert_allclose(causal.ravel(), [8.0, 7.0], 1e-6)
    halved = attend(query[0], key[0], value[0], scale=-1.0)
    np.testing.assert_allclose(halved.ravel(), [6.0, 5.0], 1e-6)


@pytest.mark.parametrize("dims", [2, 3, 4])
def test_who_sees_nothing_gets_zeros(torch: Any, dims: int) -> None:
    attend = torch.nn.functional.scaled_dot_product_attention
    shape = (1,) * (dims - 2)
    x = [torch.ones(*shape, 2, 3, requires_grad=True) for _ in range(3)]
    some = torch.tensor([[True, True], [False, False]])
    added = torch.tensor([[0.0, 0.0], [-INF, -INF]])
    for mask in (some, added):
        y = attend(*x, mask)
        assert y.reshape(2, 3).tolist() == [[1.0] * 3, [0.0] * 3]
        slopes = torch.autograd.grad(y.sum(), x)
        assert all(bool(torch.isfinite(slope).all()) for slope in slopes)


def test_name_of_the_node(torch: Any) -> None:
    attend = torch.nn.functional.scaled_dot_product_attention
    x = torch.ones(1, 1, 2, 3, requires_grad=True)
    name = attend(x, x, x).grad_fn.name()
    assert name == "ScaledDotProductFlashAttentionForCpuBackward0"


def test_dropout_drops_weights(torch: Any) -> None:
    torch.manual_seed(0)
    attend = torch.nn.functional.scaled_dot_product_attention
    x = torch.zeros(1, 1, 1000, 2)
    y = attend(x, x[..., :1, :], x[..., :1, :] + 1.0, dropout_p=0.25)
    np.testing.assert_allclose(sorted(set(y.ravel().tolist())), [0.0, 4 / 3], 1e-6)
    assert y.mean().item() == pytest.approx(1.0, abs=0.1)


def test_attention_refuses_in_torchs_words(torch: Any) -> None:
    attend, x = torch.nn.functional.scaled_dot_product_attention, torch.ones(2, 3, 4)
    with raises(torch, errors.ShapeError, "to all be  at least 2 dimensional, but got"):
        attend(x[0, 0], x[0, 0], x[0, 0])
    says = "to have the same dtype, but got query.dtype: float key.dtype: double and"
    with raises(torch, errors.OperandError, says):
        attend(x, x.double(), x)
    says = "attn_mask.dtype: double and  query.dtype: float instead."
    with raises(torch, errors.OperandError, says):
        attend(x, x, x, torch.ones(3, 3, dtype=torch.float64))
    with raises(torch, errors.OperandError, "between 0 and 1, but got 1.5"):
        attend(x, x, x, dropout_p=1.5)


def test_attention_refuses_what_does_not_fit() -> None:
    x = minigrad.ones(2, 3, 4)
    with pytest.raises(errors.ShapeError, match="as wide as each other: got 4 and 2"):
        scaled_dot_product_attention(x, x[..., :2], x)
    with pytest.raises(errors.ShapeError, match="a value for each key: got 3 and 2"):
        scaled_dot_product_attention(x, x, x[:, :2])
    with pytest.raises(errors.UnsupportedOptionError, match="enable_gqa is not there"):
        scaled_dot_product_attention(x, x, x, enable_gqa=True)


OPTIONS: list[dict[str, Any]] = [{}, {"batch_first": True, "bias": False}]
OPTIONS += [{"kdim": 3, "vdim": 5}]


def filled(torch: Any, layer: Any) -> Any:
    """The layer with parameters that either module can draw."""
    state = {
        name: torch.tensor(np.random.default_rng(i).normal(size=tuple(value.shape)))
        for i, (name, value) in enumerate(layer.state_dict().items())
    }
    layer.load_state_dict(state)
    return layer


@pytest.mark.parametrize("options", OPTIONS)
def test_heads_are_computed_one_by_one(torch: Any, options: dict[str, Any]) -> None:
    layer = torch.nn.MultiheadAttention(4, 2, dtype=torch.float64, **options)
    filled(torch, layer)
    widths = 4, options.get("kdim", 4), options.get("vdim", 4)
    x = [normal(torch, 5, 3, width, seed=i) for i, width in enumerate(widths)]
    output, weights = layer(*x)
    named = {name: p.detach().numpy() for name, p in layer.named_parameters()}
    parts = (
        np.split(named["in_proj_weight"], 3)
        if "in_proj_weight" in named
        else [named[f"{name}_proj_weight"] for name in "qkv"]
    )
    shifts = np.split(named.get("in_proj_bias", np.zeros(12)), 3)
    swap = (0, 1, 2) if options.get("batch_first") else (1, 0, 2)
    q, k, v = [
        one.detach().numpy().transpose(swap) @ part.T + shift
        for one, part, shift in zip(x, parts, shifts, strict=True)
    ]
    heads = [
        reference_attention(q[..., i : i + 2], k[..., i : i + 2], v[..., i : i + 2])
        for i in (0, 2)
    ]
    joined = np.concatenate(heads, -1) @ named["out_proj.weight"].T
    joined = joined + named.get("out_proj.bias", 0.0)
    np.testing.assert_allclose(output.detach().numpy().transpose(swap), joined, 1e-10)
    assert weights.shape == (len(q), q.shape[1], k.shape[1])
    np.testing.assert_allclose(weights.detach().numpy().sum(-1), 1.0, 1e-12)
    alone, nothing = layer(*x, need_weights=False)
    assert nothing is None
    np.testing.assert_allclose(alone.detach().numpy(), output.detach().numpy(), 1e-10)


def test_layer_hides_what_its_masks_hide(torch: Any) -> None:
    layer = filled(torch, torch.nn.MultiheadAttention(4, 2, batch_first=True))
    x = torch.tensor(np.random.default_rng(9).normal(size=(3, 5, 4)).astype(np.float32))
    later = torch.ones(5, 5).triu(1).bool()
    padding = torch.zeros(3, 5).bool()
    padding[1, 3:] = True
    _, weights = layer(x, x, x, padding, attn_mask=later, average_attn_weights=False)
    assert weights.shape == (3, 2, 5, 5)
    hidden = later.numpy() | padding.numpy()[:, None, None, :]
    hidden = np.broadcast_to(hidden, (3, 2, 5, 5))
    np.testing.assert_array_equal(weights.detach().numpy() == 0, hidden)
    plain, _ = layer(x, x, x, attn_mask=later)
    added = torch.zeros(5, 5).masked_fill(later, -INF)
    for mask in (later, added, later.expand(6, 5, 5)):
        for need in (True, False):
            y, _ = layer(x, x, x, attn_mask=mask, need_weights=need)
            np.testing.assert_allclose(y.detach(), plain.detach(), atol=1e-5)
    quick, _ = layer(x, x, x, attn_mask=later, need_weights=False, is_causal=True)
    np.testing.assert_allclose(quick.detach(), plain.detach(), atol=1e-5)


def test_one_sequence_comes_without_its_number(torch: Any) -> None:
    layer = torch.nn.MultiheadAttention(4, 2, batch_first=True)
    x = torch.rand(5, 4)
    output, weights = layer(x, x, x)
    assert (output.shape, weights.shape) == ((5, 4), (5, 5))
    several, _ = layer(x[None], x[None], x[None])
    np.testing.assert_allclose(several[0].detach(), output.detach(), atol=1e-6)


def test_layer_drops_weights_in_training_only(torch: Any) -> None:
    layer = torch.nn.MultiheadAttention(4, 2, dropout=0.5)
    x = torch.rand(50, 1, 4)
    _, weights = layer(x, x, x, average_attn_weights=False)
    assert (weights == 0).float().mean().item() == pytest.approx(0.5, abs=0.1)
    _, weights = layer.eval()(x, x, x, average_attn_weights=False)
    assert bool((weights > 0).all())


def test_layer_begins_as_torchs(torch: Any) -> None:
    layer = torch.nn.MultiheadAttention(64, 4)
    assert list(layer.state_dict()) == [
        *["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
    ]
    most = math.sqrt(6 / (64 + 192))
    assert 0.95 * most < layer.in_proj_weight.abs().max().item() <= most
    assert 0.95 / 8 < layer.out_proj.weight.abs().max().item() <= 1 / 8
    for bias in (layer.in_proj_bias, layer.out_proj.bias):
        assert bias.abs().max().item() == 0.0
    apart = torch.nn.MultiheadAttention(4, 2, kdim=3, bias=False)
    shapes = {name: tuple(p.shape) for name, p in apart.named_parameters()}
    assert shapes == {
        "q_proj_weight": (4, 4),
        "k_proj_weight": (4, 3),
        "v_proj_weight": (4, 4),
        "out_proj.weight": (4, 4),
    }


def test_layer_of_attention_refuses_in_torchs_words(torch: Any) -> None:
    make = torch.nn.MultiheadAttention
    with raises(torch, errors.ArgumentValueError, "must be greater than 0, got embed_"):
        make(0, 2)
    refused = errors.ArgumentAssertionError
    with raises(torch, refused, "embed_dim must be divisible by num_heads"):
        make(5, 2)
    layer, x = make(4, 2, batch_first=True), torch.rand(3, 5, 4)
    with raises(torch, refused, "batched 3D tensor but received 4-D query tensor"):
        layer(x[None], x, x)
    with raises(torch, refused, "to be 3-D but found 2-D and 2-D tensors respectively"):
        layer(x, x[0], x[0])
    with raises(torch, refused, "was expecting embedding dimension of 4, but got 3"):
        layer(x[..., :3], x, x)
    with raises(torch, refused, "Expected key_padded_mask.shape[0] to be 3, but got 5"):
        layer(x, x, x, torch.zeros(5, 3).bool())
    with raises(torch, refused, "only bool and floating types of key_padding_mask are"):
        layer(x, x, x, torch.zeros(3, 5).long())
    with raises(torch, errors.ShapeError, "The shape of the 2D attn_mask is "):
        layer(x, x, x, attn_mask=torch.zeros(4, 5))
    with raises(torch, errors.ShapeError, "The shape of the 3D attn_mask is "):
        layer(x, x, x, attn_mask=torch.zeros(3, 5, 5))
    with raises(torch, refused, "to be `None`, 2-D or 3-D but found 1-D tensor"):
        layer(x, x, x, attn_mask=torch.zeros(5))
    with raises(torch, errors.OperandError, "Need attn_mask if specifying the is_caus"):
        layer(x, x, x, is_causal=True)


def test_layer_of_attention_has_not_all_of_torchs() -> None:
    for option in ("add_bias_kv", "add_zero_attn"):
        with pytest.raises(errors.UnsupportedOptionError, match="are not there"):
            minigrad.nn.MultiheadAttention(4, 2, **{option: True})
    layer = minigrad.nn.MultiheadAttention(4, 2)
    x = minigrad.ones(5, 1, 4)
    says = "key shape .* does not match value shape"
    with pytest.raises(errors.ArgumentAssertionError, match=says):
        layer(x, x, x[:3])

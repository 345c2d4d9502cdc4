"""The programs that tests run through every pass, in PyTorch."""

SEED = """\
x, bias, w = torch.randn(16, 64), torch.randn(64), torch.randn(64, 16)
torch.relu(torch.matmul(x + bias, w))"""

SPECIAL = """\
x = torch.randn(6, 100)
x = torch.where(x > 2.0, math.nan, x)
x = torch.where(x < -1.0, -math.inf, x)
"""

ATTENTION = "q, k, v = torch.randn(1, 4, 37, 16), torch.randn(1, 4, 37, 16), torch.randn(1, 4, 37, 16)\n"

# Name → the program, and how many kernels it is.
PROGRAMS: dict[str, tuple[str, int]] = {
    "seed": (SEED, 1),
    "broadcast over 3 dims": ("x, y = torch.randn(4, 5, 33), torch.randn(5, 1)\nx * 2 + y", 1),
    "promotion": ("torch.randint(0, 9, (7, 11)) * torch.randn(11) + torch.randint(0, 2, (7, 1)).bool()", 1),
    "gelu": ("F.gelu(torch.randn(7, 33))", 1),
    "gelu tanh": ("F.gelu(torch.randn(7, 33), approximate='tanh')", 1),
    "softmax 7x13x2049 last": ("torch.softmax(torch.randn(7, 13, 2049), -1)", 1),
    "softmax 7x13x2049 middle": ("torch.softmax(torch.randn(7, 13, 2049), 1)", 1),
    "softmax 7x13x2049 first": ("torch.softmax(torch.randn(7, 13, 2049), 0)", 1),
    "softmax long column": ("torch.softmax(torch.randn(300, 40), 0)", 1),
    **{f"rms_norm {n}": (f"nn.RMSNorm({n})(torch.randn(5, {n}))", 1) for n in (1, 31, 1000, 4096)},
    **{f"layer_norm {n}": (f"nn.LayerNorm({n})(torch.randn(5, {n}))", 1) for n in (1, 31, 1000, 4096)},
    "var": ("torch.var(torch.randn(6, 100), 1)", 1),
    "std of columns": ("torch.std(torch.randn(6, 100), 0)", 1),
    "amax with NaN and -inf": (SPECIAL + "torch.amax(x, 1), torch.amin(x, 0)", 2),
    "relu keeps NaN": (SPECIAL + "torch.relu(x)", 1),
    "any and all": ("x = torch.randint(0, 9, (5, 70))\n(x > 7).any(1), (x > 0).all(0)", 2),
    "prod": ("torch.prod(torch.rand(5, 20) + 0.5, 1)", 1),
    "mean": ("torch.mean(torch.randn(5, 6, 70), (0, 2))", 1),
    "sum over (1, 2)": ("torch.sum(torch.randn(4, 8, 16), (1, 2))", 1),
    "sum over everything": ("torch.sum(torch.randn(4, 8, 16))", 1),
    "cumsum of rows": ("torch.cumsum(torch.randn(37, 129), 1)", 1),
    "cumsum of columns, exp": ("torch.cumsum(torch.randn(3, 67, 5) * 0.1, 1).exp()", 1),
    "cumsum of a long row": ("torch.cumsum(torch.randn(20000), 0)", 1),
    "cumsum of a very long row": ("torch.cumsum(torch.randn(70001), 0)", 3),
    "cummax of long columns": (SPECIAL + "torch.cummax(x.reshape(300, 2), 0)", 4),
    "cumprod of a long row": ("torch.cumprod(torch.randn(300) * 3.0, 0)", 1),
    "cumsum of nothing, of one": ("torch.cumsum(torch.randn(0, 3), 0), torch.cumsum(torch.randn(3, 1), 1)", 2),
    "cumsum from the end": ("torch.randn(5, 65).flip(1).cumsum(1).flip(1)", 2),
    "cumsum f16, cumprod bf16": ("torch.randn(5, 65).half().cumsum(1), torch.rand(5, 65).bfloat16().cumprod(0)", 2),
    "cumsum of bools": ("torch.randint(0, 2, (3, 33)).bool().cumsum(-1) - 1", 1),
    "cummax with NaN and -inf": (SPECIAL + "torch.cummax(x, 1)", 1),
    "cummin of ties": ("torch.cummin(torch.randint(0, 9, (33, 7)), 0)", 1),
    "logcumsumexp with NaN and -inf": (SPECIAL + "torch.logcumsumexp(x, 1)", 1),
    "sum of integers": ("torch.sum(torch.randint(-9, 9, (40, 33), dtype=torch.int32), 1)", 1),
    **{
        f"matmul {m}x{k}x{n}": (f"torch.matmul(torch.randn({m}, {k}), torch.randn({k}, {n}))", 1)
        for m, k, n in ((1, 1, 1), (17, 33, 65), (128, 128, 128), (1, 4096, 64))
    },
    "matmul x @ x.T": ("x = torch.randn(24, 33)\nx @ x.T", 1),
    "bmm": ("torch.bmm(torch.randn(3, 17, 33), torch.randn(3, 33, 20))", 1),
    "matmul f16": ("torch.randn(33, 64).half() @ torch.randn(64, 40).half()", 1),
    "matmul bf16": ("torch.randn(33, 64).bfloat16() @ torch.randn(64, 40).bfloat16()", 1),
    "matmul f16, long": ("torch.randn(5, 4096).half() @ torch.randn(4096, 7).half()", 1),
    "softmax f16": ("torch.softmax(torch.randn(5, 100).half(), -1)", 1),
    "layer_norm bf16": ("nn.LayerNorm(100).bfloat16()(torch.randn(5, 100).bfloat16())", 1),
    "f64": ("torch.softmax(torch.randn(5, 100).double(), -1)", 1),
    **{
        f"gate and up {name}": (
            f"x, v, w = (torch.randn(n, 40){half} for n in (33, 24, 24))\nF.silu(F.linear(x, v)) * F.linear(x, w)",
            1,
        )
        for name, half in (("f32", ""), ("f16", ".half()"))
    },
    "queries and keys": (
        "x, q, k = torch.randn(33, 40), torch.randn(24, 40), torch.randn(24, 40)\nx @ q.T, x @ k.T",
        1,
    ),
    **{
        f"rms_norm, linear {name}": (
            f"x, g, w = torch.randn(33, 40){half}, torch.randn(40){half}, torch.randn(24, 40){half}\n"
            "F.linear(F.rms_norm(x, (40,), g), w)",
            1,
        )
        for name, half in (("f32", ""), ("f16", ".half()"))
    },
    "rotary embedding": (
        "q = F.linear(torch.randn(1, 33, 40), torch.randn(48, 40)).view(1, 33, 2, 24).transpose(1, 2)\n"
        "a, b = q.chunk(2, -1)\nq * torch.randn(33, 24) + torch.cat((-b, a), -1) * torch.randn(33, 24)",
        1,
    ),
    "linear, gelu, linear": ("nn.Sequential(nn.Linear(33, 70), nn.GELU(), nn.Linear(70, 20))(torch.randn(19, 33))", 2),
    "attention written out": (ATTENTION + "torch.softmax(q @ k.transpose(-1, -2) * 0.25, -1) @ v", 1),
    "attention": (ATTENTION + "F.scaled_dot_product_attention(q, k, v)", 1),
    "attention causal": (ATTENTION + "F.scaled_dot_product_attention(q, k, v, is_causal=True)", 1),
    "pad and slice": ("p = F.pad(torch.randn(20, 301).exp(), (2, 1))\n(p[:, :-2] + p[:, 1:-1] + p[:, 2:]).sum(-1)", 1),
    "views": ("x = torch.randn(6, 4, 10)\nx.transpose(0, 2).reshape(10, 24).flip(1)[::3, 2:] * 2", 1),
    "cat": ("torch.cat((torch.randn(3, 5), torch.randn(2, 5)))", 1),
    "embedding": ("nn.Embedding(50, 33)(torch.randint(0, 50, (4, 7)))", 1),
    "conv2d, relu": ("F.relu(nn.Conv2d(16, 16, 3, padding=1)(torch.randn(1, 16, 14, 14)))", 1),
    "conv2d, uneven": (
        "nn.Conv2d(3, 5, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2))(torch.randn(2, 3, 13, 11))",
        1,
    ),
    "conv1d f16": ("nn.Conv1d(4, 8, 5, padding=2).half()(torch.randn(2, 4, 33).half())", 1),
    "conv3d": ("nn.Conv3d(2, 3, 2, padding=1)(torch.randn(1, 2, 4, 5, 6))", 1),
    "conv2d in groups, relu": ("F.relu(nn.Conv2d(6, 8, 3, padding=1, groups=2)(torch.randn(1, 6, 9, 9)))", 1),
    "conv2d depthwise": ("nn.Conv2d(6, 6, 3, padding=1, groups=6)(torch.randn(1, 6, 14, 14))", 1),
    "conv2d transposed": (
        "nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1)(torch.randn(1, 3, 7, 7))",
        1,
    ),
    "conv2d, batch norm, relu, max pool": (
        "nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)).eval()"
        "(torch.randn(1, 3, 10, 10))",
        2,
    ),
    "conv2d, gradients": (
        "torch.ops.aten.convolution_backward(torch.randn(1, 4, 3, 5), torch.randn(1, 3, 6, 5), torch.randn(4, 3, 3, 3),"
        " [4], [2, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, True, True])",
        3,
    ),
    "max pool, gradient": (
        "x = torch.randn(1, 2, 7, 8)\ny, i = F.max_pool2d(x, 3, 2, 1, return_indices=True)\n"
        "torch.ops.aten.max_pool2d_with_indices_backward(torch.randn(1, 2, 4, 4), x, [3, 3], [2, 2], [1, 1], [1, 1],"
        " False, i)",
        2,
    ),
    "max pool": (SPECIAL + "F.max_pool2d(x.reshape(1, 3, 20, 10), 3, 2, 1)", 1),
    "max pool, places": ("F.max_pool2d(torch.randn(2, 14, 13), 3, 2, 1, return_indices=True)", 2),
    "average pool": ("F.avg_pool2d(torch.randn(2, 3, 14, 13), 3, 2, 1, ceil_mode=True, count_include_pad=False)", 1),
    "average pool, adaptive": ("F.adaptive_avg_pool2d(torch.randn(2, 3, 14, 13), (3, 5))", 1),
    "upsample nearest": ("F.interpolate(torch.randn(1, 2, 7, 6).exp(), scale_factor=2)", 1),
    "upsample bilinear": ("F.interpolate(torch.randn(1, 2, 7, 6), size=(9, 11), mode='bilinear')", 1),
    "grid sample": ("F.grid_sample(torch.randn(1, 2, 5, 6), torch.randn(1, 4, 3, 2), align_corners=False)", 1),
    "fold": ("F.fold(torch.randn(1, 18, 18), (5, 6), 3, padding=1, stride=(2, 1))", 1),
    "pad by reflection": ("F.pad(torch.randn(2, 5, 6), (1, 2, 2, 0), mode='reflect')", 1),
    "as_strided": ("torch.as_strided(torch.randn(4, 9), (3, 4), (2, 5), 3) * 2", 1),
    "diagonal": ("torch.diagonal(torch.randn(3, 4, 5), 1, 1, 2) * 2", 1),
    "roll": ("torch.randn(4, 5).roll((1, -2), (0, 1))", 1),
    "sums of rows beside other columns": ("torch.randn(9, 50).sum(1, keepdim=True) + torch.randn(9, 33)", 1),
    "sums of long rows beside others": ("torch.randn(3, 6, 500).sum(2, keepdim=True) * torch.randn(6, 7)", 1),
    "rows at the greatest": ("x = torch.randn(5, 50)\ntorch.randn(50, 33)[x.argmax(1)]", 2),
    "products of nothing": (
        "torch.addmm(torch.randn(3, 0), torch.randn(3, 4), torch.randn(4, 0)), "
        "torch.addmm(torch.randn(3, 2), torch.randn(3, 0), torch.randn(0, 2))",
        2,
    ),
    "no elements": ("torch.randn(0, 3) + 1, torch.sum(torch.randn(0, 3), 0)", 2),
    "no dimensions": ("torch.randn(()) * 3 + torch.randn(())", 1),
}

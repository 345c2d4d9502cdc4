"""One block of a Llama-like model: `uop run examples/llama_block.py:make`."""

import torch
from torch import nn
from torch.nn import functional as F


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    """(x₁, x₂) → (−x₂, x₁) along the last axis."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


class LlamaBlock(nn.Module):
    """Attention with rotary embedding and a gated MLP, each behind an RMSNorm and a residual."""

    def __init__(self, hidden: int = 64, heads: int = 4, intermediate: int = 176):
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.RMSNorm(hidden, eps=1e-6)
        self.q = nn.Linear(hidden, hidden, bias=False)
        self.k = nn.Linear(hidden, hidden, bias=False)
        self.v = nn.Linear(hidden, hidden, bias=False)
        self.o = nn.Linear(hidden, hidden, bias=False)
        self.mlp_norm = nn.RMSNorm(hidden, eps=1e-6)
        self.gate = nn.Linear(hidden, intermediate, bias=False)
        self.up = nn.Linear(hidden, intermediate, bias=False)
        self.down = nn.Linear(intermediate, hidden, bias=False)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        """x: (batch, tokens, hidden); cos, sin: (tokens, hidden ÷ heads)."""
        batch, tokens, hidden = x.shape

        def split(y: torch.Tensor) -> torch.Tensor:
            return y.view(batch, tokens, self.heads, hidden // self.heads).transpose(1, 2)

        h = self.attention_norm(x)
        q, k, v = split(self.q(h)), split(self.k(h)), split(self.v(h))
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        attention = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(attention.transpose(1, 2).reshape(batch, tokens, hidden))
        h = self.mlp_norm(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


def make(tokens: int = 37, hidden: int = 64, heads: int = 4) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """The block and its example inputs: 37 tokens of width 64."""
    width = hidden // heads
    angles = torch.outer(torch.arange(tokens), 10000.0 ** -(torch.arange(0, width, 2) / width))
    angles = torch.cat((angles, angles), dim=-1)
    return LlamaBlock(hidden, heads).eval(), (torch.randn(1, tokens, hidden), angles.cos(), angles.sin())

# ruff: noqa: T201
"""``torch.compile`` models, forward and backward: a transformer, a convolutional network, norms and losses.

An argument names another device or backend to try it with: ``model.py cpu eager``.
"""

import sys

import torch
import torch.nn.functional as F  # as everyone writes it
from torch import nn

DEVICE = sys.argv[1] if len(sys.argv) > 1 else "cuda"
BACKEND = sys.argv[2] if len(sys.argv) > 2 else "inductor"
OPTIONS = {"max_autotune_pointwise": True} if BACKEND == "inductor" else None


class Block(nn.Module):
    """One layer of a transformer, attention written out."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.gate, self.down = (
            nn.Linear(width, 3 * width),
            nn.Linear(width, 3 * width),
            nn.Linear(3 * width, width),
        )

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.first(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        mask = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
        h = self.second(x)
        return x + self.down(F.dropout(F.silu(self.gate(h)) * self.up(h), 0.1))


class Transformer(nn.Module):
    """Embedding, layers, loss."""

    def __init__(self, width=256, heads=4, layers=2, words=1000):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, words, wanted):
        x = self.embed(words)
        for layer in self.layers:
            x = layer(x)
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), wanted.flatten())


class Convolutions(nn.Module):
    """Convolutions with batch and group norm, pooling."""

    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(3, 32, 3, padding=1), nn.Conv2d(32, 64, 3, padding=1)])
        self.norms = nn.ModuleList([nn.BatchNorm2d(32), nn.GroupNorm(8, 64)])
        self.head = nn.Linear(64, 10)

    def forward(self, x, wanted):
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = F.avg_pool2d(F.gelu(norm(conv(x))), 2)
        return F.cross_entropy(self.head(x.amax((2, 3))), wanted)


def rms_rotary(x, weight, cos, sin):
    x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight
    half, other = x.chunk(2, -1)
    return torch.cat([half * cos - other * sin, half * sin + other * cos], -1).square().sum()


def losses(x, y):
    distance = F.smooth_l1_loss(x, y) + F.huber_loss(x, y, delta=0.3) + F.mse_loss(x.tanh(), y.sigmoid())
    return distance + F.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="batchmean")


def statistics(x, y):
    z = (x - x.mean(0)) / (x.std(0) + 1e-5)
    return (z.cumsum(1) * y.exp2().clamp(max=4)).logsumexp(1).mean() + (z.amax(1) - z.amin(1)).sum() + z.var()


def elementwise(x, y):
    a = torch.where(x > y, x.erf() * y.cos(), x.abs().log1p() + y.sin())
    b = F.softplus(a) * F.mish(x) + F.hardswish(y) + F.elu(a - y)
    return (b.transpose(0, 1).contiguous() * 0.5).norm() + torch.hypot(a, b + 1).mean()


def run(name, function, *inputs):
    """Forward and backward, compiled."""
    torch._dynamo.reset()
    compiled = torch.compile(function, backend=BACKEND, options=OPTIONS)
    loss = compiled(*inputs)
    loss.backward()
    print(name, tuple(loss.shape))


def tensor(*shape, dtype=torch.float32):
    return torch.randn(shape, device=DEVICE, dtype=dtype, requires_grad=True)


torch.manual_seed(0)
run(
    "transformer", Transformer().to(DEVICE),
    torch.randint(1000, (4, 128), device=DEVICE), torch.randint(1000, (4, 128), device=DEVICE),
)  # fmt: skip
run(
    "transformer, bfloat16", Transformer(width=384, heads=6, layers=1).to(DEVICE, torch.bfloat16),
    torch.randint(1000, (2, 256), device=DEVICE), torch.randint(1000, (2, 256), device=DEVICE),
)  # fmt: skip
run("convolutions", Convolutions().to(DEVICE), tensor(8, 3, 32, 32), torch.randint(10, (8,), device=DEVICE))
for kind in (torch.float32, torch.bfloat16, torch.float16):
    run("rms and rotary", rms_rotary, tensor(64, 128, dtype=kind), tensor(128, dtype=kind),
        tensor(64, 64, dtype=kind), tensor(64, 64, dtype=kind))  # fmt: skip
    run("losses", losses, tensor(128, 500, dtype=kind), tensor(128, 500, dtype=kind))
    run("statistics", statistics, tensor(96, 1000, dtype=kind), tensor(96, 1000, dtype=kind))
    run("elementwise", elementwise, tensor(300, 400, dtype=kind), tensor(300, 400, dtype=kind))
if DEVICE == "cuda":
    torch.cuda.synchronize()

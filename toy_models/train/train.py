"""Trains toy_models/worked_sum from scratch on a CPU: python train.py OUTPUT [--steps N]."""

import argparse
import json
import math
import pathlib
import random
import time

import tokenizers
import torch
import transformers

import data

SEED = 20270117
IGNORED = -100


def write_tokenizer(folder):
    model = tokenizers.models.WordLevel({token: i for i, token in enumerate(data.VOCABULARY)})
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split(tokenizers.Regex(""), "isolated")
    tokenizer.decoder = tokenizers.decoders.Fuse()
    tokenizer.add_special_tokens([data.TERMINAL])
    tokenizer.save(str(folder / "tokenizer.json"))
    described = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": data.TERMINAL}
    (folder / "tokenizer_config.json").write_text(json.dumps(described, indent=2) + "\n")


def new_model():
    terminal = data.VOCABULARY.index(data.TERMINAL)
    config = transformers.Qwen3Config(
        vocab_size=len(data.VOCABULARY),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=64,
        rope_theta=10000.0,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=terminal,
        pad_token_id=None,
        use_cache=True,
    )
    return transformers.Qwen3ForCausalLM(config).float()


def batch_of(rng, size):
    """Token ids [size, longest] and labels of the same shape, prompts and padding ignored."""
    examples = [data.draw_example(rng) for _ in range(size)]
    longest = max(len(ids) for ids, _ in examples)
    tokens = torch.zeros((size, longest), dtype=torch.long)
    labels = torch.full((size, longest), IGNORED, dtype=torch.long)
    for row, (ids, prompt) in enumerate(examples):
        tokens[row, : len(ids)] = torch.tensor(ids)
        labels[row, prompt : len(ids)] = torch.tensor(ids[prompt:])
    return tokens, labels


def learning_rate(step, steps, peak, warm_up=100):
    if step < warm_up:
        return peak * (step + 1) / warm_up
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warm_up) / (steps - warm_up)))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("output", type=pathlib.Path)
    arguments.add_argument("--steps", type=int, default=1300)
    arguments.add_argument("--batch", type=int, default=192)
    arguments.add_argument("--peak", type=float, default=4e-3)
    arguments.add_argument("--threads", type=int, default=2)
    options = arguments.parse_args()

    torch.set_num_threads(options.threads)
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    model = new_model()
    print(f"{sum(p.numel() for p in model.parameters())} parameters", flush=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.peak, betas=(0.9, 0.98), weight_decay=0.01)

    began = time.time()
    for step in range(options.steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, options.steps, options.peak)
        tokens, labels = batch_of(rng, options.batch)
        logits = model(input_ids=tokens, use_cache=False).logits
        loss = torch.nn.functional.cross_entropy(
            logits[:, :-1].reshape(-1, logits.size(-1)), labels[:, 1:].reshape(-1), ignore_index=IGNORED
        )
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 50 == 0 or step == options.steps - 1:
            print(f"step {step} loss {loss.item():.4f} seconds {time.time() - began:.0f}", flush=True)

    options.output.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(options.output)
    write_tokenizer(options.output)
    with open(options.output / "held_out.jsonl", "w") as file:
        for prompt, answer in data.held_out_prompts(200, SEED).items():
            file.write(json.dumps({"prompt": prompt, "answer": answer}) + "\n")


if __name__ == "__main__":
    main()

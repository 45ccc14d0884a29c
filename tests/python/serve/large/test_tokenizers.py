"""Random texts in tokenizers of every form: their tokens are those of Hugging Face tokenizers, and their text comes back."""
import json
import random
import struct

import pytest
import tokenizers

from conftest import TREE, Server

TEXTS = 10_000
FIXTURES = TREE / "tests/fixtures/tokenizer"
MARK = "\u2581"  # SentencePiece's space

WORDS = ["the", "and", "fox", " the", "12", "345", "+", "=", "'s", "don't", "Größe", "être", "e\u0301", "\u0301", "o\u0308\u0327", "лиса",
         "狐狸", "日本", "👍🏽", "👩\u200d👧", "\u1112\u1161\u11ab", "٣٤", "½", "!?", "...", "_", "-", "<", "|>", "</", "<|", MARK, MARK + "the", "x\0y"]
SPACES = [" ", " ", " ", "  ", "   ", "\n", "\n\n", "\t", "\r\n", "\u00a0", "\u3000", "\u2028"]


def added(content, number, **flags):
    return {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
            "special": False, **flags}


def described(fixture, change=lambda described: None):
    """The tokenizer.json of a fixture with added tokens of every kind; some begin or end with white space that others take."""
    tokenizer = json.loads((FIXTURES / fixture / "tokenizer.json").read_text())
    kept = tokenizer["added_tokens"]
    number = max([*tokenizer["model"]["vocab"].values(), *(token["id"] for token in kept)]) + 1
    contents = ["<left>", "<right>", "<both>", "<none>", " <a>", "  ", "\n", "<b> ", "café", "đem", "<č>", "e\u0301a", "<x><y>", "<x>", "the end"]
    for index, content in enumerate(contents):
        if content in tokenizer["model"]["vocab"] or any(content == token["content"] for token in kept):
            continue
        flags = {"<left>": (1, 0), "<right>": (0, 1), "<both>": (1, 1), "\n": (0, 1), "<x>": (1, 0), "  ": (1, 1)}.get(content, (0, 0))
        kept.append(added(content, number, lstrip=bool(flags[0]), rstrip=bool(flags[1]), normalized=index % 3 == 2, special=index % 2 == 0))
        number += 1
    change(tokenizer)
    return tokenizer


def metaspace(scheme, splits, decoder=None):
    def change(tokenizer):
        tokenizer["normalizer"] = None
        tokenizer["pre_tokenizer"] = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme, "split": splits}
        if decoder:
            tokenizer["decoder"] = {"type": "Sequence", "decoders": [dict(tokenizer["pre_tokenizer"]), {"type": "ByteFallback"}, {"type": "Fuse"}]}
    return change


def behind_splits(tokenizer):
    """Metaspace behind pieces that are cut out: what it takes for the first is the beginning of the text alone."""
    metaspace("first", True)(tokenizer)
    cut = {"type": "Split", "pattern": {"String": "the"}, "behavior": "Removed", "invert": False}
    tokenizer["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [cut, {"type": "Digits", "individual_digits": True}, tokenizer["pre_tokenizer"]]}


FORMS = {
    "bytes_nfc": lambda: described("qwen_like"),
    "bytes": lambda: described("byte_level_alone"),
    "prepended": lambda: described("phi_like"),
    **{f"metaspace_{scheme}_{'words' if splits else 'whole'}": lambda scheme=scheme, splits=splits: described("phi_like", metaspace(scheme, splits))
       for scheme in ("always", "first", "never") for splits in (True, False)},
    "metaspace_decoder": lambda: described("phi_like", metaspace("always", True, decoder=True)),
    "metaspace_behind_splits": lambda: described("phi_like", behind_splits),
    "characters": lambda: described("characters"),
    "gguf_bytes": lambda: described("byte_level_alone"),
    "gguf_pieces": lambda: described("phi_like"),
}


def random_text(rng, contents):
    pieces = []
    for _ in range(rng.randint(0, 10)):
        kind = rng.random()
        pieces.append(rng.choice(contents) if kind < 0.35 else rng.choice(SPACES) if kind < 0.6 else rng.choice(WORDS))
    return "".join(pieces)


def write_model(folder, tokenizer):
    """A model of one layer whose weights are nothing, with this tokenizer."""
    size = 1 + max([*tokenizer["model"]["vocab"].values(), *(token["id"] for token in tokenizer["added_tokens"])])
    config = {"model_type": "llama", "hidden_act": "silu", "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,
              "num_attention_heads": 1, "num_key_value_heads": 1, "max_position_embeddings": 4096, "rms_norm_eps": 1e-5,
              "rope_theta": 10000.0, "tie_word_embeddings": True, "vocab_size": size}
    layer = "model.layers.0."
    shapes = {"model.embed_tokens.weight": [size, 8], "model.norm.weight": [8], layer + "input_layernorm.weight": [8],
              layer + "post_attention_layernorm.weight": [8], **{f"{layer}{name}.weight": [8, 8] for name in (
                  "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")}}
    header, end = {}, 0
    for name, shape in shapes.items():
        begin, end = end, end + 4 * shape[0] * (shape[1] if len(shape) == 2 else 1)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(end))
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False))


TEXT, ARRAY, NUMBER, WHOLE, REAL, TRUTH = 8, 9, 4, 5, 6, 7  # types of a GGUF value


def write_gguf(file, model, tokens, types, **more):
    """The same model as a GGUF file; a token that the vocabulary lacks is an unused one."""
    def text(value):
        return struct.pack("<Q", len(value.encode())) + value.encode()

    def listed(kind, values):
        spelled = b"".join(text(value) if kind == TEXT else struct.pack("<f" if kind == REAL else "<i", value) for value in values)
        return ARRAY, struct.pack("<IQ", kind, len(values)) + spelled

    def number(value):
        return NUMBER, struct.pack("<I", value)

    keys = {"general.architecture": (TEXT, text("llama")), **{f"llama.{key}": number(value) for key, value in {
                "block_count": 1, "context_length": 4096, "embedding_length": 8, "feed_forward_length": 8, "attention.head_count": 1}.items()},
            "llama.attention.layer_norm_rms_epsilon": (REAL, struct.pack("<f", 1e-5)),
            "tokenizer.ggml.model": (TEXT, text(model)), "tokenizer.ggml.pre": (TEXT, text("gpt-2")),
            "tokenizer.ggml.tokens": listed(TEXT, tokens), "tokenizer.ggml.token_type": listed(WHOLE, types),
            "tokenizer.ggml.add_bos_token": (TRUTH, b"\0"),
            **{f"tokenizer.ggml.{key}": listed(TEXT if key == "merges" else REAL, values) for key, values in more.items()}}
    shapes = {"token_embd": [8, len(tokens)], "output_norm": [8], "blk.0.attn_norm": [8], "blk.0.ffn_norm": [8],
              **{f"blk.0.{name}": [8, 8] for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")}}
    table, end = b"", 0
    for name, shape in shapes.items():
        table += text(name + ".weight") + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, end)
        end += 4 * shape[0] * (shape[1] if len(shape) == 2 else 1)
    metadata = b"".join(text(key) + struct.pack("<I", kind) + value for key, (kind, value) in keys.items())
    head = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(keys)) + metadata + table
    file.write_bytes(head + bytes(-len(head) % 32) + bytes(end))


def as_gguf(tokenizer, form, file):
    """Writes a tokenizer as a GGUF file has it, and makes it what the file says, which is less: added tokens take no white space."""
    for token in tokenizer["added_tokens"]:
        token.update(lstrip=False, rstrip=False, normalized=False)
    added, model = {token["id"]: token for token in tokenizer["added_tokens"]}, tokenizer["model"]
    names = {number: name for name, number in model["vocab"].items()} | {number: token["content"] for number, token in added.items()}
    tokens = [names.get(number, f"[PAD{number}]") for number in range(max(names) + 1)]
    types = [(3 if added[i]["special"] else 4) if i in added else 1 if i in names else 5 for i in range(len(tokens))]
    if form == "gguf_bytes":
        model["ignore_merges"] = False
        write_gguf(file, "gpt2", tokens, types, merges=[merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]])
        return
    # Pieces merge by their scores, however they are cut.
    scores = {merge[0] + merge[1]: -rank / 8 for rank, merge in reversed(list(enumerate(model["merges"], 1)))}
    halves = [(-score, model["vocab"][piece[:cut]], model["vocab"][piece[cut:]], piece[:cut], piece[cut:]) for piece, score in scores.items()
              for cut in range(1, len(piece)) if piece[:cut] in model["vocab"] and piece[cut:] in model["vocab"]]
    model["merges"] = [list(half[3:]) for half in sorted(halves)]
    types = [6 if name.startswith("<0x") and kind == 1 else 2 if name == "<unk>" else kind for name, kind in zip(tokens, types)]
    write_gguf(file, "llama", tokens, types, scores=[scores.get(name, 0.0) for name in tokens])


def byte_alphabet():
    """The byte of each letter of a byte-level vocabulary."""
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in own]
    return {**{chr(byte): byte for byte in own}, **{chr(256 + i): byte for i, byte in enumerate(others)}}


def text_of(ids, reference, tokenizer):
    """What decoding gives: as tokenizers has it, but for added tokens of a byte-level vocabulary, whose letters it takes for bytes."""
    if (tokenizer["decoder"] or {}).get("type") != "ByteLevel":
        return reference.decode(ids, skip_special_tokens=False)
    letters, added_ids = byte_alphabet(), {token["id"] for token in tokenizer["added_tokens"]}
    names = [(i in added_ids, reference.id_to_token(i)) for i in ids]
    return b"".join(name.encode() if is_added else bytes(letters[letter] for letter in name) for is_added, name in names).decode()


@pytest.mark.parametrize("form", FORMS)
def test_random_texts_have_the_tokens_of_tokenizers(form, tmp_path):
    tokenizer = FORMS[form]()
    if form.startswith("gguf"):
        as_gguf(tokenizer, form, tmp_path / "model")
        tokenizer["post_processor"] = None
    else:
        write_model(tmp_path / "model", tokenizer)
    reference = tokenizers.Tokenizer.from_str(json.dumps(tokenizer))
    server = Server(model=str(tmp_path / "model"))
    connection = server.connection()

    def ask(path, body):
        connection.request("POST", path, json.dumps(body))
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    rng = random.Random(form)
    contents = [token["content"] for token in tokenizer["added_tokens"]]
    refused = differ = 0
    try:
        for index in range(TEXTS):
            text = random_text(rng, contents)
            status, said = ask("/tokenize", {"prompt": text})
            wanted = reference.encode(text).ids
            if status == 400:  # a character without a token, which tokenizers loses
                assert "has no token" in said["error"]["message"], (text, said)
                refused += 1
                continue
            assert said["tokens"] == wanted, text
            if index % 5 == 0:
                assert ask("/detokenize", {"tokens": wanted})[1]["prompt"] == text_of(wanted, reference, tokenizer), text
            differ += len(wanted) > 3
    finally:
        connection.close()
        server.stop()
    assert differ > TEXTS / 3
    assert refused < TEXTS / 100 or form == "characters"

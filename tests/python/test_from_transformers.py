"""Models of transformers, tiny and random: rows of a cache against fresh ones, every sampler, and planted defects."""
import copy
import json
import pathlib
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import tempera  # noqa: E402

TREE = pathlib.Path(__file__).resolve().parents[2]
EXTENSION = str(TREE / "build/release/python/bindings")
if EXTENSION not in tempera.__path__:
    tempera.__path__.append(EXTENSION)

from tempera import check, of_transformers, tempering  # noqa: E402

VOCABULARY = 61
COMMON = {
    "vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
    "max_position_embeddings": 128, "initializer_range": 0.3, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
}  # fmt: skip
KINDS = {
    "Llama": ("Llama", COMMON),
    "Qwen3": ("Qwen3", {**COMMON, "head_dim": 8}),
    "Mistral": ("Mistral", {**COMMON, "sliding_window": 5}),
    "Gemma3": ("Gemma3Text", {**COMMON, "head_dim": 8, "sliding_window": 5}),
    "GPT2": ("GPT2", {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 128, "initializer_range": 0.3, "eos_token_id": 2, "bos_token_id": 1}),
    "Mamba": ("Mamba", {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 3, "state_size": 4, "initializer_range": 0.3, "eos_token_id": 2, "bos_token_id": 1, "pad_token_id": 0}),
    "Jamba": ("Jamba", {**COMMON, "num_experts": 2, "mamba_d_state": 4, "mamba_d_conv": 2, "mamba_expand": 1, "mamba_dt_rank": 4, "use_mamba_kernels": False, "attn_layer_period": 2, "attn_layer_offset": 1, "expert_layer_period": 2, "expert_layer_offset": 1}),
}  # fmt: skip
ATTENTION = ("Llama", "Qwen3", "Mistral", "Gemma3", "GPT2")
PPT = {"powers": [1, 1.6, 2.5, 4], "horizon": 14, "block": 4, "rounds": 3}
PROMPT = [5, 6, 7, 8]


def made(kind):
    torch.manual_seed(7)
    name, sizes = KINDS[kind]
    config = getattr(transformers, f"{name}Config")(**sizes)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


@pytest.fixture(scope="module")
def models():
    return {kind: made(kind) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_differ_from_fresh_ones_by_rounding_at_most(models, kind):
    model = tempera.Model.from_transformers(models[kind])
    assert isinstance(model._rows, of_transformers.AttentionRows if kind in ATTENTION else of_transformers.RecurrentRows)
    verdict = check.model(model, rows=6, length=24)
    assert verdict.sound, str(verdict)
    fresh = check.model(tempera.Model.from_transformers(models[kind], cache="fresh"))
    assert fresh.equal, str(fresh)


@pytest.mark.parametrize("kind", KINDS)
def test_the_logits_are_those_of_the_model(models, kind):
    """Against a forward pass by hand: the tokens alone, without a cache."""
    model = tempera.Model.from_transformers(models[kind], cache="fresh")
    calls = type(model._opened)
    with torch.inference_mode():
        expected = models[kind](input_ids=torch.tensor([PROMPT])).logits[0, -1].float().numpy()
    found = calls.next_logits(model._opened, [calls.empty_cache(model._opened)], [PROMPT])[0]
    assert np.abs(found - expected).max() <= 2.0**-20 * np.abs(expected).max()
    assert model.arithmetic == f"torch {torch.__version__} on cpu, float32"
    assert model.terminal == (2,) and model.vocabulary_size == VOCABULARY
    assert model.positions == (0 if kind == "Mamba" else models[kind].config.max_position_embeddings)


@pytest.mark.parametrize("kind", KINDS)
def test_a_walk_over_caches_keeps_no_row_of_another(models, kind):
    """Forks, ends and batches as chance has them, in one model, against fresh rows."""
    model = tempera.Model.from_transformers(models[kind])
    fresh = tempera.Model.from_transformers(models[kind], cache="fresh")
    calls, chance = type(model._opened), np.random.default_rng(3)
    live = [(calls.empty_cache(model._opened), []) for _ in range(3)]
    for _ in range(25):
        chosen = [live[one] for one in chance.choice(len(live), size=min(len(live), 4), replace=False)]
        asked = []
        for cache, tokens in chosen:
            if tokens and chance.random() < 0.5:
                kept = int(chance.integers(1, len(tokens) + 1))
                cache, tokens = cache.fork(kept), tokens[:kept]
                live.append((cache, tokens))
            asked.append((cache, tokens, chance.integers(0, VOCABULARY, size=int(chance.integers(0 if tokens else 1, 4))).tolist()))
        found = calls.next_logits(model._opened, [cache for cache, _, _ in asked], [new for _, _, new in asked])
        empty = [calls.empty_cache(fresh._opened) for _ in asked]
        expected = calls.next_logits(fresh._opened, empty, [tokens + new for _, tokens, new in asked])
        assert np.abs(found - expected).max() <= 2.0**-13 * np.abs(expected).max()
        for _, tokens, new in asked:
            tokens += new
        if len(live) > 10:
            live = [live[one] for one in chance.choice(len(live), 5, replace=False)]
    rows = model._rows
    del live, chosen, asked, cache, found
    calls.next_logits(model._opened, [calls.empty_cache(model._opened)], [[3]])
    assert len(rows._states) <= 2, "states of caches that have ended are kept"


SAMPLERS = {
    "ppt": PPT,
    "early": {**PPT, "early_rejection": True, "prefetch": 2},
    "standard": {"sampler": "standard", "horizon": 14},
    "power-sampling": {"sampler": "power-sampling", "powers": [4], "horizon": 14, "block": 4, "rounds": 3},
    "fixed-horizon": {"sampler": "fixed-horizon", "powers": [4], "horizon": 14, "block": 4, "rounds": 3},
    "power-smc": {"sampler": "power-smc", "powers": [2], "horizon": 14, "block": 4, "particles": 5},
    "best-of-n": {"sampler": "best-of-n", "powers": [1], "horizon": 14, "particles": 4},
    "uncoupled-ladder": {"sampler": "uncoupled-ladder", **PPT},
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_every_sampler_draws_what_fresh_rows_draw(models, name):
    """A draw changes with rounding only if a word falls between two roundings, which these seeds do not."""
    kept, fresh = (tempera.Model.from_transformers(models["Llama"], cache=cache) for cache in ("auto", "fresh"))
    wishes = {"seed": 1, "samples": 2, **SAMPLERS[name]}
    ours, theirs = (one.sample([PROMPT, [9, 3]], **wishes) for one in (kept, fresh))
    assert [answer.tokens for answer in ours] == [answer.tokens for answer in theirs]
    assert np.allclose([answer.log_p0 for answer in ours], [answer.log_p0 for answer in theirs], atol=1e-4)
    for answer in ours:  # log p0 by torch's own softmax
        tokens = PROMPT if answer.prompt == 0 else [9, 3]
        with torch.inference_mode():
            rows = torch.log_softmax(models["Llama"](input_ids=torch.tensor([[*tokens, *answer.tokens]])).logits[0].double(), -1)
        expected = sum(float(rows[len(tokens) - 1 + t, token]) for t, token in enumerate(answer.tokens))
        assert abs(answer.log_p0 - expected) < 1e-4


def test_scores_ladders_and_threads(models):
    model = tempera.Model.from_transformers(models["Qwen3"])
    with torch.inference_mode():
        rows = torch.log_softmax(models["Qwen3"](input_ids=torch.tensor([PROMPT])).logits[0].double(), -1)
    scores = model.score(PROMPT, [1, 2])
    assert np.allclose(scores.log_p, [float(rows[t, PROMPT[t + 1]]) for t in range(3)], atol=1e-5)
    assert np.allclose(scores.log_z[:, 1], torch.logsumexp(2 * rows[:3], -1).numpy(), atol=1e-5)
    found = tempering.ladder(model, [PROMPT], first=1, last=4, replicas=3, horizon=8, rounds=2, samples=1, pilots=1, seed=1)
    assert len(found.powers) == 3
    answers = {}

    def work(seed):
        answers[seed] = model.sample(PROMPT, seed=seed, **PPT)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    fresh = tempera.Model.from_transformers(models["Qwen3"], cache="fresh")
    assert all(answers[seed][0].tokens == fresh.sample(PROMPT, seed=seed, **PPT)[0].tokens for seed in range(3))


def test_run_folders(models, tmp_path):
    kept = tempera.Model.from_transformers(models["Llama"])
    with_digest = {"cache": "fresh", "digest": "random, seed 7"}
    wishes = {"seed": 1, "samples": 3, "under_way": 1, "checkpoint_seconds": 0, **PPT}
    answers = kept.sample(PROMPT, out=tmp_path / "kept", **wishes)
    assert kept.sample(PROMPT, out=tmp_path / "kept", resume=True, **wishes) == answers
    config = json.loads((tmp_path / "kept/config.json").read_text())
    assert config["arithmetic"] == f"torch {torch.__version__} on cpu, float32" and config["model_digest"] is None

    def cut(model, folder, **more):
        """Draws until the model fails."""
        left, forward = [12], model.forward

        def failing(*arguments, **named):
            left[0] -= 1
            if left[0] < 0:
                raise ArithmeticError("the plug was pulled")
            return forward(*arguments, **named)

        opened = tempera.Model.from_transformers(model, **more)
        model.forward = failing
        try:
            opened.sample(PROMPT, out=folder, **wishes)
        finally:
            del model.forward

    for name, more in (("cut", {}), ("fresh", with_digest)):
        with pytest.raises(ArithmeticError, match="the plug"):
            cut(models["Llama"], tmp_path / name, **more)
    with pytest.raises(tempera.BadInput, match="cannot be resumed with these bits: torch's bits depend on .* cache='fresh'"):
        kept.sample(PROMPT, out=tmp_path / "cut", resume=True, **wishes)
    fresh = tempera.Model.from_transformers(models["Llama"], **with_digest)
    resumed = fresh.sample(PROMPT, out=tmp_path / "fresh", resume=True, **wishes)
    assert resumed == fresh.sample(PROMPT, out=tmp_path / "whole", **wishes)


def test_a_pass_that_fails_leaves_the_session_usable(models):
    """Some layers are written already when the last one raises: nothing of it is kept."""
    model = copy.deepcopy(models["Llama"])
    opened = tempera.Model.from_transformers(model)
    expected = tempera.Model.from_transformers(model, cache="fresh").sample(PROMPT, seed=3, samples=2, **PPT)
    calls = [0]

    def hook(*_):
        calls[0] += 1
        if calls[0] % 7 == 0:
            raise MemoryError("of the device")

    model.model.layers[2].register_forward_pre_hook(hook)
    session, answers, failures = tempera.Session(opened), [], 0
    session.submit(PROMPT, seed=3, samples=2, **PPT)
    while session.busy:
        try:
            answers += [event.answer for event in session.step() if hasattr(event, "answer")]
        except MemoryError:
            failures += 1
    assert failures > 2 and {answer.tokens for answer in answers} == {answer.tokens for answer in expected}


class Tokenizer:
    """A tokenizer as from_transformers uses it."""

    eos_token_id = 2
    chat_template = "{{ messages }}"

    def __call__(self, text):
        return {"input_ids": [1, *(3 + ord(character) % 50 for character in text)]}

    def decode(self, tokens, skip_special_tokens, clean_up_tokenization_spaces):
        assert not skip_special_tokens and not clean_up_tokenization_spaces
        return "".join(chr(97 + token % 26) for token in tokens)

    def apply_chat_template(self, messages, add_generation_prompt, tokenize, return_dict, **more):
        assert add_generation_prompt and tokenize and not return_dict
        day = more["strftime_now"]("%d") if "strftime_now" in more else "0"
        return [1, len(messages), 7 if more.get("enable_thinking") else 8, *([int(day)] if int(day) else [])]


def test_a_tokenizer_writes_texts_and_conversations(models):
    model = tempera.Model.from_transformers(models["Llama"], Tokenizer())
    assert model.encode("ab") == [1, 50, 51] and model.decode([0, 1]) == "ab"
    wishes = {"seed": 1, **PPT}
    assert model.sample("ab", **wishes) == model.sample([1, 50, 51], **wishes)
    messages = [{"role": "user", "content": "x"}]
    assert [one.tokens for one in model.sample(messages, **wishes)] == [one.tokens for one in model.sample([1, 1, 8], **wishes)]
    assert [one.tokens for one in model.sample(messages, thinking=True, **wishes)] == [one.tokens for one in model.sample([1, 1, 7], **wishes)]


def test_it_is_served_with_texts_conversations_and_streams(models):
    openai = pytest.importorskip("openai")
    model = tempera.Model.from_transformers(models["Llama"], Tokenizer(), cache="fresh", name="random")
    ppt = {"powers": PPT["powers"], "block": 4, "rounds": 3}
    with tempera.Server(model, port=0) as server:
        client = openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0)
        shared = {"model": "random", "max_tokens": PPT["horizon"], "seed": 3}
        answer = client.completions.create(prompt="ab", n=2, extra_body={"tempera": ppt}, **shared)
        assert [choice.text for choice in answer.choices] == [one.text for one in model.sample("ab", samples=2, seed=3, **PPT)]
        assert answer.tempera["arithmetic"] == model.arithmetic and model.arithmetic.startswith("torch ")
        messages = [{"role": "user", "content": "x"}]
        stream = client.chat.completions.create(messages=messages, stream=True, **shared)
        drawn = "".join(part.choices[0].delta.content or "" for part in stream if part.choices)
        assert drawn == model.sample(messages, sampler="standard", seed=3, horizon=PPT["horizon"])[0].text


def test_a_conversation_that_the_template_refuses_is_bad_input(models):
    class Strict(Tokenizer):
        def apply_chat_template(self, messages, **more):
            raise jinja2.TemplateError("only users speak")

    jinja2 = pytest.importorskip("jinja2")
    model = tempera.Model.from_transformers(models["Llama"], Strict())
    with pytest.raises(tempera.BadInput, match="^messages: the model's chat template refuses them .only users speak.; "):
        model.sample([{"role": "system", "content": "x"}], **PPT)


def test_the_date_of_a_conversation_is_a_date(models):
    model = tempera.Model.from_transformers(models["Llama"], Tokenizer())
    messages = [{"role": "user", "content": "x"}]
    asked = {"seed": 1, **PPT}
    dated = model.sample(messages, chat_template_kwargs={"strftime_now": "2026-11-09"}, **asked)
    assert [one.tokens for one in dated] == [one.tokens for one in model.sample([1, 1, 8, 9], **asked)]
    for wrong in ("today", "", "2026-13-01", 5, ["2026-11-09"], True):
        with pytest.raises(tempera.BadInput, match="^chat_template_kwargs.strftime_now: .*is not a date") as caught:
            model.sample(messages, chat_template_kwargs={"strftime_now": wrong}, **asked)
        assert "\n" not in str(caught.value)


def test_what_is_no_decoder_is_refused(models):
    refused = {
        "is not a PreTrainedModel": object(),
        "an encoder and a decoder": transformers.T5ForConditionalGeneration(transformers.T5Config(vocab_size=11, d_model=8, d_ff=8, d_kv=4, num_layers=1, num_heads=2)),
        "gives no logits of tokens": models["Llama"].model,
        "is in training mode": copy.deepcopy(models["Llama"]).train(),
    }
    for line, model in refused.items():
        with pytest.raises(tempera.BadInput, match=line):
            tempera.Model.from_transformers(model)
    for wrong, line in (({"cache": "x"}, 'give "auto" or "fresh"'), ({"terminal": 99}, "outside the vocabulary"), ({"tokenizer": 3}, "not a tokenizer")):
        with pytest.raises(tempera.BadInput, match=line):
            tempera.Model.from_transformers(models["Llama"], **wrong)
    with pytest.raises(tempera.BadInput, match="at least one token"):
        tempera.Model.from_transformers(models["Llama"]).sample([[]], horizon=2)


def not_cropped(rows, monkeypatch):
    """A fork keeps the tokens at the end of what it was forked from, not those at its beginning."""
    gathered = rows._gathered

    def wrong(sources, width):
        return gathered([(row and of_transformers._Row(row.segment, row.index, here), here) for row, here in sources], width)

    monkeypatch.setattr(rows, "_gathered", wrong)


def padding_leaks(rows, monkeypatch):
    """Rows see the slots before their first token."""
    forward = rows.forward.__class__.__call__
    monkeypatch.setattr(of_transformers._Forward, "__call__", lambda self, tokens, cache=None, mask=None, positions=None: forward(self, tokens, cache, None, positions))


def positions_by_slot(rows, monkeypatch):
    """A shorter row's tokens are placed where those of the longest are."""
    forward = rows.forward.__class__.__call__
    monkeypatch.setattr(of_transformers._Forward, "__call__", lambda self, tokens, cache=None, mask=None, positions=None: forward(self, tokens, cache, mask, None))


def state_not_copied(rows, monkeypatch):
    """A fork writes to the state that it was forked from."""
    monkeypatch.setattr(of_transformers.copy, "deepcopy", lambda cache: cache)


@pytest.mark.parametrize(
    ("kind", "plant", "claims"),
    [
        ("Llama", not_cropped, {"fork"}),
        ("Gemma3", not_cropped, {"fork"}),
        ("Llama", padding_leaks, {"batch"}),
        ("GPT2", padding_leaks, {"batch"}),
        ("GPT2", positions_by_slot, {"batch"}),
        ("Mamba", state_not_copied, {"fork", "origin"}),
    ],
)
def test_check_model_finds_planted_defects(models, monkeypatch, kind, plant, claims):
    model = tempera.Model.from_transformers(models[kind])
    plant(model._rows, monkeypatch)
    verdict = check.model(model, length=12)
    found = {finding.claim for finding in verdict.findings if not finding.sound}
    assert claims & found, str(verdict)

"""The task of toy_models/worked_sum: sums of eight digits, guessed or worked.

A prompt is `4+7+9+3+8+6+2+5?`. Its completion is one of

    =NN                              a guess, scattered around the sum (half of the data)
    <NN,NN,NN,NN,NN,NN,NN=NN         the running sums from the left, then the answer (a quarter)
    >NN,NN,NN,NN,NN,NN,NN=NN         the running sums from the right, then the answer (a quarter)

and ends with the terminal token. Numbers have two digits. Both workings slip now and then, and now and then give up
after a running sum and guess.
"""

import random

TERMINAL = "<|end|>"
CHARACTERS = "0123456789+?=<>,"
VOCABULARY = [TERMINAL] + list(CHARACTERS)

OPERANDS = 8
GUESS = 0.5  # probability that a completion is a guess
FROM_THE_LEFT = 0.5  # probability that a working goes from the left
SCATTER = 12  # a guess is the sum plus a uniform integer in [-SCATTER, SCATTER]
SLIP = 0.02  # probability that a running sum is off
SLIPS = (-10, -2, -1, 1, 2, 10)
GIVE_UP = 0.01  # probability to guess after a running sum other than the last


def two_digits(number):
    return f"{min(max(number, 0), 99):02d}"


def draw_operands(rng):
    return [rng.randint(1, 9) for _ in range(OPERANDS)]


def prompt_of(operands):
    return "+".join(map(str, operands)) + "?"


def draw_guess(rng, operands):
    return "=" + two_digits(sum(operands) + rng.randint(-SCATTER, SCATTER))


def draw_completion(rng, operands):
    if rng.random() < GUESS:
        return draw_guess(rng, operands)
    from_the_left = rng.random() < FROM_THE_LEFT
    text = "<" if from_the_left else ">"
    order = operands if from_the_left else operands[::-1]
    running = order[0]
    for step, operand in enumerate(order[1:], start=1):
        running += operand
        if rng.random() < SLIP:
            running += rng.choice(SLIPS)
        running = min(max(running, 0), 99)
        text += two_digits(running)
        if step == OPERANDS - 1:
            return text + "=" + two_digits(running)
        if rng.random() < GIVE_UP:
            return text + draw_guess(rng, operands)
        text += ","


def encode(text):
    """Ids of a text of CHARACTERS."""
    return [VOCABULARY.index(character) for character in text]


def held_out(operands):
    """One prompt in 64 is never trained on: those whose digits, read as a number, leave 17 modulo 64."""
    return int("".join(map(str, operands))) % 64 == 17


def draw_example(rng):
    """Ids of prompt, completion and terminal token, and the length of the prompt."""
    operands = draw_operands(rng)
    while held_out(operands):
        operands = draw_operands(rng)
    prompt = encode(prompt_of(operands))
    return prompt + encode(draw_completion(rng, operands)) + [VOCABULARY.index(TERMINAL)], len(prompt)


def held_out_prompts(count, seed):
    rng = random.Random(seed)
    chosen = {}
    while len(chosen) < count:
        operands = draw_operands(rng)
        if held_out(operands):
            chosen[prompt_of(operands)] = two_digits(sum(operands))
    return chosen

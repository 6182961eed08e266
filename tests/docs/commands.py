"""How commands of the pages run in a test: what is shortened, what is not run, and why. Nothing else is changed."""

import re

# Where the commands of the pages are found here.
PLACES = [
    (r"^scripts/tune\b", "stencil-tune"),
    (r"^build/default/bin/", ""),
]

# What takes minutes, shortened. A tune is a command whose first word after the program is an option, unless a verb follows
# that option. Trials bound it, not time: on a busy machine a kernel of fused steps takes long to compile.
NO_VERB = r"(?!--(?:db \S+|quiet) [a-z])"
SHORTER = [
    (r"^(stencil-tune .*?) --budget \S+", r"\1"),
    (r"^stencil-tune kernel (?=kernels/)", "stencil-tune kernel --max-trials 1 "),
    (r"^stencil-tune kernel (?!.*--(list|max-trials))", "stencil-tune kernel --max-trials 2 "),
    (rf"^stencil-tune {NO_VERB}(?=--.*--steps )", "stencil-tune --max-trials 1 --budget 90s --jobs 1 "),
    (rf"^stencil-tune {NO_VERB}(?=--(?!max-trials))", "stencil-tune --max-trials 2 --budget 90s --jobs 1 "),
    (r"^(example_tutorial \S+) 512 1000$", r"\1 45 20"),
    (r"^(example_\w+ .*)--dims (512|8192)\b", r"\1--dims 45"),
    (r"^(example_\w+ .*)--steps 1000\b", r"\1--steps 20"),
    (r"^(example_blur) --input photo.png", r"\1 --dims 45x33"),
]

# With a GPU winners are tuned on it, whichever it is.
ON_A_GPU = [(r"-arch=sm_90\b", "-arch=native")]

# What does not run here, and what checks it instead.
ELSEWHERE = [
    (r"^stencil-tune replay |^bench/bench replay-study\b",
     "recorded spaces are not ours to ship, or take minutes; the test replay_test has small ones"),
    (r"^stencil-tune db (ex|im)port .*--format ", "it takes measured trials; the test db_trials_test has some"),
    (r"^stencil-tune .*--device (0,1|all)", "it takes several GPUs; the test session_test has made-up ones"),
    (r"STENCIL_TUNE_SITE_DB=|\bsite17\b|--by-gpu", "the test command_line_test has a site's database"),
    (r"^scripts/check-gpus ", "it takes two GPUs; the tests scripts.check_gpus.* have made-up ones"),
    (r"^scripts/test$", "this test is a part of it"),
    (r"^bench/bench publish$", "it writes into the pages; the test docs.figures compares"),
    (r"^cmake --preset portable ", "scripts/check-long portable builds it"),
    (r"^pip install ", "the test python.package installs"),
    (r"^sudo apt-get install ", "scripts/check-fresh --release installs"),
    (r"pkg-config|PKG_CONFIG_PATH", "the test package.* runs pkg-config against an installation"),
]

# Must succeed with a GPU, and fail, saying so, without one.
NEEDS_GPU = re.compile(r"^(stencil-tune bench|example_|\./)")
NEEDS_NVCC = re.compile(r"^nvcc ")


def commands_of(text):
    """The commands of a sh block, without comments, continued lines joined."""
    joined = re.sub(r"\\\n\s*", "", text)
    lines = [re.sub(r"(^|\s+)#.*$", "", line).strip() for line in joined.splitlines()]
    return [line for line in lines if line]


def elsewhere(command):
    """Why the command is not run; None where it is."""
    return next((why for pattern, why in ELSEWHERE if re.search(pattern, command)), None)


def as_run(command, has_gpu):
    for pattern, replacement in PLACES + SHORTER + (ON_A_GPU if has_gpu else []):
        command = re.sub(pattern, replacement, command)
    return command

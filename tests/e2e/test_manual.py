# SPDX-License-Identifier: Apache-2.0
"""Every command and alias has a manual page, with every option of its --help; and bash and zsh complete commands, options, the
words that options take, and file names with spaces."""
import math
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

import command

# What is typed, where \t is a tab, and the words that the command then gets.
TYPED = (("info my\\ d\tf\t", "info", "my data/first day.h5"), ("info 'my data/f\t", "info", "my data/first day.h5"),
         ('info "my data/f\t', "info", "my data/first day.h5"), ("info it\t", "info", "it's.h5"),
         ("mine a --preset hd\t", "mine", "a", "--preset", "hd-mea"), ("mine a --preset=hd\t", "mine", "a", "--preset=hd-mea"),
         ("run monit\t", "run", "monitoring"), ("run --replay my\\ data/f\t", "run", "--replay", "my data/first day.h5"),
         ("mot\ta.h5", "motif", "a.h5"))


class Manual(command.Test):
    @classmethod
    def prepare(cls):
        cls.pages = pathlib.Path("pages")
        cls.pages.mkdir()
        cls.synfire("--manual", cls.pages)
        cls.commands = dict(re.findall(r"(?m)^  ([a-z]{1,11}) +([a-z0-9].*)$", cls.synfire("--help").stdout))
        del cls.commands["synfire"]  # a line of its examples

    def test_every_command_has_a_page_with_every_option_of_its_help(self):
        self.assertGreaterEqual(len(self.commands), 15)
        for name in self.commands:
            with self.subTest(name=name):
                self.assertRegex((self.pages / "synfire.1").read_text(), rf"(?m)^\.BR synfire.-{name} \(1\)")
                options = set(re.findall(r"(?m)^  (--[a-z-]*)", self.synfire(name, "--help").stdout))
                page = (self.pages / f"synfire-{name}.1").read_text()
                self.assertGreaterEqual(len(options), 4)
                self.assertEqual({option.replace("\\", "") for option in re.findall(r"(?m)^\\fB(\\-\\-[^ ]*)\\fR", page)}, options)

    def test_an_alias_has_the_page_of_its_command_and_there_are_no_others(self):
        aliases = {alias[1]: name for name, summary in self.commands.items() if (alias := re.search(r"\(also: ([a-z]*)\)$", summary))}
        self.assertIn("reach", aliases)
        for alias, name in aliases.items():
            self.assertIn(f".so man1/synfire-{name}.1\n", (self.pages / f"synfire-{alias}.1").read_text())
        self.assertEqual({page.name for page in self.pages.iterdir()},
                         {"synfire.1", *(f"synfire-{name}.1" for name in (*self.commands, *aliases))})

    def test_the_page_of_all_has_the_exit_status(self):
        self.assertIn("EXIT STATUS", (self.pages / "synfire.1").read_text())

    def test_a_folder_that_is_not_there_is_refused(self):
        self.refuses(73, "nowhere", "--manual", "nowhere")


class Completion(command.Test):
    @classmethod
    def prepare(cls):
        pathlib.Path("completion").write_text(cls.synfire("--completion").stdout)
        pathlib.Path("any.yaml").write_text("sources: []\n")
        pathlib.Path("two.csv").write_text("a,1\nb,1.1\na,2\nb,2.1\n")
        pathlib.Path("two.el").write_text("0 1\n1 2\n0 2\n")
        pathlib.Path("numbers").write_text("".join(f"{math.sin(i)}\n" for i in range(1, 201)))

    def offered(self, *words):
        """What bash would offer for the words given."""
        done = subprocess.run(["bash", "-c", '. ./completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _synfire; '
                               'printf "%s\\n" "${COMPREPLY[@]}"', "bash", "synfire", *words], capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_words_are_offered_where_they_go(self):
        for words, offered in (("simu", "simulate"), ("rea", "reach"), ("help mi", "mine"), ("simulate --pre", "--preset"),
                               ("simulate --preset ", "sym26"), ("mine a.h5 --preset ret", "retina-waves retina-adult"),
                               ("mine a.h5 --preset = cor", "cortex"), ("reach --sou", "--source"),
                               ("motif a.h5 b --semantics ", "isomorphism induced homomorphism"), ("info --li", "--list"),
                               ("plot t", "tiling"), ("plot --wid", "--width"), ("match two.el feed", "feed-forward-loop"),
                               ("mine --device ", "auto cpu cuda"), ("run --set window.l", "window.length_s"),
                               ("run --set = mine.max_s", "mine.max_size")):
            with self.subTest(words=words):
                self.assertEqual(self.offered(*words.split(" ")), offered.split())

    def test_where_a_file_goes_that_is_left_to_the_shell(self):
        for words in "info sha", "plot tiling t", "match t":
            with self.subTest(words=words):
                self.assertEqual(self.offered(*words.split(" ")), [])

    def test_an_option_that_a_command_has_not_is_not_offered(self):
        self.assertEqual(self.offered("play", "--li"), [])

    def test_keys_that_are_offered_are_there(self):
        keys = self.offered("record", "--set", "")
        self.assertGreater(len(keys), 50)
        for key in keys:
            self.assertNotIn("there is no key", self.run_command("run", "any.yaml", "--check", "--set", f"{key}=1").stderr)

    def test_words_that_are_offered_are_taken(self):
        pattern = self.offered("match", "two.el", "")
        self.assertEqual(len(pattern), 19)
        # Those that 65 goes with may not go with these spikes.
        for offered, words, code in ((self.offered("info", "--preset", ""), ("info", "two.csv", "--preset"), 65),
                                     (self.offered("mine", "--engine", ""),
                                      ("mine", "two.csv", "--delay", "50:150", "--min-count", 1, "--device", "cpu", "--engine"), 65),
                                     (self.offered("bandwidth", "--method", ""), ("bandwidth", "numbers", "--method"), 65),
                                     (pattern, ("match", "two.el"), 0)):
            self.assertGreater(len(offered), 2)
            for word in offered:
                with self.subTest(words=words, word=word):
                    self.assertIn(self.run_command(*words, word).returncode, (0, code))


class Shell:
    """A shell on a terminal."""

    def __init__(self, environment, *words):
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.execvpe(words[0], words, environment)
        self.pid = pid

    def type(self, text):
        os.write(self.terminal, text.encode())

    def read(self):
        """What it says meanwhile has to be taken."""
        if select.select([self.terminal], [], [], 0.05)[0]:
            os.read(self.terminal, 65536)

    def leave(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


class OnATerminal(command.Test):
    """What is typed, a tab, and what the command then gets."""

    @classmethod
    def prepare(cls):
        completion = cls.synfire("--completion").stdout
        for folder in "my data", "bin", "share/synfire/configs", "site-functions":
            pathlib.Path(folder).mkdir(parents=True)
        for name, text in (("my data/first day.h5", ""), ("it's.h5", ""), ("share/synfire/configs/monitoring.yaml", ""),
                           ("completion", completion), ("site-functions/_synfire", completion),
                           ("bin/synfire", '#!/bin/sh\nprintf "<%s>" "$@" >>got\necho >>got\n')):
            pathlib.Path(name).write_text(text)
        pathlib.Path("bin/synfire").chmod(0o755)

    def assert_completes(self, first_line, *words):
        got = pathlib.Path("got")
        got.write_text("")
        shell = Shell({**os.environ, "PATH": f"{os.path.abspath('bin')}:{os.environ['PATH']}", "ZDOTDIR": os.getcwd(), "PS1": "",
                       "TERM": "dumb", "INPUTRC": os.devnull}, *words)
        self.addCleanup(shell.leave)
        shell.type(first_line + "\n")
        for number, (line, *_) in enumerate(TYPED, 1):
            *parts, last = f"synfire {line}".split("\t")
            for part in parts:
                shell.type(part + "\t")
                time.sleep(0.05)  # as somebody types
            shell.type(last + "\n")
            end = time.monotonic() + 300
            while len(got.read_text().splitlines()) < number and time.monotonic() < end:
                shell.read()
        shell.type("exit\n")
        self.assertEqual(got.read_text().splitlines(), ["".join(f"<{word}>" for word in words) for _, *words in TYPED])

    def test_bash(self):
        self.assert_completes("bind 'set bell-style none'; . ./completion", "bash", "--norc", "--noprofile", "-i")

    @unittest.skipUnless(shutil.which("zsh"), "no zsh (Debian's package zsh)")
    def test_zsh_that_takes_it_from_the_folder_where_it_looks(self):
        self.assert_completes("fpath=($PWD/site-functions $fpath); autoload -Uz compinit; compinit -u -D", "zsh", "-f", "-i")

    @unittest.skipUnless(shutil.which("zsh"), "no zsh (Debian's package zsh)")
    def test_zsh_that_reads_it_in(self):
        self.assert_completes("autoload -Uz compinit; compinit -u -D; . ./completion", "zsh", "-f", "-i")


if __name__ == "__main__":
    command.main()

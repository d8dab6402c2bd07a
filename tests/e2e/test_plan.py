# SPDX-License-Identifier: Apache-2.0
"""synfire plan: the published table and form of the algorithm 1R, the pipeline's own stages and what waits for what, refusals."""
import pathlib

import command

PLANS = command.SOURCE / "configs" / "plans"
ONE_R = PLANS / "1r.yaml"


class OneR(command.Test):
    @classmethod
    def prepare(cls):
        cls.found = cls.document("plan", ONE_R)
        cls.pairs = {(pair["first"], pair["second"]): pair for pair in cls.found["pairs"]}
        cls.loops = {loop["variable"]: loop for loop in cls.found["loops"]}

    def test_pairs_have_the_answers_of_the_published_table(self):
        self.assertEqual({of: pair["answer"] for of, pair in self.pairs.items()},
                         {("f0", "f1"): "none", ("f2", "f4"): "none", ("f4", "f10"): "none", ("f10", "f11"): "parallel_d",
                          ("f5", "f8"): "none", ("f8", "f9"): "parallel_s"})
        self.assertEqual([pair["bernstein"] for pair in self.found["pairs"]], [False] * 5 + [True])

    def test_a_pair_says_by_which_elements(self):
        pair = self.pairs["f10", "f11"]
        self.assertEqual((pair["flow"], pair["output"], pair["anti"]), ([], [], ["m[2]"]))
        self.assertEqual(self.pairs["f2", "f4"]["operations"][0],
                         {"set": "flow", "element": "m[3,k]", "first": "increment", "second": "compare", "commute": False,
                          "aggregation": None})

    def test_loops_have_answers_and_what_decides_them(self):
        self.assertEqual({of: loop["answer"] for of, loop in self.loops.items()},
                         {"k": "none", "j": "parallel_s", "q": "parallel_d", "p": "none"})
        q, k = self.loops["q"], self.loops["k"]
        self.assertEqual((q["flow"], q["anti"], q["output"]), (["m[2].n"], ["m[2].n"], ["m[2]", "m[2].n"]))
        self.assertEqual((k["decided_by"], k["body"]), (["m[1]", "m[2]"], ["f2", "f4", "f10", "f11"]))
        self.assertEqual(self.loops["p"]["decided_by"], ["m[3,k,q'].mi"])

    def test_the_form_is_the_published_one(self):
        self.assertEqual(self.found["form"], "1RPar = (loope [0,1] [0,p] paralleld [f10,f11] ∘ (paralleld [loope [0,k,1] [0,k,u] "
                         "(parallels [f8 f9]) ∘ (loope [0,t,1] [0,t,y] f6)]) ∘ (parallels [loopd [0] [z] f3])) ∘ f0")

    def test_words_say_the_same(self):
        words = self.synfire("plan", ONE_R).stdout
        self.assertIn("f4, f10: one after the other, by m[2]", words)
        self.assertIn("  1RPar = (loope [0,1] [0,p] paralleld [f10,f11] ∘", words)

    def test_other_plans_have_forms(self):
        for plan in "naive-bayes", "level-wise-mining":
            self.assertIn("Par = ", self.synfire("plan", PLANS / f"{plan}.yaml").stdout)

    def test_what_is_no_plan_is_refused_at_its_place(self):
        lines = ONE_R.read_text().split("\n")
        line = next(i for i, text in enumerate(lines) if "m[1]: assign" in text)
        wrong = pathlib.Path("wrong.yaml")
        wrong.write_text("\n".join([*lines[:line], lines[line].replace("m[1]: assign", "m[1]: replace"), *lines[line + 1:]]))
        self.refuses(65, f"wrong.yaml:{line + 1}:13: an operation is expected, one of extract", "plan", wrong)
        wrong.write_text("\n".join("composition: [f0, f7]" if text.startswith("composition: ") else text for text in lines))
        self.refuses(65, "there is no function or loop 'f7'", "plan", wrong)
        self.refuses(66, "absent.yaml", "plan", "absent.yaml")
        wrong.write_text("#" * 70000)
        self.refuses(65, "has 70000 bytes", "plan", wrong)


class Pipeline(command.Test):
    """Without a file: the pipeline's own stages."""

    def test_stages_wait_for_what_they_need_and_no_more(self):
        for clock, options in ("real", ()), ("virtual", ("--virtual-clock",)):
            with self.subTest(clock=clock):
                out = self.document("plan", *options)
                self.assertEqual((out["file"], out["algorithm"], out["clock"]), (None, "hop", clock))
                stages = {stage["stage"]: stage for stage in out["schedule"]}
                after = {name: {one["stage"]: one["elements"] for one in stage["after"]} for name, stage in stages.items()}
                beside = {name: stage["beside"] for name, stage in stages.items()}
                self.assertEqual((list(stages)[0], list(stages)[-1], len(stages)), ("feed", "drop", 14))
                self.assertEqual(after["graph"], {"test": ["tests"], "pairs": ["pairs"]})
                self.assertEqual((after["pairs"], after["mine"]["pairs"]), ({"slide": ["window"]}, ["pairs"]))
                self.assertEqual(after["drop"], {"report": ["history"]})
                self.assertEqual("track" in after["count"], clock == "virtual")
                self.assertLessEqual({"graph", "tell", "mine", "test"}, set(beside["density"]))
                self.assertEqual((beside["feed"], beside["drop"]), ([], []))
                for name in stages:
                    self.assertEqual({other for other in stages if name in beside[other]}, set(beside[name]), name)
                self.assertEqual([(one["element"], one["operation"]) for one in stages["tell"]["out"]],
                                 [("rules", "assign"), ("triggers", "add"), ("sinks", "add")])
                self.assertEqual([name for name in stages if stages[name]["apart"]], [name for name in stages if stages[name]["loop"]])

    def test_one_after_the_other_each_waits_for_the_one_before(self):
        stages = self.document("plan", "--schedule", "sequential")["schedule"]
        names = [stage["stage"] for stage in stages]
        self.assertEqual([[one["stage"] for one in stage["after"]] for stage in stages], [[], *([name] for name in names[:-1])])
        self.assertFalse(any(stage["beside"] for stage in stages))

    def test_words_say_the_same(self):
        words = self.synfire("plan").stdout
        self.assertRegex(words, r"(?m)^            after    test \(tests\), pairs \(pairs\)$")
        self.assertIn("hopPar = ", words)

    def test_wrong_words_are_refused(self):
        self.refuses(64, "found 'fast', expected one of derived, sequential", "plan", "--schedule", "fast")
        self.refuses(64, "expected no FILE.yaml beside it", "plan", ONE_R, "--virtual-clock")


if __name__ == "__main__":
    command.main()

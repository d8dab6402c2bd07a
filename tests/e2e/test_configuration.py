# SPDX-License-Identifier: Apache-2.0
"""The keys that `synfire describe configuration` prints, as JSON; test_config has the YAML."""
import command


class Configuration(command.Test):
    @classmethod
    def prepare(cls):
        cls.keys = cls.document("describe", "configuration")["configuration"]

    def key(self, name, where=None):
        return next(key for key in self.keys if key["key"] == name and key["where"] == where)

    def test_every_key_has_its_default_and_bounds(self):
        length = self.key("window.length_s")
        self.assertEqual((length["default"], length["least"], length["most"], length["live"]), ("10", 0.001, 86400, False))
        self.assertTrue(self.key("triggers.N.sham")["live"])
        self.assertEqual(self.key("density.N.grid", "quantity=position")["default"], "32")
        self.assertEqual(self.key("sinks.N.top", "type=web")["default"], "100")
        self.assertEqual(self.key("sinks.N.method", "type=command via=http")["words"], ["PUT", "POST"])
        self.assertTrue(self.key("sources.N.recording", "type=replay")["needed"])

    def test_a_table_is_described_without_keys(self):
        self.assertEqual(self.document("describe", "episodes")["configuration"], [])


if __name__ == "__main__":
    command.main()

# SPDX-License-Identifier: Apache-2.0
"""On real recordings the Python package gives what the command prints, and refuses what the command refuses."""
import command
import installed

installed.need_package()


@command.needs_data("recordings")
class Recordings(command.Test):
    def test_the_package_gives_what_the_command_prints(self):
        installed.lay_out_package()
        installed.pass_cases("commands.py", *sorted((command.DATA / "recordings").iterdir()))


if __name__ == "__main__":
    command.main()

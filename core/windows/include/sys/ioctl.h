/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SF_WINDOWS_IOCTL_H
#define SF_WINDOWS_IOCTL_H

struct winsize {
    unsigned short ws_row, ws_col;
};
enum { TIOCGWINSZ = 1 };

/** The size of the console that a file is; -1 where it is none. */
int ioctl(int fd, int what, struct winsize *size);

#endif

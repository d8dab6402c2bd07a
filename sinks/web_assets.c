/* SPDX-License-Identifier: Apache-2.0 */
/* The files of sinks/page as they are, in the library: the assembler puts them there. */
#include "sinks/web_server.h"

#define EMBED(name, file)                                                                                    \
    extern const char name##_begin[] __attribute__((visibility("hidden")));                                  \
    extern const char name##_end[] __attribute__((visibility("hidden")));                                    \
    __asm__(".pushsection .rodata\n.balign 16\n.global " #name "_begin\n.hidden " #name "_begin\n" #name     \
            "_begin:\n.incbin \"" SYNFIRE_PAGE "/" file "\"\n.global " #name "_end\n.hidden " #name          \
            "_end\n" #name "_end:\n.byte 0\n.popsection\n")

EMBED(sf_page_html, "index.html");
EMBED(sf_page_css, "page.css");
EMBED(sf_page_js, "page.js");
EMBED(sf_page_plot_css, "uPlot.min.css");
EMBED(sf_page_plot_js, "uPlot.iife.min.js");
EMBED(sf_page_licence, "uPlot.LICENSE");

static const sf_web_asset assets[] = {
    {"/", "text/html; charset=utf-8", sf_page_html_begin, sf_page_html_end},
    {"/page.css", "text/css; charset=utf-8", sf_page_css_begin, sf_page_css_end},
    {"/page.js", "text/javascript; charset=utf-8", sf_page_js_begin, sf_page_js_end},
    {"/uPlot.min.css", "text/css; charset=utf-8", sf_page_plot_css_begin, sf_page_plot_css_end},
    {"/uPlot.iife.min.js", "text/javascript; charset=utf-8", sf_page_plot_js_begin, sf_page_plot_js_end},
    {"/uPlot.LICENSE", "text/plain; charset=utf-8", sf_page_licence_begin, sf_page_licence_end},
};

const sf_web_asset *sf_web_asset_at(size_t index)
{
    return index < sizeof assets / sizeof assets[0] ? &assets[index] : NULL;
}

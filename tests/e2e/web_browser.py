# SPDX-License-Identifier: Apache-2.0
"""The page of a run (docs/page.md) in a real browser; the recording is sim.h5."""
import json
import os
import signal
import socket
import sys
import tempfile

import browser
import web_protocol


def whole(number):
    """As the page writes it."""
    return f"{number:,}".replace(",", "\u202f")


def shown_q(item):
    """Where it is no number."""
    return "not tested" if item["q"] is None else "too early" if item["least_q"] > 0.05 else None


def open_page(address):
    page = browser.Browser(tempfile.mkdtemp(dir=os.getcwd()))
    page.open(address)
    page.until("typeof page !== 'undefined' && page.run.hello !== null")
    return page


def numbers_are_those_of_the_run():
    run, port, token = web_protocol.start(1)
    page = open_page(f"http://127.0.0.1:{port}/#{token}")
    page.until("page.run.ended && page.run.status.spikes === page.run.drawn")
    web_protocol.finish(run)
    lines = web_protocol.published()
    told = [one for one in lines if one["topic"] == "episodes"][-1]
    status = [one for one in lines if one["topic"] == "status"][-1]
    page.key("2")
    page.until("document.querySelectorAll('#episodes tr[data-id]').length > 0 && !changed.episodes")
    rows = page.value("[...document.querySelectorAll('#episodes tr[data-id]')].map(row =>"
                      " [row.dataset.id, ...[...row.cells].map(cell => cell.textContent)])")
    best = sorted(told["episodes"], key=lambda item: item["standing"])[:web_protocol.TOP]  # what the page gets
    counted = {item["id"]: item for item in best if item["folded_under"] is None}
    assert [row[0] for row in rows] == list(counted) and len(rows) > 5, (rows, list(counted))
    for name, chain, count, expected, ratio, q in rows:
        item = counted[name]
        assert chain == " → ".join(item["names"]) + " (4,6]", chain
        assert count == whole(item["count"]), (count, item)
        assert abs(float(expected) - item["expected"]) <= 0.01 * item["expected"], (expected, item)
        assert abs(float(ratio) - item["count"] / item["expected"]) <= 0.01 * float(ratio), (ratio, item)
        assert q == shown_q(item) if shown_q(item) else abs(float(q) - item["q"]) <= 0.06 * item["q"], (q, item)
    page.key("7")
    page.until("document.querySelectorAll('#figures dd').length > 5 && !changed.health")
    figures = dict(page.value("[...document.querySelectorAll('#figures div')].map(one =>"
                              " [one.children[0].textContent, one.children[1].textContent])"))
    assert figures["spikes"] == whole(status["spikes"]) and figures["edges"] == whole(status["edges"]), figures
    assert figures["active units"] == f"{sum(rate > 0 for rate in status['unit_rates_hz'])} of 26", figures

    # A pixel of the raster is inked where a spike is, and nowhere else; what is inked most has the most spikes.
    page.key("1")
    wrong, inked, spikes = page.value("""(() => {
        const images = raster.tiles.map(tile => tile.getImageData(0, 0, tile.canvas.width, raster.rows));
        let wrong = 0, inked = 0, spikes = 0;
        for (let column = raster.first; column < raster.next; column++)
            for (let row = 0; row < raster.rows; row++) {
                const place = raster.place(column), count = raster.cells[place * raster.rows + row];
                const image = images[Math.floor(place / TILE)], alpha = image.data[4 * (row * image.width + place % TILE) + 3];
                spikes += count;
                inked += alpha > 0;
                wrong += (alpha > 0) !== (count > 0) || (alpha === 255) !== (count === raster.peak);
            }
        return [wrong, inked, spikes];
    })()""")
    assert wrong == 0 and spikes == status["spikes"] and 0 < inked <= spikes, (wrong, inked, spikes)
    assert page.value("document.querySelector('#link').textContent") == "\u25a0 run ended"
    troubles = [one for one in page.troubles if "ERR_CONNECTION_REFUSED" not in one]  # the run is over
    assert troubles == [], troubles
    page.close()


VIEWS = ["raster", "episodes", "array", "graph", "density", "triggers", "health"]
SHOWN = "[...document.querySelectorAll('main > section')].filter(one => !one.hidden).map(one => one.id.slice(5)).join()"

# Contrast after WCAG 2, of what is written on what it is written on.
CONTRAST = """(() => {
    const light = name => {
        const canvas = document.createElement('canvas').getContext('2d');
        canvas.fillStyle = css(name);
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map(value => value / 255)
            .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const worst = [];
    for (const ink of ['--ink', '--soft', '--good', '--warn', '--bad'])
        for (const back of ['--back', '--panel']) {
            const [a, b] = [light(ink), light(back)].sort((x, y) => y - x);
            worst.push([(a + 0.05) / (b + 0.05), ink, back]);
        }
    return worst.sort((x, y) => x[0] - y[0])[0];
})()"""


# Of the places whose rates are told: the colours that are drawn, and those of a linear and a logarithmic scale.
COLOURS = """(factor => {
    const told = page.run.rates, rates = told.map((rate, unit) => (rate || 1) * (unit === 3 ? factor : 1));
    page.run.rates = rates;
    drawArray();
    const {width, height} = by('array'), copy = new OffscreenCanvas(width, height).getContext('2d');
    copy.drawImage(by('array'), 0, 0);
    const image = copy.getImageData(0, 0, width, height).data;
    const low = Math.min(...rates), high = Math.max(...rates), pixel = ([x, y]) => 4 * (Math.round(y) * width + Math.round(x));
    const drawn = arrayPoints.map(point => [...image.slice(pixel(point), pixel(point) + 3)].join());
    const scale = share => rates.map(rate => viridis(share(rate)).join());
    page.run.rates = told;
    return {checked: by('array-log').checked, drawn, linear: scale(rate => rate / high),
            logarithmic: scale(rate => Math.log(rate / low) / Math.log(high / low))};
})"""


def colours_turn_logarithmic(page):
    page.key("3")
    page.until("page.run.status !== null && !changed.array && arrayPoints.length === 26")
    assert page.value("new Set(places.of.map(place => place.join())).size") == 26
    like = page.value(f"{COLOURS}(1)")
    assert not like["checked"] and like["drawn"] == like["linear"] != like["logarithmic"], like
    unlike = page.value(f"{COLOURS}(100)")
    assert unlike["checked"] and unlike["drawn"] == unlike["logarithmic"] != unlike["linear"], unlike
    again = page.value(f"{COLOURS}(1)")  # not back and forth
    assert again["checked"] and again["drawn"] == again["logarithmic"], again
    page.key("l")  # and as somebody chose
    page.until("!by('array-log').checked")
    chosen = page.value(f"{COLOURS}(100)")
    assert not chosen["checked"] and chosen["drawn"] == chosen["linear"], chosen


# With spikes that came ten seconds ago, while the stream's time goes on, live and of a recording that was read, and after it has
# stood for a minute.
STATES = """(() => {
    const told = () => {
        tellState();
        return [by('link').textContent, by('age').textContent, document.documentElement.classList.contains('stale-data')];
    };
    [page.age, page.ageAt] = [10000, performance.now()];
    takers.status({...page.run.status, time_ns: page.run.status.time_ns + 1e9});
    takers.status({...page.run.status, time_ns: page.run.status.time_ns + 1e9});
    const silent = told(), {sources} = page.run.status;
    page.run.status.sources = sources.map(source => ({...source, state: "ended"}));
    const read = told();
    page.run.status.sources = sources;
    [page.run.clockAt, page.run.clockEvery] = [performance.now() - 60000, 1000];
    return [silent, read, told()];
})()"""


def silence_is_not_staleness(page):
    page.until("page.run.status !== null && !page.run.ended")
    silent, read, stale = page.value(STATES)
    assert silent == ["\u25cf live, no spikes", "data 10 s old", False], silent
    assert read == ["\u25cf all read, being analysed", "data 10 s old", False], read
    assert stale == ["! no new data", "data 10 s old", True], stale


def every_view_by_keys_and_mouse():
    trigger = "--set", "triggers.0.on=episode", "--set", "triggers.0.name=reward", "--set", "triggers.0.episode=D -(4,6]-> E", \
        "--set", "triggers.0.armed=false", "--set", "control.0.endpoint=ipc://control", "--set", "control.0.token_file=control-token"
    with open("control-token", "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write("a token that is long\n")
    run, port, token = web_protocol.start(1, "--speed", "0.25", *trigger)
    page = open_page(f"http://127.0.0.1:{port}/#{token}")
    for number, name in enumerate(VIEWS, 1):
        page.key(str(number))
        page.until(f"{SHOWN} === '{name}'")
        assert page.value(f"document.querySelector('#tab-{name}').getAttribute('aria-selected')") == "true"
    for name in VIEWS:
        page.click(f"#tab-{name}")
        page.until(f"{SHOWN} === '{name}'")
    page.key("0")
    page.until(f"{SHOWN} === 'raster,episodes,array,graph,health'")

    # What is not text has a role and a name; every column of a table has a heading.
    assert page.value("[...document.querySelectorAll('canvas[id], #series, #density')].every(one =>"
                      " one.getAttribute('role') === 'img' && one.getAttribute('aria-label').length > 10)")
    assert page.value("[...document.querySelectorAll('section')].every(one =>"
                      " one.getAttribute('role') === 'tabpanel' && document.getElementById(one.getAttribute('aria-labelledby')))")
    assert page.value("[...document.querySelectorAll('thead th')].every(one => one.scope === 'col' && one.textContent)")
    assert page.value("[...document.querySelectorAll('input, select')].every(one => one.labels.length === 1)")
    for theme in ("light", "dark"):
        assert page.value("document.documentElement.dataset.theme") == theme
        ratio, ink, back = page.value(CONTRAST)
        assert ratio >= 4.5, (theme, ratio, ink, back)
        page.key("t")

    colours_turn_logarithmic(page)
    silence_is_not_staleness(page)

    # Space stops the display and not the run.
    page.until("page.run.status !== null && raster.next > raster.first + 300")
    page.key(" ", "Space")
    page.until("page.paused && document.querySelector('#pause').getAttribute('aria-pressed') === 'true'")
    edge, spikes = page.value("[raster.edge, page.run.drawn]")
    page.until(f"page.run.drawn > {spikes} + 200")
    assert page.value("raster.edge") == edge
    # Nothing overwrites what is looked at, which the wheel and the arrows go back in; nothing of it is lost.
    page.key("1")
    page.until("raster.edge - raster.first > 290 && raster.waiting.length > 1")
    newest = page.value("raster.next")
    # In any view: what is told meanwhile waits, but for the state of the run.
    window, spikes = page.value("[page.run.window.seq, page.run.status.spikes]")
    page.until(f"page.run.status.spikes > {spikes} && waiting.get('episodes')?.length > 0 && waiting.has('rates')")
    page.key("2")
    page.until("!document.querySelector('#view-episodes').hidden")
    assert page.value("page.run.window.seq") == window
    page.key("1")
    x, y = page.value("(() => { const box = by('raster').getBoundingClientRect(); return [box.x + 300, box.y + 50]; })()")
    page.wheel(x, y, -70)
    page.until("page.back === 70")
    page.key("ArrowLeft")
    page.until("page.back > 70")
    for _ in range(3):
        page.key("ArrowRight")
    page.until("page.back === 0")
    assert page.value("raster.next") == newest
    wrong, spikes, after = page.value("""(() => {
        const waiting = raster.waiting;
        by('pause').click();
        let wrong = 0, spikes = 0;
        for (const view of waiting) {
            const {first, count} = raster.columnsOf(view), cells = new Uint8Array(view.buffer, view.byteOffset + 24);
            for (let i = 0; i < count * raster.rows; i++) {
                const place = raster.place(first + Math.floor(i / raster.rows)) * raster.rows + i % raster.rows;
                wrong += raster.cells[place] !== cells[i];
                spikes += cells[i];
            }
        }
        return [wrong, spikes, raster.next];
    })()""")
    assert wrong == 0 and spikes > 0 and after > newest, (wrong, spikes, after, newest)
    page.until("!page.paused && raster.waiting.length === 0 && waiting.size === 0")
    assert page.value("page.run.window.seq") > window
    page.key("?")
    page.until("document.querySelector('#keys').open")
    page.key("Escape")
    page.until("!document.querySelector('#keys').open")

    # A click marks what it is on, and again takes it away.
    page.key("6")
    page.until("document.querySelectorAll('#watched tr[data-id]').length === 1")
    page.click("#watched tr[data-id]")
    page.until("page.run.trusted && page.marks.length > 0")
    units = page.value("page.marks[0].units")
    assert units == [0, 1, 2], units
    # and opens its delays: each link's of each occurrence once, where the simulated chain has them.
    page.key("2")
    page.until("!by('delays').hidden && delays !== null && !changed.episodes")
    bins, *links = page.value("countDelays(page.run.items.get(page.marked))")
    marks = page.value("page.marks.length")
    assert len(links) == 2 and all(sum(link) <= marks and sum(link) > 0 for link in links), (marks, links)
    exact = page.value("page.marks.map(mark => mark.columns.slice(1).map((at, i) => (at - mark.columns[i]) * page.run.hello.column_s * 1000))")
    for link, counts in enumerate(links):
        for i, count in enumerate(counts[:-1]):
            expected = sum(bins[i] < row[link] - 1e-9 <= bins[i + 1] for row in exact)
            assert abs(expected - count) <= 1, (link, i, bins[i], expected, count)
    assert page.value("delays.series.length") == 3
    # Of lines that change while there is no room for them the new ones are drawn once there is.
    assert page.value("series.series.length") == 3  # time, the marked one and chance
    page.key("0")
    page.until("by('series').clientHeight === 0 && !changed.episodes && listed(page.run.window).length > 5")
    one, five = page.value("""(() => {
        const toldOf = (id, view) => { mark(id); drawEpisodes(); show(view); drawEpisodes(); return series.series.length; };
        const id = page.marked, five = toldOf(id, 'episodes');
        show('overview');
        return [toldOf(id, 'episodes'), five];
    })()""")
    assert (one, five) == (3, 6), (one, five)  # time and the best five
    page.until("page.marks.length > 0 && !changed.episodes && !by('delays').hidden")
    # They stay its own, and it stays in the table, where the newest window has it no more.
    row, what = page.value("""(() => {
        const told = page.run.window;
        page.run.window = {...told, episodes: told.episodes.filter(item => item.id !== page.marked)};
        drawEpisodes();
        page.run.window = told;
        return [[...by('episodes').tBodies[0].rows[0].cells].map(cell => cell.textContent), by('delays-what').textContent];
    })()""")
    assert row == ["A → B → C (4,6]", "–", "–", "–", "not tested"] and what.endswith("of A → B → C, the newest"), (row, what)
    # Of what was counted the newest is remembered, and what is watched.
    sizes = page.value("""(() => {
        for (let i = 0; i < 2 * MOST_ITEMS; i++) remember({id: `id ${i}`, names: ['A', 'B'], delays_ms: [[4, 6]]});
        return [page.run.items.size, page.run.items.has(page.marked), page.run.items.has(`id ${2 * MOST_ITEMS - 1}`), MOST_ITEMS];
    })()""")
    assert sizes == [sizes[3], True, True, 4000], sizes
    page.key("Escape")
    page.until("page.marked === null && page.marks.length === 0")

    # So does one on a trigger with a name, by the keys as well.
    page.key("6")
    page.until("document.querySelectorAll('#named tr[data-id]').length === 1")
    assert page.value("by('named').tBodies[0].rows[0].cells[0].textContent") == "reward: D –(4,6]→ E"
    page.value("by('named').tBodies[0].rows[0].focus()")
    page.key("Enter")
    page.until("page.marks.length > 0")
    assert page.value("page.marks[0].units") == [3, 4]
    page.key("Escape")
    page.until("page.marked === null")

    # Arming: once by the token, which is asked for, and each key typed there is the token's own.
    row = "page.run.status.triggers[0]"
    page.click("#named button")
    page.until("by('control').open && document.activeElement === by('control-token')")
    for key in "not the token":
        page.key(key)
    assert page.value("[by('control-token').value, document.documentElement.dataset.theme]") == ["not the token", "light"]
    page.key("Enter")
    page.until("by('control-refused').textContent === 'the token is wrong' && by('control-token').value === ''")
    assert page.value(f"{row}.armed") is False
    for key in open("control-token").read().strip():
        page.key(key)
    page.click("#control-give")
    page.until(f"!by('control').open && page.run.controls && {row}.armed")
    page.until("!changed.triggers && by('named').rows[1].cells[2].textContent.startsWith('✓ armed by page since ')")
    page.click("#named button")
    page.until(f"!{row}.armed && !by('control').open && by('named').rows[1].cells[2].textContent === '! not armed: disarmed'")
    assert page.value("page.marked === null")

    # A click on a unit of the graph tells what it reaches.
    page.key("4")
    page.until("page.run.edges.length > 5 && !changed.graph && graphPoints.length === 26")
    x, y = page.value("(() => { const box = by('graph').getBoundingClientRect(), [x, y] = graphPoints[0];"
                      " return [box.x + x, box.y + y]; })()")
    page.click_at(x, y)
    page.until("page.chosen === 0 && by('graph-reach').textContent.startsWith('▸ A reaches ')")
    page.value("(() => { by('graph-w').value = 100; by('graph-w').dispatchEvent(new Event('input')); })()")
    page.until("by('graph-what').textContent.startsWith('1 of ') && by('graph-what').textContent.includes('weight ')")
    # The array and the raster show the same unit, and the array chooses one, too.
    page.key("3")
    page.until("!changed.array && by('array-chosen').textContent.startsWith('▸ A: ')")
    x, y = page.value("(() => { const box = by('array').getBoundingClientRect(), [x, y] = arrayPoints[7];"
                      " return [box.x + x, box.y + y]; })()")
    page.click_at(x, y)
    page.until("page.chosen === 7 && by('array-chosen').textContent.startsWith('▸ H: ')")
    page.key("ArrowRight")
    page.until("page.chosen === 8")
    page.key("Escape")
    page.until("page.chosen === null && by('array-chosen').textContent === ''")
    assert page.troubles == [], page.troubles
    page.close()
    run.terminate()
    run.wait(60)


def a_new_run_is_found():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    here = "--set", f"sinks.1.endpoint=127.0.0.1:{port}", "--speed", "1"
    run, _, token = web_protocol.start(1, *here, "--set", "stream=first")
    page = open_page(f"http://127.0.0.1:{port}/#{token}")
    page.until("page.run.hello.stream === 'first' && page.run.drawn > 50")
    assert page.troubles == [], page.troubles
    run.send_signal(signal.SIGKILL)
    run.wait(60)
    page.until("page.link === 'lost' && document.documentElement.classList.contains('stale-data')")
    age = page.value("ageNow()")
    page.until(f"ageNow() > {age} + 300")  # it grows without anything that comes
    run, _, token = web_protocol.start(1, *here, "--set", "stream=second")
    page.until("page.link === 'live' && page.run.hello.stream === 'second' && page.run.drawn > 50")
    assert page.value("document.querySelector('#note').textContent") == "the token is not that of this run"
    page.close()
    run.terminate()
    run.wait(60)


if __name__ == "__main__":
    globals()[sys.argv[1]]()

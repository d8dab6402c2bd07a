# SPDX-License-Identifier: Apache-2.0
"""The page of a run (docs/page.md) in a headless Chromium: its numbers, its keys, and a run that goes and comes."""
import os
import tempfile

import browser
import command
import live
import paged
from live import having

command.need(paged.BUILT, "built without libwebsockets")
command.need(not command.SANITIZED, "the browser takes its time without a sanitizer, too")
command.need(browser.find(), "no chromium on PATH")

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

# Of the raster: cells that are inked and empty or the other way round, or inked most without the most spikes; those inked; spikes.
RASTER = """(() => {
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
})()"""

# The display goes on: cells that are not what came while it was stopped, the spikes that came then, and the newest column.
GO_ON = """(() => {
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
})()"""

# The marked one as it stands in the table where the newest window has it no more, and what its delays are of.
ABSENT = """(() => {
    const told = page.run.window;
    page.run.window = {...told, episodes: told.episodes.filter(item => item.id !== page.marked)};
    drawEpisodes();
    page.run.window = told;
    return [[...by('episodes').tBodies[0].rows[0].cells].map(cell => cell.textContent), by('delays-what').textContent];
})()"""

# How many episodes are remembered of more than that.
REMEMBERED = """(() => {
    for (let i = 0; i < 2 * MOST_ITEMS; i++) remember({id: `id ${i}`, names: ['A', 'B'], delays_ms: [[4, 6]]});
    return [page.run.items.size, page.run.items.has(page.marked), page.run.items.has(`id ${2 * MOST_ITEMS - 1}`), MOST_ITEMS];
})()"""

# Lines of the series where there was no room for them: of the marked one, and of the best.
SERIES = """(() => {
    const toldOf = (id, view) => { mark(id); drawEpisodes(); show(view); drawEpisodes(); return series.series.length; };
    const id = page.marked, five = toldOf(id, 'episodes');
    show('overview');
    return [toldOf(id, 'episodes'), five];
})()"""


def whole(number):
    """As the page writes it."""
    return f"{number:,}".replace(",", "\u202f")


def shown_q(item):
    """Where it is no number."""
    return "not tested" if item["q"] is None else "too early" if item["least_q"] > 0.05 else None


class OfTheBrowser(paged.Test):
    @classmethod
    def open_page(cls, port, token):
        page = browser.Browser(tempfile.mkdtemp(dir=os.getcwd()))
        cls.addClassCleanup(page.close)
        page.open(f"http://127.0.0.1:{port}/#{token}")
        page.until("typeof page !== 'undefined' && page.run.hello !== null")
        return page


class Numbers(OfTheBrowser):
    """Those of the run, at its end."""

    @classmethod
    def prepare(cls):
        super().prepare()
        run, port, token = cls.start(1)
        cls.page = cls.open_page(port, token)
        cls.page.until("page.run.ended && page.run.status.spikes === page.run.drawn")
        run.end(0)
        lines = paged.lines_of_run()
        cls.episodes, cls.status = paged.newest(lines, "episodes")["episodes"], paged.newest(lines, "status")

    @classmethod
    def tearDownClass(cls):
        troubles = [one for one in cls.page.troubles if "ERR_CONNECTION_REFUSED" not in one]  # the run is over
        if troubles:
            raise AssertionError(troubles)

    def test_the_table_has_what_stands_out(self):
        self.page.key("2")
        self.page.until("document.querySelectorAll('#episodes tr[data-id]').length > 0 && !changed.episodes")
        rows = self.page.value("[...document.querySelectorAll('#episodes tr[data-id]')].map(row =>"
                               " [row.dataset.id, ...[...row.cells].map(cell => cell.textContent)])")
        best = sorted(self.episodes, key=lambda item: item["standing"])[:paged.TOP]  # what the page gets
        counted = {item["id"]: item for item in best if item["folded_under"] is None}
        self.assertGreater(len(rows), 5)
        self.assertEqual([row[0] for row in rows], list(counted))
        for name, chain, count, expected, ratio, q in rows:
            item = counted[name]
            self.assertEqual((chain, count), (" → ".join(item["names"]) + " (4,6]", whole(item["count"])))
            self.assertAlmostEqual(float(expected), item["expected"], delta=0.01 * item["expected"])
            self.assertAlmostEqual(float(ratio), item["count"] / item["expected"], delta=0.01 * float(ratio))
            if shown_q(item):
                self.assertEqual(q, shown_q(item))
            else:
                self.assertAlmostEqual(float(q), item["q"], delta=0.06 * item["q"])

    def test_the_figures_are_those_of_the_last_status(self):
        self.page.key("7")
        self.page.until("document.querySelectorAll('#figures dd').length > 5 && !changed.health")
        figures = dict(self.page.value("[...document.querySelectorAll('#figures div')].map(one =>"
                                       " [one.children[0].textContent, one.children[1].textContent])"))
        self.assertEqual((figures["spikes"], figures["edges"]), (whole(self.status["spikes"]), whole(self.status["edges"])))
        self.assertEqual(figures["active units"], f"{sum(rate > 0 for rate in self.status['unit_rates_hz'])} of 26")
        self.assertEqual(self.page.value("document.querySelector('#link').textContent"), "\u25a0 run ended")

    def test_a_pixel_of_the_raster_is_inked_where_a_spike_is_and_nowhere_else(self):
        self.page.key("1")
        wrong, inked, spikes = self.page.value(RASTER)
        self.assertEqual((wrong, spikes), (0, self.status["spikes"]))
        self.assertTrue(0 < inked <= spikes, inked)


class Views(OfTheBrowser):
    """Of a run in its course: every one by keys and mouse."""

    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 60, "--seed", 2, "--quiet")  # for four minutes
        live.write_token("control-token", "a token that is long")
        cls.live, port, token = cls.start(1, "--speed", 0.25, *having(
            "triggers.0.on=episode", "triggers.0.name=reward", "triggers.0.episode=D -(4,6]-> E", "triggers.0.armed=false",
            "control.0.endpoint=ipc://control", "control.0.token_file=control-token"))
        cls.addClassCleanup(cls.end, cls.live)
        cls.page = cls.open_page(port, token)

    def setUp(self):
        self.page.value("document.querySelectorAll('dialog[open]').forEach(one => one.close()), page.paused && by('pause').click(),"
                        " document.activeElement.blur()")
        self.page.key("Escape")
        self.page.until("page.run.status !== null && !page.paused && page.marked === null && page.chosen === null")

    def tearDown(self):
        self.assertEqual(self.page.troubles, [])

    def says(self, expression):
        self.assertIs(self.page.value(expression), True, expression)

    def place_of(self, canvas, point):
        """Where a point of it is on the screen."""
        return self.page.value(f"(() => {{ const box = by('{canvas}').getBoundingClientRect(), [x, y] = {point};"
                               " return [box.x + x, box.y + y]; })()")

    def test_views_are_shown_by_keys_and_by_mouse(self):
        for number, name in enumerate(VIEWS, 1):
            self.page.key(str(number))
            self.page.until(f"{SHOWN} === '{name}'")
            self.assertEqual(self.page.value(f"document.querySelector('#tab-{name}').getAttribute('aria-selected')"), "true")
        for name in VIEWS:
            self.page.click(f"#tab-{name}")
            self.page.until(f"{SHOWN} === '{name}'")
        self.page.key("0")
        self.page.until(f"{SHOWN} === 'raster,episodes,array,graph,health'")

    def test_what_is_not_text_has_a_role_and_a_name_and_columns_have_a_heading(self):
        self.says("[...document.querySelectorAll('canvas[id], #series, #density')].every(one =>"
                  " one.getAttribute('role') === 'img' && one.getAttribute('aria-label').length > 10)")
        self.says("[...document.querySelectorAll('section')].every(one => one.getAttribute('role') === 'tabpanel' &&"
                  " document.getElementById(one.getAttribute('aria-labelledby')) !== null)")
        self.says("[...document.querySelectorAll('thead th')].every(one => one.scope === 'col' && one.textContent !== '')")
        self.says("[...document.querySelectorAll('input, select')].every(one => one.labels.length === 1)")

    def test_both_themes_have_contrast(self):
        for theme in "light", "dark":
            self.assertEqual(self.page.value("document.documentElement.dataset.theme"), theme)
            ratio, ink, back = self.page.value(CONTRAST)
            self.assertGreaterEqual(ratio, 4.5, (theme, ink, back))
            self.page.key("t")

    def test_colours_turn_logarithmic_where_rates_are_unlike_and_as_somebody_chose(self):
        self.page.key("3")
        self.page.until("!changed.array && arrayPoints.length === 26")
        self.assertEqual(self.page.value("new Set(places.of.map(place => place.join())).size"), 26)
        like, unlike, again = (self.page.value(f"{COLOURS}({factor})") for factor in (1, 100, 1))
        self.assertEqual((like["checked"], like["drawn"]), (False, like["linear"]))
        self.assertNotEqual(like["linear"], like["logarithmic"])
        self.assertEqual((unlike["checked"], unlike["drawn"]), (True, unlike["logarithmic"]))
        self.assertNotEqual(unlike["linear"], unlike["logarithmic"])
        self.assertEqual((again["checked"], again["drawn"]), (True, again["logarithmic"]))  # not back and forth
        self.page.key("l")
        self.page.until("!by('array-log').checked")
        chosen = self.page.value(f"{COLOURS}(100)")
        self.assertEqual((chosen["checked"], chosen["drawn"]), (False, chosen["linear"]))

    def test_silence_is_not_staleness(self):
        self.page.until("!page.run.ended")
        self.assertEqual(self.page.value(STATES), [["\u25cf live, no spikes", "data 10 s old", False],
                                                   ["\u25cf all read, being analysed", "data 10 s old", False],
                                                   ["! no new data", "data 10 s old", True]])

    def test_space_stops_the_display_and_not_the_run_and_nothing_is_lost(self):
        page = self.page
        page.until("raster.next > raster.first + 300")
        page.key(" ", "Space")
        page.until("page.paused && document.querySelector('#pause').getAttribute('aria-pressed') === 'true'")
        edge, spikes = page.value("[raster.edge, page.run.drawn]")
        page.until(f"page.run.drawn > {spikes} + 200")
        self.assertEqual(page.value("raster.edge"), edge)
        # Nothing overwrites what is looked at, which the wheel and the arrows go back in.
        page.key("1")
        page.until("raster.edge - raster.first > 290 && raster.waiting.length > 1")
        newest = page.value("raster.next")
        # In any view: what is told meanwhile waits, but for the state of the run.
        window, spikes = page.value("[page.run.window.seq, page.run.status.spikes]")
        page.until(f"page.run.status.spikes > {spikes} && waiting.get('episodes')?.length > 0 && waiting.has('rates')")
        page.key("2")
        page.until("!document.querySelector('#view-episodes').hidden")
        self.assertEqual(page.value("page.run.window.seq"), window)
        page.key("1")
        page.wheel(*self.place_of("raster", [300, 50]), -70)
        page.until("page.back === 70")
        page.key("ArrowLeft")
        page.until("page.back > 70")
        for _ in range(3):
            page.key("ArrowRight")
        page.until("page.back === 0")
        self.assertEqual(page.value("raster.next"), newest)
        wrong, spikes, after = page.value(GO_ON)
        self.assertEqual(wrong, 0)
        self.assertGreater(spikes, 0)
        self.assertGreater(after, newest)
        page.until("!page.paused && raster.waiting.length === 0 && waiting.size === 0")
        self.assertGreater(page.value("page.run.window.seq"), window)

    def test_the_keys_are_listed_until_escape(self):
        self.page.key("?")
        self.page.until("document.querySelector('#keys').open")
        self.page.key("Escape")
        self.page.until("!document.querySelector('#keys').open")

    def mark_watched(self):
        """By a click on it."""
        self.page.key("6")
        self.page.until("document.querySelectorAll('#watched tr[data-id]').length === 1")
        self.page.click("#watched tr[data-id]")
        self.page.until("page.run.trusted && page.marks.length > 0")

    def test_a_click_marks_and_opens_the_delays_of_each_link(self):
        page = self.page
        self.mark_watched()
        self.assertEqual(page.value("page.marks[0].units"), [0, 1, 2])
        page.key("2")
        page.until("!by('delays').hidden && delays !== null && !changed.episodes")
        # Each link's of each occurrence once, where the simulated chain has them.
        bins, *links = page.value("countDelays(page.run.items.get(page.marked))")
        marks = page.value("page.marks.length")
        self.assertEqual(len(links), 2)
        exact = page.value("page.marks.map(mark => mark.columns.slice(1).map((at, i) =>"
                           " (at - mark.columns[i]) * page.run.hello.column_s * 1000))")
        for link, counts in enumerate(links):
            self.assertTrue(0 < sum(counts) <= marks, (marks, links))
            for i, count in enumerate(counts[:-1]):
                expected = sum(bins[i] < row[link] - 1e-9 <= bins[i + 1] for row in exact)
                self.assertAlmostEqual(count, expected, delta=1, msg=(link, i, bins[i]))
        self.assertEqual(page.value("[delays.series.length, series.series.length]"), [3, 3])  # time, the marked one and chance
        page.key("Escape")
        page.until("page.marked === null && page.marks.length === 0")

    def test_lines_that_change_while_there_is_no_room_for_them_are_drawn_once_there_is(self):
        page = self.page
        self.mark_watched()
        page.key("0")
        page.until("by('series').clientHeight === 0 && !changed.episodes && listed(page.run.window).length > 5")
        self.assertEqual(page.value(SERIES), [3, 6])  # time and the best five
        page.until("page.marks.length > 0 && !changed.episodes && !by('delays').hidden")

    def test_the_marked_one_stays_where_the_newest_window_has_it_no_more(self):
        self.mark_watched()
        self.page.key("2")
        self.page.until("page.marks.length > 0 && !changed.episodes && !by('delays').hidden")
        row, what = self.page.value(ABSENT)
        self.assertEqual(row, ["A → B → C (4,6]", "–", "–", "–", "not tested"])
        self.assertRegex(what, "of A → B → C, the newest$")

    def test_of_what_was_counted_the_newest_is_remembered_and_what_is_marked(self):
        self.mark_watched()
        self.assertEqual(self.page.value(REMEMBERED), [4000, True, True, 4000])

    def test_a_trigger_with_a_name_is_marked_by_the_keys_as_well(self):
        page = self.page
        page.key("6")
        page.until("document.querySelectorAll('#named tr[data-id]').length === 1")
        self.assertEqual(page.value("by('named').tBodies[0].rows[0].cells[0].textContent"), "reward: D –(4,6]→ E")
        page.value("by('named').tBodies[0].rows[0].focus()")
        page.key("Enter")
        page.until("page.marks.length > 0")
        self.assertEqual(page.value("page.marks[0].units"), [3, 4])
        page.key("Escape")
        page.until("page.marked === null")

    def test_arming_takes_the_token_once_and_each_key_typed_there_is_the_tokens_own(self):
        page, row = self.page, "page.run.status.triggers[0]"
        page.key("6")
        page.until("document.querySelectorAll('#named button').length > 0")
        page.click("#named button")
        page.until("by('control').open && document.activeElement === by('control-token')")
        for key in "not the token":
            page.key(key)
        self.assertEqual(page.value("[by('control-token').value, document.documentElement.dataset.theme]"), ["not the token", "light"])
        page.key("Enter")
        page.until("by('control-refused').textContent === 'the token is wrong' && by('control-token').value === ''")
        self.assertIs(page.value(f"{row}.armed"), False)
        for key in "a token that is long":
            page.key(key)
        page.click("#control-give")
        page.until(f"!by('control').open && page.run.controls && {row}.armed")
        page.until("!changed.triggers && by('named').rows[1].cells[2].textContent.startsWith('✓ armed by page since ')")
        page.click("#named button")
        page.until(f"!{row}.armed && !by('control').open && by('named').rows[1].cells[2].textContent === '! not armed: disarmed'")
        self.assertIsNone(page.value("page.marked"))

    def test_a_unit_that_is_chosen_is_so_in_every_view(self):
        page = self.page
        page.key("4")
        page.until("page.run.edges.length > 5 && !changed.graph && graphPoints.length === 26")
        page.click_at(*self.place_of("graph", "graphPoints[0]"))
        page.until("page.chosen === 0 && by('graph-reach').textContent.startsWith('▸ A reaches ')")
        page.value("(() => { by('graph-w').value = 100; by('graph-w').dispatchEvent(new Event('input')); })()")
        page.until("by('graph-what').textContent.startsWith('1 of ') && by('graph-what').textContent.includes('weight ')")
        page.key("3")  # the array and the raster show the same unit, and the array chooses one, too
        page.until("!changed.array && by('array-chosen').textContent.startsWith('▸ A: ')")
        page.click_at(*self.place_of("array", "arrayPoints[7]"))
        page.until("page.chosen === 7 && by('array-chosen').textContent.startsWith('▸ H: ')")
        page.key("ArrowRight")
        page.until("page.chosen === 8")
        page.key("Escape")
        page.until("page.chosen === null && by('array-chosen').textContent === ''")


class ARunThatGoesAndComes(OfTheBrowser):
    def test_a_new_run_is_found(self):
        port, = command.free_ports(1)
        here = ("--speed", 1, "--set", f"sinks.1.endpoint=127.0.0.1:{port}")
        run, _, token = self.start(1, *here, "--set", "stream=first")
        page = self.open_page(port, token)
        page.until("page.run.hello.stream === 'first' && page.run.drawn > 50")
        self.assertEqual(page.troubles, [])
        run.put_away()
        page.until("page.link === 'lost' && document.documentElement.classList.contains('stale-data')")
        age = page.value("ageNow()")
        page.until(f"ageNow() > {age} + 300")  # it grows without anything that comes
        run, _, token = self.start(1, *here, "--set", "stream=second")
        page.until("page.link === 'live' && page.run.hello.stream === 'second' && page.run.drawn > 50")
        self.assertEqual(page.value("document.querySelector('#note').textContent"), "the token is not that of this run")
        self.end(run)


if __name__ == "__main__":
    command.main()

// Shows what the report holds at the level that the slider stands at. All counting is done by the time this runs:
// sentences, tables and small whole numbers per object are looked up, so that what is shown is exact.
"use strict";

(async () => {
  const element = (id) => document.getElementById(id);
  const grouped = (number) => number.toLocaleString("en-US");
  const share = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)} %` : "");
  const percent = (perMille) => `${perMille / 10} %`;

  // ---- what the page carries: deflated, in base64 ----

  async function inflate(id) {
    const bytes = Uint8Array.from(atob(element(id).textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).arrayBuffer();
  }

  function read(buffer) {
    const length = new DataView(buffer).getUint32(0, true);
    const facts = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
    const kinds = { Uint8Array, Uint16Array, Uint32Array, Float64Array };
    for (const [name, { kind, offset, length: n }] of Object.entries(facts.arrays)) {
      facts[name] = new kinds[kind](buffer, 8 + length + offset, n);
    }
    return facts;
  }

  let facts;
  try {
    facts = read(await inflate("data"));
  } catch (error) {
    const trouble = element("trouble");
    trouble.textContent =
      "This browser is too old for the moving parts of this page (it has no DecompressionStream). " +
      "What is below is said at the level that the report starts with, and figures are shown as tables.";
    trouble.hidden = false;
    return;
  }

  // ---- what is known of each object ----

  const n = facts.names.length;
  const nLabels = facts.labels.length;
  const sizes = facts.sizesInBytes ? growSizes(facts.sizes) : facts.sizes;

  // whole numbers byte by byte, each level's as what it adds to the level before
  function growSizes(bytes) {
    const count = bytes.length / 4;
    const grown = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      const more = bytes[i] + bytes[count + i] * 2 ** 8 + bytes[2 * count + i] * 2 ** 16 + bytes[3 * count + i] * 2 ** 24;
      grown[i] = more + (i >= n ? grown[i - n] : 0);
    }
    return grown;
  }

  let level = facts.start;
  const isMember = (code) => (facts.nested ? level >= code : ((code >> level) & 1) === 1);
  const sizeOf = (i) => sizes[level * n + i];
  const truthIsIn = (i) => isMember(facts.truthCodes[i]);
  const truthP = (i) => facts.truthPValues[i] / facts.shades;
  const pOf = (rank, i) => facts.topPValues[rank * n + i] / facts.shades;
  const credibility = (i) => pOf(0, i);
  const confidence = (i) => 1 - pOf(1, i);
  const bytesPerLabelset = Math.ceil(nLabels / 8);
  const hasBit = (bits, row, i, label) => (bits[(row * bytesPerLabelset + (label >> 3)) * n + i] >> (label & 7)) & 1;
  const isTrue = (i, label) => facts.labelled && hasBit(facts.truth, 0, i, label) === 1;
  const isPredicted = (i, label) => hasBit(facts.predicted, 0, i, label) === 1;
  const labelsOf = (test) => facts.labels.filter((_, label) => test(label));
  const inWords = (names) => (names.length ? names.join(", ") : "no label");

  function stateOf(i, label) {
    const mayBeOff = isMember(facts.labelCodes[2 * label * n + i]);
    const mayBeOn = isMember(facts.labelCodes[(2 * label + 1) * n + i]);
    return mayBeOn ? (mayBeOff ? "possible" : "sure") : mayBeOff ? "out" : "empty";
  }

  function isRight(i) {
    for (let label = 0; label < nLabels; label++) if (isTrue(i, label) !== isPredicted(i, label)) return false;
    return true;
  }

  function sizeInWords(size) {
    const about = { counted: "", estimated: "about ", bounded: size > 1 ? "at most " : "" }[facts.sizeKind];
    if (size >= 1e6) return `${about}2^${Math.round(Math.log2(size))}`;
    return about + grouped(Math.round(size));
  }

  // ---- small builders; text is only ever set as text ----

  function make(tag, { text, kind, ...attributes } = {}, ...children) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function fill(id, rows) {
    const body = element(id).tBodies[0];
    body.replaceChildren(
      ...rows.map(([first, ...others]) =>
        make("tr", {}, make("th", { scope: "row", text: first }), ...others.map((cell) => make("td", { text: typeof cell === "number" ? grouped(cell) : cell })))
      )
    );
  }

  function offer(id, options) {
    element(id).replaceChildren(...options.map(([value, text]) => make("option", { value, text })));
  }

  // ---- tables and sentences ----

  function say() {
    const words = facts.words[level];
    for (const place of document.querySelectorAll("[data-say]")) place.textContent = words[place.dataset.say];
    for (const place of document.querySelectorAll("[data-level]")) place.textContent = percent(facts.perMille[level]);
    element("verdict-card").className = `answer ${words.status}`;
    element("level-shown").textContent = percent(facts.perMille[level]);
    element("level").value = level;
    element("level").setAttribute("aria-valuetext", percent(facts.perMille[level]));
    for (const button of document.querySelectorAll(".presets button")) {
      button.setAttribute("aria-pressed", String(Number(button.value) === level));
    }
  }

  const sizeRows = () => facts.shownBins.map((b) => ({ bin: facts.bins[b], count: facts.sizeCounts[level][b] }));

  const labelSort = { column: -1, descending: false };

  function labelRows() {
    const rows = facts.labels.map((label, j) => {
      const [sure, possible, out, sureWrong, outWrong] = facts.labelCounts[level][j];
      const known = [sure, possible, out];
      if (!facts.labelled) return [label, facts.labelPredicted[j], ...known];
      return [label, facts.labelTrue[j], facts.labelPredicted[j], ...known, sureWrong, outWrong];
    });
    const { column, descending } = labelSort;
    if (column < 0) return rows;
    const compare = (a, b) => (column ? a[column] - b[column] : a[0].localeCompare(b[0], "en"));
    return rows.sort((a, b) => (descending ? compare(b, a) : compare(a, b)));
  }

  function groupRows(group) {
    return group.names
      .map((name, g) => ({
        name,
        objects: group.objects[level][g],
        covered: group.covered[level][g],
        coverage: group.covered[level][g] / group.objects[level][g],
        low: group.low[level][g],
        high: group.high[level][g],
      }))
      .filter((row) => row.objects > 0);
  }

  function fillTables() {
    fill("table-sizes", sizeRows().map(({ bin, count }) => [bin, count, share(count, facts.nObjects)]));
    fill("table-labels", labelRows());
    facts.groups.forEach((group, g) =>
      fill(`table-groups-${g}`, groupRows(group).map((row) => [row.name, row.objects, row.covered, share(row.covered, row.objects), share(row.low, 1), share(row.high, 1)]))
    );
  }

  function makeSortable() {
    const heads = [...element("table-labels").tHead.rows[0].cells];
    heads.forEach((head, column) =>
      head.querySelector("button").addEventListener("click", () => {
        labelSort.descending = labelSort.column === column ? !labelSort.descending : column > 0;
        labelSort.column = column;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", labelSort.descending ? "descending" : "ascending");
        fill("table-labels", labelRows());
      })
    );
  }

  // ---- figures ----

  const views = {};
  const MOST_GROUPS = 40;

  async function draw(name, spec, data) {
    const options = { mode: "vega-lite", renderer: "svg", config: facts.theme, actions: false, defaultStyle: false, tooltip: false };
    const { view } = await window.vegaEmbed(element(`figure-${name}`), { ...spec, datasets: data }, options);
    views[name] = view;
  }

  function redraw(name, data) {
    if (!views[name]) return;
    for (const [source, values] of Object.entries(data)) views[name].data(source, values.map((row) => ({ ...row })));
    views[name].run();
  }

  const now = () => ({ now: [facts.calibration[level]] });

  // of very many groups the figure shows those that are most surely covered less
  function groupData() {
    const rows = groupRows(facts.groups[Number(element("grouping").value)]);
    const worst = new Set([...rows].sort((a, b) => a.high - b.high).slice(0, MOST_GROUPS));
    const groups = rows.filter((row) => worst.has(row));
    element("groups-note").hidden = groups.length === rows.length;
    return { groups, asked: [{ asked: facts.perMille[level] / 1000 }] };
  }

  async function drawAll() {
    const { specs } = facts;
    await draw("sizes", specs.sizes, { sizes: sizeRows() });
    for (const name of ["confidence", "credibility"]) {
      const spec = structuredClone(specs.histogram);
      spec.encoding.x.axis.title = name;
      if (!facts.labelled) spec.encoding.color.legend = null;
      await draw(name, spec, { bars: facts.bars[name] });
    }
    if (facts.labelled) {
      await draw("calibration", specs.calibration, { curve: facts.calibration, ...now() });
      await draw("groups", specs.groups, groupData());
      redrawGroups();
    }
  }

  function redrawAll() {
    redraw("sizes", { sizes: sizeRows() });
    if (facts.labelled) {
      redraw("calibration", now());
      redrawGroups();
    }
  }

  function redrawGroups() {
    const data = groupData();
    if (views.groups) views.groups.height(26 * data.groups.length);
    redraw("groups", data);
  }

  // ---- the object browser ----

  const PAGE = 20;
  const browser = { page: 0, found: [], open: new Set() };

  const shows = [
    ["all", "all objects", () => true],
    ["single", "one labelset left", (i) => sizeOf(i) === 1],
    ["empty", "empty region", (i) => sizeOf(i) === 0],
    ["strange", "credibility of 5 % or less", (i) => credibility(i) <= 0.05],
  ];
  if (facts.labelled) {
    shows.push(["missed", "truth not in the region", (i) => !truthIsIn(i)], ["wrong", "prediction wrong", (i) => !isRight(i)]);
  }
  facts.alphas.forEach((alpha, a) =>
    shows.push([`accepted-${a}`, `accepted of one half, ${percent(1000 * alpha)} wrong`, (i) => facts.accepted[i] <= a])
  );

  const orders = [
    ["given", "the data", () => 0],
    ["credibility", "credibility, lowest first", credibility],
    ["confidence", "confidence, lowest first", confidence],
    ["largest", "size of region, largest first", (i) => -sizeOf(i)],
  ];

  if (facts.labelled) orders.push(["truth", "p-value of the truth, lowest first", truthP]);

  const states = [["any", "any state of"], ["sure", "sure:"], ["possible", "possible:"], ["out", "ruled out:"], ["predicted", "predicted:"]];
  if (facts.labelled) states.push(["true", "true:"]);

  function labelTest() {
    const state = element("state").value;
    const label = Number(element("label").value);
    if (state === "any") return () => true;
    const tests = { true: isTrue, predicted: isPredicted };
    const test = tests[state] ?? ((i, j) => stateOf(i, j) === state);
    return label < 0 ? (i) => facts.labels.some((_, j) => test(i, j)) : (i) => test(i, label);
  }

  function find() {
    const wanted = element("search").value.trim().toLowerCase();
    const shown = shows.find(([value]) => value === element("show").value)[2];
    const key = orders.find(([value]) => value === element("order").value)[2];
    const hasLabel = labelTest();
    browser.found = [];
    for (let i = 0; i < n; i++) {
      if ((!wanted || facts.names[i].toLowerCase().includes(wanted)) && shown(i) && hasLabel(i)) browser.found.push(i);
    }
    if (element("order").value !== "given") browser.found.sort((a, b) => key(a) - key(b) || a - b);
  }

  function list() {
    const nPages = Math.max(Math.ceil(browser.found.length / PAGE), 1);
    browser.page = Math.min(browser.page, nPages - 1);
    const first = browser.page * PAGE;
    element("found").textContent = `${grouped(browser.found.length)} of ${grouped(n)} objects`;
    element("page").textContent = `page ${browser.page + 1} of ${nPages}`;
    element("previous").disabled = browser.page === 0;
    element("next").disabled = browser.page === nPages - 1;
    element("objects").replaceChildren(...browser.found.slice(first, first + PAGE).map(item));
  }

  function item(i) {
    const summary = make(
      "summary",
      {},
      make("b", { text: facts.names[i] }),
      make("span", { text: inWords(labelsOf((label) => isPredicted(i, label))) }),
      make("span", { kind: "number", text: `confidence ${share(confidence(i), 1)}` }),
      make("span", { kind: "number", text: `credibility ${share(credibility(i), 1)}` }),
      make("span", { kind: "number size", text: `${sizeInWords(sizeOf(i))} labelset${sizeOf(i) === 1 ? "" : "s"}` })
    );
    const details = make("details", { "data-object": i }, summary);
    if (browser.open.has(i)) {
      details.open = true;
      details.append(bodyOf(i));
    }
    details.addEventListener("toggle", () => {
      if (details.open === browser.open.has(i)) return;
      if (details.open) {
        browser.open.add(i);
        details.append(bodyOf(i));
      } else {
        browser.open.delete(i);
        details.lastChild.remove();
      }
    });
    return make("li", {}, details);
  }

  function bodyOf(i) {
    const body = make("div", { kind: "body" });
    const stated = { sure: "Sure", possible: "Possible", out: "Ruled out" };
    for (const [state, name] of Object.entries(stated)) {
      const chips = facts.labels.flatMap((label, j) =>
        stateOf(i, j) === state ? [make("span", { kind: `chip ${state}${isTrue(i, j) ? " true" : ""}`, text: label })] : []
      );
      if (chips.length) body.append(make("p", { kind: "chips" }, make("span", { kind: "soft", text: `${name}:` }), ...chips));
    }
    if (sizeOf(i) === 0) {
      body.append(make("p", { text: "No labelset is left at this level: nothing fits this object well enough. Have somebody look at it, or ask for more confidence." }));
    }
    if (facts.labelled) {
      const isIn = truthIsIn(i);
      const labels = inWords(labelsOf((label) => isTrue(i, label)));
      const told = `Truth (underlined above): ${labels}, p-value ${truthP(i).toFixed(4)}; `;
      body.append(make("p", {}, told, make("span", { kind: isIn ? "" : "wrong", text: isIn ? "in the region." : "not in the region." })));
    }
    body.append(topTable(i));
    return body;
  }

  function topTable(i) {
    const rows = [0, 1, 2].filter((rank) => pOf(rank, i) > 0).map((rank) => {
      const labels = inWords(labelsOf((label) => hasBit(facts.topLabelsets, rank, i, label)));
      const cells = [pOf(rank, i).toFixed(4), isMember(facts.topCodes[rank * n + i]) ? "yes" : "no"];
      return make("tr", {}, make("th", { scope: "row", text: labels }), ...cells.map((text) => make("td", { text })));
    });
    const heads = ["most plausible", "p-value", "in region"].map((text) => make("th", { scope: "col", text }));
    return make("div", { kind: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)));
  }

  function browse(page = 0) {
    browser.page = page;
    find();
    list();
  }

  // what a button elsewhere on the page asks for: no other filter, and the eye and the keyboard go there
  function showOnly(kind) {
    element("filters").reset();
    element("show").value = kind;
    browse();
    element("browser").scrollIntoView();
    element("show").focus({ preventScroll: true });
  }

  // tables that are wider than their place can be reached, and so be scrolled, by keyboard
  function markScrollers() {
    for (const box of document.querySelectorAll(".scroll")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }

  // ---- together ----

  function goTo(place) {
    level = Math.min(Math.max(place, 0), facts.perMille.length - 1);
    say();
    fillTables();
    browse(browser.page);
    redrawAll();
  }

  function connect() {
    const usual = [800, 900, 950, 990].map((one) => facts.perMille.indexOf(one)).filter((place) => place >= 0);
    document.querySelector(".presets").append(
      ...usual.map((place) => {
        const button = make("button", { type: "button", value: place, text: percent(facts.perMille[place]) });
        button.addEventListener("click", () => goTo(place));
        return button;
      })
    );
    element("level").addEventListener("input", (event) => goTo(Number(event.target.value)));
    offer("state", states);
    offer("label", [[-1, "any label"], ...facts.labels.map((label, j) => [j, label])]);
    offer("show", shows);
    offer("order", orders);
    for (const id of ["search", "state", "label", "show", "order"]) element(id).addEventListener("input", () => browse());
    element("previous").addEventListener("click", () => { browser.page -= 1; list(); });
    element("next").addEventListener("click", () => { browser.page += 1; list(); });
    for (const form of ["controls", "filters"]) element(form).addEventListener("submit", (event) => event.preventDefault());
    if (facts.labelled) {
      offer("grouping", facts.groups.map((group, g) => [g, group.by]));
      element("grouping").addEventListener("input", redrawGroups);
    }
    for (const button of document.querySelectorAll("[data-show]")) {
      button.addEventListener("click", () => showOnly(button.dataset.show));
    }
    window.addEventListener("resize", markScrollers);
    document.addEventListener("toggle", markScrollers, true); // of details: tables come into sight
    makeSortable();
  }

  document.documentElement.classList.add("ready");
  connect();
  goTo(facts.start);
  markScrollers();

  const library = document.createElement("script");
  library.textContent = new TextDecoder().decode(await inflate("vega"));
  document.head.append(library);
  await drawAll();
  document.documentElement.classList.add("drawn");
})();

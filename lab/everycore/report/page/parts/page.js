// SPDX-License-Identifier: MIT
// The address holds the state of the view, after the #. All numbers are the payload's; only ratios to a best are formed
// here.
const D = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const esc = (text) => String(text).replace(/[&<>"']/g, (c) => "&#" + c.charCodeAt(0) + ";");
const root = document.documentElement;
const FAILED = ["crashed", "time limit", "not compiled"];
const WORDS = {wrong: "WRONG", crashed: "crash", "time limit": "limit", "not compiled": "refused", skipped: "\u2013"};
const MARKS = {slow: "\u25B2", "large frame": "\u25AC", "lost constant time": "\u25C6"};
const HEAVY = /\b(v?p?gather\w*|v?pextr\w*|v?pinsr\w*)/g;
const PAGE = 100;

const number = (x) => x === 0 ? "0" : x < 1 ? x.toFixed(3) : x < 10 ? x.toFixed(2) : x < 100 ? x.toFixed(1) : x.toFixed(0);
const times = (x) => (x >= 10 ? x.toFixed(0) : x.toFixed(x < 2 ? 2 : 1)) + "\u00D7";
const step = (x, steps) => { const i = steps.findIndex((bound) => x <= bound); return i < 0 ? steps.length : i; };
const title = (c) => D.panels[c.p].subject + " " + D.panels[c.p].function;
const panelName = (p) => p.subject + " " + p.function + (p.target === "host" ? "" : " for " + p.target);

// ---- State and filters ---------------------------------------------------------------------------------------------

const KEYS = ["s", "c", "f", "o", "w", "q", "m", "b", "sort", "n"];
let state = {};
const kinds = (c) => (c.odd || []).map((i) => D.cases[i].sort);
const OUTCOMES = {
  anomalies: (c) => c.odd, wrong: (c) => c.o === "wrong", failed: (c) => FAILED.includes(c.o),
  leak: (c) => kinds(c).includes("lost constant time"), vartime: (c) => (c.ct || []).some((v) => v[0] === false),
  slow: (c) => (c.odd || []).some((i) => D.cases[i].sort === "slow"),
  frame: (c) => kinds(c).includes("large frame"),
  measured: (c) => c.o === "measured", counted: (c) => c.o === "counted", skipped: (c) => c.o === "skipped",
};
D.cells.forEach((c, i) => {
  c.i = i;
  const t = D.toolchains[c.t], f = D.flags[c.f], p = D.panels[c.p];
  const odd = (c.odd || []).map((k) => D.cases[k]).map((a) =>
    [a.sort, ...(a.causes || []), ...(a.repair || []), a.why_not || ""].join(" "));
  c.text = [p.subject, p.function, p.target, p.machine, t.name, t.compiler, f.label, c.flags, c.o, c.why || "", ...odd].join(" ").toLowerCase();
});

function read() {
  const given = new URLSearchParams(location.hash.slice(1));
  state = Object.fromEntries(KEYS.map((k) => [k, given.get(k) || ""]));
}
function write(change) {
  Object.assign(state, change);
  const kept = new URLSearchParams(Object.entries(state).filter(([, v]) => v));
  history.replaceState(null, "", "#" + kept);
  show();
}
function matches(c) {
  const p = D.panels[c.p], t = D.toolchains[c.t], f = D.flags[c.f];
  return (!state.s || state.s === p.subject || state.s === panelName(p))
    && (!state.c || state.c === t.name || state.c === t.family)
    && (!state.f || state.f === f.label || state.f === "group:" + f.group)
    && (!state.w || (state.w === "stored") === Boolean(c.stored))
    && (!state.o || !OUTCOMES[state.o] || OUTCOMES[state.o](c))
    && state.q.toLowerCase().split(/\s+/).every((word) => c.text.includes(word));
}

function options(select, groups) {
  select.innerHTML = '<option value="">all</option>' + groups.map(([label, items]) =>
    `<optgroup label="${esc(label)}">` + items.map(([v, text]) => `<option value="${esc(v)}">${esc(text)}</option>`).join("") + "</optgroup>").join("");
}
const unique = (list) => [...new Set(list)];
function prepare() {
  const form = $("filters");
  options(form.s, [["Subjects", unique(D.panels.map((p) => p.subject)).map((s) => [s, s])],
    ["Functions", unique(D.panels.map(panelName)).map((s) => [s, s])]]);
  const families = unique(D.toolchains.map((t) => t.family));
  options(form.c, [["Families", families.map((f) => [f, f])],
    ...families.map((f) => [f, D.toolchains.filter((t) => t.family === f).map((t) => [t.name, t.name])])]);
  options(form.f, [["Groups", D.groupNames.filter((g) => D.flags.some((f) => f.group === g)).map((g) => ["group:" + g, g])],
    ["Flag sets", unique(D.flags.map((f) => f.label)).map((f) => [f, f])]]);
  $("metric").innerHTML = D.metrics.filter((m) => D.cells.some((c) => c[m.key] !== undefined))
    .map((m) => `<option value="${m.key}">${m.key === "v" ? esc(unique(D.panels.map((p) => p.unit)).join(", ")) : esc(m.name)}</option>`).join("");
  let timer;
  form.addEventListener("input", (e) => {
    clearTimeout(timer);
    timer = setTimeout(() => write({[e.target.name]: e.target.value, n: ""}), e.target.name === "q" ? 120 : 0);
  });
  form.addEventListener("submit", (e) => e.preventDefault());
  form.addEventListener("reset", (e) => { e.preventDefault(); write({s: "", c: "", f: "", o: "", w: "", q: "", n: ""}); });
  document.querySelectorAll(".tile").forEach((tile) => tile.addEventListener("click", () =>
    write({o: state.o === tile.dataset.outcome ? "" : tile.dataset.outcome, n: ""})));
  $("metric").addEventListener("change", (e) => write({m: e.target.value}));
  $("base").addEventListener("change", (e) => write({b: e.target.value}));
  window.addEventListener("hashchange", () => { if (location.hash.includes("=")) { read(); show(); } });
  document.addEventListener("keydown", (e) => {
    if (e.key === "/" && !/INPUT|SELECT|TEXTAREA/.test(e.target.tagName)) { e.preventDefault(); form.q.focus(); }
  });
  document.querySelectorAll("[data-ratio]").forEach((td) => td.classList.add("h" + step(+td.dataset.ratio, D.ratios)));
}

function show() {
  const chosen = D.cells.filter(matches), form = $("filters");
  for (const name of ["s", "c", "f", "o", "w"]) { if (form[name]) { form[name].value = state[name]; } }
  if (form.q.value !== state.q) { form.q.value = state.q; }
  document.querySelectorAll(".tile").forEach((t) => t.setAttribute("aria-pressed", String(t.dataset.outcome === state.o)));
  $("shown").textContent = `${chosen.length.toLocaleString("en")} of ${D.cells.length.toLocaleString("en")} cells`;
  const odd = new Set(chosen.flatMap((c) => c.odd || []));
  document.querySelectorAll(".card").forEach((card) => { card.hidden = !D.groups[card.dataset.group].some((i) => odd.has(i)); });
  const panels = new Set(chosen.map((c) => c.p));
  document.querySelectorAll("#glance [data-panel]").forEach((row) => { row.hidden = !panels.has(+row.dataset.panel); });
  maps(chosen);
  charts(chosen);
  table(chosen);
}

// ---- Heat maps -----------------------------------------------------------------------------------------------------

function heat(c, metric, base) {
  const value = c[metric.key];
  if (value === undefined || (metric.key === "v" && WORDS[c.o])) { return null; }
  if (metric.steps.length) { return {step: step(value, metric.steps)}; }
  const best = D.panels[c.p].best[metric.key];
  const least = base === "row" ? best.row[c.t] : base === "col" ? best.col[c.f] : best.all;
  const ratio = least ? value / least : 1;
  return {step: step(ratio, D.ratios), ratio};
}
function td(c, metric, base, on, cut) {
  const found = heat(c, metric, base), sorts = kinds(c);
  const mark = sorts.map((s) => MARKS[s] || "").join("");
  const look = found ? "h" + found.step : c.o === "skipped" ? "x-skipped" : c.o === "wrong" ? "x-wrong" : WORDS[c.o] ? "x-failed" : "x-none";
  const text = found ? (Number.isInteger(c[metric.key]) && metric.key !== "v" ? c[metric.key] : number(c[metric.key])) : WORDS[c.o] || "";
  const label = c.o === "skipped" ? ' aria-label="skipped"' : "";
  return `<td role="gridcell" tabindex="-1" data-i="${c.i}" class="${look}${mark ? " odd" : ""}${cut ? " cut" : ""}${on ? "" : " faded"}"${mark ? ` data-mark="${mark}"` : ""}${label}>${text}</td>`;
}
function maps(chosen) {
  const metric = D.metrics.find((m) => m.key === state.m) || D.metrics[0], base = state.b || "all";
  $("metric").value = metric.key;
  $("base").querySelector(`[value=${base}]`).checked = true;
  $("base").hidden = metric.steps.length > 0;
  const bounds = metric.steps.length ? metric.steps : D.ratios, sign = metric.steps.length ? "" : "\u00D7";
  $("legend").innerHTML = [...bounds.map((b) => `\u2264 ${b}${sign}`), `> ${bounds.at(-1)}${sign}`]
    .map((text, i) => `<li class="h${i}">${text}</li>`).join("");
  const on = new Set(chosen.map((c) => c.i)), panels = unique(chosen.map((c) => c.p)).sort((a, b) => a - b);
  const by = new Map(panels.map((p) => [p, []]));
  D.cells.forEach((c) => by.get(c.p)?.push(c));
  $("maps").innerHTML = panels.map((p) => map(p, by.get(p), on, metric, base)).join("") || '<p class="note">No cell is left by the filters.</p>';
  document.querySelectorAll(".map").forEach((one) => { const first = one.querySelector("td[data-i]"); if (first) { first.tabIndex = 0; } });
}
const stored = (panel) => !$("filters").w || !panel.stored ? "" : panel.stored === "all" ? "; stored with everycore" : `; ${panel.stored} stored with everycore`;
function map(p, cells, on, metric, base) {
  const live = cells.filter((c) => on.has(c.i));
  const columns = unique(live.map((c) => c.f)).sort((a, b) => a - b), rows = unique(live.map((c) => c.t)).sort((a, b) => a - b);
  const at = new Map(cells.map((c) => [c.t + " " + c.f, c])), panel = D.panels[p];
  const cut = new Set(columns.filter((f, i) => i && D.flags[f].group !== D.flags[columns[i - 1]].group));
  const head = columns.map((f) => `<th scope="col"${cut.has(f) ? ' class="cut"' : ""} title="${esc(D.flags[f].spelled.join(" or "))}"><div>${esc(D.flags[f].label)}</div></th>`).join("");
  let last = "";
  const body = rows.map((t) => {
    const tool = D.toolchains[t], first = tool.family !== last ? ' class="first"' : "";
    last = tool.family;
    return `<tr role="row"${first}><th scope="row" title="${esc(tool.compiler)}">${esc(tool.name)}</th>` + columns.map((f) => {
      const c = at.get(t + " " + f);
      return c ? td(c, metric, base, on.has(c.i), cut.has(f)) : "<td></td>";
    }).join("") + "</tr>";
  }).join("");
  const byHand = metric.key !== "v" ? "" : panel.assembly.map(([name, value], i) =>
    `<tr role="row" class="asmref${i ? "" : " first"}"><th scope="row">assembly</th><td role="gridcell" colspan="${columns.length}"><b>${number(value)}</b> ${esc(name)}, written by hand</td></tr>`).join("");
  const best = panel.best.v.all;
  const unit = metric.key === "v" ? panel.unit + (best ? `; best ${number(best)}` : "") : metric.name;
  return `<div class="panel" id="panel${p}"><h3>${esc(panelName(panel))}<small>${esc(unit)}; ${panel.key}${panel.bytes} bytes; ${esc(panel.machine)}${stored(panel)}</small></h3>`
    + `<div class="heat"><table class="map" role="grid" aria-label="${esc(panelName(panel))}"><thead><tr role="row"><td></td>${head}</tr></thead><tbody>${body}${byHand}</tbody></table></div></div>`;
}

// ---- What is known of a cell ---------------------------------------------------------------------------------------

const pair = (name, value) => value === undefined || value === "" ? "" : `<dt>${name}</dt><dd>${value}</dd>`;
function known(c, whole) {
  const p = D.panels[c.p], best = p.best.v, t = D.toolchains[c.t];
  let text = "";
  if (c.v !== undefined) {
    text += pair(p.unit, `<b>${number(c.v)}</b>` + (c.q ? ` (interval ${number(c.q[0])} to ${number(c.q[1])}, ${D.intervals[c.q[2]]})` : " (exact)"));
    text += pair("beside the best", `${times(c.v / best.all)} of all, ${times(c.v / best.col[c.f])} with these flags, ${times(c.v / best.row[c.t])} of this compiler`);
  } else { text += pair("outcome", `<b>${esc(c.o)}</b>`); }
  text += pair(c.o === "skipped" ? "skipped for" : "reason", c.why && esc(c.why));
  text += pair("frame", c.frame !== undefined ? c.frame + " bytes" : undefined);
  text += pair("code", c.code !== undefined ? `${c.code} bytes, ${c.insns} instructions: ${c.vector} vector, ${c.gathers} gathers, ${c.calls} calls` : undefined);
  text += pair("executed", c.executed !== undefined ? c.executed.toLocaleString("en") + " instructions a call" : undefined);
  for (const [core, range] of Object.entries(c.est || {})) {
    text += pair("est. " + esc(core), `${number(range[0])} to ${number(range[1])} cycles per byte (a model)`);
  }
  text += (c.ct || []).map(([good, method, detail]) => pair("constant time", `${good ? "yes" : good === null ? "not judged" : "<b>no</b>"}, by ${esc(method)}${detail ? ": " + esc(detail) : ""}`)).join("");
  text += pair("sanitizer", c.hits !== undefined ? c.hits + " hits a call" : undefined);
  if (whole) {
    text += pair("result", $("filters").w ? (c.stored ? "stored with everycore" : "yours") : undefined);
    text += pair("samples", c.n ? `${c.n[1]} of ${c.n[0]} processes, ${esc(c.counter)}` : undefined);
    text += pair("compiled in", c.seconds !== undefined ? c.seconds + " s" : undefined);
    const same = c.digest ? D.cells.filter((o) => o.digest === c.digest && o !== c && o.t === c.t && o.p === c.p).map((o) => D.flags[o.f].label) : [];
    text += pair("same code as", same.length ? esc(same.join(", ")) : undefined);
    text += pair("compiler", esc(t.compiler || t.name)) + pair("flags", `<code>${esc(c.flags)}</code>`);
  } else {
    text += (c.odd || []).map((i) => D.cases[i]).map((a) => pair(a.sort, [(a.causes || []).map(esc).join("; "), a.repair ? "repaired by " + esc(a.repair.join(" ")) : ""].filter(Boolean).join("; ") || undefined)).join("");
  }
  return `<b>${esc(t.name)} ${esc(D.flags[c.f].label)}</b> on ${esc(title(c))}<dl>${text}</dl>`;
}
function odd(a) {
  const p = D.panels[D.cells[a.c].p], unit = a.sort === "large frame" ? "bytes of frame" : p.unit;
  let text = a.v !== undefined && a.sort !== "lost constant time" ? pair("is", `${number(a.v)} ${unit}`) : "";
  text += pair("its neighbour", a.than && `${esc(a.than)}${a.than_v !== undefined ? ": " + number(a.than_v) : ""}, ${times(a.x)}`);
  text += pair("differs in", a.differs && esc(a.differs)) + pair("cause", (a.causes || []).map(esc).join("; ") || undefined);
  text += pair("repaired by", a.repair && `<code>${esc(a.repair.join(" "))}</code>`);
  const after = a.after || {};
  text += pair("then", Object.keys(after).length ? [after.v !== undefined && number(after.v) + " " + p.unit, after.frame !== undefined && `frame ${after.frame}`,
    after.insns !== undefined && `${after.insns} instructions`, after.gathers !== undefined && `${after.gathers} gathers`].filter(Boolean).join(", ") : undefined);
  text += pair("no repair", a.why_not && esc(a.why_not)) + pair("tried", a.tried && `${a.tried} compilations`);
  return `<dl>${text}</dl>` + asm(a.asm) + (a.command ? `<div class="command"><code>${esc(a.command)}</code><button type="button" data-copy="${esc(a.command)}">Copy</button></div>` : "");
}
function asm(found) {
  if (!found) { return ""; }
  const share = (s) => s ? `, ${(100 * s).toFixed(0)} % of what is executed` : "";
  const line = (text) => esc(text).replace(HEAVY, "<b>$1</b>");
  const rows = found.rows.map(([mark, one, other]) => {
    const kind = {"<": "gone", ">": "new", "~": "other", "|": "other"}[mark] || "";
    return `<tr class="${kind}"><td class="m">${mark === "<" ? "\u2212" : ""}</td><td>${line(one)}</td><td class="m">${mark === ">" ? "+" : ""}</td><td>${line(other)}</td></tr>`;
  }).join("");
  return `<div class="asm" tabindex="0" role="region" aria-label="Hot loop, before and after"><table><thead><tr><th class="m"></th><th>${esc(found.symbol)}${share(found.share[0])}</th><th class="m"></th><th>${found.repaired ? "repaired" + share(found.share[1]) : ""}</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}
function details(c) {
  $("about").innerHTML = `<p>${known(c, true)}</p>` + (c.odd || []).map((i) => D.cases[i]).filter((a) => a.x !== undefined || a.causes).map((a) => `<h3>${esc(a.sort)}</h3>${odd(a)}`).join("");
  $("dialog").showModal();
}

function tip(c, box) {
  const tip = $("tip");
  tip.innerHTML = known(c, false);
  tip.hidden = false;
  const width = tip.offsetWidth, height = tip.offsetHeight;
  tip.style.left = Math.max(4, Math.min(box.left + box.width / 2 - width / 2, innerWidth - width - 4)) + "px";
  tip.style.top = (box.bottom + height + 10 < innerHeight ? box.bottom + 6 : Math.max(4, box.top - height - 6)) + "px";
}
function walk() {
  const area = $("maps"), of = (e) => e.target.closest?.("td[data-i]");
  area.addEventListener("pointerover", (e) => { const at = of(e); if (at) { tip(D.cells[at.dataset.i], at.getBoundingClientRect()); } else { $("tip").hidden = true; } });
  area.addEventListener("pointerleave", () => { $("tip").hidden = true; });
  area.addEventListener("focusin", (e) => { const at = of(e); if (at) { at.setAttribute("aria-describedby", "tip"); tip(D.cells[at.dataset.i], at.getBoundingClientRect()); } });
  area.addEventListener("focusout", () => { $("tip").hidden = true; });
  const follow = () => { // a cell that has the focus scrolls into view: its tip comes along
    const at = document.activeElement?.closest?.("#maps td[data-i]"), box = at?.getBoundingClientRect();
    if (box && box.bottom > 0 && box.top < innerHeight) { tip(D.cells[at.dataset.i], box); } else { $("tip").hidden = true; }
  };
  window.addEventListener("scroll", follow, {passive: true});
  area.addEventListener("click", (e) => { const at = of(e); if (at) { details(D.cells[at.dataset.i]); } });
  area.addEventListener("keydown", (e) => {
    const at = of(e);
    if (!at) { return; }
    const row = at.parentElement, column = [...row.children].indexOf(at);
    const beside = (r, from, by) => { let x = r?.children[from]; while (x && x.dataset.i === undefined) { from += by; x = from > 0 ? r.children[from] : null; } return x; };
    const above = (r, next) => { r = r[next]; while (r && r.children[column]?.dataset.i === undefined) { r = r[next]; } return r?.children[column]; };
    const to = {ArrowRight: () => beside(row, column + 1, 1), ArrowLeft: () => beside(row, column - 1, -1), Home: () => beside(row, 1, 1),
      End: () => beside(row, row.children.length - 1, -1), ArrowDown: () => above(row, "nextElementSibling"), ArrowUp: () => above(row, "previousElementSibling")}[e.key];
    if (e.key === "Enter" || e.key === " ") { e.preventDefault(); details(D.cells[at.dataset.i]); }
    if (e.key === "Escape") { $("tip").hidden = true; }
    if (!to) { return; }
    e.preventDefault();
    const next = to();
    if (next) { at.tabIndex = -1; next.tabIndex = 0; next.focus(); next.scrollIntoView({block: "nearest", inline: "nearest"}); }
  });
}

// ---- What is wrong: the inside of a card ---------------------------------------------------------------------------

function openCard(card) {
  const inside = card.querySelector(".inside");
  if (inside.childElementCount) { return; }
  const cases = D.groups[card.dataset.group].map((i) => D.cases[i]);
  const rows = cases.map((a, k) => {
    const c = D.cells[a.c], after = a.after || {};
    return `<tr class="go" data-k="${k}"><th scope="row"><button type="button">${esc(D.toolchains[c.t].name)}</button></th><td class="l">${esc(D.flags[c.f].label)}</td><td class="l">${esc(panelName(D.panels[c.p]))}</td>`
      + `<td>${a.v !== undefined ? number(a.v) : esc(c.o)}</td><td>${a.than_v !== undefined ? number(a.than_v) : ""}</td><td>${a.x !== undefined && a.sort !== "lost constant time" ? times(a.x) : ""}</td><td>${after.v !== undefined ? number(after.v) : ""}</td>`
      + `<td>${c.frame ?? ""}</td><td class="why">${esc((a.causes || []).join("; ") || a.why_not || c.why || "")}</td></tr>`;
  }).join("");
  const report = D.reports[card.dataset.group];
  const copied = report ? `<p><button type="button" data-copy="${esc(report)}">Copy as text for a bug tracker</button></p>` : "";
  inside.innerHTML = `<div class="about"></div>${copied}<div class="scroll" tabindex="0" role="region" aria-label="Cells of this group"><table class="wide"><thead><tr>${
    ["compiler", "flags", "function", "is", "neighbour", "ratio", "repaired", "frame", "why"].map((h) => `<th scope="col"${/flags|function|why/.test(h) ? ' class="l"' : ""}><button type="button" tabindex="-1">${h}</button></th>`).join("")}</tr></thead><tbody>${rows}</tbody></table></div>`;
  const about = (k) => {
    const a = cases[k], c = D.cells[a.c];
    inside.querySelector(".about").innerHTML = a.x === undefined ? known(c, true) + (a.repair ? odd(a) : "") : `<b>${esc(D.toolchains[c.t].name)} ${esc(D.flags[c.f].label)}</b> on ${esc(title(c))}${odd(a)}`;
    inside.querySelectorAll("tbody .go").forEach((r, i) => r.setAttribute("aria-current", String(i === k)));
  };
  inside.querySelector("table.wide:last-of-type tbody").addEventListener("click", (e) => { const row = e.target.closest(".go"); if (row) { about(+row.dataset.k); } });
  about(0);
}

// ---- Series --------------------------------------------------------------------------------------------------------

const views = [];
let seen;
function look() {
  const of = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const box = document.createElement("i");
  document.body.append(box);
  const colour = (name) => { box.style.color = `var(${name})`; return getComputedStyle(box).color; };
  const made = {background: "transparent", font: of("font-family") || "system-ui, sans-serif", view: {stroke: null},
    range: {category: D.groupNames.map((_, i) => colour("--line" + i))}, text: {color: colour("--text"), fontSize: 12},
    axis: {labelColor: colour("--soft"), titleColor: colour("--soft"), titleFontWeight: 400, gridColor: colour("--rule"), domainColor: colour("--rule"), tickColor: colour("--rule"), labelFontSize: 11}};
  box.remove();
  return made;
}
function points(chosen, s) {
  const own = D.toolchains.map((t, i) => i).filter((i) => D.toolchains[i].family === s.family), middle = own[own.length >> 1];
  return chosen.filter((c) => c.p === s.p && c.v !== undefined && D.toolchains[c.t].family === s.family).map((c) => ({
    compiler: D.toolchains[c.t].short, at: c.t, family: s.family, flags: D.flags[c.f].label, group: D.flags[c.f].group, value: c.v, odd: Boolean(c.odd), peak: c.peak || "", side: c.t < middle ? "left" : "right"}));
}
function draw(v) {
  v.dirty = false;
  const spec = {...v.s.spec, datasets: {cells: v.data}, config: look()};
  v.turn = (v.turn || Promise.resolve()).then(() => vegaEmbed(v.box, spec, {actions: false, renderer: "svg"}))
    .then((made) => { v.made?.finalize(); v.made = made; v.box.dataset.drawn = "yes"; });
}
function charts(chosen) {
  if (!$("charts")) { return; }
  if (!views.length) {
    seen = new IntersectionObserver((entries) => entries.forEach((e) => {
      const v = views.find((one) => one.place === e.target);
      v.visible = e.isIntersecting;
      if (v.visible && v.dirty) { draw(v); }
    }), {rootMargin: "300px"});
    D.series.forEach((s) => {
      const place = document.createElement("figure");
      place.className = "chart";
      place.style.margin = 0;
      place.innerHTML = `<h3>${esc(panelName(D.panels[s.p]))} <small>${esc(s.family)}</small></h3><div role="img" aria-label="Over versions of ${esc(s.family)}; the same values are in the heat map"></div>`;
      $("charts").append(place);
      views.push({s, place, box: place.lastElementChild});
      seen.observe(place);
    });
  }
  views.forEach((v) => {
    v.data = points(chosen, v.s);
    v.place.hidden = !v.data.length;
    v.dirty = true;
    if (v.visible && v.data.length) { draw(v); }
  });
}

// ---- The table of cells, and sorting -------------------------------------------------------------------------------

const ratio = (c) => c.v !== undefined ? c.v / D.panels[c.p].best.v.all : undefined;
const judged = (c) => (c.ct || []).some((v) => v[0] === false) ? 1 : (c.ct || []).some((v) => v[0]) ? 0 : undefined;
const COLUMNS = [
  ["compiler", (c) => c.t, (c) => esc(D.toolchains[c.t].name), "l"], ["flags", (c) => c.f, (c) => esc(D.flags[c.f].label), "l"],
  ["function", (c) => panelName(D.panels[c.p]), (c) => esc(panelName(D.panels[c.p])), "l"], ["outcome", (c) => c.o, (c) => esc(c.o), "l"],
  ["per byte", (c) => c.v, (c) => c.v !== undefined ? number(c.v) + (D.panels[c.p].unit[0] === "i" ? " insns" : "") : ""], ["to best", ratio, (c) => ratio(c) ? times(ratio(c)) : ""],
  ...["frame", "code", "insns", "vector", "gathers", "calls", "executed", "seconds"].map((k) => [k, (c) => c[k], (c) => c[k] ?? ""]),
  ["constant time", (c) => judged(c), (c) => ({0: "yes", 1: "no"})[judged(c)] ?? ""],
  ["why", (c) => (c.odd || []).length ? -1 : c.why ? 0 : undefined, (c) => esc([...(c.odd || []).flatMap((i) => [D.cases[i].sort, ...(D.cases[i].causes || [])]), c.why || ""].filter(Boolean).join("; ")), "why"],
];
// A column without a value in any cell would only push the others out of sight.
const USED = COLUMNS.map(([, value], i) => i < 4 || D.cells.some((c) => ![undefined, null, ""].includes(value(c))));
const compare = (a, b) => a === undefined || a === "" ? (b === undefined || b === "" ? 0 : 1) : b === undefined || b === "" ? -1 : a < b ? -1 : a > b ? 1 : 0;
const flip = (order, a, b) => order < 0 && ![a, b].some((x) => x === undefined || x === "") ? -compare(a, b) : compare(a, b);
function table(chosen) {
  const [by, order] = state.sort ? [Math.abs(+state.sort) - 1, Math.sign(+state.sort)] : [-1, 1];
  const sorted = by < 0 ? chosen : chosen.map((c) => [COLUMNS[by][1](c), c]).sort((a, b) => flip(order, a[0], b[0])).map((x) => x[1]);
  const pages = Math.max(1, Math.ceil(sorted.length / PAGE)), page = Math.min(+state.n || 0, pages - 1);
  $("table").tHead.innerHTML = "<tr>" + COLUMNS.map(([name, , , side], i) => !USED[i] ? "" : `<th scope="col"${side ? ' class="l"' : ""}${i === by ? ` aria-sort="${order > 0 ? "ascending" : "descending"}"` : ""}><button type="button" data-by="${i}">${name}</button></th>`).join("") + "</tr>";
  $("table").tBodies[0].innerHTML = sorted.slice(page * PAGE, page * PAGE + PAGE).map((c) => `<tr class="go" data-i="${c.i}">` + COLUMNS.map(([, , text, side], i) =>
    !USED[i] ? "" : i ? `<td class="${side || ""}${COLUMNS[i][0] === "to best" && ratio(c) ? " h" + step(ratio(c), D.ratios) : ""}">${text(c)}</td>` : `<th scope="row"><button type="button">${text(c)}</button></th>`).join("") + "</tr>").join("");
  $("page").textContent = `${page + 1} of ${pages}`;
  $("back").disabled = page === 0;
  $("next").disabled = page + 1 >= pages;
  $("back").onclick = () => write({n: String(page - 1)});
  $("next").onclick = () => write({n: String(page + 1)});
}
function sortable(one) {
  one.tHead.addEventListener("click", (e) => {
    const th = e.target.closest("th");
    if (!th) { return; }
    const column = [...th.parentElement.children].indexOf(th), order = th.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    const key = (row) => { const v = row.children[column].dataset.v ?? row.children[column].textContent; return v !== "" && !isNaN(v) ? +v : v; };
    const rows = [...one.tBodies[0].rows].map((row) => [key(row), row]).sort((a, b) => flip(order, a[0], b[0]));
    one.tBodies[0].append(...rows.map((x) => x[1]));
    [...th.parentElement.children].forEach((other) => other.removeAttribute("aria-sort"));
    th.setAttribute("aria-sort", order > 0 ? "ascending" : "descending");
  });
}

// ---- Start ---------------------------------------------------------------------------------------------------------

function theme(name) {
  if (name) { root.dataset.theme = name; } else { delete root.dataset.theme; }
  document.querySelectorAll("[data-theme-is]").forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.themeIs === name)));
  views.forEach((v) => { v.dirty = true; if (v.visible && v.data.length) { draw(v); } });
}
function remembered() { try { return localStorage.getItem("everycore-theme") || ""; } catch { return ""; } }
document.querySelector(".theme").addEventListener("click", (e) => {
  const name = e.target.closest("button")?.dataset.themeIs;
  if (name === undefined) { return; }
  try { localStorage.setItem("everycore-theme", name); } catch { /* a file may have no storage */ }
  theme(name);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme(root.dataset.theme || ""));
document.querySelectorAll("table.sortable").forEach(sortable);
document.querySelectorAll("input.rows").forEach((input) => input.addEventListener("input", () => {
  const words = input.value.toLowerCase().split(/\s+/);
  input.closest("details").querySelectorAll("tbody tr").forEach((row) => { row.hidden = !words.every((w) => row.cells[0].textContent.toLowerCase().includes(w)); });
}));
document.addEventListener("click", (e) => {
  const text = e.target.dataset?.copy;
  if (text !== undefined) { navigator.clipboard?.writeText(text).then(() => { e.target.textContent = "Copied"; }); }
});
if (D.cells.length) {
  prepare();
  walk();
  $("table").addEventListener("click", (e) => {
    const by = e.target.closest("[data-by]"), row = e.target.closest("tr.go");
    if (by) { const n = +by.dataset.by + 1; write({sort: String(+state.sort === n ? -n : n), n: ""}); } else if (row) { details(D.cells[row.dataset.i]); }
  });
  document.querySelectorAll(".card").forEach((card) => card.querySelector("details").addEventListener("toggle", () => openCard(card)));
  read();
  show();
}
// Sticky parts hide the top of a link's target: their height depends on how the lines wrap.
function headroom() {
  root.style.setProperty("--bar", document.querySelector(".bar").offsetHeight + "px"); // its links may take several lines
  const stuck = [...document.querySelectorAll(".bar, .filters")].filter((e) => getComputedStyle(e).position === "sticky");
  root.style.setProperty("--headroom", stuck.reduce((sum, e) => sum + e.offsetHeight, 0) + 12 + "px");
}
new ResizeObserver(headroom).observe(document.body);
headroom();
theme(remembered());
// The browser looked for the target before the maps were made.
function openTarget() { const target = document.getElementById(location.hash.slice(1)); if (target?.matches("details.run")) { target.open = true; } }
window.addEventListener("hashchange", openTarget);
openTarget();
if (location.hash && !location.hash.includes("=")) { document.getElementById(location.hash.slice(1))?.scrollIntoView({behavior: "instant"}); }
root.dataset.ready = "yes";

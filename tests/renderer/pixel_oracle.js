// Runs in a page whose scripts are off. Stills it, finds its text runs, and blanks or swaps their letters on demand.
// `roots` are its closed shadow roots, which only the debugging protocol can reach.
(roots) => {
  const ONE_PX = 1;
  const MOST_WORDS = 60;
  const documents = [];
  const runs = [];
  const stations = [];
  let fixed = [];

  const style = (element) => element.ownerDocument.defaultView.getComputedStyle(element);
  const put = (element, values) => {
    for (const [name, value] of Object.entries(values)) element.style.setProperty(name, value, "important");
  };

  // ---- the tree as it is drawn

  function above(node) {
    const parent = node.assignedSlot ?? node.parentNode;
    if (!parent) return null;
    if (parent.nodeType === Node.DOCUMENT_FRAGMENT_NODE) return parent.host ?? null;
    if (parent.nodeType === Node.DOCUMENT_NODE) return parent.defaultView?.frameElement ?? null;
    return parent;
  }

  function* inside(root) {
    for (const child of root.childNodes) {
      yield child;
      if (child.nodeType !== Node.ELEMENT_NODE) continue;
      const shadow = child.shadowRoot ?? closed.get(child);
      if (shadow) yield* inside(shadow);
      yield* inside(child);
      let inner = null;
      try { inner = child.contentDocument; } catch { /* of another origin */ }
      if (inner?.defaultView) {
        if (!documents.includes(inner)) documents.push(inner);
        yield* inside(inner);
      }
    }
  }

  // ---- stilling the page

  const RULES = `
    noscript { display: none !important } /* shown while scripts are off */
    *, ::before, ::after { scroll-behavior: auto !important; overflow-anchor: none !important;
      scroll-snap-type: none !important; transition: none !important; caret-color: transparent !important;
      text-decoration-skip-ink: none !important /* the gaps of lines depend on the letters */ }
    ::highlight(oracle) { color: transparent; -webkit-text-fill-color: transparent;
      -webkit-text-stroke-color: transparent }`;

  function rule(root) {
    const sheet = document.createElement("style");
    sheet.textContent = RULES;
    sheet.style.setProperty("display", "none", "important");
    (root.head ?? root.documentElement ?? root).append(sheet);
  }

  function end(animation) {
    try {
      const timing = animation.effect?.getComputedTiming();
      if (animation.timeline !== null && !(animation.timeline instanceof DocumentTimeline)) {
        // Driven by scrolling: as it is when the element is in the middle of the window.
        animation.pause();
        animation.currentTime = CSS.percent(50);
      } else if (timing && timing.endTime !== Infinity && animation.playState !== "finished") animation.finish();
      else animation.pause();
    } catch { animation.pause(); }
  }

  function still() {
    const elements = [...inside(document)].filter((node) => node.nodeType === Node.ELEMENT_NODE);
    for (const root of [...documents, ...roots, ...elements.map((e) => e.shadowRoot).filter(Boolean)]) rule(root);
    for (const page of documents) for (const animation of page.getAnimations()) end(animation);
    for (const page of documents) {
      for (const element of [page.documentElement, page.body]) {
        if (element && /hidden|clip/.test(style(element).overflow)) put(element, { overflow: "visible" });
      }
    }
    fixed = [];
    for (const element of elements) {
      const computed = style(element);
      if (computed.contentVisibility === "auto") put(element, { "content-visibility": "visible" });
      if (computed.position === "sticky") put(element, { position: "relative", inset: "auto" });
      if (computed.position === "fixed" && element.ownerDocument === document) fixed.push(element);
    }
    // A fixed box in a transformed one moves with it.
    const tops = fixed.map((element) => element.getBoundingClientRect().top);
    scrollTo(0, 1);
    if (scrollY) fixed = fixed.filter((element, at) => element.getBoundingClientRect().top === tops[at]);
    scrollTo(0, 0);
  }

  // ---- boxes in the coordinates of the window

  function lifted(rect, page) {
    let { left, top, right, bottom } = rect;
    for (let frame = page.defaultView.frameElement; frame; frame = frame.ownerDocument.defaultView.frameElement) {
      const box = frame.getBoundingClientRect();
      const computed = style(frame);
      const across = frame.offsetWidth ? box.width / frame.offsetWidth : 1;
      const down = frame.offsetHeight ? box.height / frame.offsetHeight : 1;
      const x = box.left + (frame.clientLeft + parseFloat(computed.paddingLeft)) * across;
      const y = box.top + (frame.clientTop + parseFloat(computed.paddingTop)) * down;
      [left, right, top, bottom] = [x + left * across, x + right * across, y + top * down, y + bottom * down];
    }
    return { left, top, right, bottom };
  }

  function boxes(node) {
    const range = node.ownerDocument.createRange();
    range.selectNodeContents(node);
    let found = [...range.getClientRects()];
    const real = (rect) => rect.width > 0.01 && rect.height > 0.01;
    if (found.length && !found.some(real)) { // negative spacing: a whole of no width, made of words that have some
      found = [...(node.data ?? "").matchAll(/\S+/g)].slice(0, MOST_WORDS).flatMap((word) => {
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        return [...range.getClientRects()];
      });
    }
    return found.filter(real).map((rect) => lifted(rect, node.ownerDocument));
  }

  function port(box) {
    const rect = box.getBoundingClientRect();
    if (box === box.ownerDocument.documentElement) {
      const view = box.ownerDocument.defaultView;
      return lifted({ left: 0, top: 0, right: view.innerWidth, bottom: view.innerHeight }, box.ownerDocument);
    }
    const left = rect.left + box.clientLeft, top = rect.top + box.clientTop;
    return lifted({ left, top, right: left + box.clientWidth, bottom: top + box.clientHeight }, box.ownerDocument);
  }

  const common = (a, b) => ({
    left: Math.max(a.left, b.left), top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom),
  });
  const area = (rect) => Math.max(0, rect.right - rect.left) * Math.max(0, rect.bottom - rect.top);

  const total = (rects) => rects.reduce((sum, rect) => sum + area(rect), 0);

  // The share of a run that the boxes it scrolls in have room for at once.
  function roomFor(run) {
    const whole = total(boxes(run.node));
    if (!run.scrollers.length || !whole) return 1;
    let part = boxes(run.node);
    for (const box of run.scrollers) { const seen = port(box); part = part.map((rect) => common(rect, seen)); }
    return Math.min(1, total(part) / whole);
  }

  function inkBoxes(run) {
    let found = boxes(run.node);
    for (const box of run.scrollers) { const seen = port(box); found = found.map((rect) => common(rect, seen)); }
    return found.filter((rect) => area(rect) > 0)
      .map((r) => [r.left - run.pad, r.top - run.pad, r.right + run.pad, r.bottom + run.pad]);
  }

  // ---- boxes that scroll

  function canScroll(element) {
    const computed = style(element);
    const isRoot = element === element.ownerDocument.documentElement;
    const line = parseFloat(computed.fontSize);
    if (isRoot && element.ownerDocument === document) return false; // the window, which is scrolled anyway
    if (Math.min(element.clientWidth, element.clientHeight) < line) return false;
    const reach = (overflow) => isRoot || /auto|scroll/.test(overflow);
    return (reach(computed.overflowX) && element.scrollWidth > element.clientWidth)
      || (reach(computed.overflowY) && element.scrollHeight > element.clientHeight);
  }

  function turnTo(run) {
    for (const box of run.scrollers) {
      const [first] = boxes(run.node);
      if (!first) return;
      const seen = port(box), computed = style(box);
      const isRoot = box === box.ownerDocument.documentElement;
      const x = (first.left + first.right - seen.left - seen.right) / 2;
      const y = (first.top + first.bottom - seen.top - seen.bottom) / 2;
      box.scrollBy(
        isRoot || /auto|scroll/.test(computed.overflowX) ? x : 0,
        isRoot || /auto|scroll/.test(computed.overflowY) ? y : 0,
      );
    }
  }

  const MOST_STATIONS = 40;

  function plan() {
    const scrollers = [...new Set(runs.flatMap((run) => run.scrollers))];
    let waiting = runs.filter((run) => run.scrollers.length);
    const isIn = (run) => roomFor(run) >= 0.99;
    const stop = (chosen) => {
      const here = waiting.filter((run) => chosen.has(run) || isIn(run));
      for (const run of here) { run.station = stations.length; run.room = roomFor(run); }
      waiting = waiting.filter((run) => !here.includes(run));
      stations.push(scrollers.map((box) => [box, box.scrollLeft, box.scrollTop]));
    };
    stop(new Set());
    while (waiting.length && stations.length < MOST_STATIONS) {
      const chosen = new Set(), turned = new Set();
      for (const run of waiting) {
        if (run.scrollers.some((box) => turned.has(box))) continue;
        turnTo(run);
        chosen.add(run);
        run.scrollers.forEach((box) => turned.add(box));
      }
      stop(chosen);
    }
    for (const run of waiting) run.station = -1; // not judged
  }

  // ---- runs

  // Device pixels per CSS px of the letters: the smaller of the two singular values of all transforms above.
  function scaleOf(element) {
    let matrix = new DOMMatrix();
    for (let e = element; e; e = above(e)) {
      const computed = style(e);
      if (/^(contents|inline)$/.test(computed.display) && e.namespaceURI !== "http://www.w3.org/2000/svg") continue;
      let own = new DOMMatrix();
      if (computed.scale !== "none") {
        const [x, y = x] = computed.scale.split(" ").map(Number);
        own = own.scale(x, y);
      }
      if (computed.transform !== "none") own = own.multiply(new DOMMatrix(computed.transform));
      if (own.is2D || computed.transform !== "none") matrix = own.multiply(matrix);
    }
    const w = matrix.m44 || 1;
    const [a, b, c, d] = [matrix.m11 / w, matrix.m12 / w, matrix.m21 / w, matrix.m22 / w];
    const sum = a * a + b * b + c * c + d * d, det = Math.abs(a * d - b * c);
    const root = Math.sqrt(Math.max(0, sum * sum - 4 * det * det));
    return { least: Math.sqrt(Math.max(0, (sum - root) / 2)), mean: Math.sqrt(det) };
  }

  function shadowReach(computed) {
    if (computed.textShadow === "none") return 0;
    const lengths = computed.textShadow.match(/-?[\d.]+(?=px)/g) ?? [];
    return Math.min(40, lengths.reduce((most, length) => Math.max(most, Math.abs(length)), 0));
  }

  // Whether nothing but the letters can be hidden, and whether by a style of their parent: no highlight changes letters
  // of SVG or shadows of letters, and each hides the lines through and under them as well. No style hides the shadow
  // of letters and leaves that of the lines, and none changes what backgrounds are cut to.
  function wayToBlank(parent) {
    let isCut = false, hasLines = false;
    for (let e = parent; e; e = above(e)) {
      isCut ||= style(e).backgroundClip.includes("text");
      hasLines ||= style(e).textDecorationLine !== "none";
    }
    const hasShadow = style(parent).textShadow !== "none";
    const bySelf = hasLines || hasShadow || parent.namespaceURI === "http://www.w3.org/2000/svg";
    return { blanks: !isCut && !(hasLines && hasShadow), bySelf, lines: lineColour(style(parent)) };
  }

  // The colour of an element's own lines. Where they have that of the text, Chrome paints them like its stroke or fill.
  function lineColour(computed) {
    if (computed.textDecorationColor !== computed.color) return computed.textDecorationColor;
    const isStroked = parseFloat(computed.webkitTextStrokeWidth) && !/, 0\)$/.test(computed.webkitTextStrokeColor);
    return isStroked ? computed.webkitTextStrokeColor : computed.webkitTextFillColor;
  }

  function collect() {
    for (const node of inside(document)) {
      if (node.nodeType !== Node.TEXT_NODE || !/\S/.test(node.data)) continue;
      const parent = above(node);
      if (!parent) continue;
      const computed = style(parent);
      if (/^(script|style)$/i.test(parent.localName) && !parent.getClientRects().length) continue;
      const scrollers = [];
      let isFixed = false;
      for (let e = parent; e; e = above(e)) {
        if (canScroll(e)) scrollers.push(e);
        isFixed ||= fixed.includes(e);
      }
      const { least, mean } = scaleOf(parent);
      const letter = parseFloat(computed.fontSize) * (parent.currentCSSZoom ?? 1);
      runs.push({
        node, parent, scrollers, isFixed, station: 0, room: 1, plain: node.data, swapped: null, ...wayToBlank(parent),
        pad: ONE_PX + shadowReach(computed), letter: letter * least, drawn: letter * mean,
      });
    }
  }

  // ---- other letters of equal advance

  const canvas = document.createElement("canvas").getContext("2d");
  const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const PAIRS = { n: "u", u: "n", b: "d", d: "b", p: "q", q: "p", 6: "9", 9: "6", 0: "8", 8: "0" };
  const tables = new Map();

  function tableOf(computed, letters) {
    const upper = computed.textTransform === "uppercase", lower = computed.textTransform === "lowercase";
    const font = `${computed.fontStyle} ${computed.fontWeight} 100px ${computed.fontFamily}`;
    const key = `${font}|${computed.textTransform}|${letters}`;
    if (!tables.has(key)) {
      canvas.font = font;
      const groups = new Map();
      for (const letter of letters) {
        const kind = /\d/.test(letter) ? 0 : letter === letter.toLowerCase() ? 1 : 2;
        const shown = upper ? letter.toUpperCase() : lower ? letter.toLowerCase() : letter;
        const width = `${kind} ${canvas.measureText(shown).width.toFixed(1)}`;
        groups.set(width, [...(groups.get(width) ?? []), letter]);
      }
      const table = new Map();
      for (const group of groups.values()) group.forEach((l, at) => table.set(l, group[(at + 1) % group.length]));
      tables.set(key, table);
    }
    return tables.get(key);
  }

  function findSwaps() {
    const sizes = (rects) => rects.map((r) => [r.right - r.left, r.bottom - r.top]).flat();
    const places = (rects) => rects.map((r) => [r.left, r.top, r.right, r.bottom]).flat();
    const same = (a, b) => a.length === b.length && a.every((value, at) => Math.abs(value - b[at]) < 0.5);
    const before = runs.map((run) => boxes(run.node));
    const others = (run) => [...new Set(run.plain)].filter((l) => /\p{L}/u.test(l) && !LETTERS.includes(l));
    const ways = [
      (run) => {
        const table = tableOf(style(run.parent), LETTERS + others(run).sort().join(""));
        return [...run.plain].map((letter) => table.get(letter) ?? letter).join("");
      },
      (run) => [...run.plain].map((letter) => PAIRS[letter] ?? letter).join(""),
    ];
    for (const way of ways) {
      const tried = runs.filter((run) => run.swapped === null);
      for (const run of tried) run.node.data = way(run);
      const fits = tried.filter((run) => {
        const at = runs.indexOf(run);
        return run.node.data !== run.plain && same(sizes(before[at]), sizes(boxes(run.node)));
      });
      for (const run of fits) run.swapped = run.node.data;
      for (const run of tried) if (run.swapped === null) run.node.data = run.plain;
    }
    // Kerning may add up, so try the words one by one.
    for (const run of runs.filter((run) => run.swapped === null && before[runs.indexOf(run)].length)) {
      const width = sizes(before[runs.indexOf(run)]);
      const table = tableOf(style(run.parent), LETTERS);
      const words = run.plain.split(/( )/);
      let isSwapped = false;
      for (let at = 0; at < Math.min(words.length, MOST_WORDS); at++) {
        const kept = words[at];
        words[at] = [...kept].map((letter) => table.get(letter) ?? letter).join("");
        if (words[at] === kept) continue;
        run.node.data = words.join("");
        if (same(width, sizes(boxes(run.node)))) isSwapped = true;
        else words[at] = kept;
      }
      run.node.data = run.plain;
      if (isSwapped) run.swapped = run.node.data = words.join("");
    }
    for (let round = 0; round < 3; round++) {
      const moved = runs.filter((run, at) => !same(places(before[at]), places(boxes(run.node))));
      if (!moved.length) break;
      for (const run of moved) { run.swapped = null; run.node.data = run.plain; }
    }
    for (const run of runs) run.node.data = run.plain;
  }

  // ---- the letters alone, black on white, over everything else

  const sheet = { host: null, body: null, clones: [] };

  function openSheet() {
    sheet.host = document.createElement("div");
    sheet.host.popover = "manual";
    put(sheet.host, {
      all: "initial", position: "fixed", inset: "0", width: "100vw", height: "100vh", margin: "0", padding: "0",
      border: "0", display: "block", overflow: "hidden", background: "#fff", "color-scheme": "light",
    });
    document.documentElement.append(sheet.host);
    sheet.body = document.createElement("div");
    put(sheet.body, { padding: "10px", width: "1200px" });
    sheet.host.attachShadow({ mode: "open" }).append(sheet.body);
    for (const run of runs) {
      const computed = style(run.parent);
      const clone = document.createElement("div");
      clone.textContent = run.plain;
      const copied = ["font-family", "font-weight", "font-style", "font-stretch", "font-variant", "text-transform"];
      for (const name of copied) clone.style.setProperty(name, computed.getPropertyValue(name));
      put(clone, {
        "font-size": `${run.drawn}px`, "line-height": "1.7", color: "#000", "-webkit-text-fill-color": "#000",
        "overflow-wrap": "anywhere",
      });
      sheet.body.append(clone);
      sheet.clones.push(clone);
    }
    sheet.host.showPopover();
    return sheet.host.scrollHeight;
  }

  const ofControl = (element) => Boolean(element.closest?.("textarea, select, datalist"));

  // ---- what the driver calls

  const restyled = new Map();
  const closed = new Map(roots.map((root) => [root.host, root]));
  documents.push(document);
  still();
  collect();
  findSwaps();
  plan();
  const inWindow = ([left, top, right, bottom]) =>
    right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;

  globalThis.oracle = {
    runs: () => runs.map((run) => ({
      text: run.plain, letter_px: run.letter, station: ofControl(run.parent) ? -1 : run.station, fixed: run.isFixed,
      ways: [...(run.blanks ? ["blank"] : []), ...(run.swapped !== null ? ["swap"] : [])],
      room: run.room, boxes: boxes(run.node).length,
    })),
    stations: () => stations.length,
    // Boxes at a station of the scrolling boxes, in the coordinates of the page.
    station(number) {
      stations[number].forEach(([box, left, top]) => { box.scrollLeft = left; box.scrollTop = top; });
      scrollTo(0, 0);
      return runs.map((run) => (run.station === number ? inkBoxes(run) : []));
    },
    liftFixed(isLifted) {
      for (const element of fixed) {
        if (isLifted) {
          element.oracleOpacity = [element.style.getPropertyValue("opacity"), element.style.getPropertyPriority("opacity")];
          put(element, { opacity: "0" });
        } else if (element.oracleOpacity) element.style.setProperty("opacity", ...element.oracleOpacity);
      }
    },
    scroll(x, y, ids) {
      scrollTo(x, y);
      return [scrollX, scrollY, ids.map((id) => inkBoxes(runs[id]).filter(inWindow))];
    },
    show(how, ids) {
      for (const page of documents) page.defaultView.CSS.highlights.clear();
      for (const run of runs) if (run.node.data !== run.plain) run.node.data = run.plain;
      if (how === "swap") for (const id of ids) runs[id].node.data = runs[id].swapped ?? runs[id].plain;
      for (const [parent, before] of restyled) parent.setAttribute("style", before);
      restyled.clear();
      if (how !== "blank") return;
      for (const { parent, lines } of ids.map((id) => runs[id]).filter((run) => run.bySelf)) {
        if (!restyled.has(parent)) restyled.set(parent, parent.getAttribute("style") ?? "");
        put(parent, {
          "-webkit-text-fill-color": "transparent", "-webkit-text-stroke-color": "transparent",
          "text-decoration-color": lines, "text-shadow": "none", fill: "transparent", stroke: "transparent",
        });
      }
      const marked = ids.map((id) => runs[id]).filter((run) => !run.bySelf).map((run) => run.node);
      for (const page of documents) {
        const ranges = marked.filter((node) => node.ownerDocument === page).map((node) => {
          const range = page.createRange();
          range.selectNodeContents(node);
          return range;
        });
        if (ranges.length) page.defaultView.CSS.highlights.set("oracle", new page.defaultView.Highlight(...ranges));
      }
    },
    openSheet,
    scrollSheet(top) {
      sheet.host.scrollTop = top;
      return [0, sheet.host.scrollTop, sheet.clones.map((clone) => boxes(clone)
        .map((r) => [r.left - 1, r.top - 1, r.right + 1, r.bottom + 1]).filter(inWindow))];
    },
    showSheet(isSwapped) {
      runs.forEach((run, at) => { sheet.clones[at].textContent = isSwapped ? run.swapped ?? run.plain : run.plain; });
    },
  };
  return runs.length;
}

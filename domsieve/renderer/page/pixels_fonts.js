// Evaluated after pixels.js: adds what tells of the fonts of a document, and of styles that no capture has.
// hasFonts(), alike(...groups): whether the document loads fonts, and which groups of [font, letters] draw all alike.
// unboxed(...): what no capture has of the styles.
Object.assign(domsievePixels, (() => {
  const { own, isLaidOut } = dom;
  const { treesOf } = domsievePixels;

  // What letters inherit.
  const OF_LETTERS = ["color", "webkitTextFillColor", "webkitTextStrokeColor", "textShadow", "font", "letterSpacing",
    "wordSpacing", "textTransform"];
  // What the fonts of the page draw for some letters.
  const drawnBy = (letters) => {
    const [CELL, COLUMNS] = [20, 50];
    const pen = new OffscreenCanvas(CELL * COLUMNS, CELL * Math.ceil(letters.length / COLUMNS) || 1)
      .getContext("2d", { willReadFrequently: true });
    return [...document.fonts].map(({ family, style, weight, status }) => {
      const { width, height } = pen.canvas;
      pen.clearRect(0, 0, width, height);
      pen.font = `16px ${family}`;
      pen.font = `${style} ${weight} 16px ${family}`;
      if (status === "loaded") {
        letters.forEach((letter, at) => pen.fillText(letter, CELL * (at % COLUMNS), CELL * Math.floor(at / COLUMNS) + 15));
      }
      const { data } = pen.getImageData(0, 0, width, height);
      let sum = 0;
      for (let at = 3; at < data.length; at += 4) sum = (31 * sum + data[at]) | 0;
      return [family, style, weight, sum].join();
    }).join(";");
  };

  return {
    hasFonts() {
      return [...document.fonts].some((font) => font.status === "loaded");
    },

    alike(...groups) {
      const [CELL, LEAST] = [48, 0.15]; // px of a letter; what differs of two letters, as a share of the larger one
      const pen = new OffscreenCanvas(16 * CELL, CELL).getContext("2d", { willReadFrequently: true });
      // The alpha of a letter, without the space around it.
      const drawn = (letter) => {
        pen.clearRect(0, 0, CELL, CELL);
        pen.fillText(letter, 6, 36);
        const { data } = pen.getImageData(0, 0, CELL, CELL);
        const alpha = Uint8Array.from({ length: CELL * CELL }, (_, at) => data[4 * at + 3]);
        const first = alpha.findIndex((one) => one > 0);
        if (first < 0) return { alpha: new Uint8Array(CELL * CELL), ink: 0 };
        let left = CELL;
        for (let at = first; at < alpha.length; at++) if (alpha[at]) left = Math.min(left, at % CELL);
        const shift = CELL * Math.floor(first / CELL) + left;
        const moved = new Uint8Array(CELL * CELL);
        moved.set(alpha.subarray(shift));
        return { alpha: moved, ink: moved.reduce((sum, one) => sum + one, 0) };
      };
      const areAlike = (one, other) =>
        one.alpha.reduce((sum, level, at) => sum + Math.abs(level - other.alpha[at]), 0) <= LEAST * Math.max(one.ink, other.ink);
      return groups.map((group) => {
        const [kinds, all] = [[], []];
        for (const [font, letters] of group) {
          pen.font = font;
          for (const letter of letters) {
            const form = drawn(letter);
            all.push(letter);
            if (!kinds.some((kind) => areAlike(kind, form))) kinds.push(form);
          }
        }
        return kinds.length <= all.length / 4;
      });
    },

    // What the fonts draw, and the styles of what colours gradients and filters and of pseudo-elements of the text, if
    // style sheets mention these; empty for what is invisible.
    unboxed(hasLines, hasHighlights, ...roots) {
      const pseudos = [
        ...(hasLines ? ["::first-line"] : []),
        ...(hasHighlights ? [...CSS.highlights.keys()].map((name) => `::highlight(${CSS.escape(name)})`) : []),
      ];
      const said = (style, names) => names.map((name) => style[name]).join();
      const all = treesOf(roots);
      const lines = [drawnBy([...new Set(all.map((root) => (root === document ? own("documentElement") : root).textContent).join(""))].slice(0, 1000))];
      for (const root of all) {
        for (const element of root.querySelectorAll("stop, filter *")) {
          lines.push(said(getComputedStyle(element), ["stopColor", "stopOpacity", "floodColor", "floodOpacity", "lightingColor", "color"]));
        }
        for (const element of pseudos.length ? root.querySelectorAll("*") : []) {
          if (!isLaidOut(element)) {
            lines.push(...pseudos.map(() => ""));
            continue;
          }
          const own = getComputedStyle(element);
          for (const pseudo of pseudos) {
            const style = getComputedStyle(element, pseudo);
            const differs = OF_LETTERS.filter((name) => style[name] !== own[name]);
            lines.push(said(style, [...differs, "backgroundColor", "backgroundImage"]));
          }
        }
      }
      return lines;
    },
  };
})());

// Evaluated after lines.js and fonts.js: draws letters one by one, and others of their font in their places.
// apart(fonts, lines, width, height): the letters of lines, each drawn alone where it has its place, and in other inks and
// pictures the letters of their font that look most like them; with the place of each, the number of its line, where it
// begins in that, in code units, and how many others there are.
Object.assign(domsievePixels, (() => {
  const { run } = dom;
  const { paper, penOf, laid, INKS, formsOf, likeness } = domsievePixels;

  // Letters look alike by the first likeness and more, and the same by the second; so many are drawn in place of one.
  const [LEAST_LIKE, SAME, MOST_OTHERS] = [0.5, 0.998, 5];
  // Lines that go to the left are not compared.
  const GOES_LEFT = /[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
  const LETTER = /^[\p{L}\p{N}][\p{M}\p{Cf}]*$/u;
  // Boxes of letters are no higher and lower than this, in sizes, whatever a font says.
  const [MOST_HIGH, MOST_LOW] = [1.3, 0.6];
  const COMMON = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const same = (one, other) => one.toLowerCase() === other.toLowerCase();
  // The letters of a font that look most like each of some.
  const othersIn = ([style, size, family, caps, stretch, rendering, kerning], isSpaced, language, letters) => {
    const known = [...new Set([...COMMON, ...letters])];
    const font = [style, size, family, caps, stretch, rendering, kerning || "auto", isSpaced, language];
    const forms = new Map(formsOf(known.map((letter) => [font, letter])).map((form, at) => [known[at], form]));
    return new Map([...letters].map((letter) => {
      const own = forms.get(letter), found = [];
      const others = known.filter((one) => own && forms.get(one) && !same(one, letter))
        .map((one) => [likeness(own, forms.get(one)), one]).filter(([like]) => like >= LEAST_LIKE && like < SAME);
      for (const [, one] of others.sort(([one], [other]) => other - one)) {
        const isFound = found.some((other) => likeness(forms.get(one), forms.get(other)) >= SAME);
        if (found.length < MOST_OTHERS && !isFound) found.push(one);
      }
      return [letter, found];
    }));
  };
  const known = new Map();
  const othersOf = (font, isSpaced, language, letters) => {
    const key = [...font, isSpaced, language].join();
    const found = known.get(key) ?? new Map();
    const fresh = new Set(letters.filter((one) => !found.has(one)));
    if (fresh.size) for (const [letter, others] of othersIn(font, isSpaced, language, fresh)) found.set(letter, others);
    known.set(key, found);
    return found;
  };

  return {
    apart(fonts, lines, width, height) {
      const sheets = Array.from({ length: Math.ceil((1 + MOST_OTHERS) / INKS.length) }, () => paper(width, height));
      const pens = sheets.map((sheet) => {
        const pen = penOf(sheet);
        pen.fillRect(0, 0, width, height);
        pen.globalCompositeOperation = "lighter";
        return pen;
      });
      const found = [];
      lines.forEach((line, number) => {
        const ways = pens.map((pen) => laid(pen, fonts, line));
        const [{ piece, glyphs, matrix, at: [x, y], begin }] = ways;
        const [a, b, c, d, e, f] = matrix;
        const goesLeft = line.direction === "rtl" && GOES_LEFT.test(piece);
        if (glyphs.length !== 1 || line.place || line.upright !== null || goesLeft) return;
        const [pen] = pens;
        const letters = Array.from(new Intl.Segmenter().segment(piece), ({ segment, index }) => [segment, index])
          .filter(([segment]) => LETTER.test(segment))
          .map(([segment, index]) => [segment.replace(/\p{Cf}/gu, ""), index, segment.length]);
        const others = othersOf(fonts[line.font], line.letterSpacing !== 0, line.language, letters.map(([letter]) => letter));
        const { fontBoundingBoxAscent, fontBoundingBoxDescent } = pen.measureText("");
        const size = parseFloat(/([\d.e+-]+)px/.exec(pen.font)?.[1]) || 0;
        const [high, low] = [Math.min(fontBoundingBoxAscent, MOST_HIGH * size), Math.min(fontBoundingBoxDescent, MOST_LOW * size)];
        // A letter may be nearer to the one before than that ends.
        const wideOf = (text) => pen.measureText(text).width;
        const places = letters.map(([letter, index, length]) => {
          const end = x + wideOf(piece.slice(0, index + length));
          return [end - wideOf(letter), end];
        });
        for (const one of pens) {
          [one.letterSpacing, one.wordSpacing] = ["0px", "0px"];
          one.setTransform(a, b, c, d, e, b || c ? f : Math.round(d * y + f) - d * y); // lines are on whole pixels
        }
        letters.forEach(([letter, index], which) => {
          const [from, to] = places[which];
          [letter, ...others.get(letter)].forEach((one, version) => {
            const own = pens[Math.floor(version / INKS.length)];
            own.fillStyle = INKS[version % INKS.length];
            own.fillText(one, from, y);
          });
          const corners = [from, to].flatMap((across) => [y - high, y + low]
            .map((down) => [a * across + c * down + e, b * across + d * down + f]));
          const [xs, ys] = [0, 1].map((axis) => corners.map((corner) => corner[axis]));
          const box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
          found.push([...box, number, begin + index, others.get(letter).length]);
        });
      });
      return [found, sheets.map((sheet) => run(sheet, HTMLCanvasElement, "toDataURL").split(",")[1])];
    },
  };
})());

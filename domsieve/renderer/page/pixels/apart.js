// Evaluated after lines.js and fonts.js: draws letters one by one, and others of their font in their places.
// apart(fonts, lines, width, height): the letters of lines, each drawn alone where it has its place, and in other inks and
// pictures the letters of their font that look most like them; with the place of each, the number of its line, where it
// begins in that, in code units, how many others there are, where its ink begins and ends along the line, how much it
// leaves free of its width on both sides, and how far down it stands; the numbers of the lines of which all is drawn; and
// the pictures. Of lines that are `isAbove`, only what is above their letters' feet counts. What is `left` of a line, by where it
// begins and ends in its text, is not drawn.
// resized(...fonts): of each [font, letters], see fonts.js, those that a font of the page draws otherwise in its size than
// in a large one: it may have pictures or instructions for some sizes.
Object.assign(domsievePixels, (() => {
  const { run } = dom;
  const { paper, penOf, sizeOf, laid, INKS, ofPage, choose, formsOf, even, likeness, stretched } = domsievePixels;

  // Letters look alike by the first likeness and more, and the same by the second; so many are drawn in place of one.
  const [LEAST_LIKE, SAME, MOST_OTHERS] = [0.5, 0.998, 2];
  // Lines that go to the left are not compared.
  const GOES_LEFT = /[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
  // Nor are letters that may have other forms beside each other: see `_JOINING` of `_fonts.py`.
  const LETTER = /(?![\u0590-\u109f\u1100-\u11ff\u1700-\u1cff\ua800-\uaaff\uabc0-\uabff\ud7b0-\ud7ff\ufb1d-\ufdff\ufe70-\ufefe])[\p{L}\p{N}]\p{M}*/u;
  const SIGN = /^[\p{P}\p{S}]/u;
  // Letters that fonts for reading join are drawn together.
  const [LIGATURE, LEAST_LIGATED] = [/f[bfhijklt]+/g, 0.85];
  // Boxes of letters are at least so high and so low, in sizes: no stroke beyond the ink of a letter makes it another one.
  const [LEAST_HIGH, LEAST_LOW] = [0.8, 0.25];
  const LARGE_PX = 400;
  const ABOVE_LINES = -1; // in px: lines under letters begin below them
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

  // Whether a font joins letters to something else than these, by its form.
  const odd = new Map();
  const isOddLigature = ([style, , family, caps, stretch, rendering, kerning], language, said) => {
    const font = [style, LARGE_PX / 10, family, caps, stretch, rendering, kerning || "auto", false, language];
    const key = [...font, said].join();
    if (!odd.has(key)) {
      const [joined, single] = formsOf([said, [...said]].map((text) => [font, text]));
      odd.set(key, !joined || !single || likeness(joined, single) < LEAST_LIGATED);
    }
    return odd.get(key);
  };

  // How much a letter leaves free of its width before and behind it, in sizes: browsers round boxes to whole pixels.
  const sides = new Map();
  const sidesOf = ([style, , family, caps, stretch], letter) => {
    const key = [style, family, caps, stretch, letter].join();
    if (!sides.has(key)) {
      const pen = penOf(paper(1, 1));
      pen.font = `${style} ${LARGE_PX}px ${family}`;
      [pen.fontVariantCaps, pen.fontStretch] = [caps, stretched(stretch)];
      const { actualBoundingBoxLeft: left, actualBoundingBoxRight: right, width } = pen.measureText(letter);
      sides.set(key, [-left / LARGE_PX, (width - right) / LARGE_PX]);
    }
    return sides.get(key);
  };

  // Letters of a size look like large ones that are made small by the first and more, and like no other letter by the last
  // more; if they look so by the second, nothing else is asked. Measured on 9 fonts in 6 sizes: .89, for nearly all .95.
  const [LEAST_RESIZED, EQUAL, MORE_LIKE] = [0.8, 0.97, 0.01];
  // Larger letters than these are not compared: no font has pictures of them.
  const [MOST_PX, STEPS] = [256, [0, -0.25, 0.25, -0.5, 0.5]];
  const evenIn = (pen, side) => {
    const { data } = pen.getImageData(0, 0, side, side);
    return even(Float32Array.from({ length: side * side }, (_, at) => data[4 * at + 3]));
  };
  const resizedIn = (font, letters) => {
    const size = font[1], side = Math.ceil(3 * size) + 2;
    const [pen, largePen] = [side, 3 * LARGE_PX].map((one) => penOf(paper(one, one)));
    const known = new Map();
    const drawn = (letter) => {
      pen.reset();
      choose(pen, font);
      pen.fillText(letter, Math.round(size), Math.round(2 * size));
      return evenIn(pen, side);
    };
    // A large letter that is made small, so far aside and down.
    const small = (letter, aside, down) => {
      largePen.reset();
      choose(largePen, font.with(1, LARGE_PX));
      largePen.fillText(letter, LARGE_PX, 2 * LARGE_PX);
      pen.reset();
      pen.imageSmoothingQuality = "high";
      const [left, top] = [Math.round(size) - size + aside, Math.round(2 * size) - 2 * size + down];
      pen.drawImage(largePen.canvas, left, top, 3 * size, 3 * size);
      return evenIn(pen, side);
    };
    const like = (form, letter) => {
      if (!known.has(letter)) known.set(letter, []);
      const forms = known.get(letter);
      let best = 0;
      for (let step = 0; step < STEPS.length ** 2 && best < EQUAL; step++) {
        forms[step] ??= [small(letter, STEPS[step % STEPS.length], STEPS[Math.floor(step / STEPS.length)])];
        if (forms[step][0]) best = Math.max(best, likeness(form, forms[step][0]));
      }
      return best;
    };
    return [...letters].filter((letter) => {
      const form = drawn(letter), own = form ? like(form, letter) : 1;
      return own < EQUAL && (own < LEAST_RESIZED
        || [...new Set([...COMMON, ...letters])].some((one) => !same(one, letter) && like(form, one) > own + MORE_LIKE));
    }).join("");
  };

  return {
    resized(...all) {
      const isOfPage = ofPage();
      return all.map(([font, letters]) => (isOfPage(font[2]) && font[1] >= 1 && font[1] <= MOST_PX ? resizedIn(font, letters) : ""));
    },

    apart(fonts, lines, width, height) {
      const sheets = Array.from({ length: Math.ceil((1 + MOST_OTHERS) / INKS.length) }, () => paper(width, height));
      const pens = sheets.map((sheet) => {
        const pen = penOf(sheet);
        pen.fillRect(0, 0, width, height);
        pen.globalCompositeOperation = "lighter";
        return pen;
      });
      const found = [], whole = [];
      lines.forEach((line, number) => {
        const ways = pens.map((pen) => laid(pen, fonts, line));
        const [{ piece, glyphs, matrix, at: [x, y], begin }] = ways;
        const [a, b, c, d, e, f] = matrix;
        const goesLeft = line.direction === "rtl" && GOES_LEFT.test(piece);
        if (glyphs.length !== 1 || line.place || line.upright !== null || goesLeft) return;
        const [pen] = pens;
        const isSpaced = line.letterSpacing !== 0;
        const isLeft = (index) => line.left.some(([first, end]) => begin + index >= first && begin + index < end);
        const joined = isSpaced ? [] : Array.from(piece.matchAll(LIGATURE), ({ 0: said, index }) => [said, index, said.length])
          .filter(([, index]) => !isLeft(index));
        const isJoined = (at) => joined.some(([, index, length]) => at >= index && at < index + length);
        const segments = Array.from(new Intl.Segmenter().segment(piece), ({ segment, index }) => [segment, index])
          .filter(([, index]) => !isLeft(index));
        const single = segments
          .filter(([segment, index]) => LETTER.test(segment) && !isJoined(index))
          .map(([segment, index]) => [LETTER.exec(segment)[0], index, segment.length]);
        const others = othersOf(fonts[line.font], isSpaced, line.language, single.map(([letter]) => letter));
        const letters = [...single, ...joined];
        const isKnown = ([segment, index]) => /^\s*$/.test(segment) || LETTER.test(segment) || SIGN.test(segment) || isJoined(index);
        if (segments.every(isKnown)) whole.push(number);
        const size = sizeOf(pen);
        // A letter may be nearer to the one before than that ends.
        const wideOf = (text) => pen.measureText(text).width;
        const placeOf = (text, index, length) => {
          const end = x + wideOf(piece.slice(0, index + length));
          return [end - wideOf(text), end];
        };
        const places = letters.map((letter) => placeOf(...letter));
        const signs = segments.filter(([segment]) => SIGN.test(segment))
          .map(([segment, index]) => [segment, placeOf(segment, index, segment.length)]);
        for (const one of pens) {
          [one.letterSpacing, one.wordSpacing] = ["0px", "0px"];
          one.setTransform(a, b, c, d, e, b || c ? f : Math.round(d * y + f) - d * y); // lines are on whole pixels
        }
        // Signs reach into the boxes of letters beside them, such as a comma below an r.
        for (const own of pens) {
          own.fillStyle = "#fff";
          for (const [sign, [from]] of signs) own.fillText(sign, from, y);
        }
        letters.forEach(([letter, index], which) => {
          const [from, to] = places[which];
          const versions = [letter, ...others.get(letter) ?? []];
          const inks = versions.map((one) => pen.measureText(one));
          const high = Math.max(LEAST_HIGH * size, ...inks.map((ink) => ink.actualBoundingBoxAscent));
          const below = Math.max(LEAST_LOW * size, ...inks.map((ink) => ink.actualBoundingBoxDescent));
          const low = line.isAbove ? ABOVE_LINES : below;
          const isOdd = which >= single.length && isOddLigature(fonts[line.font], line.language, letter);
          versions.forEach((one, version) => {
            if (isOdd) return; // it looks like nothing then
            const own = pens[Math.floor(version / INKS.length)];
            own.fillStyle = INKS[version % INKS.length];
            own.fillText(one, from, y);
          });
          const corners = [from, to].flatMap((across) => [y - high, y + low]
            .map((down) => [a * across + c * down + e, b * across + d * down + f]));
          const [xs, ys] = [0, 1].map((axis) => corners.map((corner) => corner[axis]));
          const box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
          // Where the ink is, and how much of its width a letter leaves free.
          const [before, after] = sidesOf(fonts[line.font], letter).map((one) => one * size - line.stroke / 2);
          const wide = inks[0].width;
          // Along the line, and down from it.
          const scale = Math.hypot(a, b), at = (a * e + b * f) / scale, down = (a * (d * y + f) - b * (c * y + e)) / scale;
          const free = letter !== letter.toLowerCase() // capitals may reach over small letters
            ? [0, 0, 0, 0, 0] : [scale * (from + before) + at, scale * (from + wide - after) + at, scale * before, scale * after, down];
          found.push([...box, number, begin + index, versions.length - 1, ...free]);
        });
      });
      return [found, whole, sheets.map((sheet) => run(sheet, HTMLCanvasElement, "toDataURL").split(",")[1])];
    },
  };
})());

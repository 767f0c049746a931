// Evaluated after page.js: adds what tells of the fonts of a document.
// ofPage(): tells of a family whether it may be one that the document has loaded.
// faces(): the fonts that the document has loaded.
// hasFonts(), alike(...groups): whether the document loads fonts, and which groups of [font, letters] draw all alike.
// mistaken(...fonts): of each [font, letters], the letters that it draws like other ones, and those that it draws unlike
// themselves or beside their place; a font is its style and weight, its size in px, its family, capitals, width, how precise
// it is drawn, kerning, whether its letters are spaced, and the language.
// shapes(side, ...fonts): of each [font, letters], a drawing of each letter, as many bytes wide and high, in base64; null for
// fonts that the page has not loaded.
// tiny(...fonts): of each [font, letters], the letters that it draws so small, or so far beside their place, that nobody
// reads them.
// stray(...fonts): of each [font, signs], the white space that paints, the signs that it paints over letters, and small
// letters over others that it does not paint.
// joined(...lines): of each [font, text, parts], how much each part of the text, given by where it begins and ends, looks
// like its letters do that are drawn one by one, and whether one of these looks odd.
Object.assign(domsievePixels, (() => {
  const { stretched } = domsievePixels;

  // A letter cannot be read if it is smaller than this, unless its font is as small. Some have no form in any font.
  const [LEAST_PX, LEAST_OF_SIZE, HUGE_PX, BLANK] = [1.6, 0.2, 400, /\p{Default_Ignorable_Code_Point}/u];
  // What may have no width of its own: some letters of these scripts, vowels of Hangul syllables.
  const ZERO_WIDE = /[\p{Default_Ignorable_Code_Point}\p{M}\u0590-\u109f\u1160-\u11ff\u1700-\u1cff\ua800-\uabff\ud7b0-\ud7ff]/u;

  // Fonts may have other letters for sizes, capitals, widths, and where letters are spaced or drawn in other ways.
  const choose = (pen, font) => {
    const [style, size, family, caps, stretch, rendering, kerning, isSpaced, language] = font;
    pen.font = `${style} ${size}px ${family}`;
    pen.lang = language; // fonts may have other letters for languages
    // Else widths are rounded to px of the true size.
    pen.textRendering = rendering === "optimizespeed" ? "optimizeSpeed" : "geometricPrecision";
    [pen.fontVariantCaps, pen.fontStretch] = [caps, stretched(stretch)];
    [pen.fontKerning, pen.letterSpacing] = [kerning, isSpaced ? "0.01px" : "0px"];
  };

  // The width and the height of the ink of what was measured.
  const inkOf = (box) =>
    [box.actualBoundingBoxLeft + box.actualBoundingBoxRight, box.actualBoundingBoxAscent + box.actualBoundingBoxDescent];

  // Pixels with a mean of 0 and a power of 1; null for those of one level.
  const even = (pixels) => {
    const mean = pixels.reduce((sum, one) => sum + one, 0) / pixels.length;
    const power = Math.sqrt(pixels.reduce((sum, one) => sum + (one - mean) ** 2, 0));
    return power ? pixels.map((one) => (one - mean) / power) : null;
  };
  // The forms of letters: each fills a cell, but narrow ones stay narrow, and all have the same mean and power. null for
  // what is not drawn. Their correlation is the likeness of two. A list of letters is drawn one by one.
  const [CELL, EDGE, NARROWEST] = [14, 1, 0.35];
  const MOST_FORMS = 2000; // a canvas is at most so high
  const formsOf = (pairs) => {
    if (pairs.length > MOST_FORMS) return [...formsOf(pairs.slice(0, MOST_FORMS)), ...formsOf(pairs.slice(MOST_FORMS))];
    const pen = new OffscreenCanvas(CELL, CELL * pairs.length || 1).getContext("2d", { willReadFrequently: true });
    pairs.forEach(([font, letter], at) => {
      choose(pen, font);
      let end = 0;
      const placed = [letter].flat().map((one) => {
        const [size, begin] = [pen.measureText(one), end];
        end += size.width;
        return { one, begin, left: begin - size.actualBoundingBoxLeft, right: begin + size.actualBoundingBoxRight,
          above: size.actualBoundingBoxAscent, below: size.actualBoundingBoxDescent };
      });
      const most = (side) => Math.max(...placed.map((each) => each[side]));
      const [left, right] = [Math.min(...placed.map((each) => each.left)), most("right")];
      const [wide, high] = [right - left, most("above") + most("below")];
      const [across, down] = [[wide, high], [high, wide]].map(([one, other]) => (CELL - 2 * EDGE) / Math.max(one, NARROWEST * other));
      if (!(wide > 0 && high > 0)) return;
      pen.setTransform(across, 0, 0, down, CELL / 2 - across * (left + right) / 2,
        (at + 0.5) * CELL + down * (most("above") - most("below")) / 2);
      for (const { one, begin } of placed) pen.fillText(one, begin, 0);
    });
    const { data } = pen.getImageData(0, 0, CELL, CELL * pairs.length || 1);
    return pairs.map((_, at) => {
      // Letters of colour fonts may have white areas.
      const ink = Float64Array.from({ length: CELL * CELL }, (_, pixel) => {
        const first = 4 * (at * CELL * CELL + pixel);
        return data[first + 3] * (1 - Math.max(data[first], data[first + 1], data[first + 2]) / 255);
      });
      // Blurred, for letters of two fonts are never quite in the same place.
      const form = ink.map((_, pixel) => {
        let sum = 0;
        for (const row of [-CELL, 0, CELL]) for (const column of [-1, 0, 1]) sum += ink[pixel + row + column] ?? 0;
        return sum;
      });
      return even(form);
    });
  };
  const likeness = (one, other) => {
    let sum = 0;
    for (let at = 0; at < one.length; at++) sum += one[at] * other[at];
    return sum;
  };
  // The browser's own fonts, and the letters of which a font of the page may draw one for another.
  const LARGE_PX = 40;
  const OWN_FONTS = [["", "sans-serif"], ["bold", "sans-serif"], ["", "serif"], ["italic", "serif"], ["", "monospace"]]
    .map(([style, family]) => [style, LARGE_PX, family, "normal", "100%", "auto", "auto", false, ""]);
  const ALPHABETS = [[97, 122], [48, 57], [945, 969], [1072, 1103], [1377, 1414], [1488, 1514], [4304, 4336]].map(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at)));
  // Those of Armenian, Hebrew and Georgian are compared in any case, but only the same letter looks like one.
  const [FAR, FAR_LIKE] = [4, 0.95];
  const UNKNOWN = "\uffff";
  const folded = (name) => name.toUpperCase().toLowerCase(); // a long s is an s
  const loadedFamilies = () => [...document.fonts].filter(({ status }) => status === "loaded")
    .map(({ family }) => folded(family.replace(/^["']|["']$/g, "")));
  // Families have escapes, which are written in several ways.
  const ofPage = () => {
    const loaded = loadedFamilies();
    return (family) => loaded.some((one) => /[^\w -]/.test(one) || folded(family).includes(one));
  };

  // The share of the ink of a letter that is where it has its place.
  const inside = ({ width, actualBoundingBoxLeft: left, actualBoundingBoxRight: right }) =>
    left + right > 0 ? Math.max(Math.min(right, width) - Math.max(-left, 0), 0) / (left + right) : 1;

  return {
    ofPage, choose, formsOf, even, likeness,

    faces() {
      const loaded = [...document.fonts].filter(({ status }) => status === "loaded");
      return loaded.map(({ family, style, weight }) =>
        [`${/^normal/.test(style) ? "" : "italic"} ${parseInt(weight) || weight}`, 16, family, "normal", "100%", "auto", "auto", false, ""]);
    },

    mistaken(...all) {
      const isOfPage = ofPage();
      const fonts = all.map(([font, letters]) => [font, isOfPage(font[2]) ? letters : ""]);
      const [LIKE, MORE] = [0.85, 0.15]; // the likeness of a letter with another one, and how much more it is than with its own
      const SAME = 0.8; // that of one letter in two sizes; a guess
      // Least likeness of a letter with its own. Measured: .5 and more for all letters but one of nearly all of 18 fonts for
      // reading in three styles, below it for 7 of 10 other letters, and for half of those of handwriting.
      const LEAST_OWN = 0.5, LATIN = /[a-z0-9]/i; // of these, `shapes` tells enough
      const written = new Set(fonts.flatMap(([, letters]) => [...letters]));
      const plain = new Set([...written].map((letter) => letter.toLowerCase()));
      const others = ALPHABETS.filter((letters, at) => at < 2 || at >= FAR || letters.some((letter) => plain.has(letter))).flat();
      const far = new Set(ALPHABETS.slice(FAR).flat().filter((letter) => !plain.has(letter)));
      const compared = [...new Set([UNKNOWN, ...others, ...others.map((letter) => letter.toUpperCase()), ...written])];
      const pairs = OWN_FONTS.flatMap((font) => compared.map((letter) => [font, letter]));
      const known = new Map();
      formsOf(pairs).forEach((form, at) => {
        const [letter, unknown] = [pairs[at][1], known.get(UNKNOWN)?.at(-1)];
        // A letter that no font of the browser has is drawn as the unknown one is.
        if (!form || (letter !== UNKNOWN && unknown && likeness(form, unknown) > 0.999)) return;
        const key = letter.toLowerCase();
        known.set(key, [...(known.get(key) ?? []), form]);
      });
      known.delete(UNKNOWN);
      const formsAt = (change) =>
        formsOf(fonts.flatMap(([font, letters]) => [...letters].map((letter) => [change(font), letter])));
      // Large forms are more exact; those of the true size count if they differ from these.
      const [large, exact] = [([style, , ...others]) => [style, LARGE_PX, ...others], (font) => font].map(formsAt);
      const drawn = exact.map((form, at) => (form && large[at] && likeness(form, large[at]) > SAME ? large[at] : form));
      let number = 0;
      const pen = new OffscreenCanvas(1, 1).getContext("2d");
      // Fonts may have lower letters in small sizes only; boxes are whole pixels, so these are enlarged.
      const [SMALL_PX, SIDE, LEAST_HIGH] = [16, 64, 0.8];
      const sheet = new OffscreenCanvas(2 * SIDE, 2 * SIDE).getContext("2d", { willReadFrequently: true });
      const isLow = (font, letter, high) => {
        if (!(font[1] >= 1 && font[1] < SMALL_PX)) return false;
        sheet.reset();
        choose(sheet, font);
        sheet.setTransform(SIDE / font[1], 0, 0, SIDE / font[1], SIDE / 2, 1.4 * SIDE);
        sheet.fillText(letter, 0, 0);
        const { data } = sheet.getImageData(0, 0, 2 * SIDE, 2 * SIDE);
        const rows = new Set();
        for (let at = 3; at < data.length; at += 4) if (data[at] > 64) rows.add(Math.floor(at / (8 * SIDE)));
        return rows.size < LEAST_HIGH * high * SIDE / HUGE_PX - 2;
      };
      const sizeOf = (font, letter) => {
        choose(pen, font.with(1, HUGE_PX));
        const box = pen.measureText(letter);
        const [wide, high] = inkOf(box);
        const middle = (box.actualBoundingBoxAscent - box.actualBoundingBoxDescent) / 2;
        return [wide, high, middle, inside(box), box.width, isLow(font, letter, high)];
      };
      // Fonts for reading have letters of about the size and the height of the browser's own. Guesses, but for the last: of
      // 44 of them, all letters but those that vary have .77 of the width of their ink and more for themselves.
      const isMissized = (one, own) => {
        const [wide, high] = [one[0] / own[0], one[1] / own[1]];
        const isAway = Math.abs(one[2] - own[2]) > 0.35 * HUGE_PX;
        return isAway || one[5] || wide < 0.3 || wide > 3 || high < 0.55 || high > 2.2 || one[3] < 0.5 || one[4] < 0.75 * one[0];
      };
      const ownSizes = new Map();
      return fonts.map(([font, letters]) => {
        const found = ["", ""];
        for (const letter of letters) {
          const [form, own] = [drawn[number++], known.get(letter.toLowerCase())];
          if (!form || !own) {
            if (own && font[1] >= 1) found[1] += letter; // nothing of it is drawn, or far away
            continue;
          }
          const as = (forms) => Math.max(...forms.map((one) => likeness(one, form)));
          const likes = others.map((other) => [as(known.get(other) ?? [form.map(() => 0)]), far.has(other) ? FAR_LIKE : LIKE]);
          const best = Math.max(0, ...likes.filter(([like, least]) => like > least).map(([like]) => like));
          if (best && best - as(own) > MORE) found[0] += letter;
          if (!ownSizes.has(letter)) ownSizes.set(letter, sizeOf(OWN_FONTS[0], letter));
          const isUnlike = as(own) < LEAST_OWN && !LATIN.test(letter);
          if (isUnlike || isMissized(sizeOf(font, letter), ownSizes.get(letter))) found[1] += letter;
        }
        return found;
      });
    },

    shapes(side, ...all) {
      const INK = 0.75; // of the side: sizes of letters are whole pixels
      const isOfPage = ofPage();
      const pen = new OffscreenCanvas(side, side).getContext("2d", { willReadFrequently: true });
      return all.map(([font, letters]) => {
        if (!isOfPage(font[2])) return null;
        return [...letters].map((letter) => {
          pen.reset();
          choose(pen, font);
          const box = pen.measureText(letter);
          const [left, right, top, bottom] = ["Left", "Right", "Ascent", "Descent"].map((name) => box[`actualBoundingBox${name}`]);
          const scale = INK * side / Math.max(left + right, top + bottom, 1);
          pen.setTransform(scale, 0, 0, scale, side / 2 - scale * (right - left) / 2, side / 2 + scale * (top - bottom) / 2);
          pen.fillText(letter, 0, 0);
          const { data } = pen.getImageData(0, 0, side, side);
          return btoa(String.fromCharCode(...data.filter((_, at) => at % 4 === 3)));
        });
      });
    },

    tiny(...all) {
      // Nobody reads a font if less of the ink of its letters than this, on the mean, is where each has its place, or if more
      // than so many of them are so far beside it, in the middle and as a share of their size. Measured on 12 fonts of
      // handwriting: .57 and more, a little less if the browser tilts them; at most .31 of the size, capitals .62.
      const [LEAST_INSIDE, MOST_BESIDE, FARTHEST, FEWEST] = [0.4, 0.25, 0.35, 6];
      const isFar = ({ width, actualBoundingBoxLeft: left, actualBoundingBoxRight: right }) =>
        left + right > 0 && Math.abs(right - left - width) / 2 > FARTHEST * HUGE_PX;
      const pen = new OffscreenCanvas(1, 1).getContext("2d");
      const isOfPage = ofPage();
      const measured = all.map(([font, letters]) => {
        if (!isOfPage(font[2])) return [];
        choose(pen, font.with(1, HUGE_PX)); // boxes are whole pixels
        return [...letters].map((letter) => [letter, pen.measureText(letter), !ZERO_WIDE.test(letter)]);
      });
      const areBeside = (some) => {
        const boxes = some.filter(([, , isWide]) => isWide).map(([, box]) => box);
        return boxes.reduce((sum, box) => sum + inside(box), 0) < LEAST_INSIDE * boxes.length
          || boxes.filter(isFar).length > MOST_BESIDE * boxes.length;
      };
      const few = areBeside(measured.filter((some) => some.length < FEWEST).flat());
      return measured.map((some, at) => {
        const least = Math.min(LEAST_PX / all[at][0][1], LEAST_OF_SIZE) * HUGE_PX;
        const isBeside = some.length < FEWEST ? few : areBeside(some);
        return some.filter(([letter, box, isWide]) => {
          const [wide, high] = inkOf(box);
          if (isWide && (!box.width || (isBeside && (isFar(box) || inside(box) < 0.5)))) return true;
          return Math.max(wide, high) < least && !BLANK.test(letter);
        }).map(([letter]) => letter).join("");
      });
    },

    stray(...all) {
      const SPACE = /[\p{Zs}\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/u;
      const OGHAM_SPACE = "\u1680"; // a line
      const ACCENT = /[\u0300-\u0362]/, SMALL = /[\u0363-\u036f\u1dd3-\u1df4]/; // small letters say something
      // Signs that are smaller than the first share of their font cover no letter; no sign reaches farther than the second
      // beside its place, no mark farther than the third, and none is higher than the last. Guesses.
      // Measured on 50 fonts: no sign is higher or lower than its font by .05.
      const [LEAST, FARTHEST, FARTHEST_MARK, MOST_HIGH, MOST_BEYOND] = [0.4, 0.4, 1, 0.6, 0.15].map((share) => share * HUGE_PX);
      const pen = new OffscreenCanvas(1, 1).getContext("2d");
      const isOfPage = ofPage();
      return all.map(([font, signs]) => {
        if (!isOfPage(font[2])) return "";
        choose(pen, font.with(1, HUGE_PX));
        return [...signs].filter((sign) => {
          const box = pen.measureText(sign);
          const { width, actualBoundingBoxLeft: left, actualBoundingBoxRight: right } = box;
          const [wide, high] = inkOf(box);
          if (!(wide > 0 && high > 0)) return SMALL.test(sign);
          if (SPACE.test(sign)) return sign !== OGHAM_SPACE;
          const isMark = /\p{M}/u.test(sign), farthest = isMark ? FARTHEST_MARK : FARTHEST;
          if (left > farthest || right > width + farthest) return true;
          const above = box.actualBoundingBoxAscent - box.fontBoundingBoxAscent;
          const below = box.actualBoundingBoxDescent - box.fontBoundingBoxDescent;
          if (!isMark && Math.max(above, below) > MOST_BEYOND) return true;
          if (ACCENT.test(sign)) return Math.min(wide, high) > LEAST || high > MOST_HIGH;
          return BLANK.test(sign) || (Math.min(wide, high) > LEAST && inside(box) < 0.5);
        }).join("");
      });
    },

    joined(...lines) {
      const [SIZE, LEAST_SIZE, HIGH, BASE, LONGEST] = [16, 5, 28, 20, 4000]; // px
      // A letter looks odd if more of it than the first differs from itself drawn alone, in pixels that differ by the last, of
      // 255. The second is for words with ligatures, which look less than the third like their letters if they are odd.
      // Measured on 44 fonts in three sizes, but for four in which letters have other forms beside others: 0, up to .2, and
      // .46 and more. In a font of thin strokes, a c differs from an e by .14.
      const [MOST_OF_LETTER, MOST_BESIDE_LIGATURE, LEAST_OF_LIGATURE, DIFFERENT] = [0.05, 0.25, 0.4, 48];
      // How much less room than alone a letter or a sign may have, in sizes; a guess. Several emoji may be one.
      const MOST_KERNED = 0.35, EMOJI = /[\p{Emoji_Presentation}\p{RI}\p{EMod}\ufe0f]/u;
      // How far letters and signs may reach beside their place, in sizes. Letters of these fonts, such as an f, reach .3; the
      // other is a guess.
      const [MOST_BESIDE, MOST_BESIDE_SIGN] = [0.3, 0.15];
      const unitsOf = (text) => text.match(/\P{M}\p{M}*|\p{M}+/gu) ?? []; // marks belong to their letters
      const LETTER = /[\p{L}\p{N}]/u, LIGATURES = /^(f[fil]|Th)$/, LIGATED = /f[fil]|Th/;
      const isLetter = (unit) => LETTER.test(unit) && !BLANK.test(unit);
      const LEAST_WIDE = 0.6; // of its letters one by one: below it a font puts them on top of each other. A guess.
      const pens = [0, 1].map(() => new OffscreenCanvas(LONGEST, HIGH).getContext("2d", { willReadFrequently: true }));
      const [whole, apart] = pens;
      const [widths, isOfPage] = [new Map(), ofPage()];
      return lines.map(([font, text, parts]) => {
        const [, size, family] = font;
        if (!isOfPage(family) || !size) return parts.map(() => [1, false]);
        for (const pen of pens) {
          pen.setTransform(1, 0, 0, 1, 0, 0);
          pen.clearRect(0, 0, LONGEST, HIGH);
          choose(pen, font);
        }
        const scale = Math.min(SIZE / size, (LONGEST - 4) / whole.measureText(text).width);
        for (const pen of pens) {
          pen.setTransform(scale, 0, 0, scale, 0, BASE);
        }
        const name = `${font.join()} ${scale} `;
        const wideOf = (letter) => {
          const key = name + letter;
          if (!widths.has(key)) widths.set(key, scale * whole.measureText(letter).width);
          return widths.get(key);
        };
        if (scale * size < LEAST_SIZE) return parts.map(() => [0, true]); // too small to be compared
        whole.fillText(text, 1 / scale, 0);
        const endOf = (units) => 1 + scale * whole.measureText(text.slice(0, units)).width;
        const places = parts.map((ends) => ends.map(endOf));
        // What a letter or a sign paints farther than this beside its place hides others.
        const put = (letter, begin) => {
          const beside = SIZE * (isLetter(letter) ? MOST_BESIDE : MOST_BESIDE_SIGN);
          apart.save();
          apart.beginPath();
          apart.rect(...[begin - beside, -BASE, wideOf(letter) + 2 * beside, HIGH].map((one) => one / scale));
          apart.clip();
          apart.fillText(letter, begin / scale, 0);
          apart.restore();
        };
        let [ending, last, isHeap] = [0, endOf(0), false];
        for (const sign of unitsOf(text)) {
          ending += sign.length;
          const next = endOf(ending);
          isHeap ||= !ZERO_WIDE.test(sign[0]) && !EMOJI.test(sign) && wideOf(sign) - (next - last) > MOST_KERNED * SIZE;
          last = next;
          if (!parts.some(([from, to]) => from < ending && ending <= to)) put(sign, next - wideOf(sign));
        }
        const [heaps, letterPlaces] = [new Set(), parts.map(() => [])];
        parts.forEach(([from, to], at) => {
          const [letters, [left, right]] = [unitsOf(text.slice(from, to)), places[at]];
          // Pairs of letters may stand closer together, which moves the second one.
          const first = letters[0] ?? "";
          const start = endOf(from + first.length) - wideOf(first);
          let units = from;
          const most = LIGATED.test(text.slice(from, to)) ? MOST_BESIDE_LIGATURE : MOST_OF_LETTER;
          const sum = letters.reduce((before, letter) => before + wideOf(letter), 0);
          if (isHeap || right - left < LEAST_WIDE * sum) heaps.add(at);
          for (const letter of letters) {
            const [before, after] = [letterPlaces[at].at(-1), units + letter.length];
            const end = start + scale * whole.measureText(text.slice(from, after)).width;
            const begin = end - wideOf(letter);
            const isLigated = before && LIGATURES.test(text.slice(units - 1, units + 1));
            if (isLigated) Object.assign(before, { 1: end, 2: null });
            else if (isLetter(letter) && !ZERO_WIDE.test(letter[0])) letterPlaces[at].push([begin, begin + Math.max(wideOf(letter), 2), most]);
            put(letter, begin);
            units = after;
          }
        });
        const width = Math.min(Math.ceil(Math.max(...places.flat())) + 1, LONGEST);
        const [one, other] = pens.map((pen) => pen.getImageData(0, 0, width, HIGH).data);
        const likenessIn = ([begin, end], ofNothing) => {
          const [left, right] = [begin, end].map((edge) => Math.min(Math.round(edge), width));
          const count = Math.max(right - left, 1);
          let [power, otherPower, common] = [0, 0, 0];
          // Each row has its own mean: all letters have most of their ink in the same rows.
          for (let row = 0; row < HIGH; row++) {
            let [a, b] = [0, 0];
            for (let pixel = row * width + left; pixel < row * width + right; pixel++) {
              const [first, second] = [one[4 * pixel + 3], other[4 * pixel + 3]];
              a += first;
              b += second;
              power += first * first;
              otherPower += second * second;
              common += first * second;
            }
            power -= a * a / count;
            otherPower -= b * b / count;
            common -= a * b / count;
          }
          return power > 1 && otherPower > 1 ? common / Math.sqrt(power * otherPower) : power <= 1 && otherPower <= 1 ? ofNothing : 0;
        };
        const differs = ([begin, end]) => {
          const [left, right] = [begin, end].map((edge) => Math.min(Math.round(edge), width));
          let [sum, ink] = [0, 0];
          for (let row = 0; row < HIGH; row++) {
            for (let at = 4 * (row * width + left) + 3; at < 4 * (row * width + right); at += 4) {
              const difference = Math.abs(one[at] - other[at]);
              ink += one[at];
              if (difference > DIFFERENT) sum += difference;
            }
          }
          // The widths of the beginnings of a line may lie, so that there is nothing where a letter is looked for.
          return ink ? sum / ink : 1;
        };
        const isOdd = ([begin, end, most]) =>
          (most === null ? likenessIn([begin, end], 0) < LEAST_OF_LIGATURE : differs([begin, end]) > most);
        return places.map((place, at) => (heaps.has(at) ? [0, true] : [likenessIn(place, 1), letterPlaces[at].some(isOdd)]));
      });
    },

    hasFonts() {
      return loadedFamilies().length > 0;
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
          pen.lang = "";
          for (const letter of letters) {
            const form = drawn(letter);
            all.push(letter);
            if (!kinds.some((kind) => areAlike(kind, form))) kinds.push(form);
          }
        }
        return kinds.length <= all.length / 4;
      });
    },
  };
})());

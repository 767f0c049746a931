// Evaluated after page.js: adds what tells where the lines of texts are, and draws them apart from the page.
// lines(...nodes): where the lines of texts are, and how large drawings are shown.
// rests(told, ...nodes), firstLines(...nodes), haveOwnFeatures(...nodes), crowded(...nodes): see below. glyphs(...nodes): where the letters of texts along
// paths are.
// measured(fonts, lines), drawn(fonts, lines, width, height): the letters of lines, apart from the page.
Object.assign(domsievePixels, (() => {
  const { part, run, own } = dom;
  const { above, outer, stretched, ofPage } = domsievePixels;

  const paper = (width, height) => {
    const found = own("createElementNS").call(document, "http://www.w3.org/1999/xhtml", "canvas");
    [found.width, found.height] = [width, height];
    return found;
  };

  const OF_LINES = ["fontStyle", "fontWeight", "fontFamily", "fontVariantCaps", "fontStretch", "textRendering", "fontSize",
    "letterSpacing", "wordSpacing", "textTransform"];
  const OF_FEATURES = ["fontKerning", "fontFeatureSettings", "fontVariationSettings", "fontOpticalSizing", "fontPalette", "fontLanguageOverride",
    ...["Ligatures", "Alternates", "EastAsian", "Position", "Numeric"].map((name) => `fontVariant${name}`)];
  // Letters of texts along paths, and of words without boxes, that are placed.
  const [MOST_GLYPHS, MOST_RESTS] = [5_000, 50_000];
  // The code units of a path, of which it says how many it draws, each with its text; empty if they are not clear.
  const charactersOf = (path, count) => {
    const [all, joined] = [[], []];
    const texts = own("createTreeWalker").call(document, path, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_CDATA_SECTION);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      for (const unit of part(text, CharacterData, "data").split("")) {
        const letter = /\s/.test(unit) ? " " : unit;
        all.push([letter, text]);
        if (letter !== " " || joined.at(-1)?.[0] !== " ") joined.push([letter, text]);
      }
    }
    const [first, last] = [0, -1].map((at) => (joined.at(at)?.[0] === " " ? 1 : 0));
    const { length } = joined;
    return [all, joined, joined.slice(first), joined.slice(0, length - last), joined.slice(first, length - last)]
      .find((one) => one.length === count) ?? [];
  };
  // Runs of letters that may be on top of each other: so many letters, beginning at each of so many. One that is turned
  // over alone counts no more than one that lies.
  const [MOST_CROWDED, FEWEST_CROWDED, RUN, RUN_STEP, MOST_TURN] = [30_000, 5, 20, 5, 90];
  // Letters along a path so many widths apart are parted, and take this much of their width, so that few may be.
  const [MOST_APART, BROKEN] = [3, -1];
  // Letters of a varied font have another width than those that a canvas can draw.
  const MOST_MISFIT = 0.08;
  // The letters of a ruby are spread if they have this share of room.
  const LEAST_SPREAD = 0.02;
  const RENDERINGS = ["optimizeSpeed", "optimizeLegibility", "geometricPrecision"];
  // Letters that are narrower than this where a drawing is stretched cannot be read.
  const LEAST_LETTER_PX = 2.5;
  // Lines are as high as the font, rounded; if they differ by more than this share, the page is enlarged.
  const ROUNDED = 0.08;
  // Letters are at whole pixels of a picture, so that the smallest shift or scale may move some of them by one.
  const exact = (value, whole = 1) => (Math.abs(value - whole) < 0.005 ? whole : value);
  // A pen does not part words (`wordSpacing`) in a text that begins with a space.
  const SPACES_AT_BEGIN = /^[\u202d\u202e]? +/;
  // How a pen draws a line at its place: see `Letters` in _letters.py for what a line is. What has no transform
  // fills its box: it may be enlarged as a whole, and its words may be apart. Spaces at its ends may be outside of it.
  const laid = (pen, fonts, line) => {
    const { font, letterSpacing, wordSpacing, direction, box, map, upright, place, isDrawing, ruby, align, isCombined } = line;
    const text = line.text.replace(SPACES_AT_BEGIN, (spaces) => spaces.replaceAll(" ", "\u00a0"));
    pen.font = "10px sans-serif";
    pen.lang = line.language; // as in fonts.js
    const [style, size, family, caps, stretch, rendering, kerning] = fonts[font];
    const [left, top, right, bottom] = box;
    const high = () => {
      const { fontBoundingBoxAscent, fontBoundingBoxDescent } = pen.measureText("");
      return [fontBoundingBoxAscent, fontBoundingBoxDescent];
    };
    pen.font = `${style} ${size}px ${family}`;
    // The letters of drawings are set in the size that they have on the page, others in that of their font.
    const times = isDrawing && map ? Math.sqrt(Math.abs(map[0] * map[3] - map[1] * map[2])) || 1 : 1;
    // The box of combined letters is as high as their font.
    const height = isCombined ? size : high().reduce((first, second) => first + second);
    const enlarged = map || place ? times : (bottom - top) / height;
    const zoom = Math.abs(enlarged - 1) < ROUNDED ? 1 : enlarged;
    pen.font = `${style} ${size * zoom}px ${family}`;
    const [letter, word] = [letterSpacing * zoom, wordSpacing * zoom];
    [pen.letterSpacing, pen.wordSpacing] = [`${letter}px`, `${word}px`];
    [pen.fontVariantCaps, pen.direction, pen.textAlign] = [caps, direction, "left"];
    [pen.fontStretch, pen.fontKerning] = [stretched(stretch), kerning || "auto"];
    pen.textRendering = RENDERINGS.find((one) => one.toLowerCase() === rendering) ?? "auto";
    const wideOf = (piece) => pen.measureText(piece).width;
    if (place) {
      const [a, b, c, d] = place.slice(0, 4).map((one) => one / zoom);
      const [e, f] = place.slice(4);
      [pen.letterSpacing, pen.wordSpacing] = ["0px", "0px"];
      const [at, wide] = [[0, 0], wideOf(text)];
      return { piece: text, at, wide, misfit: 0, matrix: [a, b, c, d, left + e, top + f], begin: 0, room: 1,
        glyphs: [{ piece: text, at, wide }] };
    }
    const [above, below] = high().map(Math.round);
    let [a, b, c, d] = (map ?? [1, 0, 0, 1]).map((one) => one / (map ? zoom : 1));
    if (!map && !isCombined) a = d = exact((bottom - top) / (above + below));
    let [piece, misfit, isStretched] = [text, 0, false];
    if (upright === null || (!b && !c)) {
      // The box of a turned line is around its corners.
      const long = () => (Math.abs(b) > Math.abs(a) ? (bottom - top - Math.abs(d) * (above + below)) / Math.abs(b)
        : (right - left - Math.abs(c) * (above + below)) / Math.abs(a));
      const rest = (one) => long() - wideOf(one);
      const pieces = [...new Set([text, text.trimEnd(), text.trimStart(), text.trim()])];
      piece = pieces.reduce((best, one) => (Math.abs(rest(one)) < Math.abs(rest(best)) ? one : best));
      misfit = Math.abs(rest(piece)) / (wideOf(piece) || 1);
      // Drawings may be stretched to the side.
      isStretched = isDrawing && !map && misfit > MOST_MISFIT;
      if (isStretched) a = (right - left) / (wideOf(piece) || 1);
      const isSpread = ruby ? rest(piece) > LEAST_SPREAD * wideOf(piece)
        : !b && !c && IDEOGRAPH.test(piece) && rest(piece) > MOST_MISFIT * wideOf(piece);
      if (!isDrawing && upright === null && isSpread) {
        const mostAtEnds = { annotation: size * zoom, base: Infinity }[ruby] ?? 0;
        const at = [-long() / 2, (above - below) / 2];
        return { piece, at, wide: long(), misfit: 0, matrix: [a, b, c, d, (left + right) / 2, (top + bottom) / 2],
          begin: text.indexOf(piece), glyphs: spread(piece, at, rest(piece), wideOf, mostAtEnds, align, direction) };
      }
      const spaces = piece.split(/[ \u00a0]/).length - 1;
      if (isCombined) a = (right - left) / (wideOf(piece) || 1);
      else if (spaces) pen.wordSpacing = `${word + exact(rest(piece) / spaces, 0)}px`;
      else if (!map && !ruby) a = exact((right - left) / (wideOf(piece) || 1));
    }
    if (upright !== null) piece = text.trim();
    let wide = wideOf(piece);
    const base = (above - below) / 2;
    const matrix = [a, b, c, d, (left + right) / 2, (top + bottom) / 2];
    const found = { piece, at: [-wide / 2, base], misfit, matrix, begin: text.indexOf(piece) };
    if (upright === null) {
      const room = isStretched ? Number(right - left >= LEAST_LETTER_PX * [...piece].length) : undefined;
      return { ...found, wide, glyphs: [{ piece, at: found.at, wide }], room };
    }
    wide = Math.abs(b) > Math.abs(a) ? (bottom - top) / Math.abs(b) : (right - left) / Math.abs(a);
    const glyphs = apart(piece, upright).map(([one, isUpright]) => ({ piece: one, isUpright, wide: wideOf(one) }));
    const lying = glyphs.reduce((sum, glyph) => sum + (glyph.isUpright ? 0 : glyph.wide), 0);
    const tall = (wide - lying) / (glyphs.filter((glyph) => glyph.isUpright).length || 1);
    let from = -wide / 2;
    for (const glyph of glyphs) {
      if (glyph.isUpright) glyph.wide = tall;
      glyph.at = [glyph.isUpright ? from + (tall - letter) / 2 : from, base];
      from += glyph.wide;
    }
    return { ...found, at: [-wide / 2, base], wide, glyphs, room: tall / size };
  };
  // The pieces of a justified line with ideographs, beside each of which there is room as there is at spaces.
  const IDEOGRAPH = /[\u2e80-\u312f\u31a0-\ua4cf\uf900-\ufaff\uff01-\uff60]/;
  // In a ruby, there is half as much at its ends, up to `most`, unless it is aligned (`ruby-align`).
  const spread = (text, [from, base], room, wideOf, most, align, direction) => {
    const letters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => ({ piece: segment, gaps: 0 }));
    letters.forEach((letter, at) => {
      const [isWide, before] = [IDEOGRAPH.test(letter.piece), letters[at - 1]];
      if (isWide && before && !before.gaps) before.gaps = 1;
      letter.gaps = Number(isWide || /\s/.test(letter.piece));
    });
    letters.at(-1).gaps = 0;
    const count = letters.reduce((sum, { gaps }) => sum + gaps, 0);
    const lead = align === "start" ? (direction === "rtl" ? room : 0)
      : align === "center" || (align === "space-between" && !count) ? room / 2
        : align === "space-between" ? 0 : most && Math.min(room / (count + 1) / 2, count ? most : room);
    const gap = align === "start" ? 0 : (room - 2 * lead) / (count || 1);
    from += lead;
    const glyphs = [];
    let isOpen = true;
    for (const { piece, gaps } of letters) {
      if (isOpen) glyphs.push({ piece: "", gaps: 0 });
      glyphs.at(-1).piece += piece;
      glyphs.at(-1).gaps = gaps;
      isOpen = gaps > 0;
    }
    return glyphs.map(({ piece, gaps }) => {
      const glyph = { piece, at: [from, base], wide: wideOf(piece) + gaps * gap };
      from += glyph.wide;
      return glyph;
    });
  };
  const isUpright = ({ upright }) => upright !== null;
  // The upright letters of a line that goes down, from a code point on, and the pieces between them, that lie.
  const apart = (text, upright) => {
    const found = [];
    for (const { segment } of new Intl.Segmenter().segment(text)) {
      const isUpright = segment.codePointAt(0) >= upright;
      if (isUpright || !found.length || found.at(-1)[1]) found.push([segment, isUpright]);
      else found.at(-1)[0] += segment;
    }
    return found;
  };

  const sizeOf = (pen) => parseFloat(/([\d.e+-]+)px/.exec(pen.font)?.[1]) || 0;
  const penOf = (sheet) => run(sheet, HTMLCanvasElement, "getContext", "2d", { willReadFrequently: true });
  const draw = (pen, { glyphs, matrix: [a, b, c, d, e, f] }, [right, down]) => {
    pen.setTransform(a, b, c, d, e + right, f + down);
    for (const { piece, at: [x, y], isUpright } of glyphs) {
      if (!isUpright) {
        pen.fillText(piece, x, y);
        continue;
      }
      pen.save();
      [pen.letterSpacing, pen.textAlign] = ["0px", "center"];
      pen.transform(0, -1, 1, 0, x, 0); // no rotation, whose numbers are not exact
      pen.fillText(piece, 0, y);
      pen.restore();
    }
  };
  // Lines that overlap are drawn in different ones.
  const INKS = ["#f00", "#0f0", "#00f"];
  // These have colours in any font; none is wider than the number, in sizes.
  const EMOJI = /[0-9#*]\ufe0f?\u20e3|\p{Extended_Pictographic}\ufe0f|[\p{Emoji_Presentation}\p{RI}\p{EMod}\u200d]/gu;
  const WIDEST_EMOJI = 1.5;
  // Whether the font of a line paints letters in other colours than its ink, as it may do in one size only, or beside some
  // letters, or in one ink: the ground decides what shows of them.
  const [MOST_WIDE, MOST_HIGH, CLEAR, OTHER] = [4_000, 1_500, 64, 32]; // px, and of 255
  // Or where the ink is grey and half-transparent. Where letters overlap, there is more of that, in so much of a line at most.
  const [GREY, HALF, MOST_OTHER] = [136, "rgb(136 136 136 / 50%)", 0.1];
  const isColoured = (sheet, fonts, line, [left, top, right, bottom]) => {
    const [width, height] = [Math.ceil(right - left) + 2, Math.ceil(bottom - top) + 2];
    if (height > MOST_HIGH) return true;
    const tints = [...INKS, HALF];
    [sheet.width, sheet.height] = [Math.min(width, MOST_WIDE), tints.length * height];
    const pen = penOf(sheet);
    const way = laid(pen, fonts, line);
    const size = fonts[line.font][1];
    for (let from = 0; from < width; from += MOST_WIDE) {
      tints.forEach((tint, number) => {
        pen.fillStyle = tint;
        draw(pen, way, [1 - left - from, 1 - top + number * height]);
        for (const { piece, at: [x, y], wide } of way.glyphs) {
          for (const { index, 0: { length } } of piece.matchAll(EMOJI)) {
            const ends = [index, index + length].map((end) => pen.measureText(piece.slice(0, end)).width);
            const begin = line.direction === "rtl" ? wide - ends[1] : ends[0];
            const across = Math.min(Math.abs(ends[1] - ends[0]), WIDEST_EMOJI * size);
            pen.clearRect(x + begin, y - 1.5 * size, across, 2 * size);
          }
        }
      });
      pen.setTransform(1, 0, 0, 1, 0, 0);
      const { data } = pen.getImageData(0, 0, sheet.width, sheet.height);
      pen.clearRect(0, 0, sheet.width, sheet.height);
      const bytes = data.length / tints.length;
      for (let at = 0; at < INKS.length * bytes; at += 4) {
        if (data[at + 3] <= CLEAR) continue;
        const ink = Math.floor(at / bytes);
        for (let part = 0; part < 3; part++) if (Math.abs(data[at + part] - 255 * (part === ink)) > OTHER) return true;
      }
      let [inked, other] = [0, 0];
      for (let at = INKS.length * bytes; at < data.length; at += 4) {
        const [alpha, whole] = [2 * data[at + 3], data[at - INKS.length * bytes + 3]];
        if (Math.max(alpha, whole) <= CLEAR) continue;
        inked++;
        if (Math.abs(alpha - whole) > CLEAR || Math.abs(data[at] - GREY) > OTHER) other++;
      }
      if (other > MOST_OTHER * inked) return true;
    }
    return false;
  };

  // The box of a text of a drawing. Browsers give it as if `textLength` did not stretch the letters; texts that share their
  // element with others are left so.
  const widened = (box, element, text, { a, b, c, e }) => {
    const isStretched = (one) => one instanceof SVGTextContentElement && (isStretched(above(one))
      || (part(one, SVGTextContentElement, "lengthAdjust").baseVal === SVGTextContentElement.LENGTHADJUST_SPACINGANDGLYPHS
        && run(one, Element, "hasAttribute", "textLength")));
    const isAlone = part(element, Node, "textContent") === part(text, CharacterData, "data");
    if (b || c || !isAlone || !isStretched(element)) return box;
    const count = run(element, SVGTextContentElement, "getNumberOfChars");
    if (!count) return box;
    const ends = [["getStartPositionOfChar", 0], ["getEndPositionOfChar", count - 1]].map(([name, at]) =>
      a * run(element, SVGTextContentElement, name, at).x + e + scrollX);
    return [Math.min(...ends), box[1], Math.max(...ends), box[3]];
  };

  const boxesOf = (range) => [...range.getClientRects()].map(({ left, top, right, bottom }) =>
    [left + scrollX, top + scrollY, right + scrollX, bottom + scrollY]);

  return {
    paper, penOf, sizeOf, laid, INKS,

    // Left, top, right and bottom of the lines of each text, in CSS px of the page; and of one in a drawing, what makes
    // these of its units, and whether it is drawn; HTML in a drawing (`foreignObject`) may have transforms of its own.
    lines(...nodes) {
      return nodes.map((node) => {
        const range = new Range();
        range.selectNodeContents(node);
        const boxes = boxesOf(range);
        const parent = part(node, Node, "parentNode");
        const isDrawn = parent instanceof SVGGraphicsElement;
        const owner = isDrawn ? parent : run(part(node, Node, "parentElement"), Element, "closest", "foreignObject");
        const matrix = owner instanceof SVGGraphicsElement ? run(owner, SVGGraphicsElement, "getScreenCTM") : null;
        if (isDrawn && matrix && boxes.length === 1) boxes[0] = widened(boxes[0], parent, node, matrix);
        return [boxes, matrix && [matrix.a, matrix.b, matrix.c, matrix.d], isDrawn];
      });
    },

    // Of each text, its words from a place on that are not in the line of a box: where each begins and ends in it, in code
    // units, and its left, top, right and bottom in CSS px of the page. A word that goes on in another line is several.
    rests(told, ...nodes) {
      let left = MOST_RESTS;
      return nodes.map((node, number) => {
        const [from, box] = told[number];
        const [data, range, found] = [part(node, CharacterData, "data"), new Range(), []];
        const boxes = (begin, end) => {
          range.setStart(node, begin);
          range.setEnd(node, end);
          return boxesOf(range);
        };
        const isInLine = ([, top, , bottom]) => Math.min(bottom, box[3]) - Math.max(top, box[1]) > (bottom - top) / 2;
        for (const { index, 0: word } of data.slice(from).matchAll(/\S+/gu)) {
          if ((left -= word.length) < 0) break;
          const begin = from + index;
          const own = boxes(begin, begin + word.length);
          if (own.length < 2) {
            found.push(...own.filter((one) => !isInLine(one)).map((one) => [begin, begin + word.length, ...one]));
            continue;
          }
          let at = begin;
          for (const letter of word) {
            const [one] = boxes(at, at + letter.length);
            const last = found.at(-1);
            if (one && !isInLine(one)) {
              if (last?.[1] === at && last[3] === one[1]) Object.assign(last, { 1: at + letter.length, 4: one[2] });
              else found.push([at, at + letter.length, ...one]);
            }
            at += letter.length;
          }
        }
        return found;
      });
    },

    // Of each text, the styles of the first line of a block that it is in, if these are not its own; null for none.
    // Whether a first line has features of its font that the rest of its text has not.
    haveOwnFeatures(...nodes) {
      const elements = new Set(nodes.flatMap((node) => {
        const found = [];
        for (let one = outer(node); one; one = outer(one)) if (one instanceof Element) found.push(one);
        return found;
      }));
      return [...elements].some((element) => {
        const [own, first] = [getComputedStyle(element), getComputedStyle(element, "::first-line")];
        return OF_FEATURES.some((name) => own[name] !== first[name]);
      });
    },

    firstLines(...nodes) {
      const known = new Map([[null, null]]);
      const outerElement = (node) => {
        const found = outer(node);
        return found instanceof Element || !found ? found : outerElement(found);
      };
      const around = (element) => {
        if (!known.has(element)) {
          const [own, first] = [getComputedStyle(element), getComputedStyle(element, "::first-line")];
          const differs = OF_LINES.some((name) => own[name] !== first[name]);
          known.set(element, differs ? OF_LINES.map((name) => first[name]) : around(outerElement(element)));
        }
        return known.get(element);
      };
      return nodes.map((node) => around(outerElement(node)));
    },

    // Of each text along a path, its letters with their matrices, which begin where these are, in CSS px of the page.
    glyphs(...nodes) {
      let left = MOST_GLYPHS;
      return nodes.map((node) => {
        const path = run(part(node, Node, "parentElement"), Element, "closest", "textPath");
        if (!(path instanceof SVGTextContentElement)) return [];
        const count = run(path, SVGTextContentElement, "getNumberOfChars");
        const screen = run(path, SVGGraphicsElement, "getScreenCTM");
        const units = count <= left && screen ? charactersOf(path, count) : [];
        left -= units.length;
        return units.flatMap(([unit, owner], at) => {
          if (owner !== node || /[\udc00-\udfff]/.test(unit)) return [];
          const letter = /[\ud800-\udbff]/.test(unit) ? unit + (units[at + 1]?.[0] ?? "") : unit;
          const { x, y } = run(path, SVGTextContentElement, "getStartPositionOfChar", at);
          const angle = run(path, SVGTextContentElement, "getRotationOfChar", at);
          const { a, b, c, d, e, f } = screen.translate(x, y).rotate(angle);
          return [[letter, [a, b, c, d, e + scrollX, f + scrollY]]];
        });
      });
    },

    // Of each text of a drawing, how much room its letters have in a run of them, over their width, and by how many degrees
    // they turn there from one to the next: the worst in all runs; null for those that were not looked at.
    crowded(...nodes) {
      let left = MOST_CROWDED;
      const roots = new Set(nodes.map((node) => run(node, Node, "getRootNode")));
      const isChanged = [...roots].some((root) => root.querySelector("animate, set"));
      return nodes.map((node) => {
        const element = part(node, Node, "parentElement");
        if (!(element instanceof SVGTextContentElement)) return [1, 0];
        const count = run(element, SVGTextContentElement, "getNumberOfChars");
        left -= count;
        if (left < 0) return null;
        const units = charactersOf(element, count);
        const ask = (name, at) => run(element, SVGTextContentElement, name, at);
        const far = (first, second) => Math.hypot(second.x - first.x, second.y - first.y);
        const turns = isChanged || run(element, Element, "closest", "textPath, [rotate]");
        const own = Array.from({ length: count }, (_, at) => at).filter((at) => !units.length || units[at][1] === node);
        const all = own.map((at) => {
          const [start, end] = ["getStartPositionOfChar", "getEndPositionOfChar"].map((name) => ask(name, at));
          return [start, far(start, end), turns ? ask("getRotationOfChar", at) : 0, end];
        }).filter(([start, wide], at, every) => // the units of one letter have one place
          wide && !(at && wide === every[at - 1][1] && !far(start, every[at - 1][0])));
        // What goes beyond the end of a path has no place.
        const isAlongPath = run(element, Element, "closest", "textPath");
        const usual = all.reduce((sum, [, wide]) => sum + wide, 0) / all.length;
        const steps = all.slice(1).map(([next, , angle], at) => {
          const [start, wide, before, end] = all[at];
          const turn = Math.abs(((((angle - before) % 360) + 540) % 360) - 180);
          // Where a path begins anew, the letters after it are no part of the word. Lines of a few words are as usual.
          const along = far(end, next) > MOST_APART * usual ? BROKEN * wide : wide;
          return [isAlongPath ? along : Math.min(far(start, next), wide), wide, Math.min(turn, MOST_TURN)];
        });
        if (steps.length < FEWEST_CROWDED) return [1, 0];
        let [room, turn] = [1, 0];
        for (let from = 0; from === 0 || from + RUN <= steps.length; from += RUN_STEP) {
          const some = steps.slice(from, from + RUN);
          const [taken, wide, turned] = [0, 1, 2].map((which) => some.reduce((sum, step) => sum + step[which], 0));
          [room, turn] = [Math.min(room, taken / wide), Math.max(turn, turned / some.length)];
        }
        return [room, turn];
      });
    },

    // Where the ink of each line is, how high if it is not transformed, and which share of it is in the line; where in its width some of its letters begin
    // and end, and boxes around these if it is turned; and the room of its letters over that of the same ones with no
    // other space between them and no other width. null for a line that cannot be drawn.
    measured(fonts, lines) {
      const [pen, sheet] = [penOf(paper(1, 1)), paper(1, 1)];
      const isOfPage = ofPage();
      return lines.map((line) => {
        const way = laid(pen, fonts, line);
        const { piece, wide, at, misfit, glyphs, room, matrix: [a, b, c, d, e, f], begin } = way;
        if (![a, b, c, d, e, f, wide].every(Number.isFinite) || !wide) return null;
        if (line.isVaried && misfit > MOST_MISFIT) return null;
        const ink = pen.measureText(piece);
        const xs = isUpright(line) || glyphs.length > 1 ? [at[0], -at[0]] : [at[0] - ink.actualBoundingBoxLeft, at[0] + ink.actualBoundingBoxRight];
        const ys = [at[1] - ink.actualBoundingBoxAscent, at[1] + ink.actualBoundingBoxDescent];
        const around = (xs, ys) => {
          const corners = xs.flatMap((x) => ys.map((y) => [a * x + c * y + e, b * x + d * y + f]));
          const [across, down] = [0, 1].map((axis) => corners.map((corner) => corner[axis]));
          return [Math.min(...across), Math.min(...down), Math.max(...across), Math.max(...down)];
        };
        const edges = around(xs, ys);
        if (isOfPage(fonts[line.font][2]) && isColoured(sheet, fonts, line, edges)) return null;
        // How much of the line the first letters take, counted in code units.
        const place = (end) => {
          let [units, taken] = [0, isUpright(line) ? 0 : glyphs[0].at[0] - at[0]];
          for (const { piece: one, wide: own } of glyphs) {
            const part = one.slice(0, Math.max(end - units, 0));
            taken += part === one ? own : pen.measureText(part).width;
            units += one.length;
          }
          return taken / wide;
        };
        // A single word may have spaces beside it.
        const ends = line.ends.length > 1 || line.place || line.text.trim() !== line.text ? line.ends.map((pair) => pair.map((end) => place(end - begin))) : [];
        const { fontBoundingBoxAscent, fontBoundingBoxDescent } = pen.measureText("");
        const boxes = !line.place && !b && !c ? [] : ends.map(([from, to]) => around(
          [at[0] + from * wide, at[0] + to * wide], [at[1] - fontBoundingBoxAscent, at[1] + fontBoundingBoxDescent]));
        // Which share of the height of the ink is in the line.
        const [first, last] = [ink.actualBoundingBoxAscent, -ink.actualBoundingBoxDescent];
        const inLine = Math.min(first, fontBoundingBoxAscent) - Math.max(last, -fontBoundingBoxDescent);
        const within = first > last ? Math.max(inLine, 0) / (first - last) : 1;
        pen.wordSpacing = "0px";
        const close = pen.measureText(piece).width;
        pen.letterSpacing = "0px";
        const natural = pen.measureText(piece).width || 1;
        return {
          ink: edges,
          boxes,
          room: room ?? (Math.min(wide, close) / natural) * (line.map ? 1 : a / d),
          high: line.map || line.place ? null : d * (ink.actualBoundingBoxAscent + ink.actualBoundingBoxDescent),
          within,
          ends,
          misfit,
          size: sizeOf(pen) * Math.abs(a * d - b * c) / Math.hypot(a, b),
        };
      });
    },

    drawn(fonts, lines, width, height) {
      const sheet = paper(width, height);
      const pen = penOf(sheet);
      pen.fillRect(0, 0, width, height);
      pen.globalCompositeOperation = "lighter";
      for (const line of lines) {
        pen.fillStyle = INKS[line.ink];
        draw(pen, laid(pen, fonts, line), [0, 0]);
      }
      return run(sheet, HTMLCanvasElement, "toDataURL").split(",")[1];
    },
  };
})());

// Evaluated after ../browser/tab.js, once moments are sought.
// moments(), goTo(number): hold animations, find moments at which they bring texts in view that are not now, and bring the
// page there, with -1 back; returns left, top, width and height of these texts, in px of the page.
Object.assign(domsieve, (() => {
  const { part, own, trees, laidOut, scrolls, animationsOf, isHeld, periodOf, isEndless, leavesIn, SLOW_MS } = dom;
  const { halfway } = domsieve;

  // Moments of animations that follow what is scrolled or go on for ever, of which a reader sees many. So many are tried, at
  // times that no page can know, of which a text must be in view in so many; the best are kept, more of those that go on
  // for ever, as slides in turn show one at a time. Guesses, as is how long a reader waits.
  const TRIED = 40, LEAST_SEEN = 2, MOST_DRIVEN = 12, MOST_MOMENTS = 24, SHORTEST_MS = 100;
  // Bounds of the work: texts of a group of animations, boxes that cover texts, looks at any text, and elements in all
  // captures together.
  const MOST_MOVED = 1000, MOST_COVERS = 20, MOST_LOOKS = 100_000, MOST_CAPTURED = 100_000;
  // A text is in view if so much of it is, and its opacity is no lower. It shows well at a moment if it shows almost as much
  // as at any, and has no need of another one if also its opacity is not far below. Of large texts so many px are enough; a
  // box that is narrower than the last number shows no text well.
  const IN_VIEW = 0.1, WELL = 0.98, NOT_FAR_BELOW = 0.25, ENOUGH_PX = 1000, LEAST_SIZE_PX = 8;
  // Of texts that begin in one place, it is so many times as large when several show as when it does alone.
  const SHARED = 0.2;
  // A long line is looked at in parts of so many px.
  const PIECE_PX = 100, MOST_PIECES = 60;
  const MOVES = new RegExp(`^(transform|translate|rotate|scale|opacity|visibility|left|right|top|bottom|inset|margin|offset(Path|Distance|Position)|--
    |color|webkitTextFillColor|filter|fontSize|width|height|maxWidth|maxHeight|clipPath|zIndex)`.replace(/\s/g, ""));
  // What these show or cover is only known when it is captured, at so many moments.
  const SHAPES = /^(clipPath|zIndex)/, TURNS_OVER = /rotate(x|y|3d)|matrix3d|^([xy]|[-\d.]+ [-\d.]+) /i;
  const MOST_SHAPED = 6;
  const PICTURES = "img, canvas, video, svg, iframe, object, embed";
  // What is captured of letters depends on their colour.
  const OF_COLOUR = ["-webkit-text-fill-color", "-webkit-text-stroke-color", "text-decoration"];
  let moments = [], changing = [], moving = new Set();
  let mostMoments = 0;
  let moment = null;
  let looks = 0;
  let scrolledTo = null;
  const around = (node) => {
    const outer = node.assignedSlot ?? part(node, Node, "parentNode");
    return outer instanceof ShadowRoot ? outer.host : outer;
  };
  const isOfPage = (element) => element === own("documentElement") || element === own("body");
  const isStuck = ({ position, top, right, bottom, left }) =>
    position === "sticky" && [top, right, bottom, left].some((inset) => inset !== "auto");
  const facts = new Map();
  const factsOf = (element) => {
    if (facts.has(element)) return facts.get(element);
    const style = getComputedStyle(element);
    const { overflowX, overflowY, contain, opacity, position } = style;
    const isCut = /paint|strict|content/.test(contain);
    const [x, y] = [overflowX, overflowY].map((value) => isCut || value !== "visible");
    const found = {
      cuts: !isOfPage(element) && (x || y) ? [{ element, x, y, isScrolled: scrolls(style).some(Boolean) }] : [],
      fades: opacity !== "1" || moving.has(element) ? [element] : [],
      isFixed: position === "fixed",
      isSticky: isStuck(style),
      hasNoBack: style.backfaceVisibility === "hidden",
    };
    facts.set(element, found);
    return found;
  };
  // The parts of a text in a long line, of which no moment shows all.
  const piecesOf = (text, whole) => {
    const [{ width } = { width: 0 }, ...others] = whole.getClientRects();
    const count = others.length ? 1 : Math.min(Math.ceil(width / PIECE_PX), MOST_PIECES);
    if (count <= 1) return [whole];
    const end = (at) => Math.round(at * text.length / count);
    return Array.from({ length: count }, (_, at) => {
      const piece = new Range();
      piece.setStart(text, end(at));
      piece.setEnd(text, end(at + 1));
      return piece;
    });
  };
  const targetsOf = (animations) => animations.map(({ effect }) => effect.target);
  // The texts in some elements, in parts, with what it takes to know whether they are in view.
  const textsIn = (roots, isMeant = () => true) => {
    const found = new Map();
    for (const root of roots) {
      for (const [text, style] of laidOut(root)) {
        if (style || found.has(text) || !text.data.trim() || !isMeant(text)) continue;
        if (found.size === MOST_MOVED) return [...found.values()].flat();
        const chain = [];
        const parent = around(text);
        for (let at = parent; at instanceof Element; at = around(at)) chain.push(factsOf(at));
        if (!chain.length) continue;
        const whole = new Range();
        whole.selectNode(text);
        found.set(text, piecesOf(text, whole).map((range) => ({
          range,
          whole,
          parent,
          cuts: chain.flatMap(({ cuts }) => cuts),
          fades: chain.flatMap(({ fades }) => fades),
          isFixed: chain.some((one) => one.isFixed),
          isSticky: chain.some((one) => one.isSticky),
          hasNoBack: chain.some((one) => one.hasNoBack),
        })));
      }
    }
    return [...found.values()].flat();
  };
  // The texts beside boxes that animations move for ever, which these may cover now.
  const textsUnder = (covers) => covers.slice(0, MOST_COVERS).flatMap(({ effect: { target, pseudoElement } }) => {
    const { backgroundColor, backgroundImage, boxShadow } = getComputedStyle(target, pseudoElement);
    const beside = pseudoElement ? target : around(target);
    if (!(beside instanceof Element) || isOfPage(beside)) return [];
    const isClear = /^rgba\(.*, 0\)$/.test(backgroundColor) && backgroundImage === "none" && boxShadow === "none";
    if (isClear && (pseudoElement || !target.matches(PICTURES))) return [];
    const box = target.getBoundingClientRect();
    const range = new Range();
    return textsIn([beside], (text) => {
      if (!pseudoElement && target.contains(text)) return false;
      range.selectNode(text);
      const { left, top, right, bottom } = range.getBoundingClientRect();
      return left < box.right && right > box.left && top < box.bottom && bottom > box.top;
    });
  });
  const NOTHING = [0, 0, 0];
  // Whether a text comes to the middle of the window, or of a box, where that is scrolled to; or as near as it can come.
  const isInMiddle = (rect, { source, row, offset, room }) => {
    const [begin, end, size, shift] = row ? ["left", "right", "clientWidth", "scrollLeft"] : ["top", "bottom", "clientHeight", "scrollTop"];
    const [high, origin] = [source[size], source[shift] - (isOfPage(source) ? 0 : source.getBoundingClientRect()[begin])];
    const [first, last] = [rect[begin] + origin, rect[end] + origin];
    const low = last < high / 4 ? 0 : high / 4;
    const most = first - room > 0.75 * high ? high : 0.75 * high;
    return last - offset > low && first - offset < most;
  };
  const opacityOf = (element) => {
    const { opacity, filter } = getComputedStyle(element);
    return [...filter.matchAll(/\bopacity\(([\d.]+)\)/g)].reduce((product, [, one]) => product * one, opacity);
  };
  // Which share of a text is in view, its opacity, the smaller side of its box, in px, and its place.
  const sightOf = ({ range, parent, cuts, fades, isFixed, isSticky }) => {
    const { visibility, webkitTextFillColor } = getComputedStyle(parent);
    if (visibility !== "visible") return NOTHING;
    const rect = range.getBoundingClientRect();
    if (scrolledTo && !isFixed && !isSticky && !isInMiddle(rect, scrolledTo)) return NOTHING;
    let { left, top, right, bottom } = rect;
    let [wide, high] = [right - left, bottom - top].map((size) => Math.min(size, ENOUGH_PX));
    for (const { element, x, y, isScrolled } of cuts) {
      const box = element.getBoundingClientRect();
      if (isScrolled) {
        ({ left, top, right, bottom } = box);
        [wide, high] = [right - left, bottom - top];
      }
      if (x) [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
      if (y) [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
    }
    [left, right] = [Math.max(left, -scrollX), Math.min(right, innerWidth)];
    [top, bottom] = isFixed ? [Math.max(top, 0), Math.min(bottom, innerHeight)] : [Math.max(top, -scrollY), bottom];
    if (right <= left || bottom <= top || !wide || !high) return NOTHING;
    const [, alpha] = webkitTextFillColor.match(/[,/] *([\d.]+)\)$/) ?? [1, 1];
    const opacity = fades.reduce((product, one) => product * opacityOf(one), /^rgb\(/.test(webkitTextFillColor) ? 1 : alpha);
    return [Math.min((right - left) / wide, 1) * Math.min((bottom - top) / high, 1), opacity, Math.min(rect.width, rect.height),
      `${Math.round(rect.left)},${Math.round(rect.top)}`];
  };
  const isSeen = ([share, opacity]) => share >= IN_VIEW && opacity >= IN_VIEW;
  // The same of texts, of which those that are on top of each other show badly, as if they were small.
  const sightsOf = (texts) => {
    const sights = texts.map(sightOf);
    const byPlace = Map.groupBy(sights.filter(isSeen), ([, , , place]) => place);
    return sights.map((one) => {
      const [share, opacity, size, place] = one;
      return byPlace.get(place)?.length > 1 && isSeen(one) ? [share, opacity, SHARED * size, place] : one;
    });
  };
  // Keeps the moments at which animations bring some texts in view that are not now, or all texts, if any is not; `timeOf`
  // returns the time of an animation for a share of what a reader sees. If it `isShaped`, there are some moments more.
  const keepMoments = (animations, texts, isAll, timeOf, placeOf, others = [], isShaped = false) => {
    looks += TRIED * (texts.length + animations.length);
    if (looks > MOST_LOOKS) return;
    const now = animations.map((one) => one.currentTime);
    const set = (share) => {
      animations.forEach((one, at) => {
        one.pause();
        one.currentTime = timeOf(at, share);
      });
      const place = placeOf(share);
      scrolledTo = place.source ? place : null;
      const sights = sightsOf(texts);
      scrolledTo = null;
      return sights;
    };
    const times = others.map((one) => one.currentTime);
    const reset = () => {
      animations.forEach((one, at) => { one.currentTime = now[at]; });
      others.forEach((one, at) => { one.currentTime = times[at]; });
    };
    const before = sightsOf(texts);
    const tried = Array.from({ length: TRIED }, (_, at) => (at + Math.random()) / TRIED).map((share) => [share, set(share)]);
    const timesOf = (text) => tried.filter(([, one]) => isSeen(one[text]));
    const isOften = texts.map((_, text) => timesOf(text).length >= LEAST_SEEN);
    // Of many slides in turn, some are in view at one of these moments only: they must be soon before or after it, too.
    const rare = texts.map((_, text) => text).filter((text) => !isOften[text] && timesOf(text).length);
    const more = [];
    for (const [share, some] of Map.groupBy(rare, (text) => timesOf(text)[0][0])) {
      for (const way of [-1, 1]) {
        const near = share + way * (0.45 + 0.15 * Math.random()) / TRIED;
        if (near <= 0 || near >= 1) continue;
        const found = set(near);
        for (const text of some) isOften[text] ||= isSeen(found[text]);
        more.push([near, found]);
        looks += texts.length + animations.length;
      }
    }
    const all = [...tried, ...more].sort(([one], [other]) => one - other);
    const [shares, sights] = [all.map(([share]) => share), all.map(([, one]) => one)];
    reset();
    // Where the texts are that a reader sees then. Others may seem to be in view, but not where the page is scrolled to.
    const show = (share) => {
      others.forEach((one, at) => {
        one.pause();
        one.currentTime = times[at] + placeOf(share).delay * one.playbackRate;
      });
      const found = set(share);
      const seen = texts.filter((_, at) => isSeen(found[at])).map(({ whole }) => whole);
      return [...new Set(seen)].map((whole) => {
        const { left, top, width, height } = whole.getBoundingClientRect();
        return [left + scrollX, top + scrollY, width, height];
      });
    };
    const isBelow = ([share, opacity, size], [most, clearest, largest]) =>
      share * opacity * size < WELL * most * clearest * largest;
    const best = texts.map((_, text) => sights.map((one) => one[text]).reduce((one, other) => (isBelow(one, other) ? other : one)));
    const shows = sights.map((one) => one.map((sight, text) => isSeen(sight) && !isBelow(sight, best[text])));
    const seen = texts.map((_, text) => text).filter((text) => isOften[text]);
    const isLost = ([share, opacity, size], [most, clearest, largest]) =>
      share < WELL * most || opacity < NOT_FAR_BELOW * clearest || size < NOT_FAR_BELOW * largest;
    const lost = seen.filter((text) => isLost(before[text], best[text]));
    let left = lost.length && isAll ? seen : lost;
    while (left.length && moments.length < mostMoments) {
      const counts = shows.map((one) => left.filter((text) => one[text]).length);
      const first = counts.indexOf(Math.max(...counts));
      // The middle of the time in which these texts show: at its ends, they may change places with others. Of the way that a
      // reader scrolls, where they show first: it is not known here when what is sticky goes.
      const isSame = (one) => left.every((text) => one[text] === shows[first][text]);
      const next = shows.findIndex((one, at) => at > first && !isSame(one));
      const last = placeOf(shares[first]).source ? first : (next < 0 ? shows.length : next) - 1;
      const at = Math.floor((first + last) / 2);
      moments.push({ show: () => show(shares[at]), reset, place: placeOf(shares[at]) });
      left = left.filter((text) => !shows[at][text]);
    }
    for (let part = 0; isShaped && part < MOST_SHAPED && moments.length < mostMoments; part++) {
      const share = (part + Math.random()) / MOST_SHAPED;
      moments.push({ show: () => show(share), reset, place: placeOf(share) });
    }
  };
  const showsWell = (text) => {
    const [share, opacity, size] = sightOf(text);
    return share >= WELL && opacity >= NOT_FAR_BELOW && size >= LEAST_SIZE_PX;
  };
  const keysOf = (one) => one.effect.getKeyframes()
    .flatMap(({ offset, computedOffset, easing, composite, ...look }) => Object.keys(look));
  const isRow = ({ axis }) => /inline|x/.test(axis);
  // Where what scrolls begins and ends a timeline, and how far a reader can scroll it, in px; null if not at all.
  const reachOf = (timeline) => {
    const { source, subject, startOffset, endOffset } = timeline;
    if (!source || timeline.currentTime === null) return null;
    if (!isOfPage(source) && !scrolls(getComputedStyle(source))[isRow(timeline) ? 0 : 1]) return null;
    const room = isRow(timeline) ? source.scrollWidth - source.clientWidth : source.scrollHeight - source.clientHeight;
    const [begin, end] = subject ? [startOffset, endOffset].map((one) => one?.to("px").value) : [0, room];
    return end > begin && Math.min(end, room) > Math.max(begin, 0) ? { begin, end, room } : null;
  };
  const keepDriven = (all) => {
    const byTimeline = Map.groupBy(all, ({ timeline }) => timeline);
    const texts = new Map([...byTimeline].map(([timeline, own]) => [timeline, textsIn(targetsOf(own))]));
    const lost = [...byTimeline.keys()].filter((timeline) => !texts.get(timeline).every(showsWell));
    if (!lost.length) return;
    const timelines = new Map([...byTimeline.keys()].map((timeline) => [timeline, reachOf(timeline)]));
    const driven = all.filter(({ timeline }) => timelines.get(timeline));
    // Its time counts from the begin of its range.
    const before = driven.map((one) => (halfway.includes(one) ? 50 : one.timeline.currentTime.value) - one.currentTime.value);
    for (const timeline of lost.filter((one) => timelines.get(one))) {
      if (moments.length === mostMoments) return;
      const { begin, end: last, room } = timelines.get(timeline);
      const [first, rest] = [Math.max(begin, 0), Math.min(last, room) - Math.max(begin, 0)];
      const [source, row, offsetOf] = [timeline.source, isRow(timeline), (share) => first + share * rest];
      // All that follow the same box do so at once.
      const numbers = driven.map((_, at) => at).filter((at) => driven[at].timeline.source === source
        && isRow(driven[at].timeline) === row);
      const timeOf = (at, share) => {
        const own = timelines.get(driven[numbers[at]].timeline);
        return CSS.percent(100 * (offsetOf(share) - own.begin) / (own.end - own.begin) - before[numbers[at]]);
      };
      const placeOf = (share) => ({ source, row, offset: offsetOf(share), room });
      keepMoments(numbers.map((at) => driven[at]), texts.get(timeline), true, timeOf, placeOf);
    }
  };
  const keepEndless = (endless, covers, others) => {
    const now = endless.map((one) => one.currentTime);
    const periods = covers.map((one) => periodOf(one) + Math.max(-one.currentTime, 0) / one.playbackRate);
    const span = Math.min(Math.max(...periods), SLOW_MS, leavesIn(document));
    // What is cut by a shape, covered or turned over may seem to be in view.
    const turnsOver = endless.some(({ effect }) => effect.getKeyframes().some(({ transform = "", rotate = "" }) =>
      TURNS_OVER.test(transform) || TURNS_OVER.test(rotate)));
    const all = textsIn(targetsOf(endless));
    const under = textsUnder(covers);
    const isShaped = endless.some((one) => keysOf(one).some((name) => SHAPES.test(name)))
      || (turnsOver && all.some(({ hasNoBack }) => hasNoBack)) || under.length > 0;
    const texts = [...all.filter((one) => isShaped || !showsWell(one)), ...under];
    const timeOf = (at, share) => now[at] + share * span * endless[at].playbackRate;
    if (texts.length) keepMoments(endless, texts, false, timeOf, (share) => ({ delay: share * span }), others, isShaped);
  };

  return {
    // Returns the properties that change, and of each moment how far down the page is scrolled then, and how many ms later
    // it is: null for the former if it does not depend on that, and -1 if it depends on something else that is scrolled; and
    // when animations were held, in ms since 1970.
    moments() {
      // The page is captured as it is judged here: on a busy machine, much time may pass in between.
      this.hold();
      const heldAt = performance.timeOrigin + own("timeline").currentTime;
      const goesOn = (one) => one.timeline instanceof DocumentTimeline && (one.playState === "running" || isHeld(one));
      const isHalfway = new Set(halfway);
      const every = [...trees(document)].flatMap(animationsOf);
      const moved = every.filter((one) => one.effect?.target && keysOf(one).some((name) => MOVES.test(name)));
      const driven = moved.filter((one) => !one.effect.pseudoElement
        && one.timeline && "source" in one.timeline && one.currentTime !== null
        && (isHalfway.has(one) || one.playState === "running"));
      const covers = moved.filter((one) => goesOn(one) && one.playbackRate > 0 && isEndless(one)
        && one.effect.getComputedTiming().duration >= SHORTEST_MS);
      const endless = covers.filter((one) => !one.effect.pseudoElement);
      // What covers texts may be at other times, too.
      const others = every.filter((one) => one.effect && goesOn(one) && !endless.includes(one));
      [moments, looks, changing] = [[], 0, [...driven, ...endless, ...others]];
      moving = new Set([...driven, ...endless].map(({ effect }) => effect.target));
      facts.clear();
      const mostCaptured = Math.floor(MOST_CAPTURED / own("getElementsByTagName").call(document, "*").length);
      try {
        mostMoments = Math.min(MOST_DRIVEN, mostCaptured);
        if (driven.length) keepDriven(driven);
        mostMoments = Math.min(MOST_MOMENTS, mostCaptured);
        if (covers.length) keepEndless(endless, covers, others);
      } catch { // an animation that cannot be set; the page is captured as it is
        [moments, scrolledTo] = [[], null];
      }
      if (!moments.length) this.goTo(-1);
      const names = changing.flatMap(keysOf).map((name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
      if (names.includes("color")) names.push(...OF_COLOUR);
      const whenOf = ({ place: { source, row, offset, delay } }) =>
        (source ? [isOfPage(source) && !row ? offset : -1, 0] : [null, delay]);
      return [[...new Set(names)], moments.map(whenOf), heldAt];
    },

    goTo(number) {
      moment?.reset();
      moment = moments[number];
      if (moment) return moment.show();
      // What is captured halfway, or held, goes on later.
      for (const one of changing) if (one.playState === "paused" && !halfway.includes(one) && !isHeld(one)) one.play();
      return [];
    },
  };
})());

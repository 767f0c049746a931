// Evaluated once per document in an isolated world, after dom.js; tab_pictures.js and page/moments.js add to it.
// quiet(): resolves with true once the structure has been still for `stillMs`, with false after `limitMs`.
// scrollThrough(): scrolls to the end in steps that let lazy content come, and back to the top.
// reached(selector): how many elements are in the documents and shadow trees that are open to this script.
// shows(), aim(): find the first element that is shown by a selector; null says that it is no selector.
// restless(refreshes): what `dom.restlessIn` says of the page, while nothing was brought to an end yet, whether it goes to
// a fragment with a canvas, or elsewhere with animations, and whether a script has set the clock of a drawing. For
// `refreshes`, see refreshBy().
// goUp(), unscroll(withPage, endMs, refreshes): scroll back to the top; the latter returns "boxes" if any but the page were
// scrolled, "page" if that was, or "".
// hideNoscript(): keeps noscript hidden while scripts are off, or ends that.
// unskipAll(): shows what is skipped far from the window, as trim() does, too.
// spell(): writes out letters of which a capture has no end; trim() does so, too.
// trim(): makes the document ready for its capture, and brings animations to where they are after `endMs`, also if they
// wait for a reader to scroll to something; returns how many nodes it had.
// resume(): lets those go on that follow what is scrolled, gives scripts their text back and elements their own colours
// where these were those of their first lines, and brings animations back that began less than `oldMs` before; returns
// whether these are out of step with others (young).
// halfway: the former.
// hold(), letGo(): pauses the others, so that the pictures show them as they are in the capture, and lets them go on.
globalThis.domsieve = (() => {
  const {
    part, run, own, isLaidOut, showsNoscript, trees, places, allTrees, laidOut, animated, isSkipping, unskip, refersToSkipped, canScroll, animationsOf,
    refreshOf, refreshBy, leavesIn, clocksOf, hasOwn, isSent, kind, isYoung, runs, leftOf, repeats, begins, isPassing, periodOf, bringTo,
    SOON_MS, SLOW_MS, STRONGEST, HTML, hold, isHeld, letGo, restlessIn,
  } = dom;

  let lastChange = performance.now();
  const changed = () => { lastChange = performance.now(); };
  const isText = (nodes) => nodes.length === 1 && nodes[0].nodeType === Node.TEXT_NODE;
  // Clocks and counters put one text in the place of another for ever.
  const isStructural = (record) => !(isText(record.addedNodes) && isText(record.removedNodes));
  new MutationObserver((records) => records.some(isStructural) && changed())
    .observe(document, { childList: true, subtree: true });
  own("addEventListener").call(document, "domsieve-shadow-change", changed);
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
  // What the page says of itself as JSON-LD; see snapshot/json_ld.py.
  const isData = (script) => script.type.slice(0, 100).split(";")[0].trim().toLowerCase() === "application/ld+json"
    && script.textContent.length <= 1_000_000;
  const isShown = (element) => isLaidOut(element) && element.getClientRects().length > 0
    && getComputedStyle(element).visibility === "visible";
  const first = (selector) => {
    for (const tree of trees(own("documentElement"))) {
      for (const element of tree.querySelectorAll(selector)) if (isShown(element)) return element;
    }
  };
  // Scrolls a box to where it begins, also if it snaps to somewhere else.
  const begin = (element) => {
    const [across, down] = canScroll(element);
    const isThere = () =>
      !(across && part(element, Element, "scrollLeft")) && !(down && part(element, Element, "scrollTop"));
    const go = () => run(element, Element, "scrollTo",
      { ...(across ? { left: 0 } : {}), ...(down ? { top: 0 } : {}), behavior: "instant" });
    go();
    if (isThere()) return;
    animated(element, { scrollSnapType: "none" });
    go();
  };
  const FAR_PX = 999_999; // more digits are not written out in computed styles
  // Scripts lock a page behind a dialog by a fixed body, which shows only a part of the page then, and others let only a
  // fixed body scroll. Both stay where they are, and what they have beside the window stays there.
  const release = () => {
    const { body } = document;
    if (!body || getComputedStyle(body).position !== "fixed") return;
    const { left, top, right, bottom, height } = body.getBoundingClientRect();
    const isLocked = height > innerHeight + 1 && top <= 0 && bottom > 0;
    const scrolls = part(body, Element, "scrollHeight") > part(body, Element, "clientHeight") + 1 && canScroll(body)[1];
    if (!isLocked && !scrolls) return;
    const y = isLocked ? 0 : top;
    const beside = [...(isLocked ? [0, 0] : [-top, bottom - innerHeight]), right - innerWidth, -left].map((px) => Math.max(px, 0));
    const [above, below, after, before] = beside.map((px) => `${px || -FAR_PX}px`);
    const style = getComputedStyle(body);
    const look = {
      position: "absolute", isolation: "isolate", margin: "0px", width: style.width, ...(scrolls ? { height: style.height } : {}),
      ...(beside.some(Boolean) ? { clipPath: `inset(${above} ${after} ${below} ${before})` } : {}),
    };
    const lay = (...place) => animated(body, { ...look, left: `${place[0]}px`, top: `${place[1]}px` });
    const laid = lay(left, y), found = body.getBoundingClientRect();
    laid.cancel();
    const last = lay(2 * left - found.left, 2 * y - found.top);
    // Important styles are stronger than animations.
    if (look.clipPath && !getComputedStyle(body).clipPath.startsWith("inset")) last.cancel();
  };
  // A capture has no styles of ::first-line. Where the first line is the only one, the element gets its colour, and
  // keeps all else that is made of its own colour.
  const HAS_FIRST_LINE = /^(block|flow-root|list-item|inline-block|table-cell|table-caption)/;
  const colourOfFirstLine = (element, style) => {
    if (!HAS_FIRST_LINE.test(style.display) || element.childElementCount) return null; // others inherit the colour
    const first = getComputedStyle(element, "::first-line");
    const fill = first.webkitTextFillColor;
    const color = first.backgroundColor === fill ? "transparent" : fill;
    if (color === style.webkitTextFillColor) return null;
    if (run(element, Element, "getAnimations").length) return null; // of which first lines know nothing
    const range = new Range();
    range.selectNodeContents(element);
    const lines = [...range.getClientRects()].filter((rect) => rect.width && rect.height);
    if (!lines.length) return null;
    const top = Math.min(...lines.map((rect) => rect.top)), bottom = Math.max(...lines.map((rect) => rect.bottom));
    return bottom - top < 1.5 * Math.max(...lines.map((rect) => rect.height)) ? color : null;
  };
  const WITH_COLOURS = /-color|-image|shadow|^(fill|stroke|filter|backdrop-filter|content|shape-outside)$/;
  const OF_LETTERS = /^(text-shadow|text-emphasis-color|-webkit-.*)$/;
  const inCamelCase = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
  let coloured = [];
  const showFirstLines = (found) => {
    const names = [...found[0]?.style ?? []].filter((name) => WITH_COLOURS.test(name) && !OF_LETTERS.test(name));
    const valuesOf = ({ style }) => names.map((name) => [name, style.getPropertyValue(name)]);
    const before = found.map(valuesOf);
    coloured = found.map(({ element, color }) => animated(element, { color }));
    const after = found.map(valuesOf);
    for (const [at, { color }] of found.entries()) {
      const changed = before[at].filter(([, value], number) => value !== after[at][number][1]);
      const kept = Object.fromEntries(changed.map(([name, value]) => [inCamelCase(name), value]));
      coloured[at].effect.setKeyframes({ ...kept, color });
    }
  };
  // Chrome does not end the capture of a page where a first line has more letters in its own case, such as "SS" for "ß", and
  // others follow that are not of the same text. So these letters are spelled out, which changes nothing of what is seen.
  const LONGER = /[\u00df\u0130\u0149\u01f0\u0390\u03b0\u0587\u1e96-\u1e9a\u1f50-\u1fff\ufb00-\ufb17]/g;
  const IN_CASE = {
    uppercase: (letter) => [letter.toUpperCase(), letter.toUpperCase().toLowerCase()],
    lowercase: (letter) => [letter.toLowerCase(), letter.toLowerCase()],
  };
  let isSpelled = false;
  const spellOut = (all) => {
    if (!all.some(([text, style]) => !style && text.data.search(LONGER) >= 0)) return;
    for (const [element, style] of all) {
      if (!style || !HAS_FIRST_LINE.test(style.display)) continue;
      const { textTransform } = getComputedStyle(element, "::first-line");
      const inCase = textTransform === style.textTransform ? null : IN_CASE[textTransform];
      if (!inCase || part(element, Node, "textContent").search(LONGER) < 0) continue;
      const hasOthers = element.childElementCount
        || ["::before", "::after"].some((name) => !/^(none|normal)$/.test(getComputedStyle(element, name).content));
      if (!hasOthers) continue;
      const range = new Range();
      range.selectNodeContents(element);
      const end = [...range.getClientRects()].find((rect) => rect.width && rect.height)?.bottom;
      const walker = own("createTreeWalker").call(document, element, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_CDATA_SECTION);
      while (walker.nextNode()) {
        const text = walker.currentNode;
        for (const { index, 0: letter } of [...text.data.matchAll(LONGER)].reverse()) {
          range.setStart(text, index);
          range.setEnd(text, index + 1);
          const [changed, spelled] = inCase(letter);
          if (changed.length > 1 && range.getBoundingClientRect().top < end) {
            text.replaceData(index, 1, spelled);
            isSpelled = true;
          }
        }
      }
    }
  };
  // Chapters below the fold may be skipped until they are scrolled to. An animation shows them and changes no attribute.
  // Returns what is laid out.
  const showSkipped = () => {
    const all = [], skipping = [], firstLines = [];
    for (const one of laidOut(own("documentElement"))) {
      all.push(one);
      const [element, style] = one;
      if (!style) continue;
      if (isSkipping(element, style)) skipping.push(element);
      const color = colourOfFirstLine(element, style);
      if (color) firstLines.push({ element, style, color });
    }
    unskip(skipping);
    showFirstLines(firstLines);
    return all;
  };
  // Half of what a capture carries would be source code, which nobody wants. What a style sheet shows takes room, and what
  // it may show elsewhere is there again for the pictures.
  const emptied = [];
  const emptyScripts = (all) => {
    const shown = new Set(all.map(([node]) => node));
    const scripts = [...own("scripts")].filter((one) => !isData(one) && !shown.has(one));
    for (const text of scripts.flatMap((one) => [...one.childNodes])) {
      if (!text.data) continue;
      emptied.push([text, text.data]);
      text.data = " "; // not :empty
    }
  };
  // What waits until a reader scrolls to something; see https://drafts.csswg.org/css-animations-2/#animation-trigger.
  const waits = ({ effect, playState }) => {
    const { target, pseudoElement } = effect ?? {};
    const style = playState === "paused" && target && getComputedStyle(target, pseudoElement);
    return style && /^--/.test(style?.animationTrigger) && !style.animationPlayState.includes("paused");
  };
  const followsItsElement = ({ timeline, playState }) => playState === "running" && timeline && "subject" in timeline;
  // What fades in when a reader scrolls to it is captured as it is in the middle of the window.
  const halfway = [];
  // No page can know when it is looked at.
  const anyTime = (leastMs) => leastMs * (1 + 0.2 * Math.random());
  const timeOf = (drawing) => Math.max(run(drawing, SVGSVGElement, "getCurrentTime") * 1000, 0);
  const bring = (drawing, ms) => run(drawing, SVGSVGElement, "setCurrentTime", ms / 1000);
  // Drawings whose clocks have not come so far.
  const AHEAD_MS = 1_000;
  const earlyClocks = (trees, endMs) => trees.flatMap(clocksOf).filter((one) => hasOwn(one) && timeOf(one) < endMs);
  // Lets what waits for an event begin, and go on to where what ends soon has ended; returns whether anything does.
  const send = (trees, endMs) => {
    const clocks = trees.flatMap(clocksOf).filter(hasOwn);
    const waiting = clocks.flatMap((one) => [...one.querySelectorAll("[begin]")])
      .filter((one) => one.beginElement && isSent(one.getAttribute("begin")));
    for (const one of waiting) one.beginElement();
    if (waiting.length) for (const one of clocks) bring(one, timeOf(one) + anyTime(endMs));
    return waiting.length > 0;
  };
  // Others begin when one ends, or has come so far: by style and size queries, and by transitions of what is inherited. So
  // time passes in steps, to each end, or in equal ones if there are more ends. Those that repeat are brought back at
  // last, but if any begins in this time, or goes on after it, all go on together, so that texts in turn stay in turn. Of
  // those that are known, nothing changes.
  const MOST_STEPS = 12;
  // What is taken away with an element again and again begins anew each time, so it never ends if it takes too long.
  const takesAway = (animation, keys) => {
    const { effect, currentTime } = animation;
    const { delay, duration } = effect.getComputedTiming();
    const between = keys.slice(1).map((key, at) => (keys[at].computedOffset + key.computedOffset) / 2);
    const found = between.flatMap((share) => [share, 1 - share]).some((share) => {
      animation.currentTime = delay + share * duration;
      return getComputedStyle(effect.target).display === "none";
    });
    animation.currentTime = currentTime;
    return found;
  };
  const restarting = (trees) => {
    const periods = new Map();
    for (const one of trees.flatMap(animationsOf)) {
      const keys = one.effect?.target && runs(one) && repeats(one) ? one.effect.getKeyframes() : [];
      if (keys.some((key) => "display" in key) && takesAway(one, keys)) periods.set(one.effect.target, periodOf(one));
    }
    return ({ effect }) => {
      let node = periods.size ? effect.target : null;
      for (; node; node = part(node, Node, "parentNode") ?? node.host) {
        if (effect.getComputedTiming().endTime > periods.get(node) / 2) return true;
      }
      return false;
    };
  };
  const turned = new WeakSet(); // brought through this time before, and back
  let isRow = false; // whether animations end later than they are awaited, since others began them
  const pass = (trees, ms, known, clocks = []) => {
    const isRestarted = restarting(trees);
    const moved = new Map();
    const times = clocks.map((one) => [one, timeOf(one)]);
    let now = 0, isAll = times.length > 0;
    const find = () => {
      for (const tree of trees) if (kind(tree) === Node.DOCUMENT_NODE) tree.documentElement?.getBoundingClientRect();
      const fresh = trees.flatMap(animationsOf).filter((one) => !known.has(one) && !moved.has(one));
      isAll ||= fresh.some((one) => begins(one, ms - now) || (isPassing(one, ms - now) && leftOf(one) > ms - now));
      for (const one of fresh) {
        if (isRestarted(one)) continue;
        const isWaiting = waits(one) && !repeats(one), isTurning = !isWaiting && !isPassing(one, ms - now);
        if (isTurning && !runs(one)) continue;
        const end = now + leftOf(one);
        isRow ||= now > 0 && !isTurning && end > SOON_MS;
        moved.set(one, { isWaiting, isTurning, since: now, from: one.currentTime, end });
      }
    };
    for (let left = MOST_STEPS; left > 0; left--) {
      find();
      const going = [...moved].filter(([one, { isWaiting, isTurning }]) =>
        one.playState === (isWaiting ? "paused" : "running") && (isAll || !isTurning || !turned.has(one)));
      if (!going.length && !times.length) break;
      const ends = new Set(going.map(([, { end }]) => end).filter((end) => end > now && end < ms));
      const even = now + (ms - now) / left;
      now = ends.size < left ? Math.min(even, ...ends) : even;
      for (const [one, { since, from }] of going) bringTo(one, from, now - since);
      for (const [one, from] of times) bring(one, from + now);
    }
    for (const [one, { isTurning, from }] of moved) {
      if (isAll || !isTurning) known.add(one);
      else if (!turned.has(one)) one.currentTime = from;
      if (isTurning) turned.add(one);
    }
  };
  // Lets at least so much time pass. What begins at the last moment ends, too.
  const letPass = (trees, leastMs, known) => {
    pass(trees, anyTime(leastMs), known, earlyClocks(trees, leastMs));
    pass(trees, SOON_MS, known);
  };
  // The trees of documents that stay, and how much time is left to those that go elsewhere, or begin again: a reader sees no
  // more than what comes until then.
  const lasting = (endMs) => {
    const staying = [], leaving = [];
    for (const [inner, , , all] of places(document, 0, 0)) {
      const leftMs = leavesIn(inner);
      if (leftMs > endMs) staying.push(...all);
      else leaving.push([all, leftMs]);
    }
    return [staying, leaving];
  };
  const letAllPass = (endMs, known) => {
    const [staying, leaving] = lasting(endMs);
    for (const [some, leftMs] of leaving) pass(some, leftMs, known);
    letPass(staying, endMs, known);
  };
  // A document may also stay, as its server can answer with nothing (HTTP 204) where it goes to, or forbid it. So pictures
  // have it as if it stayed. Returns whether there is one that goes.
  const stayOn = (endMs) => {
    const leaving = lasting(endMs)[1].flatMap(([some]) => some);
    for (const one of earlyClocks(leaving, endMs)) bring(one, anyTime(endMs));
    send(leaving, endMs);
    for (const one of leaving.flatMap(animationsOf)) {
      if (isHeld(one) && !repeats(one)) bringTo(one, one.currentTime, endMs);
    }
    return leaving.length > 0;
  };
  // Scripts can put off an end again and again, so what they have just begun may never end. It counts as it ends in the
  // capture, and as it is in the pictures: text must be in view in both.
  let postponed = [], passing = [];
  const held = [];
  const noNoscript = new CSSStyleSheet();
  noNoscript.replaceSync(`${HTML} html|noscript${STRONGEST} { display: none !important; transition: none !important }`);
  const frame = () => new Promise((done) => requestAnimationFrame(done));

  return {
    halfway,

    async quiet(stillMs, limitMs) {
      const end = performance.now() + limitMs;
      for (;;) {
        const now = performance.now();
        if (now - lastChange >= stillMs) {
          // Timers of the page that are overdue on a busy machine come first.
          await sleep(1);
          if (lastChange < now) return true;
        }
        if (now >= end) return false;
        await sleep(Math.max(1, Math.min(lastChange + stillMs, end) - now));
      }
    },

    async scrollThrough(limitMs, limitSteps) {
      const end = performance.now() + limitMs;
      let height = -1;
      for (let step = 0, still = 0; step < limitSteps && still < 2 && performance.now() < end; step++) {
        scrollBy(0, innerHeight * 0.8);
        await frame();
        await frame();
        const root = own("scrollingElement") ?? own("documentElement");
        const isAtEnd = scrollY + innerHeight >= root.scrollHeight - 1;
        if (isAtEnd) await sleep(250); // for what is fetched when the end comes in view
        still = isAtEnd && root.scrollHeight === height ? still + 1 : 0;
        height = root.scrollHeight;
      }
      scrollTo(0, 0);
    },

    reached(selector) {
      return allTrees().reduce((sum, tree) => sum + tree.querySelectorAll(selector).length, 0);
    },

    shows(selector) {
      try {
        return Boolean(first(selector));
      } catch {
        return null;
      }
    },

    // Returns where the element is, [x, y] in the window; [] when it is clicked already, for another one covers it; false
    // when there is none.
    async aim(selector) {
      let element;
      try {
        element = first(selector);
      } catch {
        return null;
      }
      if (!element) return false;
      element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
      const box = [...element.getClientRects()].find((rect) => rect.width > 0 && rect.height > 0);
      if (box) {
        const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
        const top = element.getRootNode().elementFromPoint(x, y);
        if (top && (top === element || element.contains(top))) return [x, y];
      }
      element.click();
      return [];
    },

    restless(refreshes) {
      refreshBy(refreshes);
      const [all, goings] = [allTrees(), places(document, 0, 0).map(([inner]) => refreshOf(inner))];
      const hasCanvas = all.some((tree) => tree.querySelector("canvas"));
      const clocks = all.flatMap(clocksOf).filter(hasOwn);
      const moves = clocks.length > 0 || all.some((tree) => animationsOf(tree).length);
      const found = restlessIn(all);
      if (clocks.some((one) => timeOf(one) > performance.now() + AHEAD_MS)) found.push("clock");
      if (hasCanvas && goings.some(({ fragment }) => fragment !== undefined)) found.push("fragment");
      if (moves && goings.some(({ ms }) => ms <= SLOW_MS)) found.push("goes");
      return found;
    },

    goUp() {
      scrollTo({ left: 0, top: 0, behavior: "instant" });
    },

    // An address with a fragment or a script may have scrolled the page or boxes in it, and some snap. Returns whether
    // any was scrolled; the page itself counts only `withPage`. What goes to a fragment by itself within `endMs` does so now;
    // for `refreshes`, see refreshBy().
    unscroll(withPage, endMs, refreshes) {
      refreshBy(refreshes);
      for (const [inner] of places(document, 0, 0)) {
        const { ms, fragment } = refreshOf(inner);
        if (ms <= endMs && fragment !== undefined) part(inner, Document, "defaultView").location.hash = fragment;
      }
      const page = document.scrollingElement;
      const found = allTrees().flatMap((tree) => [...tree.querySelectorAll("*")])
        .filter((one) => (withPage || one !== page) && isLaidOut(one)
          && (part(one, Element, "scrollTop") || part(one, Element, "scrollLeft")));
      found.forEach(begin);
      return found.length > 0;
    },

    hideNoscript(isHidden) {
      const isOwn = (tree) => tree === document || part(tree, Node, "ownerDocument") === document;
      for (const tree of allTrees().filter((one) => isOwn(one) && !showsNoscript(one))) {
        tree.adoptedStyleSheets = [
          ...[...tree.adoptedStyleSheets].filter((sheet) => sheet !== noNoscript), ...(isHidden ? [noNoscript] : []),
        ];
      }
    },

    resume() {
      for (const one of halfway.splice(0)) one.play();
      // Pictures have the true ones.
      for (const one of coloured.splice(0)) one.cancel();
      for (const [text, data] of emptied.splice(0)) text.data = data;
      const isLeaving = stayOn(passing[0]);
      const back = new Set(postponed.map(([one]) => one));
      const hasOthers = [...passing[1]].some((one) => !back.has(one)) || allTrees().flatMap(clocksOf).some(hasOwn);
      const oddities = [...(back.size && hasOthers ? ["young"] : []), ...(isRow ? ["late"] : []),
        ...(isSpelled ? ["spelled"] : []), ...(refersToSkipped() ? ["refers"] : [])];
      if (!postponed.length && !isLeaving) return oddities;
      for (const [one, time] of postponed.splice(0)) {
        one.currentTime = time;
        if (isHeld(one) || one.playState !== "running") continue;
        hold(one);
        held.push(one);
      }
      letAllPass(...passing);
      return oddities;
    },

    hold() {
      held.push(...allTrees().flatMap(animationsOf).filter(runs));
      held.forEach(hold);
    },

    letGo() {
      held.splice(0).forEach(letGo);
    },

    unskipAll() {
      unskip([...laidOut(own("documentElement"))].filter(([one, style]) => style && isSkipping(one, style)).map(([one]) => one));
    },

    spell() {
      spellOut([...laidOut(own("documentElement"))]);
    },

    trim(limit, endMs, oldMs) {
      const walker = own("createTreeWalker").call(document, document);
      let count = 1;
      let last = null;
      while (walker.nextNode()) if (++count === limit) last = walker.currentNode;
      if (last && count > limit) {
        const rest = new Range();
        rest.setStartAfter(last);
        rest.setEndAfter(own("documentElement"));
        rest.deleteContents();
      }
      const all = allTrees();
      const young = all.flatMap(animationsOf).filter((one) => isYoung(one, oldMs)).map((one) => [one, one.currentTime]);
      const known = new Set();
      passing = [endMs, known];
      letAllPass(...passing);
      if (send(lasting(endMs)[0], endMs)) letAllPass(...passing);
      postponed = young.filter(([one]) => known.has(one));
      for (const one of all.flatMap(animationsOf)) {
        if (followsItsElement(one)) {
          // Its time counts from the begin of its range.
          const begin = one.timeline.currentTime?.sub(one.currentTime ?? CSS.percent(0)) ?? CSS.percent(0);
          one.pause();
          one.currentTime = CSS.percent(50).sub(begin);
          halfway.push(one);
        }
      }
      release();
      const shown = showSkipped();
      spellOut(shown);
      emptyScripts(shown);
      letAllPass(...passing); // what has begun there
      return count;
    },
  };
})();

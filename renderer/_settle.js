// Evaluated in an isolated world, where nothing the page has patched can reach it.
// quiet(): resolves with true once the structure has been still for `stillMs`, with false after `limitMs`.
// scrollThrough(): scrolls to the end in steps that let lazy content come, and back to the top.
// prune(): keeps the first `limit` nodes of the document and returns how many there were.
globalThis.domsieve ??= (() => {
  let lastChange = performance.now();
  const changed = () => { lastChange = performance.now(); };
  const isText = (nodes) => nodes.length === 1 && nodes[0].nodeType === Node.TEXT_NODE;
  // Clocks and counters put one text in the place of another for ever.
  const isStructural = (record) => !(isText(record.addedNodes) && isText(record.removedNodes));
  new MutationObserver((records) => records.some(isStructural) && changed())
    .observe(document, { childList: true, subtree: true });
  document.addEventListener("domsieve-shadow-change", changed);
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
  const frame = () => new Promise((done) => requestAnimationFrame(done));

  return {
    async quiet(stillMs, limitMs) {
      const end = performance.now() + limitMs;
      for (;;) {
        const now = performance.now();
        if (now - lastChange >= stillMs) return true;
        if (now >= end) return false;
        await sleep(Math.min(lastChange + stillMs, end) - now);
      }
    },

    async scrollThrough(limitMs, limitSteps) {
      const end = performance.now() + limitMs;
      let height = -1;
      for (let step = 0, still = 0; step < limitSteps && still < 2 && performance.now() < end; step++) {
        scrollBy(0, innerHeight * 0.8);
        await frame();
        await frame();
        const root = document.scrollingElement ?? document.documentElement;
        const atEnd = scrollY + innerHeight >= root.scrollHeight - 1;
        if (atEnd && root.scrollHeight === height) await sleep(250);
        still = atEnd && root.scrollHeight === height ? still + 1 : 0;
        height = root.scrollHeight;
      }
      scrollTo(0, 0);
    },

    prune(limit) {
      const walker = document.createTreeWalker(document);
      let count = 1;
      let last = null;
      while (walker.nextNode()) if (++count === limit) last = walker.currentNode;
      if (last && count > limit) {
        const rest = document.createRange();
        rest.setStartAfter(last);
        rest.setEndAfter(document.documentElement);
        rest.deleteContents();
      }
      return count;
    },
  };
})();

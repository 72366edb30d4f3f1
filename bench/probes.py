"""Scripts evaluated in the page to measure it from within. Times are milliseconds."""

WATCH = """
globalThis.arrival = {};
new MutationObserver((_changes, observer) => {
  if (document.documentElement?.dataset.ready !== "true") return;
  globalThis.arrival.ready = performance.now();
  observer.disconnect();
}).observe(document, { attributes: true, subtree: true, attributeFilter: ["data-ready"] });
"""  # put into every page before it begins

ARRIVAL = """() => ({
  ready: globalThis.arrival.ready,
  paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
})"""

AWAIT = """(title) => {
  globalThis.shown = new Promise((resolve) => {
    const observer = new MutationObserver((changes) => {
      const added = changes.flatMap(({ addedNodes }) => [...addedNodes]);
      if (!added.some((node) => node.textContent.includes(title))) return;
      observer.disconnect();
      resolve(performance.timeOrigin + performance.now());
    });
    observer.observe(document.body, { childList: true, subtree: true });
  });
}"""

FRAMES = """() => {
  globalThis.measured = { gaps: [], long: [], inputs: [] };
  const { gaps, long, inputs } = globalThis.measured;
  new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => long.push(duration)))
    .observe({ type: "longtask" });
  new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => inputs.push(duration)))
    .observe({ type: "event", durationThreshold: 16 });
  let last = performance.now();
  requestAnimationFrame(function next(now) {
    gaps.push(now - last);
    last = now;
    requestAnimationFrame(next);
  });
}"""

FRAMES_SEEN = "() => globalThis.measured"

SCROLL = """async (frames) => {
  const within = [document.scrollingElement, ...document.querySelectorAll("main, main *")];
  const longest = within.reduce((a, b) => (b.scrollHeight - b.clientHeight > a.scrollHeight - a.clientHeight ? b : a));
  const step = 100; // pixels: fast, but as people do it
  const gaps = [];
  let last = performance.now();
  await new Promise((resolve) => requestAnimationFrame(function next(now) {
    gaps.push(now - last);
    last = now;
    longest.scrollTop += step;
    if (gaps.length <= frames) requestAnimationFrame(next);
    else resolve();
  }));
  return { gaps: gaps.slice(1), nodes: document.querySelectorAll("*").length };
}"""

UNTIL_SEEN = """new Promise((resolve) => {
  const stop = m.connection.subscribe(({ id }) => id >= x && resolve());
})"""

TRAVEL = """(async () => {
  const { reels } = await import(root + "hub/replay.js");
  await m.step(-1);
  const drawn = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const { activities } = reels.value.at(-1);
  const seen = { count: activities.length, told: [], drawn: [] };
  for (const share of x) {
    const { id } = activities[Math.floor(share * activities.length)];
    const begun = performance.now();
    await m.seek(id);
    seen.told.push(performance.now() - begun);
    await drawn();
    seen.drawn.push(performance.now() - begun);
  }
  m.toLive();
  return seen;
})()"""


def inside(module: str, expression: str) -> str:
    """A function that evaluates `expression`, where `m` is a module of the dashboard, and `x` its argument."""
    return f"""async (x) => {{
      const root = document.querySelector("script[type=module]").src.replace(/app\\.js$/, "");
      const m = await import(root + {module!r});
      return ({expression});
    }}"""

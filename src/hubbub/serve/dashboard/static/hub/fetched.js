// Fetching what may be fetched again: a browser gives up what is under way when its network changes.

const TRIES = 3;
const PAUSE_MS = 300;

/** As `fetch`, tried again where no answer came. Only for what changes nothing. */
export async function fetched(address, options = {}) {
  for (let left = TRIES - 1; ; left -= 1) {
    try {
      return await fetch(address, options);
    } catch (error) {
      if (left === 0 || error.name === "AbortError") throw error;
      await new Promise((done) => setTimeout(done, PAUSE_MS));
    }
  }
}
